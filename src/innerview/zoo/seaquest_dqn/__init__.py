"""A dueling double DQN that plays Seaquest: the worth of a moment and the advantage of each action apart."""

from __future__ import annotations

from innerview.subjects import Subject
from innerview.worlds import World
from innerview.zoo.atari import FINAL, load_agent
from innerview.zoo.report import Progress, Report, quiet


def load(snapshot: str = FINAL) -> tuple[Subject, World]:
    """The trained agent ("final") or how it was on the way ("early", "middle"), and its game."""
    return load_agent("seaquest_dqn", snapshot)


def evaluate(count: int | None = None, progress: Progress = quiet) -> Report:
    """The card's table anew: full games with 5 % random actions."""
    from innerview.zoo.atari.score import evaluate_agent

    return evaluate_agent("seaquest_dqn", count, progress)
