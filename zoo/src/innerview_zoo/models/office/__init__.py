"""What the four pose networks of the office share: `office_vanilla`, `_augmented`, `_finetuned` and `_perlin`.

Given an RGB-D picture they say where on the floor it was taken and which way the camera looked.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import torch

from innerview.schema import Head
from innerview.subjects import Subject, subject
from innerview.worlds import World, world
from innerview_zoo.manifest import Model, weights_file
from innerview_zoo.models.office.pose import CHANNELS, SIZE, PoseNet
from innerview_zoo.models.office.recipes import RECIPES, recipe_of
from innerview_zoo.report import Progress, Report, no_progress

POSE = Head(name="pose", kind="pose", size=3, names=("x", "y", "angle"), units=("m", "m", "rad"))


def weights_of(name: str) -> Path:
    """Where the weights of a model are kept."""
    return weights_file("office", f"office_{recipe_of(name).name}")


def adapt(name: str, *, weights: Path | None = None) -> Subject:
    """The pose network of that name."""
    recipe = recipe_of(name)
    example = {"rgbd": torch.zeros(1, CHANNELS, SIZE, SIZE)}
    adapted = subject(PoseNet(), name=f"office pose network, {recipe.title}", example=example, heads={"pose": POSE})
    adapted.load_weights(weights or weights_of(name))
    return adapted


def load_model(name: str, **settings: Any) -> tuple[Subject, World]:
    """The pose network of that name and the tour it is tested on; `settings` are those of "office:tour"."""
    return adapt(name), world("office:tour", **settings)


def evaluate_model(name: str, count: int | None = None, progress: Progress = no_progress) -> Report:
    """One model on every set of pictures, `count` of each."""
    return _table([name], count, progress)


def family_table(count: int | None = None, progress: Progress = no_progress) -> Report:
    """All four models on the same pictures, `count` of each set."""
    return _table(list(RECIPES), count, progress)


def _table(names: list[str], count: int | None, progress: Progress) -> Report:
    from innerview_zoo.models.office.place import OfficePlace
    from innerview_zoo.models.office.score import table

    models: dict[str, PoseNet] = {}
    for name in names:
        module = adapt(name).module
        assert isinstance(module, PoseNet)
        models[recipe_of(name).title] = module.eval()
    return table(models, OfficePlace(), count=count, progress=progress)


MODELS = {
    f"office_{name}": Model(
        load=partial(load_model, name),
        evaluate=partial(evaluate_model, name),
        train=("innerview_zoo.models.office.train", "--model", name),
    )
    for name in RECIPES
}
