"""Games for training: mazes of many levels, played in worker processes, with a reward for coming nearer."""

from __future__ import annotations

import argparse
import multiprocessing as mp
import signal
import tempfile
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from innerview.worlds.kitems import TIME_LIMIT, TIME_UP, KItemsGame
from innerview.worlds.mazes import FIRST_TEST_SEED, Maze, make_maze, write_wad

FULL = (5, 4)
# Cells a side and items; the last is the task itself.
LEVELS = ((3, 1), (4, 1), (3, 2), (5, 1), (4, 2), (5, 2), (4, 3), (5, 3), FULL)
TOLD = 11  # numbers that the critic is told
TIMED_OUT = 2  # any other end is 1
SPARE = 2  # engines of a worker whose next episode is being loaded


def tell_critic(game: KItemsGame) -> list[float]:
    """Items gathered, items there, the way to the next one, its bearing, the way left in all, the time left."""
    gathered = [float(game.gathered == i) for i in range(4)]
    if game.gathered >= len(game.maze.items):
        return [*gathered, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    far, turn = game.way(game.gathered)
    items, legs = game.maze.items, 0.0
    for i in range(game.gathered + 1, len(items)):
        legs += float(game.maze.distances(i)[items[i - 1]])
    rest = [len(items) / 4, far / 8, float(np.cos(turn)), float(np.sin(turn))]
    return [*gathered, *rest, legs / 16, 1 - game.steps / TIME_LIMIT, game.maze.size / 5]


class Lesson:
    """One engine with many mazes of all levels, and the reward that the agent is trained on."""

    def __init__(self, mazes: dict[int, list[int]], catalogue: list[Maze], wad: Path, shaping: float) -> None:
        self.mazes, self.catalogue, self.wad, self.shaping = mazes, catalogue, wad, shaping
        self.game = KItemsGame()
        self.start()

    def start(self) -> None:
        """Start the engine, again if it broke down."""
        self.game.load(self.catalogue, self.wad)

    def begin(self, level: int, rng: np.random.Generator) -> None:
        """A new episode in a maze of that level."""
        self.level = level
        choices = self.mazes[level]
        self.frame = self.game.play(choices[int(rng.integers(len(choices)))], seed=int(rng.integers(2**31)))

    def step(self, action: int) -> tuple[float, int]:
        """Reward and whether it ended; a step towards the next item pays, one away from it costs the same."""
        wanted, before = self.game.gathered, self.game.distance(self.game.gathered)
        played = self.game.step(action)
        self.frame, reward = played.frame_hwc, played.reward
        if played.picked_up is None or played.picked_up == wanted:
            # Not discounted: else standing still far from the items would pay.
            reward += self.shaping * (before - self.game.distance(wanted))
        return reward, TIMED_OUT if played.outcome == TIME_UP else int(played.done)


@dataclass(frozen=True)
class Shared:
    """Memory that the workers fill and the learner reads, one line per game."""

    frames: Tensor
    actions: Tensor
    rewards: Tensor
    done: Tensor
    told: Tensor
    ended: Tensor
    """Level, items gathered, items there and steps of the last episode."""
    chances: Tensor
    """Of each level to be drawn."""

    @staticmethod
    def make(games: int, screen_wh: tuple[int, int]) -> Shared:
        def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
            tensor = torch.zeros(*shape, dtype=dtype)
            tensor.share_memory_()  # type: ignore[no-untyped-call]
            return tensor

        return Shared(
            frames=zeros(games, screen_wh[1], screen_wh[0], 3, dtype=torch.uint8),
            actions=zeros(games, dtype=torch.int64),
            rewards=zeros(games),
            done=zeros(games),
            told=zeros(games, TOLD),
            ended=zeros(games, 4, dtype=torch.int32),
            chances=zeros(len(LEVELS), dtype=torch.float64),
        )


@dataclass(frozen=True)
class Task:
    """What a worker is to play."""

    groups: list[list[int]]
    seed: int
    mazes: int
    """Of the full task; a third as many of each other level."""
    shaping: float


def work(pipe: Connection, shared: Shared, task: Task) -> None:
    """Play the games of one worker until told to quit."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    rng = np.random.default_rng(task.seed)
    with tempfile.TemporaryDirectory(prefix="innerview-mazes-") as folder:
        levels, catalogue = draw_mazes(rng, task.mazes)
        wad = Path(folder) / "mazes.wad"
        wad.write_bytes(write_wad(catalogue))
        places = [i for group in task.groups for i in group]
        lessons = [Lesson(levels, catalogue, wad, task.shaping) for _ in range(len(places) + SPARE)]
        desk = Desk(lessons[len(places) :], shared.chances.numpy(), rng)
        try:
            play(
                pipe,
                shared,
                task.groups,
                {i: desk.swap(lesson) for i, lesson in zip(places, lessons, strict=False)},
                desk,
            )
        finally:
            desk.close()
            for lesson in lessons:
                lesson.game.close()


class Desk:
    """Keeps lessons that have just begun at hand, so that nobody waits while a map is loaded."""

    def __init__(self, spare: list[Lesson], chances: np.ndarray, rng: np.random.Generator) -> None:
        self.chances, self.rng = chances, rng
        self.pool = ThreadPoolExecutor(1)
        self.ready: deque[Future[Lesson]] = deque(self.pool.submit(self._begin, lesson) for lesson in spare)

    def swap(self, ended: Lesson) -> Lesson:
        """Take a lesson that ended, give one that has begun."""
        self.ready.append(self.pool.submit(self._begin, ended))
        return self.ready.popleft().result()

    def close(self) -> None:
        self.pool.shutdown()

    def _begin(self, lesson: Lesson) -> Lesson:
        level = int(self.rng.choice(len(LEVELS), p=self.chances / self.chances.sum()))
        lesson.begin(level, self.rng)
        return lesson


def draw_mazes(rng: np.random.Generator, count: int) -> tuple[dict[int, list[int]], list[Maze]]:
    """Mazes of every level, and where in the list each level's are."""
    levels: dict[int, list[int]] = {}
    catalogue: list[Maze] = []
    for level, (size, items) in enumerate(LEVELS):
        wanted = count if (size, items) == FULL else max(2, count // 3)
        levels[level] = list(range(len(catalogue), len(catalogue) + wanted))
        catalogue += [make_maze(int(s), size=size, items=items) for s in rng.integers(FIRST_TEST_SEED, size=wanted)]
    return levels, catalogue


def play(pipe: Connection, shared: Shared, groups: list[list[int]], lessons: dict[int, Lesson], desk: Desk) -> None:
    """A byte in says which group to step, the same byte out that it is done."""
    frames, actions, ended = shared.frames.numpy(), shared.actions.numpy(), shared.ended.numpy()
    rewards, done, told = shared.rewards.numpy(), shared.done.numpy(), shared.told.numpy()
    for i, lesson in lessons.items():
        frames[i], told[i] = lesson.frame, tell_critic(lesson.game)
    for group in range(len(groups)):
        pipe.send_bytes(bytes([group]))
    broken = breakdowns()
    while (order := pipe.recv_bytes()) != b"q":
        for i in groups[order[0]]:
            lesson = lessons[i]
            try:
                rewards[i], done[i] = lesson.step(int(actions[i]))
            except broken:
                lesson.start()
                rewards[i], done[i] = 0.0, TIMED_OUT
            if done[i]:
                game = lesson.game
                ended[i] = lesson.level, game.gathered, len(game.maze.items), game.steps
                lesson = lessons[i] = desk.swap(lesson)
            frames[i], told[i] = lesson.frame, tell_critic(lesson.game)
        pipe.send_bytes(order)


def breakdowns() -> tuple[type[Exception], ...]:
    """What an engine that ended by itself raises."""
    import vizdoom as vzd

    return (vzd.ViZDoomUnexpectedExitException, vzd.ViZDoomErrorException, vzd.ViZDoomIsNotRunningException)


class Players:
    """All worker processes, stepped a group at a time; a group's next order may be sent before the other's is done."""

    def __init__(self, args: argparse.Namespace, seed: int, chances: np.ndarray) -> None:
        self.per_group = args.workers * args.games
        self.shared = Shared.make(2 * self.per_group, KItemsGame().screen_wh)
        self.shared.chances[:] = torch.from_numpy(chances)
        context = mp.get_context("spawn")
        self.pipes: list[Any] = []
        self.processes = []
        for w in range(args.workers):
            first = w * args.games
            groups = [[g * self.per_group + first + k for k in range(args.games)] for g in range(2)]
            task = Task(groups, seed * 1000 + w, args.mazes, args.shaping)
            ours, theirs = context.Pipe()
            process = context.Process(target=work, args=(theirs, self.shared, task), daemon=True)
            process.start()
            self.pipes.append(ours)
            self.processes.append(process)
            theirs.close()
        if args.device == "cuda":  # pinned, so that frames travel to the GPU at full speed
            runtime: Any = torch.cuda.cudart()  # type: ignore[no-untyped-call]
            runtime.cudaHostRegister(self.shared.frames.data_ptr(), self.shared.frames.numel(), 0)

    def slice(self, group: int) -> slice:
        return slice(group * self.per_group, (group + 1) * self.per_group)

    def start(self, group: int) -> None:
        for pipe in self.pipes:
            pipe.send_bytes(bytes([group]))

    def wait(self) -> None:
        for pipe in self.pipes:
            pipe.recv_bytes()

    def close(self) -> None:
        for _ in range(2):
            self.wait()
        for pipe in self.pipes:
            pipe.send_bytes(b"q")
        deadline = time.time() + 15
        for process in self.processes:
            process.join(timeout=max(0.1, deadline - time.time()))
            if process.is_alive():
                process.terminate()
