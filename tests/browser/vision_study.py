"""Four short levels of the platformer with masks, played by its network with random weights, and what factors found."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import torch
from innerview_zoo.models.platformer.agent import SIZE, Agent
from innerview_zoo.worlds.platformer import ACTIONS

import innerview as iv
from innerview.lenses.look import look
from innerview.worlds import World, world

from .workbench import Workbench

EPISODES, STEPS = 4, 24
ROWS = EPISODES * STEPS
FACTORS = 5
NAME = "levels"
LINK = f"#/vision/{NAME}"
ASKED: dict[str, Any] = {"count": FACTORS, "max_rows": 64, "steps": 4, "layer": "conv3a"}


@cache
def player() -> tuple[iv.Subject, World]:
    """An agent that has learned nothing, and the world that tells masks."""
    with torch.random.fork_rng():
        torch.manual_seed(5)
        module = Agent()
        torch.nn.init.orthogonal_(module.value.weight, 2.0)
    subject = iv.subject(module, name="novice", example=torch.zeros(1, 3, SIZE, SIZE), actions=list(ACTIONS))
    return subject, world("platformer", masks=True)


def record(folder: Path) -> Path:
    """Play and keep it; no factors are found yet."""
    subject, levels = player()
    study = iv.Study.create(folder, "platformer")
    iv.record(study, subject, levels, episodes=EPISODES, seeds=3, name=NAME, max_steps=STEPS, lanes=4, progress=False)
    return folder


def find(study: iv.Study, **asked: Any) -> str:
    """Look through the lens; the id of what was found."""
    subject, _ = player()
    found = look(study, "factors", subject=subject, progress=False, **(ASKED | asked))
    return str(found.id)


def opened(bench: Workbench, *, drawn: bool = True) -> Workbench:
    """Wait until the picture is there and, where factors were found, news lie over it."""
    bench.page.locator('[data-testid="attribution-seen"]:not([data-row=""])').wait_for()
    if drawn:
        bench.page.locator('[data-testid="attribution-good"]:not([data-row=""])').wait_for()
    return bench
