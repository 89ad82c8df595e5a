"""Plays the same seeds with several players side by side and keeps how each went; none is played twice."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cached_property
from time import monotonic
from typing import Any

from innerview.capture.trial import Outcome, trial
from innerview.edits.ablation_test import Arm, ArmKind, compare_arms
from innerview.jobs.engine import Progress
from innerview.store import Played, Study
from innerview.subjects import Subject
from innerview.worlds import World
from innerview.worlds.crowds import Crowded, Known, usual_lanes

Lines = list[list[Mapping[str, Any]]]
"""For each player, how the seeds went, in their order."""
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
        world = player.world.info
        return {
            "weights": player.subject.weights_digest(),
            "world": {"name": world.name, **world.settings},
            "greedy": self.greedy,
            "max_steps": self.max_steps,
        }

    def play(self, progress: Progress, *, so_far: Callable[[Lines], Any] | None = None) -> Lines:
        """Every seed with every player; `so_far` is told now and then what there is over the first seeds of all."""
        books = [_Book(Played(self.study, {"how": "trial", **self.setting(p)})) for p in self.players]
        shelf = _Shelf(books, self.seeds)
        total, last = len(self.players) * len(self.seeds), monotonic()
        done = sum(book.has(seed) for book in books for seed in self.seeds)
        progress(done, total, shelf.how_far())
        with closing(self._episodes(books)) as episodes:
            for book, ended in episodes:
                book.add(ended)
                done += len(ended)
                progress(done, total, shelf.how_far())
                if so_far and 0 < shelf.whole() < len(self.seeds) and monotonic() - last > PREVIEW_EVERY_S:
                    so_far(shelf.lines())
                    last = monotonic()
        return shelf.lines()

    def _episodes(self, books: Sequence[_Book]) -> Generator[tuple[_Book, list[Outcome]]]:
        for turns in self._turns(books):
            with ExitStack() as stack:
                running = [(book, stack.enter_context(closing(games))) for book, games in turns]
                while running:
                    for turn in [*running]:
                        ended = next(turn[1], None)
                        if ended is None:
                            running.remove(turn)
                        else:
                            yield turn[0], ended

    def _turns(self, books: Sequence[_Book]) -> Iterator[list[tuple[_Book, Generator[list[Outcome]]]]]:
        """Who plays which seeds at the same time: in a batch everybody, else one after the other."""
        pairs = [*zip(self.players, books, strict=True)]
        if all(isinstance(player.world, Crowded) for player in self.players):
            yield [(book, self._trial(player, book, self.seeds)) for player, book in pairs]
            return
        first = self.players[0]
        size = _ROUNDS * (self.lanes or usual_lanes(first.world, first.subject.device))
        for start in range(0, len(self.seeds), size):
            part = self.seeds[start : start + size]
            yield from ([(book, self._trial(player, book, part))] for player, book in pairs)

    def _trial(self, player: Player, book: _Book, seeds: Sequence[int]) -> Generator[list[Outcome]]:
        missing = [seed for seed in seeds if not book.has(seed)]
        return trial(
            player.subject, player.world, missing, lanes=self.lanes, greedy=self.greedy, max_steps=self.max_steps
        )

    @cached_property
    def endings(self) -> tuple[str, ...]:
        """Every way an episode can end, where the world knows, the good one first."""
        world = self.players[0].world
        return tuple(world.endings) if isinstance(world, Known) else ()


class _Book:
    """What is known of one player's episodes."""

    def __init__(self, played: Played) -> None:
        self._played = played
        self.lines = played.known()

    def has(self, seed: int) -> bool:
        return str(seed) in self.lines

    def add(self, ended: Sequence[Outcome]) -> None:
        lines = [
            {"key": str(e.seed), "outcome": e.outcome, "length": e.length, "return": e.total_reward} for e in ended
        ]
        if lines:
            self._played.add(lines)
            self.lines.update({line["key"]: line for line in lines})  # type: ignore[misc]


class _Shelf:
    """How far all players have come together."""

    def __init__(self, books: Sequence[_Book], seeds: Sequence[int]) -> None:
        self._books, self._seeds, self._whole = books, seeds, 0

    def whole(self) -> int:
        """How many seeds come before the first that somebody still plays: what ends early is not what ends well."""
        while self._whole < len(self._seeds) and all(book.has(self._seeds[self._whole]) for book in self._books):
            self._whole += 1
        return self._whole

    def lines(self) -> Lines:
        """How those seeds went."""
        seeds = self._seeds[: self.whole()]
        return [[book.lines[str(seed)] for seed in seeds] for book in self._books]

    def how_far(self) -> str:
        return f"{self.whole():,} levels by each of {len(self._books)}"


def value_of(match: Match, lines: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """The proof as JSON."""
    arms = [
        Arm(
            name=player.name,
            kind=player.kind,
            seeds=match.seeds[: len(told)],
            outcomes=[line["outcome"] for line in told],
            returns=[line["return"] for line in told],
            lengths=[line["length"] for line in told],
        )
        for player, told in zip(match.players, lines, strict=True)
    ]
    return {
        "levels": len(match.seeds),
        "done": len(lines[0]),
        "seed": match.seeds[0],
        **compare_arms(arms, match.endings),
    }
