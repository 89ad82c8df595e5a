"""The four ways in which a pose network is made, after the four that the paper compares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from innerview.errors import UnknownName
from innerview_zoo.models.office.augment import perlin_depth, randomise_light

Change = Callable[[Tensor, torch.Generator], Tensor]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What one model is trained on, and for how long beside the others."""

    name: str
    title: str
    change: Change | None = None
    """What is done to the pictures that it learns from, those of the stand-in included."""
    tuned_on: int = 0
    """Trajectory whose stand-in pictures are learnt from, beginning with the vanilla model; 0 for none."""
    weight: float = 1.0
    """Its share of the minutes when several are trained."""
    lr: float = 2e-3


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe(name="vanilla", title="vanilla"),
        Recipe(name="augmented", title="data augmentation", change=randomise_light, weight=1.2),
        Recipe(name="perlin", title="Perlin noise on depth", change=perlin_depth, weight=1.1),
        Recipe(
            name="finetuned",
            title="fine-tuned on trajectory 2",
            change=randomise_light,
            tuned_on=2,
            weight=1.0,
            lr=1e-3,
        ),
    )
}


def recipe_of(name: str) -> Recipe:
    """A recipe by name."""
    if name not in RECIPES:
        raise UnknownName("office pose network", name, RECIPES)
    return RECIPES[name]
