"""A chart of phases that are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from innerview.errors import LensError
from innerview.memory.strategy import look
from innerview.memory.visits import smoothed, visits
from innerview.schema import Column, Rows, States


def phased(*, seed: int = 0, episodes: int = 6, flicker: bool = False) -> tuple[Rows, np.ndarray]:
    """Episodes that search, approach, then mostly search again and sometimes rest; facts and actions go with them."""
    random = np.random.default_rng(seed)
    phases, groups, start = [], [], 0
    for _ in range(episodes):
        own: list[int] = []
        phase = 0
        for _ in range(9):
            own += [phase] * int(random.integers(8, 20))
            phase = {0: 1, 1: 0 if random.random() < 0.75 else 2, 2: 0}[phase]
        groups.append((start, start + len(own)))
        start += len(own)
        phases += own
    truth = np.array(phases)
    centres = random.normal(size=(3, 16)) * 2
    memory = centres[truth] + random.normal(size=(start, 16)) * 0.3
    if flicker:
        inside = [row for row in range(4, start - 4) if len(set(truth[row - 4 : row + 5])) == 1]
        odd = np.array(inside[::10])
        memory[odd] = centres[(truth[odd] + 1) % 3]
    columns = {
        "target in view": (truth == 1).astype(float),
        "resting": ((truth == 2) & (random.random(start) < 0.9)).astype(float),
        "noise": (random.random(start) < 0.5).astype(float),
        "action": np.where(truth == 0, 0.0, 1.0),
    }
    specs = {name: Column(name=name, type="bool") for name in columns}
    specs["action"] = Column(name="action", type="int", kind="action", categories=("turn", "go"))
    memory_states = States.of(memory.astype(np.float32))
    return Rows(
        numbers=np.arange(len(truth)),
        memory={"memory": memory_states},
        columns=columns,
        specs=specs,
        groups=tuple(groups),
    ), truth


@pytest.mark.parametrize("flicker", [False, True])
def test_known_phases_become_states(flicker: bool) -> None:
    rows, truth = phased(flicker=flicker)
    made = look(rows)
    chart, labels = made.value, made.arrays["state"]
    assert len(chart["states"]) == 3
    pairs = {(int(a), int(b)) for a, b in zip(truth, labels, strict=True)}
    assert len(pairs) == 3, "each phase is one state, also where it flickers"
    by_phase = {phase: chart["states"][state] for phase, state in pairs}
    assert by_phase[1]["name"] == "target in view" and by_phase[2]["name"] == "resting"
    assert by_phase[0]["actions"][0] == {"action": "turn", "share": 1.0}
    for phase in range(3):
        assert by_phase[phase]["share"] == pytest.approx(np.mean(truth == phase))
        assert by_phase[phase]["visits"] == sum(v.state == phase for v in visits(truth, rows.groups))
    assert chart["states"][0] is by_phase[0], "the state that comes first in time is numbered first"


def test_what_an_agent_with_continuous_actions_does_is_its_strongest_one_with_its_sign() -> None:
    rows, truth = phased()
    push, lift = np.where(truth == 0, -2.0, 0.1), np.where(truth == 0, 0.001, 0.01)
    specs = {name: spec for name, spec in rows.specs.items() if name != "action"} | {
        "action_push": Column(name="action_push", type="float", kind="action", label="push"),
        "action_lift": Column(name="action_lift", type="float", kind="action", label="lift"),
    }
    columns = {name: rows.columns[name] for name in specs if name in rows.columns}
    made = look(replace(rows, columns=columns | {"action_push": push, "action_lift": lift}, specs=specs))
    done = {states[0]["action"] for state in made.value["states"] if (states := state["actions"])}
    assert done == {"push −", "lift +"}


def test_an_action_has_its_name_whatever_its_column_is_called() -> None:
    rows, _ = phased()
    named = {("move" if name == "action" else name): values for name, values in rows.columns.items()}
    specs = {**rows.specs, "move": replace(rows.specs["action"], name="move")}
    del specs["action"]
    wanted = look(rows).value["states"]
    assert look(replace(rows, columns=named, specs=specs)).value["states"] == wanted


def test_transitions_are_counted_within_episodes() -> None:
    rows, truth = phased()
    chart = look(rows).value
    wanted: dict[tuple[int, int], int] = {}
    numbers = dict(zip(truth.tolist(), look(rows).arrays["state"].tolist(), strict=True))
    for start, stop in rows.groups:
        changes = np.flatnonzero(np.diff(truth[start:stop])) + start
        for row in changes:
            pair = (numbers[truth[row]], numbers[truth[row + 1]])
            wanted[pair] = wanted.get(pair, 0) + 1
    assert {(t["from"], t["to"]): t["count"] for t in chart["transitions"]} == wanted
    for state in range(3):
        leaving = [t["probability"] for t in chart["transitions"] if t["from"] == state]
        assert sum(leaving) == pytest.approx(1)
    assert chart["starts"] == [6, 0, 0] and sum(chart["ends"]) == 6


def test_the_number_of_states_can_be_set() -> None:
    rows, _ = phased()
    assert len(look(rows, states=5, shortest=1).value["states"]) == 5
    first = look(rows, states=4)
    assert np.array_equal(first.arrays["state"], look(rows, states=4).arrays["state"])


def test_short_visits_count_as_going_on_and_never_over_a_border() -> None:
    labels = np.array([1, 0, 0, 0, 2, 0, 0, 0, 2, 2, 2, 1, 1, 1])
    assert smoothed(labels, [(0, 9), (9, 14)], shortest=3).tolist() == [0] * 9 + [1] * 5
    assert smoothed(labels, [(0, 14)], shortest=3).tolist() == [0] * 8 + [2] * 3 + [1] * 3


def test_rows_without_time_have_states_too() -> None:
    rows, _ = phased()
    chart = look(replace(rows, groups=(), columns={}, specs={})).value
    assert [state["name"] for state in chart["states"]] == ["state 0", "state 1", "state 2"]


def test_a_memory_that_never_changes_has_no_phases() -> None:
    with pytest.raises(LensError, match="All these states are the same"):
        look(Rows(numbers=np.arange(50), memory={"memory": States.of(np.ones((50, 4)))}, groups=((0, 50),)))
    broken = np.ones((50, 4))
    broken[3, 2] = np.nan
    with pytest.raises(LensError, match="no numbers"):
        look(Rows(numbers=np.arange(50), memory={"memory": States.of(broken)}, groups=((0, 50),)))
