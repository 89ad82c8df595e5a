"""The Atari agents: their networks, how they learn, and what they score. Their weights are in folders of their own."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import torch

from innerview.errors import UnknownName
from innerview.subjects import Subject, subject
from innerview.worlds import World, world
from innerview_zoo.manifest import Model, weights_file
from innerview_zoo.models.atari.checkpoints import SNAPSHOTS, Folder
from innerview_zoo.models.atari.networks import SIDE
from innerview_zoo.models.atari.plans import PLANS, Plan, plan_of
from innerview_zoo.report import Progress, Report

FINAL = "final"


def load_agent(name: str, snapshot: str = FINAL) -> tuple[Subject, World]:
    """An agent as it was at the end of its training or at a snapshot on the way, and its game."""
    plan = plan_of(name)
    adapted = adapt(plan, title=plan.title if snapshot == FINAL else f"{plan.title}, {snapshot}")
    adapted.load_weights(weights_of(name, snapshot))
    return adapted.aged(plan.title, steps_of(name, snapshot)), game_of(plan)


def steps_of(name: str, snapshot: str = FINAL) -> int:
    """How many decisions an agent had trained on, by the curve that is kept beside its weights; 0 without one."""
    curve = Folder(weights_file("atari", name).parent).read_curve()
    due = SNAPSHOTS.get(snapshot, 1.0) * curve[-1].minutes if curve else 0.0
    return next((point.steps for point in curve if point.minutes >= due), 0)


def adapt(plan: Plan, *, title: str = "") -> Subject:
    """A subject with random weights."""
    example = torch.zeros(1, plan.frames, SIDE, SIDE)
    actions = list(world(f"atari:{plan.game}").info.actions.names)
    heads: dict[str, str] | None = None
    if plan.learns_q:
        heads = {"q": "q", "value": "value", "advantage": "advantage"}
    return subject(plan.network(), name=title or plan.title, example=example, heads=heads, actions=actions)


def game_of(plan: Plan, **settings: Any) -> World:
    """The game an agent was trained in."""
    return world(f"atari:{plan.game}", stack=plan.frames, **settings)


def weights_of(name: str, snapshot: str = FINAL) -> Path:
    """Where the weights of an agent or of one of its snapshots are."""
    choices = [*plan_of(name).ages, FINAL]
    if snapshot not in choices:
        raise UnknownName("snapshot", snapshot, choices)
    final = weights_file("atari", name)
    return final if snapshot == FINAL else final.parent / "snapshots" / f"{snapshot}.safetensors"


def _evaluate(name: str, count: int | None, progress: Progress) -> Report:
    from innerview_zoo.models.atari.score import evaluate_agent

    return evaluate_agent(name, count, progress)


MODELS = {
    name: Model(
        load=partial(load_agent, name),
        evaluate=partial(_evaluate, name),
        train=("innerview_zoo.models.atari.train", "--agent", name),
    )
    for name in PLANS
}
