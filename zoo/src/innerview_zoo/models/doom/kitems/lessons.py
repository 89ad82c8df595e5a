"""Games for training: mazes of many levels in worker processes, a reward for coming nearer, and a teacher's advice."""

from __future__ import annotations

import argparse
import multiprocessing as mp
import os
import signal
import tempfile
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from innerview.errors import WorldError
from innerview_zoo.models.doom.kitems.teacher import KNOWN, Plan, Teacher
from innerview_zoo.worlds.kitems.game import TIME_LIMIT, TIME_UP, KItemsGame
from innerview_zoo.worlds.kitems.mazes import FIRST_TEST_SEED, Maze, make_maze, write_wad

FULL = (5, 4)
# Cells a side and items; the last is the task itself.
LEVELS = ((3, 1), (4, 1), (3, 2), (5, 1), (4, 2), (5, 2), (4, 3), (5, 3), FULL)
TOLD = 11  # numbers that the critic is told
TIMED_OUT = 2  # any other end is 1
SPARE = 2  # engines of a worker whose next episode is being loaded
PATIENCE_S = 120.0
LEAD = (50, 350)  # steps that the teacher plays where it leads
# What a game notes down after each step: what the step brought, then where it led to.
REWARD, DONE, ADVICE, LED = range(4)
FOR_CRITIC = slice(4, 4 + TOLD)
SEEN = slice(4 + TOLD, 4 + TOLD + KNOWN)
NOTES = 4 + TOLD + KNOWN


def critic_facts(game: KItemsGame) -> list[float]:
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


class School:
    """The mazes of a worker, of all levels, and the plans that teachers have drawn of them."""

    def __init__(self, rng: np.random.Generator, count: int, wad: Path) -> None:
        self.levels, self.catalogue = draw_mazes(rng, count)
        self.plans: dict[int, Plan] = {}
        self.wad = wad
        wad.write_bytes(write_wad(self.catalogue))

    def teacher(self, index: int) -> Teacher:
        """A teacher that has seen nothing of a maze."""
        if index not in self.plans:
            self.plans[index] = Plan(self.catalogue[index])
        return Teacher(self.plans[index])


class Lesson:
    """One engine with many mazes of all levels, and the reward that the agent is trained on."""

    def __init__(self, school: School, shaping: float) -> None:
        self.school, self.shaping = school, shaping
        self.game = KItemsGame()
        self.start()

    def start(self) -> None:
        """Start the engine, again if it broke down."""
        self.game.load(self.school.catalogue, self.school.wad)

    def begin(self, level: int, rng: np.random.Generator, lead: float) -> None:
        """A new episode in a maze of that level; with some chance the teacher plays the first steps."""
        self.level = level
        index = int(rng.choice(self.school.levels[level]))
        self.led = int(rng.integers(*LEAD)) if rng.random() < lead else 0
        self.frame = self.game.play(index, seed=int(rng.integers(2**31)))
        self.teacher = self.school.teacher(index)

    def notes(self) -> list[float]:
        """What the learner needs to know of the present state."""
        game, teacher = self.game, self.teacher
        teacher.watch(game.x, game.y, game.angle_deg, game.gathered)
        led = float(game.steps < self.led)
        return [float(teacher.advise()), led, *critic_facts(game), *teacher.known()]

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
    notes: Tensor
    ended: Tensor
    """Level, items gathered, items there, steps of the last episode, and whether the teacher led."""
    chances: Tensor
    """Of each level to be drawn, then of the teacher leading, then whether to quit."""

    @staticmethod
    def make(games: int, screen_wh: tuple[int, int]) -> Shared:
        def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
            tensor = torch.zeros(*shape, dtype=dtype)
            tensor.share_memory_()  # type: ignore[no-untyped-call]
            return tensor

        return Shared(
            frames=zeros(games, screen_wh[1], screen_wh[0], 3, dtype=torch.uint8),
            actions=zeros(games, dtype=torch.int64),
            notes=zeros(games, NOTES),
            ended=zeros(games, 5, dtype=torch.int32),
            chances=zeros(len(LEVELS) + 2, dtype=torch.float64),
        )


@dataclass(frozen=True)
class Task:
    """What a worker is to play."""

    groups: list[list[int]]
    go: Any
    """A semaphore that says when to step the next group."""
    finished: list[Any]
    """One for each group, which says when it is stepped."""
    seed: int
    mazes: int
    """Of the full task; a third as many of each other level."""
    shaping: float


def work(shared: Shared, task: Task) -> None:
    """Play the games of one worker until told to quit."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    if hasattr(os, "nice"):
        os.nice(5)  # the process that decides and learns goes first
    rng = np.random.default_rng(task.seed)
    with tempfile.TemporaryDirectory(prefix="innerview-mazes-") as folder:
        school = School(rng, task.mazes, Path(folder) / "mazes.wad")
        places = [i for group in task.groups for i in group]
        lessons = [Lesson(school, task.shaping) for _ in range(len(places) + SPARE)]
        desk = Desk(lessons[len(places) :], shared.chances.numpy(), rng)
        try:
            play(shared, task, {i: desk.swap(lesson) for i, lesson in zip(places, lessons, strict=False)}, desk)
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
        chances, lead = self.chances[: len(LEVELS)], float(self.chances[-2])
        lesson.begin(int(self.rng.choice(len(LEVELS), p=chances / chances.sum())), self.rng, lead)
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


def play(shared: Shared, task: Task, lessons: dict[int, Lesson], desk: Desk) -> None:
    """Step one group after the other, each when told to."""
    frames, notes, actions, ended = (t.numpy() for t in (shared.frames, shared.notes, shared.actions, shared.ended))
    for i, lesson in lessons.items():
        frames[i], notes[i] = lesson.frame, [0.0, 0.0, *lesson.notes()]
    for finished in task.finished:
        finished.release()
    broken = breakdowns()
    for group, finished in cycle(zip(task.groups, task.finished, strict=True)):
        task.go.acquire()
        if shared.chances[-1]:
            return
        for i in group:
            lesson = lessons[i]
            try:
                reward, done = lesson.step(int(actions[i]))
            except broken:
                lesson.start()
                reward, done = 0.0, TIMED_OUT
            if done:
                game = lesson.game
                ended[i] = lesson.level, game.gathered, len(game.maze.items), game.steps, lesson.led > 0
                lesson = lessons[i] = desk.swap(lesson)
            frames[i], notes[i] = lesson.frame, [reward, done, *lesson.notes()]
        finished.release()


def breakdowns() -> tuple[type[Exception], ...]:
    """What an engine that ended by itself raises."""
    import vizdoom as vzd

    return (vzd.ViZDoomUnexpectedExitException, vzd.ViZDoomErrorException, vzd.ViZDoomIsNotRunningException)


class Players:
    """All worker processes, stepped a group at a time; a group's next order may be sent before the other's is done."""

    def __init__(self, args: argparse.Namespace, seed: int, chances: np.ndarray) -> None:
        self.per_group = args.workers * args.games
        self.shared = Shared.make(2 * self.per_group, KItemsGame().screen_wh)
        self.draw(chances, lead=args.lead if args.teacher else 0.0)
        context = mp.get_context("spawn")
        self.finished = [context.Semaphore(0) for _ in range(2)]
        self.go, self.processes = [], []
        for w in range(args.workers):
            first = w * args.games
            groups = [[g * self.per_group + first + k for k in range(args.games)] for g in range(2)]
            go = context.Semaphore(0)
            task = Task(groups, go, self.finished, seed * 1000 + w, args.mazes, args.shaping)
            process = context.Process(target=work, args=(self.shared, task), daemon=True)
            process.start()
            self.go.append(go)
            self.processes.append(process)
        if args.device == "cuda":  # pinned, so that frames travel to the GPU at full speed
            runtime: Any = torch.cuda.cudart()  # type: ignore[no-untyped-call]
            runtime.cudaHostRegister(self.shared.frames.data_ptr(), self.shared.frames.numel(), 0)

    def slice(self, group: int) -> slice:
        return slice(group * self.per_group, (group + 1) * self.per_group)

    def draw(self, chances: np.ndarray, lead: float) -> None:
        """Say how often each level is to be played, and how often the teacher leads."""
        self.shared.chances[: len(LEVELS)] = torch.from_numpy(chances)
        self.shared.chances[-2] = lead

    def start(self) -> None:
        """Have the workers step their next group."""
        for go in self.go:
            go.release()

    def wait(self, group: int) -> None:
        """Until all workers have stepped a group."""
        for _ in self.go:
            if not self.finished[group].acquire(timeout=PATIENCE_S):
                raise WorldError(f"A worker has not answered for {PATIENCE_S:.0f} s; its own message is above.")

    def close(self) -> None:
        for group in range(2):
            self.wait(group)
        self.shared.chances[-1] = 1.0
        self.start()
        deadline = time.time() + 15
        for process in self.processes:
            process.join(timeout=max(0.1, deadline - time.time()))
            if process.is_alive():
                process.terminate()
