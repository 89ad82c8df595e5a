"""The Doom agents: one that gathers health packs, and two that gather items in order."""

from __future__ import annotations

from functools import partial

from innerview.subjects import Subject
from innerview.worlds import World
from innerview_zoo.manifest import Model, weights_file
from innerview_zoo.models.doom import health, kitems
from innerview_zoo.report import Progress, Report


def _load_kitems(name: str, title: str, memory: int) -> tuple[Subject, World]:
    return kitems.adapt(weights_file("doom", name), name=title, memory=memory)


def _evaluate_kitems(name: str, count: int | None, progress: Progress) -> Report:
    agent, mazes = MODELS[name].load()
    title = agent.info.name
    return kitems.evaluate_agent(agent, mazes, title=title[0].upper() + title[1:], count=count, progress=progress)


def _kitems(name: str, title: str, memory: int) -> Model:
    return Model(
        load=partial(_load_kitems, name, title, memory),
        evaluate=partial(_evaluate_kitems, name),
        train=("innerview_zoo.models.doom.kitems.train", "--memory", str(memory)),
    )


MODELS = {
    "doom_health": Model(load=health.load, evaluate=health.evaluate, train=("innerview_zoo.models.doom.health.train",)),
    "doom_kitems": _kitems("doom_kitems", "k-items agent", 128),
    "doom_kitems_small": _kitems("doom_kitems_small", "small k-items agent", 32),
}
