"""Where two runs part."""

from __future__ import annotations

import numpy as np

from innerview.edits.divergence import Run, begins_alike, find_divergence


def run(actions: list[int], places: list[float] | None = None, sure: list[float] | None = None) -> Run:
    return Run(
        actions=np.array(actions)[:, None],
        places=None if places is None else np.array(places)[:, None],
        probabilities=None if sure is None else np.stack([sure, 1 - np.array(sure)], axis=1),
    )


def test_runs_part_first_in_what_they_want_then_in_what_they_do_then_in_where_they_are() -> None:
    first = run([0, 0, 0, 1], [0, 1, 2, 3], [0.9, 0.9, 0.9, 0.9])
    second = run([0, 0, 1, 1], [0, 1, 2, 2], [0.9, 0.8, 0.4, 0.9])
    told = find_divergence(first, second)
    assert (told.decision, told.action, told.place) == (1, 2, 3)


def test_the_same_run_never_parts_and_noise_is_no_difference() -> None:
    first = run([0, 1], [0, 1], [0.5, 0.6])
    told = find_divergence(first, run([0, 1], [0, 1], [0.50001, 0.6]))
    assert (told.decision, told.action, told.place) == (None, None, None)
    assert find_divergence(first, run([0, 1], [0, 1], [0.50001, 0.6]), epsilon=1e-6).decision == 0


def test_a_run_that_ends_earlier_parts_there() -> None:
    told = find_divergence(run([0, 1, 1]), run([0, 1]))
    assert told.action == 2 and told.decision is None and told.place is None


def test_several_numbers_make_an_action_and_other_kinds_of_action_are_not_compared() -> None:
    turns = Run(actions=np.array([[0.1, 0.5], [0.1, 0.6]]))
    assert find_divergence(turns, Run(actions=np.array([[0.1, 0.5], [0.1, 0.7]]))).action == 1
    told = find_divergence(turns, run([0, 1, 1], sure=[0.5, 0.5, 0.5]))
    assert (told.decision, told.action, told.place) == (None, 2, None)


def test_what_was_seen_is_compared_up_to_the_first_other_action() -> None:
    first, second = {"observation": np.arange(5)}, {"observation": np.array([0, 1, 2, 9, 9])}
    assert begins_alike(first, second, until=2)
    assert not begins_alike(first, second, until=3)
