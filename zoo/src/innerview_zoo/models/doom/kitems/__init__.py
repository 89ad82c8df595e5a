"""The k-items agent: conv + GRU-128 that gathers items in order in mazes never seen before."""

from __future__ import annotations

from pathlib import Path

import torch

from innerview.schema import EpisodeSummary
from innerview.subjects import Subject, subject
from innerview.worlds import World, world
from innerview_zoo.episodes import play
from innerview_zoo.models.doom.kitems.agent import INPUT_HW, Agent
from innerview_zoo.report import Progress, Report, mean_figure, onwards, share_figure
from innerview_zoo.worlds.kitems.game import ACTIONS, ALL_ITEMS, TIME_UP, WRONG_ITEM
from innerview_zoo.worlds.kitems.mazes import FIRST_TEST_SEED

MAZES = 200


def adapt(weights: Path, *, name: str, memory: int) -> tuple[Subject, World]:
    """An agent with a memory of that size and these weights, and the mazes it was trained for."""
    height, width = INPUT_HW
    example = torch.zeros(1, 3, height, width)
    adapted = subject(Agent(memory), name=name, example=example, actions=list(ACTIONS))
    adapted.load_weights(weights)
    return adapted, world("doom:kitems", size=(width, height))


def evaluate_agent(agent: Subject, mazes: World, *, title: str, count: int | None, progress: Progress) -> Report:
    """What an agent gathers in mazes that nothing was trained on, beside random actions."""
    seeds = range(FIRST_TEST_SEED, FIRST_TEST_SEED + (count or MAZES))
    of = 2 * len(seeds)
    chance = play(agent, mazes, seeds, noise=1.0, progress=onwards(progress, 0, of, "random actions"))
    played = play(agent, mazes, seeds, progress=onwards(progress, len(seeds), of, "this agent"))
    complete, how = _ended(played, ALL_ITEMS), "unseen mazes, sampled actions"
    return Report(
        title=f"{title}, {len(seeds)} mazes of the seeds from {FIRST_TEST_SEED:,} on",
        head=("", "items of 4", "at least 1, %", "2, %", "3, %", "all 4, %", "wrong item", "time up"),
        rows=(("this agent, sampled actions", *_cells(played)), ("random actions", *_cells(chance))),
        main=share_figure(complete, len(played), name="all four items", how=how),
    )


def _cells(played: list[EpisodeSummary]) -> list[str]:
    items = [int(each.facts["gathered"]) for each in played]
    shares = [share_figure(sum(n >= k for n in items), len(items), name="") for k in range(1, 5)]
    outcomes = (str(_ended(played, outcome)) for outcome in (WRONG_ITEM, TIME_UP))
    least = (f"{share.value:.1f} ({share.low:.0f}–{share.high:.0f})" for share in shares)
    return [str(mean_figure(items, name="items")), *least, *outcomes]


def _ended(played: list[EpisodeSummary], outcome: str) -> int:
    return sum(each.outcome == outcome for each in played)
