"""Scores an agent, or random actions, on mazes that nothing was trained on."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from innerview_zoo.models.doom.kitems.agent import Agent, shrink
from innerview_zoo.worlds.kitems.game import ACTIONS, ALL_ITEMS, TIME_UP, WRONG_ITEM, KItemsGame
from innerview_zoo.worlds.kitems.mazes import FIRST_TEST_SEED, Maze, make_maze, maze_from_layout, write_wad


class Chooser:
    """Chooses actions for several games at once: the agent's way, or at random."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args, self.width = args, 1
        if args.policy == "random":
            return
        from safetensors.torch import load_file

        weights = {k: v.float() for k, v in load_file(args.evaluate).items()}
        self.width = weights["gru.weight_hh"].shape[1]
        self.agent = Agent(self.width).to(args.device)
        self.agent.load_state_dict(weights)

    @torch.no_grad()
    def chances(self, frames: list[np.ndarray], memory: Tensor) -> tuple[np.ndarray, Tensor]:
        """Of each action [n, actions], and the new memory."""
        if self.args.policy == "random":
            return np.full((len(frames), len(ACTIONS)), 1 / len(ACTIONS)), memory
        inputs = shrink(torch.from_numpy(np.stack(frames)).to(self.args.device)).float() / 255
        memory = memory * 0 if self.args.memoryless else memory
        logits, _, memory = self.agent(inputs, memory.to(self.args.device))
        return logits.double().softmax(-1).cpu().numpy(), memory.cpu()

    def choose(self, chances: np.ndarray, rng: np.random.Generator) -> int:
        return int(chances.argmax() if self.args.greedy else rng.choice(len(chances), p=chances))


class Run:
    """A game that plays one maze after the other."""

    def __init__(self, mazes: list[Maze], wad: Path) -> None:
        self.game = KItemsGame()
        self.game.load(mazes, wad)

    def begin(self, index: int) -> None:
        self.index, self.rng = index, np.random.default_rng(index)
        self.frame = self.game.play(index, seed=index)

    def step(self, action: int) -> str:
        played = self.game.step(action)
        self.frame = played.frame_hwc
        return played.outcome


def evaluate(args: argparse.Namespace) -> list[tuple[int, int, str]]:
    """Items, steps and outcome in each maze."""
    layouts = sorted(Path(args.layouts).glob("*.json")) if args.layouts else []
    mazes = [maze_from_layout(json.loads(path.read_text())) for path in layouts]
    mazes = mazes or [make_maze(FIRST_TEST_SEED + i) for i in range(args.episodes)]
    lanes = min(args.lanes, len(mazes))
    with tempfile.TemporaryDirectory(prefix="innerview-mazes-") as folder, ThreadPoolExecutor(lanes) as pool:
        wad = Path(folder) / "mazes.wad"
        wad.write_bytes(write_wad(mazes))
        runs = [Run(mazes, wad) for _ in range(lanes)]  # one at a time: engines that start together can crash
        results = _play_all(Chooser(args), runs, len(mazes), pool)
        for run in runs:
            run.game.close()
    return results


def _play_all(chooser: Chooser, runs: list[Run], count: int, pool: ThreadPoolExecutor) -> list[tuple[int, int, str]]:
    results, waiting = [(0, 0, "")] * count, deque(range(count))
    memory = torch.zeros(len(runs), chooser.width)
    for run in runs:
        run.begin(waiting.popleft())
    lanes = list(range(len(runs)))
    while lanes:
        playing = [runs[lane] for lane in lanes]
        chances, memory[lanes] = chooser.chances([run.frame for run in playing], memory[lanes])
        actions = [chooser.choose(p, run.rng) for p, run in zip(chances, playing, strict=True)]
        outcomes = list(pool.map(Run.step, playing, actions))
        for lane, run, outcome in zip(list(lanes), playing, outcomes, strict=True):
            if not outcome:
                continue
            results[run.index] = (run.game.gathered, run.game.steps, outcome)
            memory[lane] = 0
            if waiting:
                run.begin(waiting.popleft())
            else:
                lanes.remove(lane)
    return results


def summary(results: list[tuple[int, int, str]]) -> str:
    """Scores in words."""
    items = np.array([r[0] for r in results])
    steps = np.array([r[1] for r in results])
    error = 1.96 * items.std(ddof=1) / len(items) ** 0.5 if len(items) > 1 else 0.0
    at_least = ", ".join(f"{k}: {np.mean(items >= k):.3f}" for k in range(1, 5))
    outcomes = {o: sum(r[2] == o for r in results) for o in (ALL_ITEMS, WRONG_ITEM, TIME_UP)}
    return f"""items {items.mean():.3f} ± {error:.3f} of 4 over {len(items)} mazes
at least k items: {at_least}
outcomes: {outcomes}
steps: {steps.mean():.1f}; of complete episodes: {steps[items == 4].mean() if (items == 4).any() else 0:.1f}"""
