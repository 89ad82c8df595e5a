"""A few short episodes of the bundled k-items agent, recorded once, and the agent itself."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import innerview_zoo as zoo

import innerview as iv
from innerview.lenses.look import look
from innerview.worlds import World

EPISODES, STEPS = 8, 60
STATES = 5
ROWS = EPISODES * STEPS
LINK = "#/memory/k-items"


@cache
def agent() -> tuple[iv.Subject, World]:
    """The trained agent and its mazes."""
    return zoo.load("doom_kitems")


def record(folder: Path) -> Path:
    """Play and keep it."""
    subject, world = agent()
    study = iv.Study.create(folder, "k-items")
    iv.record(
        study, subject, world, episodes=EPISODES, seeds=1000, name="k-items", max_steps=STEPS, lanes=4, progress=False
    )
    return folder


def find(study: iv.Study) -> None:
    """Look through the lenses that need no model: a cloud, flags, a strategy of a few states."""
    look(study, "pca", progress=False)
    look(study, "flags", progress=False)
    look(study, "strategy", states=STATES, progress=False)
