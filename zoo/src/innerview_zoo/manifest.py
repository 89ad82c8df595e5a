"""What a family of models says of each of its members: how it is loaded, evaluated and trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from innerview.subjects import Subject
    from innerview.worlds import World
    from innerview_zoo.report import Progress, Report

MODELS = Path(__file__).parent / "models"
"""A folder per family, and in it a folder per model with card, figures, curve and weights."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """One line of a family's `MODELS`, by the model's name."""

    load: Callable[..., tuple[Subject, World]]
    """The model, ready to run, and its world."""
    evaluate: Callable[[int | None, Progress], Report]
    """The card's table worked out anew."""
    train: tuple[str, ...]
    """The module that trains it, and the arguments that make it train this one."""


def weights_file(family: str, name: str) -> Path:
    """Where the weights of a bundled model are."""
    return MODELS / family / name / "weights.safetensors"
