"""Recordings that change while they are killed: episodes are added, they are replaced, or get a new version."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import torch

import innerview as iv
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent

Saved = Callable[[], None]
NAME, LENGTH = "run", 9


@cache
def trained(further: int = 0) -> iv.Subject:
    """An agent, and what became of it when it was trained further."""
    subject = recurrent()
    with torch.no_grad():
        for weights in subject.module.parameters():
            weights += 0.25 * further
    return subject


def recorded(root: Path) -> None:
    """A complete recording whose last block is not full."""
    _record(root, lambda: None, episodes=2)


def recorded_long(root: Path) -> None:
    """A complete recording of so many blocks that there are larger copies of its rows."""
    _record(root, lambda: None, episodes=8, block_rows=4)


def add(root: Path, saved: Saved) -> None:
    """The same with more episodes."""
    _record(root, saved, episodes=4)


def add_to_long(root: Path, saved: Saved) -> None:
    """The same with one more episode."""
    _record(root, saved, episodes=9)


def replace(root: Path, saved: Saved) -> None:
    """Other episodes by the agent as it is now, in place of those that are there."""
    _record(root, saved, episodes=3, further=1, overwrite=True)


def new_version(root: Path, saved: Saved) -> None:
    """The agent learnt meanwhile: it gets a recording of its own."""
    _record(root, saved, episodes=2, further=1)


def log(root: Path, saved: Saved) -> None:
    """A loop of one's own, logged again in place of what was logged."""
    _log(root, 40)
    saved()


def logged(root: Path) -> None:
    """What a loop logged before."""
    _log(root, 25)


def _record(
    root: Path, saved: Saved, *, episodes: int, further: int = 0, overwrite: bool = False, block_rows: int = 16
) -> None:
    iv.record(
        root,
        trained(further),
        CountingWorld(length=LENGTH),
        episodes=episodes,
        lanes=2,
        name=NAME,
        block_rows=block_rows,
        overwrite=overwrite,
        progress=False,
    )
    saved()


def _log(root: Path, steps: int) -> None:
    actions = ("left", "right")
    with iv.recorder(root, name=NAME, actions=actions, overwrite=True, block_rows=16) as recorder:
        for step in range(steps):
            recorder.step(np.full(3, step / 2, np.float32), step % 2, reward=float(step), done=step % 7 == 6)
