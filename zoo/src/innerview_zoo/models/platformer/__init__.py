"""The platformer agents: one network, trained on levels without limit or on a limited number of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import torch

from innerview.subjects import Subject, subject
from innerview.worlds import World, world
from innerview_zoo.manifest import Model, weights_file
from innerview_zoo.models.platformer.agent import SIZE, Agent
from innerview_zoo.report import Progress, Report, no_progress
from innerview_zoo.worlds.platformer import ACTIONS


def adapt(weights: Path, *, name: str) -> tuple[Subject, World]:
    """An agent with these weights, and the platformer with all that can be told about it."""
    example = torch.zeros(1, 3, SIZE, SIZE)
    adapted = subject(Agent(), name=name, example=example, actions=list(ACTIONS))
    adapted.load_weights(weights)
    return adapted, world("platformer", masks=True, render=256)


def evaluate_member(name: str, count: int | None = None, progress: Progress = no_progress) -> Report:
    """The table of one member of the family."""
    from innerview_zoo.models.platformer.score import evaluate_member

    return evaluate_member(name, count, progress)


def family_table(count: int | None = None, progress: Progress = no_progress) -> Report:
    """Those that differ in the number of levels alone, beside the paper's."""
    from innerview_zoo.models.platformer.score import family_table

    return family_table(count, progress)


def _load(name: str, title: str) -> tuple[Subject, World]:
    return adapt(weights_file("platformer", name), name=title)


def _model(name: str, title: str, *train: str) -> Model:
    module, *words = train
    return Model(
        load=partial(_load, name, title),
        evaluate=partial(evaluate_member, name),
        train=(f"innerview_zoo.models.platformer.{module}", *words),
    )


_UNLIMITED = str(weights_file("platformer", "platformer"))
_PRICES = ("--sparse", "0.1", "--alone", "1", "--naming", "1.5", "--sparse-from", "0.15")
_LESSONS = ("--slip", "0.25", "--teach-until", "1", "--batch", "2048", "--entropy", "0.003", "--minutes", "5")
MODELS = {
    "platformer": _model("platformer", "platformer agent", "train"),
    "platformer_100": _model("platformer_100", "platformer agent of 100 levels", "train", "--levels", "100"),
    "platformer_1k": _model("platformer_1k", "platformer agent of 1,000 levels", "train", "--levels", "1000"),
    "platformer_10k": _model("platformer_10k", "platformer agent of 10,000 levels", "train", "--levels", "10000"),
    "platformer_100k": _model("platformer_100k", "platformer agent of 100,000 levels", "train", "--levels", "100000"),
    # Goes on with the unlimited agent, which now pays for what layer 2b says, is asked for dangers, and slips.
    "platformer_sparse": _model(
        "platformer_sparse",
        "sparse platformer agent",
        *("train", "--begin", _UNLIMITED, "--teacher", _UNLIMITED, *_PRICES, *_LESSONS),
    ),
    # Splits the danger channel of the sparse agent by the kind of danger.
    "platformer_disentangled": _model(
        "platformer_disentangled",
        "disentangled platformer agent",
        *("split", str(weights_file("platformer", "platformer_sparse"))),
    ),
}
