"""The health agent: conv + GRU-512 on ViZDoom's health_gathering_supreme."""

from __future__ import annotations

import torch

from innerview.schema import EpisodeSummary
from innerview.subjects import Subject, subject
from innerview.worlds import World, world
from innerview_zoo.episodes import play
from innerview_zoo.manifest import weights_file
from innerview_zoo.models.doom.health.train import ACTIONS, EVALUATION_SEED, FRAME_SKIP, INPUT_HW, SCREEN_HW, Agent
from innerview_zoo.report import Figure, Progress, Report, mean_figure, no_progress, onwards, share_figure

EPISODES = 100
TIME_LIMIT = 525


def load() -> tuple[Subject, World]:
    """The trained agent and the scenario it was trained on."""
    height, width = INPUT_HW
    example = torch.zeros(1, 3, height, width)
    adapted = subject(Agent(), name="health agent", example=example, actions=list(ACTIONS))
    adapted.load_weights(weights_file("doom", "doom_health"))
    scenario = world(
        "doom:health_gathering_supreme",
        size=(width, height),
        frame_skip=FRAME_SKIP,
        resolution=f"{SCREEN_HW[1]}x{SCREEN_HW[0]}",
    )
    return adapted, scenario


def evaluate(count: int | None = None, progress: Progress = no_progress) -> Report:
    """Steps survived on fresh seeds, beside random actions."""
    seeds = range(EVALUATION_SEED, EVALUATION_SEED + (count or EPISODES))
    agent, scenario = load()
    of = 2 * len(seeds)
    chance = play(agent, scenario, seeds, noise=1.0, progress=onwards(progress, 0, of, "random actions"))
    played = play(agent, scenario, seeds, progress=onwards(progress, len(seeds), of, "this agent"))
    survived, lived = _figures(played, "fresh seeds, sampled actions")
    return Report(
        title=f"Health agent, {len(seeds)} fresh seeds from {EVALUATION_SEED:,} on",
        head=("", f"{survived.name} of {TIME_LIMIT}", lived.name),
        rows=(
            ("this agent, sampled actions", str(survived), str(lived)),
            ("random actions", *map(str, _figures(chance, "fresh seeds, random actions"))),
        ),
        main=survived,
    )


def _figures(played: list[EpisodeSummary], how: str) -> tuple[Figure, Figure]:
    lengths = [float(each.length) for each in played]
    lived = sum(each.outcome != "died" for each in played)
    return (
        mean_figure(lengths, name="steps survived", unit="steps", how=how),
        share_figure(lived, len(played), name="lived to the end", how=how),
    )
