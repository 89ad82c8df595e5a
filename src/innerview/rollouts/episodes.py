"""Plays the same seeds with several players and keeps how each episode went; none is played twice."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass
from functools import cached_property
from time import monotonic
from typing import Any

from innerview.capture import evaluate
from innerview.capture.step import fewer_threads
from innerview.errors import CaptureError, EditError, SubjectError, WorldError
from innerview.jobs.engine import Progress
from innerview.rollouts.played import Lines, PlayedEpisodes, Standing, played_episodes, setting_of
from innerview.schema import Edit, EpisodeSummary
from innerview.store import Study
from innerview.subjects import Subject, checked, fingerprint
from innerview.worlds import World
from innerview.worlds.crowds import Crowded, default_lanes

PREVIEW_EVERY_S = 2.0
_ROUNDS = 4
"""Of worlds whose games are stepped one by one: so many seeds a lane before the next subject plays."""
Ended = Generator[list[tuple[PlayedEpisodes, EpisodeSummary]]]


@dataclass(frozen=True, kw_only=True)
class Player:
    """Who plays in which world, and what is changed inside at each step."""

    name: str
    subject: Subject
    world: World
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Match:
    """Players, and the seeds that each of them plays once.

    Players who are one subject with different edits play side by side in one batch; different subjects take turns.
    """

    players: tuple[Player, ...]
    seeds: Sequence[int]
    study: Study | None = None
    """Where episodes are kept, and those that were played before are found; nowhere where there is none."""
    greedy: bool = False
    noise: float = 0.0
    max_steps: int | None = None
    lanes: int | None = None
    counted: bool = False
    """Whether events and means of facts are counted, too."""

    def setting(self, player: Player) -> dict[str, Any]:
        """All that an episode depends on beside its seed and its edits."""
        return setting_of(player.subject, player.world, greedy=self.greedy, max_steps=self.max_steps)

    def play(self, progress: Progress, *, so_far: Callable[[Lines], Any] | None = None) -> Lines:
        """Every seed with every player; `so_far` is told now and then what there is over the first seeds of all."""
        played = self._played()
        standing = Standing(played, self.seeds)
        total, last = len(self.players) * len(self.seeds), monotonic()
        known = [each[seed].total_reward for each in played for seed in self.seeds if seed in each]
        done, earned = len(known), sum(known)
        progress(done, total, self._how_far(done, earned, standing))
        with nullcontext() if self._in_batches else fewer_threads(), closing(self._episodes(played)) as episodes:
            for ended in episodes:
                for whose in {id(each): each for each, _ in ended}.values():
                    whose.add([summary for each, summary in ended if each is whose])
                done, earned = done + len(ended), earned + sum(summary.total_reward for _, summary in ended)
                if ended:
                    progress(done, total, self._how_far(done, earned, standing))
                if so_far and 0 < standing.whole() < len(self.seeds) and monotonic() - last > PREVIEW_EVERY_S:
                    so_far(standing.lines())
                    last = monotonic()
        return standing.lines()

    def _how_far(self, done: int, earned: float, standing: Standing) -> str:
        if len(self.players) > 1:
            return f"{standing.whole():,} seeds by each of {len(self.players)}"
        return f"mean return {earned / done:.4g}" if done else ""

    @cached_property
    def _in_batches(self) -> bool:
        return not self.counted and all(isinstance(player.world, Crowded) for player in self.players)

    @cached_property
    def _teams(self) -> list[list[int]]:
        """Players, by number, who are the same subject in the same world."""
        found: dict[tuple[int, int], list[int]] = {}
        for number, player in enumerate(self.players):
            found.setdefault((id(player.subject), id(player.world)), []).append(number)
        return [*found.values()]

    def _played(self) -> list[PlayedEpisodes]:
        """What is known of each player."""
        found: dict[int, PlayedEpisodes] = {}
        for team in self._teams:
            first = self.players[team[0]]
            edits = [checked(self.players[number].edits, first.subject.info) for number in team]
            how = {"counted": self.counted, "noise": self.noise, **self.setting(first)}
            known = played_episodes(self.study, how, edits=[fingerprint(each) for each in edits])
            found |= dict(zip(team, known, strict=True))
        return [found[number] for number in range(len(self.players))]

    def _episodes(self, played: Sequence[PlayedEpisodes]) -> Ended:
        for turns in self._turns(played):
            with ExitStack() as stack:
                running = [stack.enter_context(closing(games)) for games in turns]
                while running:
                    for games in [*running]:
                        ended = next(games, None)
                        if ended is None:
                            running.remove(games)
                        else:
                            yield ended

    def _turns(self, played: Sequence[PlayedEpisodes]) -> Iterator[list[Ended]]:
        """Who plays which seeds at the same time: everybody where games are cheap, else one after the other."""
        if self._in_batches or len(self._teams) == 1:
            yield [self._evaluation(team, played, self.seeds) for team in self._teams]
            return
        size = _ROUNDS * (self.lanes or default_lanes(self.players[0].world))
        for start in range(0, len(self.seeds), size):
            part = self.seeds[start : start + size]
            yield from ([self._evaluation(team, played, part)] for team in self._teams)

    def _evaluation(self, team: Sequence[int], played: Sequence[PlayedEpisodes], seeds: Sequence[int]) -> Ended:
        """Seed by seed, so that a match that is stopped compares what it has over the same seeds."""
        first = self.players[team[0]]
        cells = [(number, seed) for seed in seeds for number in team if seed not in played[number]]
        episodes = evaluate(
            first.subject,
            first.world,
            [seed for _, seed in cells],
            programs=[team.index(number) for number, _ in cells],
            edits=[self.players[number].edits for number in team],
            lanes=self.lanes,
            greedy=self.greedy,
            noise=self.noise,
            max_steps=self.max_steps,
            counted=self.counted,
        )
        try:
            with closing(episodes):
                for ended in episodes:
                    yield [(played[cells[place][0]], summary) for place, summary in ended]
        except (WorldError, SubjectError, EditError) as problem:
            if self.study is None:
                raise
            raise CaptureError(
                f"'{first.subject.info.name}' could not play on in '{first.world.info.name}': {problem} Episodes "
                "that ended are saved; the same command again goes on from there."
            ) from problem
