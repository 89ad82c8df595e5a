"""Plays whole episodes and keeps only how they went: what evaluations count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from innerview.errors import InnerviewError, UnknownName
from innerview.rollouts.episodes import Match, Player
from innerview.schema import EpisodeSummary
from innerview.subjects import Subject
from innerview.worlds import World
from innerview_zoo.report import Progress, no_progress

Choice = Literal["sample", "greedy"]


def play(
    subject: Subject,
    world: World,
    seeds: Sequence[int],
    *,
    lanes: int | None = None,
    choose: Choice = "sample",
    noise: float = 0.0,
    max_steps: int | None = None,
    progress: Progress = no_progress,
) -> list[EpisodeSummary]:
    """An episode for each seed, in the order of the seeds; the same arguments give the same episodes.

    `noise` is how often any action is taken instead of the chosen one: 0.05 is the usual test of Atari agents, and 1
    plays at random. A sampled action of a q head is any action in 5 % of the steps already.
    """
    _check(seeds, choose)
    match = Match(
        players=(Player(name=subject.info.name, subject=subject, world=world),),
        seeds=tuple(int(seed) for seed in seeds),
        greedy=choose == "greedy",
        noise=noise,
        max_steps=max_steps,
        lanes=lanes,
    )

    def report(done: int, total: int | None, message: str = "") -> None:
        progress(done, len(seeds), message)

    return match.play(report)[0]


def _check(seeds: Sequence[int], choose: str) -> None:
    if not seeds:
        raise InnerviewError("There are no seeds to play: at least one episode is needed.")
    for seed in seeds:
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
            raise InnerviewError(f"A seed is a whole number, not {seed!r}.")
    if choose not in get_args(Choice):
        raise UnknownName("way to choose actions", str(choose), get_args(Choice))
