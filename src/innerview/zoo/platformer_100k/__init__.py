"""The platformer agent that saw 100,000 levels in training and no other."""

from __future__ import annotations

from pathlib import Path

from innerview.subjects import Subject
from innerview.worlds import World
from innerview.zoo.platformer import adapt, evaluate_member
from innerview.zoo.report import Progress, Report, quiet


def load() -> tuple[Subject, World]:
    """The trained agent and the platformer."""
    return adapt(Path(__file__).with_name("weights.safetensors"), name="platformer agent of 100,000 levels")


def evaluate(count: int | None = None, progress: Progress = quiet) -> Report:
    """The card's table anew: unseen levels and its own."""
    return evaluate_member("platformer_100k", count, progress)
