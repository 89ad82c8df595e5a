"""Plays the same seeds with several players side by side and keeps how each went; none is played twice."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cached_property
from time import monotonic
from typing import Any

from innerview.capture import evaluate
from innerview.edits.ablation_test import Arm, ArmKind, compare_arms
from innerview.errors import CaptureError, SubjectError, WorldError
from innerview.jobs.engine import Progress
from innerview.rollouts.played import Lines, PlayedEpisodes, Standing, played_episodes, setting_of
from innerview.schema import EpisodeSummary
from innerview.store import Study
from innerview.subjects import Subject
from innerview.worlds import World
from innerview.worlds.crowds import Crowded, Known, default_lanes

PREVIEW_EVERY_S = 2.0
_ROUNDS = 4
"""Of a world whose games are stepped one by one: so many seeds a lane before it is the next player's turn."""


@dataclass(frozen=True)
class Player:
    """Who plays in which world."""

    name: str
    kind: ArmKind
    subject: Subject
    world: World


@dataclass(frozen=True, kw_only=True)
class Match:
    """Players, and the seeds that each of them plays once."""

    study: Study
    players: tuple[Player, ...]
    seeds: tuple[int, ...]
    greedy: bool = False
    max_steps: int | None = None
    lanes: int | None = None

    def setting(self, player: Player) -> dict[str, Any]:
        """All that an episode depends on beside its seed."""
        return setting_of(player.subject, player.world, greedy=self.greedy, max_steps=self.max_steps)

    def play(self, progress: Progress, *, so_far: Callable[[Lines], Any] | None = None) -> Lines:
        """Every seed with every player; `so_far` is told now and then what there is over the first seeds of all."""
        played = [played_episodes(self.study, self.setting(p), driver="evaluation")[0] for p in self.players]
        standing = Standing(played, self.seeds)
        total, last = len(self.players) * len(self.seeds), monotonic()
        done = sum(seed in each for each in played for seed in self.seeds)
        progress(done, total, self._how_far(standing))
        with closing(self._episodes(played)) as episodes:
            for whose, ended in episodes:
                whose.add(ended)
                done += len(ended)
                progress(done, total, self._how_far(standing))
                if so_far and 0 < standing.whole() < len(self.seeds) and monotonic() - last > PREVIEW_EVERY_S:
                    so_far(standing.lines())
                    last = monotonic()
        return standing.lines()

    def _how_far(self, standing: Standing) -> str:
        return f"{standing.whole():,} levels by each of {len(self.players)}"

    def _episodes(self, played: Sequence[PlayedEpisodes]) -> Generator[tuple[PlayedEpisodes, list[EpisodeSummary]]]:
        for turns in self._turns(played):
            with ExitStack() as stack:
                running = [(whose, stack.enter_context(closing(games))) for whose, games in turns]
                while running:
                    for turn in [*running]:
                        ended = next(turn[1], None)
                        if ended is None:
                            running.remove(turn)
                        else:
                            yield turn[0], ended

    def _turns(
        self, played: Sequence[PlayedEpisodes]
    ) -> Iterator[list[tuple[PlayedEpisodes, Generator[list[EpisodeSummary]]]]]:
        """Who plays which seeds at the same time: in a batch everybody, else one after the other."""
        pairs = [*zip(self.players, played, strict=True)]
        if all(isinstance(player.world, Crowded) for player in self.players):
            yield [(whose, self._evaluation(player, whose, self.seeds)) for player, whose in pairs]
            return
        first = self.players[0]
        size = _ROUNDS * (self.lanes or default_lanes(first.world, first.subject.device))
        for start in range(0, len(self.seeds), size):
            part = self.seeds[start : start + size]
            yield from ([(whose, self._evaluation(player, whose, part))] for player, whose in pairs)

    def _evaluation(
        self, player: Player, played: PlayedEpisodes, seeds: Sequence[int]
    ) -> Generator[list[EpisodeSummary]]:
        missing = [seed for seed in seeds if seed not in played]
        try:
            yield from evaluate(
                player.subject,
                player.world,
                missing,
                lanes=self.lanes,
                greedy=self.greedy,
                max_steps=self.max_steps,
            )
        except (WorldError, SubjectError) as problem:
            raise CaptureError(
                f"'{player.subject.info.name}' could not play on in '{player.world.info.name}': {problem} Episodes "
                "that ended are saved; the same command again goes on from there."
            ) from problem

    @cached_property
    def endings(self) -> tuple[str, ...]:
        """Every way an episode can end, where the world knows, the good one first."""
        world = self.players[0].world
        return tuple(world.endings) if isinstance(world, Known) else ()


def value_of(match: Match, lines: Lines) -> dict[str, Any]:
    """The ablation test as JSON."""
    pairs = zip(match.players, lines, strict=True)
    arms = [Arm(name=player.name, kind=player.kind, episodes=episodes) for player, episodes in pairs]
    return {
        "levels": len(match.seeds),
        "done": len(lines[0]),
        "seed": match.seeds[0],
        **compare_arms(arms, match.endings),
    }
