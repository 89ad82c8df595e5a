"""Two agents of the zoo to stand side by side: over the same levels, over the same rows, and with two memories."""

from __future__ import annotations

from pathlib import Path

import innerview_zoo as zoo

import innerview as iv
from innerview.lenses.look import look

EPISODES, STEPS = 2, 24
ENDLESS, HUNDRED = "endless", "hundred"
SMALL = "small"
ASKED = {"count": 4, "max_rows": 48, "steps": 3, "layer": "conv3a"}


def levels(folder: Path) -> iv.Study:
    """The agents of endless and of 100 levels in the same two levels, with factors; one predicts the other's rows."""
    study = iv.Study.create(folder, "levels")
    agents = {ENDLESS: zoo.load("platformer")[0], HUNDRED: zoo.load("platformer_100")[0]}
    world = iv.world("platformer", masks=True)
    for name, agent in agents.items():
        iv.record(
            study, agent, world, episodes=EPISODES, seeds=1000003, name=name, max_steps=STEPS, lanes=2, progress=False
        )
        look(study, "factors", recording=name, subject=agent, progress=False, **ASKED)
    look(study, "factors", recording=ENDLESS, subject=agents[HUNDRED], other=True, progress=False, **ASKED)
    iv.predict(study, agents[HUNDRED], ENDLESS, progress=False)
    return study


def add_small(study: iv.Study) -> None:
    """The small k-items agent in the first mazes of the large one."""
    agent, world = zoo.load("doom_kitems_small")
    iv.record(study, agent, world, episodes=2, seeds=1000, name=SMALL, max_steps=40, lanes=2, progress=False)
