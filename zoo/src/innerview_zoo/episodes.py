"""Plays whole episodes and keeps only how they went: what evaluations count."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import torch

from innerview.errors import InnerviewError, UnknownName
from innerview.schema import Moment
from innerview.subjects import Subject
from innerview.worlds import Lanes, World
from innerview_zoo.report import Progress, quiet

Choice = Literal["sample", "greedy"]
STEP_LIMIT = "step limit"


@dataclass(frozen=True, kw_only=True)
class Played:
    """How one episode went."""

    seed: int
    ret: float
    """The sum of its rewards."""
    length: int
    ended: str
    """Why it ended, in the world's words."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the world told at its end."""


def play(
    subject: Subject,
    world: World,
    seeds: Sequence[int],
    *,
    lanes: int = 8,
    choose: Choice = "sample",
    noise: float = 0.0,
    max_steps: int | None = None,
    progress: Progress = quiet,
) -> list[Played]:
    """An episode for each seed, in the order of the seeds; the same arguments give the same episodes.

    `noise` is how often any action is taken instead of the chosen one: 0.05 is the usual test of Atari agents, and 1
    plays at random. A sampled action of a q head is any action in 5 % of the steps already.
    """
    _check(seeds, lanes, choose, noise, max_steps)
    if noise and world.info.actions.kind != "discrete":
        raise InnerviewError(f"noise takes random actions, which must be discrete; '{world.info.name}' has others.")
    fed = tuple(spec.name for spec in world.info.observations if spec.role == "observation")
    table = _Table(subject, fed, world.info.actions.size, choose == "greedy", noise, max_steps)
    opened = world.open(min(lanes, len(seeds)))
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(max(1, threads // 2))  # games need cores too
        return _play_all(table, opened, seeds, progress)
    finally:
        torch.set_num_threads(threads)
        opened.close()


def _check(seeds: Sequence[int], lanes: int, choose: str, noise: float, max_steps: int | None) -> None:
    if not seeds:
        raise InnerviewError("There are no seeds to play: at least one episode is needed.")
    for seed in seeds:
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
            raise InnerviewError(f"A seed is a whole number, not {seed!r}.")
    if choose not in get_args(Choice):
        raise UnknownName("way to choose actions", str(choose), get_args(Choice))
    if not 0 <= noise <= 1:
        raise InnerviewError(f"noise is the share of random actions, from 0 to 1, not {noise}.")
    if lanes < 1:
        raise InnerviewError(f"lanes is how many games run side by side: 1 or more, not {lanes}.")
    if max_steps is not None and max_steps < 1:
        raise InnerviewError(f"max_steps is where an episode is cut: 1 or more, not {max_steps}.")


@dataclass(frozen=True)
class _Table:
    """Who decides, and how."""

    subject: Subject
    fed: tuple[str, ...]
    actions: int
    greedy: bool
    noise: float
    max_steps: int | None

    def decide(self, running: Mapping[int, _Running]) -> dict[int, Any]:
        """An action for every lane that plays; the memories of these lanes move on."""
        if self.noise >= 1:
            return {lane: int(game.rng.integers(self.actions)) for lane, game in running.items()}
        games = list(running.values())
        seen = {name: np.stack([game.moment.observation[name] for game in games]) for name in self.fed}
        sites = games[0].memory
        memory = {site: torch.stack([game.memory[site] for game in games]) for site in sites}
        output = self.subject.run(self.subject.inputs(seen), memory)
        chosen = self.subject.act(output, greedy=self.greedy, generators=[game.rng for game in games])
        for place, game in enumerate(games):
            game.memory = {site: value[place] for site, value in output.memory.items()}
        return {lane: self._disturbed(chosen[place], running[lane].rng) for place, lane in enumerate(running)}

    def _disturbed(self, action: Any, rng: np.random.Generator) -> Any:
        if self.noise and rng.random() < self.noise:
            return int(rng.integers(self.actions))
        return action

    def begin(self, lanes: Lanes, lane: int, place: int, seed: int) -> _Running:
        """A fresh episode in a lane."""
        memory = {site: value[0] for site, value in self.subject.initial_memory(1).items()}
        return _Running(place, seed, np.random.default_rng(seed), lanes.reset(lane, seed), memory)


@dataclass
class _Running:
    """An episode that is being played."""

    place: int
    seed: int
    rng: np.random.Generator
    moment: Moment
    memory: dict[str, torch.Tensor]
    total: float = 0.0
    length: int = 0

    def go_on(self, moment: Moment, max_steps: int | None) -> Played | None:
        """Take what the last action brought; the episode's summary where it ended."""
        self.moment, self.total, self.length = moment, self.total + moment.reward, self.length + 1
        cut = STEP_LIMIT if max_steps is not None and self.length >= max_steps else ""
        ended = moment.ended or cut
        if not ended:
            return None
        return Played(seed=self.seed, ret=self.total, length=self.length, ended=ended, facts=dict(moment.facts))


def _play_all(table: _Table, lanes: Lanes, seeds: Sequence[int], progress: Progress) -> list[Played]:
    """Whoever is free takes the next seed."""
    waiting = deque((place, int(seed)) for place, seed in enumerate(seeds))
    running = {lane: table.begin(lanes, lane, *waiting.popleft()) for lane in range(lanes.count)}
    done: dict[int, Played] = {}
    progress(0, len(seeds), "")
    while running:
        after = lanes.step(table.decide(running))
        for lane, game in list(running.items()):
            played = game.go_on(after[lane], table.max_steps)
            if played is None:
                continue
            done[game.place] = played
            mean = sum(each.ret for each in done.values()) / len(done)
            progress(len(done), len(seeds), f"mean return {mean:.4g}")
            if waiting:
                running[lane] = table.begin(lanes, lane, *waiting.popleft())
            else:
                del running[lane]
    return [done[place] for place in range(len(seeds))]
