"""The quiet platformer agent with its one channel for danger parted into three."""

from __future__ import annotations

from pathlib import Path

from innerview.subjects import Subject
from innerview.worlds import World
from innerview.zoo.platformer import adapt, evaluate_member
from innerview.zoo.report import Progress, Report, quiet


def load() -> tuple[Subject, World]:
    """The trained agent and the platformer."""
    return adapt(Path(__file__).with_name("weights.safetensors"), name="platformer agent that keeps dangers apart")


def evaluate(count: int | None = None, progress: Progress = quiet) -> Report:
    """The card's table anew: levels completed, and what ended the others."""
    return evaluate_member("platformer_apart", count, progress)
