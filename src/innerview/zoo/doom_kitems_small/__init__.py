"""The small k-items agent: as the k-items agent, with a GRU of 32 elements."""

from __future__ import annotations

from pathlib import Path

from innerview.subjects import Subject
from innerview.worlds import World
from innerview.zoo.doom_kitems import adapt, evaluate_agent
from innerview.zoo.report import Progress, Report, quiet


def load() -> tuple[Subject, World]:
    """The trained agent and its mazes."""
    return adapt(Path(__file__).with_name("weights.safetensors"), name="small k-items agent", memory=32)


def evaluate(count: int | None = None, progress: Progress = quiet) -> Report:
    """Items gathered in unseen mazes, beside random actions."""
    return evaluate_agent(*load(), title="Small k-items agent", count=count, progress=progress)
