"""Emulators in processes of their own, stepped in two groups: while one group plays, the other's actions are decided.

Raw screens travel through shared memory; the trainer shrinks them in one batch where it decides.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.context import SpawnContext
from types import TracebackType
from typing import Any, Protocol

import numpy as np

from innerview.errors import InnerviewError

SCREEN = (210, 160)
GROUPS = 2
_PATIENCE_S = 5.0


class Emulator(Protocol):
    """One running game, as training sees it: full games one after the other."""

    def begin(self, out: np.ndarray) -> None:
        """Start a game and write its first screen."""

    def act(self, action: int, out: np.ndarray) -> tuple[float, bool, bool]:
        """Act once and write the screen; reward, whether a life was lost, whether the game is over."""


MakeEmulator = Callable[[int], Emulator]
"""From a seed; it travels to another process, so it must be picklable."""


@dataclass(frozen=True)
class Shape:
    """How many emulators there are and where."""

    workers: int
    lanes: int
    """In all workers and both groups together."""

    def __post_init__(self) -> None:
        if self.workers < 1 or self.lanes % (GROUPS * self.workers) or not self.lanes:
            raise InnerviewError(
                f"{self.lanes} lanes cannot be shared among {self.workers} workers with two groups each: "
                f"take a multiple of {GROUPS * max(self.workers, 1)}."
            )

    @property
    def group(self) -> int:
        """Lanes of one group, over all workers."""
        return self.lanes // GROUPS

    @property
    def share(self) -> int:
        """Lanes of one group in one worker."""
        return self.group // self.workers


@dataclass(frozen=True)
class Board:
    """What trainer and workers share, for one group."""

    screens: Any
    actions: Any
    rewards: Any
    lost: Any
    over: Any

    @classmethod
    def of(cls, context: SpawnContext, lanes: int) -> Board:
        """Fresh shared memory."""
        return cls(
            context.RawArray("B", lanes * SCREEN[0] * SCREEN[1]),
            context.RawArray("i", lanes),
            context.RawArray("f", lanes),
            context.RawArray("B", lanes),
            context.RawArray("B", lanes),
        )

    def views(self) -> Views:
        """The same memory as arrays."""
        return Views(
            np.frombuffer(self.screens, np.uint8).reshape(-1, *SCREEN),
            np.frombuffer(self.actions, np.int32),
            np.frombuffer(self.rewards, np.float32),
            np.frombuffer(self.lost, np.uint8),
            np.frombuffer(self.over, np.uint8),
        )


@dataclass(frozen=True)
class Views:
    """One group's shared memory as arrays, a row per lane."""

    screens: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    """Of the last action, as the game gave it."""
    lost: np.ndarray
    """1 where the last action cost a life."""
    over: np.ndarray
    """1 where the last action ended the game: the screen is the first of a new one."""


class Sampler:
    """All emulators of one training."""

    def __init__(self, make: MakeEmulator, shape: Shape, *, seed: int = 0) -> None:
        self.shape = shape
        context = multiprocessing.get_context("spawn")
        boards = [Board.of(context, shape.group) for _ in range(GROUPS)]
        self.views = [board.views() for board in boards]
        self._go = [[context.Semaphore(0) for _ in range(GROUPS)] for _ in range(shape.workers)]
        self._done = [[context.Semaphore(0) for _ in range(GROUPS)] for _ in range(shape.workers)]
        self._scores = [np.zeros(shape.group) for _ in range(GROUPS)]
        self._workers = [
            context.Process(
                target=_work,
                args=(make, boards, shape.share, index, seed * 10_007, self._go[index], self._done[index]),
                daemon=True,
            )
            for index in range(shape.workers)
        ]
        for worker in self._workers:
            worker.start()

    def __enter__(self) -> Sampler:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def wait(self, group: int) -> Views:
        """Until every lane of the group has played its action (or, at first, shows its first screen)."""
        for index, worker in enumerate(self._workers):
            while not self._done[index][group].acquire(timeout=_PATIENCE_S):
                if not worker.is_alive():
                    raise InnerviewError(f"Emulator process {index} ended (exit code {worker.exitcode}).")
        return self.views[group]

    def send(self, group: int, actions: np.ndarray) -> None:
        """Let the group play these actions; returns at once."""
        self.views[group].actions[:] = actions
        for index in range(len(self._workers)):
            self._go[index][group].release()

    def finished(self, group: int) -> list[tuple[int, float]]:
        """Lane and score of every game that the last action ended."""
        view, scores = self.views[group], self._scores[group]
        scores += view.rewards
        ended = np.flatnonzero(view.over)
        found = [(group * self.shape.group + int(lane), float(scores[lane])) for lane in ended]
        scores[ended] = 0
        return found

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.terminate()
        for worker in self._workers:
            worker.join()


def _work(
    make: MakeEmulator,
    boards: Sequence[Board],
    share: int,
    index: int,
    seed: int,
    go: Sequence[Any],
    done: Sequence[Any],
) -> None:
    """A worker's life: play both groups in turn until the trainer is gone."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    if hasattr(os, "nice"):
        os.nice(5)  # Whoever decides and learns goes first: all emulators wait for it.
    views = [board.views() for board in boards]
    mine = range(index * share, (index + 1) * share)
    games = [[make(seed + (g * len(views[g].over) + lane)) for lane in mine] for g in range(GROUPS)]
    for group in range(GROUPS):
        for game, lane in zip(games[group], mine, strict=True):
            game.begin(views[group].screens[lane])
        done[group].release()
    while True:
        for group in range(GROUPS):
            while not go[group].acquire(timeout=_PATIENCE_S):
                if not parent.is_alive():
                    return
            _step(games[group], mine, views[group])
            done[group].release()


def _step(games: Sequence[Emulator], lanes: range, view: Views) -> None:
    for game, lane in zip(games, lanes, strict=True):
        screen = view.screens[lane]
        reward, lost, over = game.act(int(view.actions[lane]), screen)
        if over:
            game.begin(screen)
        view.rewards[lane], view.lost[lane], view.over[lane] = reward, lost, over
