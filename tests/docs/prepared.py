"""What the pages of the docs take for granted: an agent in agent.py, a study, and names for both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import innerview_zoo as zoo
import numpy as np
import torch
from torch import nn

import innerview as iv
from tests.copies import copied
from tests.paired import painted, paired_study
from tests.store.test_pairs import make_pairs

from .blocks import ROOT, read_blocks

AGENT = """
import torch
from torch import nn

import innerview as iv


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.remember = nn.GRUCell(4, 64)
        self.policy, self.value = nn.Linear(64, 2), nn.Linear(64, 1)

    def forward(self, observation, state=None):
        state = self.remember(observation, state)
        return self.policy(state), self.value(state), state


def make():
    torch.manual_seed(0)
    return iv.subject(Agent(), name="agent", example=torch.zeros(1, 4), actions=("left", "right"))


def world():
    return iv.world("CartPole-v1")
"""

Names = dict[str, Any]


def _cartpole() -> Names:
    names: Names = {}
    exec(compile(AGENT, "agent.py", "exec"), names)
    world = names["world"]()
    return {"subject": names["make"](), "world": world, "play_env": world}


def _health(folder: Path) -> Names:
    """The health agent with its world and a study of eight short episodes."""
    subject, world = zoo.load("doom_health")
    if not (folder / "my.study").exists():
        iv.record(folder / "my.study", subject, world, episodes=8, max_steps=120, name="health agent")
    return {"subject": subject, "world": world, "study": iv.Study.open(folder / "my.study")}


def _imports(folder: Path) -> Names:
    make_pairs(folder / "pairs")
    page = (ROOT / "docs/imports.md").read_text("utf-8")
    (described,) = (block.code for block in read_blocks(page, "docs/imports.md") if block.language == "json")
    (folder / "pairs/pairs.json").write_text(described, "utf-8")
    for number, room in enumerate(("kitchen", "lab")):
        (folder / f"{room}.jpg").write_bytes((folder / f"pairs/real/rgb/{number:04}.jpg").read_bytes())
    x, pictures = np.arange(3.0), np.zeros((3, 8, 8, 3), np.uint8)
    study = iv.Study.create(folder / "mine.study")
    return {"study": study, "x": x, "y": x, "sim_images": pictures, "real_images": pictures}


def _record(folder: Path) -> Names:
    return _cartpole()


def _reduce(folder: Path) -> Names:
    names = _cartpole()
    study = iv.Study.create(folder / "reduce.study")
    iv.record(study, names["subject"], names["world"], episodes=4, name="x")
    return {**names, "study": study}


def _snapshots(folder: Path) -> Names:
    names = _cartpole()
    young = names["subject"].copied({"value.bias": torch.ones(1)}, name="agent")
    iv.snapshot(folder / "my.study", young, names["play_env"], step=10_000)
    return {**names, "step": 50_000}


def _learning(folder: Path) -> Names:
    names = _cartpole()
    study = iv.Study.create(folder / "my.study")
    iv.record(study, names["subject"], names["world"], episodes=4, name="x")
    for step, share in ((0, 0.0), (10, 0.5), (20, 1.0)):
        weights = {"value.weight": share * names["subject"].module.state_dict()["value.weight"] + 0.01}
        iv.snapshot(study, names["subject"].copied(weights, name="agent"), step=step)
    return {**names, "study": study, "recording": "x"}


def _subjects(folder: Path) -> Names:
    return {**_health(folder), "agent": Convolutional(), "memory": None}


class Convolutional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.see = nn.Sequential(nn.Conv2d(3, 4, 8, 8), nn.ReLU(), nn.Flatten())
        self.policy = nn.Linear(4 * 8 * 14, 3)

    def forward(self, image: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"policy": self.policy(self.see(image))}


def _what_if(folder: Path) -> Names:
    agent, world = zoo.load("platformer")
    iv.record(folder / "my.study", agent, world, episodes=12, seeds=1_000_000_000, name="unseen")
    return {"agent": agent, "world": world}


def _platformer(folder: Path) -> Names:
    from innerview_zoo.worlds.platformer import Platformer

    subject, world = zoo.load("platformer")
    game = Platformer(4, seed=9)  # whose first level has a saw and room for it
    game.reset()
    return {"subject": subject, "world": world, "game": game}


def _gap(folder: Path) -> Names:
    return {"study": paired_study(folder), "plain": painted("plain"), "robust": painted("robust", 2.0)}


def _office(folder: Path) -> Names:
    from innerview_zoo.worlds import office

    study = iv.Study.create(folder / "my.study")
    return {**vars(office), "floor": office.office_floor(seed=0), "study": study}


PAGES: dict[str, Callable[[Path], Names]] = {
    "docs/edits.md": _health,
    "docs/gap.md": _gap,
    "docs/imports.md": _imports,
    "docs/jobs.md": _health,
    "docs/lenses.md": _health,
    "docs/metrics.md": _health,
    "docs/record.md": _record,
    "docs/reduce.md": _reduce,
    "docs/serve.md": _health,
    "docs/snapshots.md": _snapshots,
    "docs/studies.md": _health,
    "docs/subjects.md": _subjects,
    "docs/videos.md": _health,
    "docs/view-learning.md": _learning,
    "docs/view-what-if.md": _what_if,
    "docs/world-office.md": _office,
    "docs/world-platformer.md": _platformer,
}


def prepare(base: Path) -> Callable[[str, Path], Names]:
    """A function that puts what a page takes for granted into a folder, and gives the names its blocks may use."""

    def prepared(page: str, folder: Path) -> Names:
        (folder / "agent.py").write_text(AGENT, "utf-8")
        shared = {"iv": iv, "zoo": zoo, "torch": torch, "nn": nn, "np": np, "gymnasium": gymnasium}
        make = PAGES.get(page)
        if make in (_health, _subjects):
            _health(base)
            copied(base / "my.study", folder / "my.study")
        return {**shared, **(make(folder) if make else {})}

    return prepared
