"""One step and one sampler, whoever drives them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from innerview.capture import GivenRows, Sampler, Stepper, within_bounds
from innerview.schema import ActionSpace, SiteEdit
from innerview.subjects import Output, Subject, subject
from tests.rollouts.players import recurrent

DISCRETE = ActionSpace(kind="discrete", names=("left", "right", "forward"))


def frames(rows: int) -> torch.Tensor:
    return torch.rand((rows, 3, 8, 8), generator=torch.Generator().manual_seed(0))


def said(output: Output) -> torch.Tensor:
    return output.heads["policy"]


def test_a_row_remembers_as_if_it_were_alone() -> None:
    agent, seen = recurrent(), frames(3)
    stepper = Stepper(agent, 3)
    for _ in range(4):
        together = stepper.step({"x": seen})
    alone = Stepper(agent, 1)
    for _ in range(4):
        single = alone.step({"x": seen[1:2]})
    torch.testing.assert_close(said(together)[1:2], said(single))


def test_who_waits_keeps_the_old_memory_and_who_begins_has_a_fresh_one() -> None:
    agent, seen = recurrent(), frames(3)
    stepper = Stepper(agent, 3)
    stepper.step({"x": seen})
    before = stepper.memory["cell"].clone()
    stepper.step({"x": seen}, waiting=[1])
    assert torch.equal(stepper.memory["cell"][1], before[1]) and not torch.equal(stepper.memory["cell"][0], before[0])
    stepper.begin(np.array([False, False, True]))
    assert stepper.memory["cell"][2].abs().sum() == 0 and torch.equal(stepper.memory["cell"][1], before[1])


def test_rows_join_and_leave() -> None:
    stepper = Stepper(recurrent())
    stepper.join(2)
    stepper.step({"x": frames(2)})
    second = stepper.memory["cell"][1].clone()
    stepper.stay([1])
    stepper.join(1)
    assert torch.equal(stepper.memory["cell"][0], second) and stepper.memory["cell"][1].abs().sum() == 0


def test_each_row_follows_its_program_at_its_own_step() -> None:
    agent = recurrent()
    edit = SiteEdit(elements=(0, 1), start=2)
    stepper = Stepper(agent, 3, programs=[(), (edit,)])
    stepper.step({"x": frames(3)}, steps=[5, 5, 1], programs=[0, 1, 1])
    touched = (stepper.memory["cell"][:, :2] == 0).all(1)
    assert touched.tolist() == [False, True, False], "no edit, the edit, and the edit before it begins"


def test_sampled_actions_come_from_each_rows_own_generator() -> None:
    agent, sampler = recurrent(), Sampler(space=DISCRETE)
    output = agent.run({"x": frames(4)})
    draw = lambda seeds: sampler.actions(agent, output, [np.random.default_rng(s) for s in seeds])  # noqa: E731
    assert draw([1, 2, 3, 4]).tolist() == draw([1, 2, 3, 4]).tolist()
    assert draw([1, 9, 9, 4])[[0, 3]].tolist() == draw([1, 2, 3, 4])[[0, 3]].tolist()


def test_noise_replaces_its_share_of_actions() -> None:
    agent = recurrent()
    output = agent.run({"x": frames(1).expand(3000, -1, -1, -1)})
    generators = [np.random.default_rng(seed) for seed in range(3000)]
    noisy = Sampler(space=DISCRETE, greedy=True, noise=0.3).actions(agent, output, generators)
    best = int(said(output)[0].argmax())
    assert np.mean(noisy != best) == pytest.approx(0.3 * 2 / 3, abs=0.03), "one random action in three is the best too"
    every = Sampler(space=DISCRETE, noise=1.0)
    assert every.is_random and set(every.random_actions(generators).tolist()) == {0, 1, 2}


def test_who_does_not_act_takes_the_only_action() -> None:
    looker = subject(nn.Linear(4, 2), example=torch.zeros(1, 4), heads="other")
    output = looker.run({"input": torch.zeros(3, 4)})
    assert Sampler(space=ActionSpace(kind="discrete", names=("go",))).actions(looker, output).tolist() == [0, 0, 0]


def test_continuous_actions_stay_within_the_worlds_bounds() -> None:
    space = ActionSpace(kind="continuous", names=("turn",), low=(-1.0,), high=(1.0,))
    assert within_bounds(space, np.array([[3.0], [-0.5]])).tolist() == [[1.0], [-0.5]]
    unbound = ActionSpace(kind="continuous", names=("turn",))
    assert within_bounds(unbound, np.array([[3.0]])).tolist() == [[3.0]]


@pytest.fixture
def rows() -> tuple[Subject, torch.Tensor, GivenRows]:
    agent, seen = recurrent(), frames(90)
    return agent, seen, GivenRows(agent, lambda numbers: {"x": seen[torch.as_tensor(numbers)]})


def test_rows_that_follow_each_other_are_carried_along(rows: tuple[Subject, torch.Tensor, GivenRows]) -> None:
    agent, seen, given = rows
    numbers, starts = np.array([3, 41, 50, 52, 89]), np.array([0, 0, 50, 50, 50])
    places, outputs = zip(*given.outputs(numbers, starts), strict=True)
    assert np.concatenate(places).tolist() == [0, 1, 2, 3, 4]
    found = torch.cat([said(output) for output in outputs])
    for start, wanted in ((0, {3: 0, 41: 1}), (50, {50: 2, 52: 3, 89: 4})):
        stepper = Stepper(agent, 1)
        for row in range(start, max(wanted) + 1):
            alone = stepper.step({"x": seen[row : row + 1]})
            if row in wanted:
                torch.testing.assert_close(found[wanted[row]], said(alone)[0])


@pytest.mark.parametrize("held", [1, 200, 1 << 20])
def test_groups_are_given_on_in_order_however_many_are_held(
    rows: tuple[Subject, torch.Tensor, GivenRows], held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, seen, given = rows
    lengths = [3, 40, 1, 36, 10]
    starts = np.repeat(np.cumsum([0, *lengths[:-1]]), lengths)
    monkeypatch.setattr("innerview.capture.given.HELD_BYTES", held)
    places, outputs = zip(*given.outputs(np.arange(90), starts), strict=True)
    assert np.concatenate(places).tolist() == list(range(90))
    assert len(places) > 2, "long groups are given on as they are run"
    wanted, stepper = [], Stepper(agent, 1)
    for row in range(90):
        stepper.begin(np.array([row == starts[row]]))
        wanted.append(said(stepper.step({"x": seen[row : row + 1]})))
    torch.testing.assert_close(torch.cat([said(output) for output in outputs]), torch.cat(wanted))


def test_a_layer_stays_frozen_while_other_rows_end_and_begin() -> None:
    agent, seen = recurrent(), frames(12)
    edit = SiteEdit(elements=(1,), op="freeze", site="eye", start=1)
    stepper = Stepper(agent, 3, programs=[(edit,)], keep=("eye",))
    held = [stepper.step({"x": seen[3 * n : 3 * n + 3]}, steps=[n] * 3).sites["eye"][:, 1] for n in range(2)][1]
    stepper.stay([0, 2])
    left = stepper.step({"x": seen[6:8]}, steps=[2, 2]).sites["eye"][:, 1]
    torch.testing.assert_close(left, held[[0, 2]])
    stepper.join(1)
    joined = stepper.step({"x": seen[8:11]}, steps=[3, 3, 0]).sites["eye"][:, 1]
    plain = agent.run({"x": seen[10:11]}, keep=("eye",)).sites["eye"][:, 1]
    torch.testing.assert_close(joined, torch.cat((held[[0, 2]], plain)))


def test_rows_without_time_start_afresh_and_go_on_where_they_stopped(
    rows: tuple[Subject, torch.Tensor, GivenRows],
) -> None:
    agent, seen, given = rows
    found = {
        p: row for places, output in given.outputs(np.arange(90)) for p, row in zip(places, said(output), strict=True)
    }
    torch.testing.assert_close(torch.stack([found[p] for p in range(90)]), said(agent.run({"x": seen})))
    places, output = next(given.outputs(np.arange(90), done=40))
    assert places[0] == 32, "in the same batches as before"
    assert torch.equal(said(output), torch.stack([found[int(p)] for p in places]))
