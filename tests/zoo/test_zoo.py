"""Every bundled model loads, fits its world and says what it is."""

from __future__ import annotations

import innerview_zoo as zoo
import pytest

from innerview.capture import Plan, layout, rollout
from innerview.errors import UnknownName

NAMES = [entry.name for entry in zoo.entries()]
STEPS = 15


@pytest.mark.parametrize("name", NAMES)
def test_it_plays_its_world(name: str) -> None:
    subject, world = zoo.load(name)
    form = layout(subject, world.info)
    pieces = list(rollout(subject, world, Plan(seeds=(5,), lanes=1, max_steps=STEPS), form))
    rows = sum(len(piece.rows["step"]) for piece in pieces)
    assert rows == STEPS or (rows > 0 and pieces[-1].summary is not None and pieces[-1].summary.outcome != "step limit")


def test_the_health_agent_survives() -> None:
    subject, world = zoo.load("doom_health")
    form = layout(subject, world.info)
    pieces = list(rollout(subject, world, Plan(seeds=range(1_000_000, 1_000_003), lanes=3), form))
    lengths = [piece.summary.length for piece in pieces if piece.summary]
    assert sum(lengths) / 3 > 300, "a random policy lives about 105 steps, this one about 500 of 525"


def test_an_unknown_model_gets_the_nearest() -> None:
    with pytest.raises(UnknownName, match="doom_health"):
        zoo.load("doom_heath")
