"""Facts made of columns."""

from __future__ import annotations

import numpy as np

from innerview.memory.facts import make_facts
from innerview.memory.retention import since_end
from innerview.schema import Column, Rows

GROUPS = ((0, 5), (5, 10))


def facts(**columns: tuple[list[object], Column]) -> dict[str, np.ndarray]:
    def values(given: list[object], column: Column) -> np.ndarray:
        words = column.type == "text"
        return np.array(given, object) if words else np.array([np.nan if v is None else v for v in given], float)

    rows = Rows(
        numbers=np.arange(len(next(iter(columns.values()))[0])),
        columns={name: values(given, column) for name, (given, column) in columns.items()},
        specs={name: column for name, (_, column) in columns.items()},
        groups=GROUPS,
    )
    return {fact.name: fact.holds for fact in make_facts(rows)}


def test_an_event_counts_from_the_row_after_its_own_to_the_end_of_the_episode() -> None:
    made = facts(hit=([0, 0, 1, 0, 0, 0, 1, 0, 1, 0], Column(name="hit", type="bool", kind="event")))
    assert made["hit so far"].astype(int).tolist() == [0, 0, 0, 1, 1, 0, 0, 1, 1, 1]


def test_numbers_with_few_values_are_split_between_all_and_others_at_the_median() -> None:
    made = facts(
        items=([0, 0, 1, 1, 2, 0, 0, 0, 1, None], Column(name="items", type="int")),
        health=([9, 8, 7, 6, 5, 4, 3, 2, 1, 0], Column(name="health", type="float")),
    )
    assert set(made) == {"items ≥ 1", "items ≥ 2", "health ≥ 4.5"}
    assert made["items ≥ 1"].astype(int).tolist() == [0, 0, 1, 1, 1, 0, 0, 0, 1, 0]


def test_words_make_a_fact_each() -> None:
    room = Column(name="room", type="text", kind="category")
    made = facts(room=(["hall", "hall", "shed", None, "", "hall", "shed", "", "hall", "hall"], room))
    assert set(made) == {"room = hall", "room = shed", "room = empty"}
    action = Column(name="mood", type="int", kind="category", categories=("calm", "wild", "shy"))
    assert set(facts(mood=([0, 1, 0, 1, 0, 2, 1, 0, 0, 1], action))) == {"mood = calm", "mood = wild", "mood = shy"}


def test_what_says_the_same_or_the_opposite_is_reported_once_in_the_plainest_way() -> None:
    event = [0, 0, 1, 0, 0, 0, 1, 0, 0, 0]
    so_far = [0, 0, 0, 1, 1, 0, 0, 1, 1, 1]
    made = facts(
        gathered=(so_far, Column(name="gathered", type="int")),
        next_item=(["b" if s else "a" for s in so_far], Column(name="next_item", type="text", kind="category")),
        got=(event, Column(name="got", type="bool", kind="event")),
        gathered_a=(event, Column(name="gathered_a", type="bool", kind="event")),
    )
    assert set(made) == {"gathered_a so far"}


def test_what_the_subject_said_or_never_varies_is_left_out() -> None:
    made = facts(
        action=([0, 1] * 5, Column(name="action", type="int", kind="action")),
        step=(list(range(10)), Column(name="step", type="int", kind="index")),
        alive=([1] * 10, Column(name="alive", type="bool")),
    )
    assert made == {}


def test_time_since_the_end_of_a_fact_starts_anew_in_each_episode() -> None:
    rows = Rows(
        numbers=np.arange(10),
        columns={"seen": np.array([0, 1, 1, 0, 0, 0, 0, 1, 0, 1.0])},
        specs={"seen": Column(name="seen", type="bool")},
        groups=GROUPS,
    )
    (fact,) = make_facts(rows)
    assert since_end(fact, GROUPS).tolist() == [-1, 0, 0, 1, 2, -1, -1, 0, 1, 0]
