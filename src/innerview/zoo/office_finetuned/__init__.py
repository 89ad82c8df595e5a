"""The office's pose network, the vanilla model, tuned on pictures of trajectory 2 in the stand-in."""

from __future__ import annotations

from typing import Any

from innerview.subjects import Subject
from innerview.worlds import World
from innerview.zoo.office import evaluate_model, load_model
from innerview.zoo.report import Progress, Report, quiet


def load(**settings: Any) -> tuple[Subject, World]:
    """The trained network and its tour: `which=1` or `2`, `domain="sim"` or `"real"`; see world("office:tour")."""
    return load_model("finetuned", **settings)


def evaluate(count: int | None = None, progress: Progress = quiet) -> Report:
    """Errors in place and heading on unseen simulated pictures and on both trajectories."""
    return evaluate_model("finetuned", count, progress)
