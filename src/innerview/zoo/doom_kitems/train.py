"""Trains conv + GRU-128 to gather items in the right order in mazes never seen before, with recurrent PPO.

Needs torch, numpy, safetensors and vizdoom, one GPU and some CPU cores:

    python train.py --out run --minutes 9                # begin
    python train.py --out run2 --resume run --minutes 9  # go on
    python train.py --evaluate weights.safetensors       # 200 mazes of seeds never trained on
    python train.py --policy random                      # the same for random actions

Games run in worker processes in two groups, so that they play while the network decides for the others; the network
learns from the last window of steps while the next one is played. During training only, a critic is told where the
items are, walking towards the next item pays, and smaller mazes with fewer items come first.
"""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing as mp
import os
import signal
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from innerview.worlds.kitems import ACTIONS, ALL_ITEMS, TIME_LIMIT, TIME_UP, WRONG_ITEM, KItemsGame
from innerview.worlds.mazes import FIRST_TEST_SEED, Maze, make_maze, maze_from_layout, write_wad

INPUT_HW = (64, 112)
FULL = (5, 4)
# Cells a side and items; the last is the task itself.
LEVELS = ((3, 1), (4, 1), (3, 2), (5, 1), (4, 2), (5, 2), (4, 3), (5, 3), FULL)
TOLD = 11  # what the critic is told besides the memory
TIMED_OUT = 2  # any other end is 1


class Agent(nn.Module):
    """Frame in, action logits and value out, with a GRU as memory."""

    def __init__(self, memory: int = 128, actions: int = len(ACTIONS)) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 8, 4)
        self.conv2 = nn.Conv2d(16, 32, 4, 2)
        self.conv3 = nn.Conv2d(32, 32, 3, 1)
        self.dense = nn.Linear(32 * 4 * 10, 256)
        self.gru = nn.GRUCell(256, memory)
        self.policy = nn.Linear(memory, actions)
        self.value = nn.Linear(memory, 1)
        for layer in (self.conv1, self.conv2, self.conv3, self.dense):
            nn.init.orthogonal_(layer.weight, 2**0.5)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
        nn.init.orthogonal_(self.policy.weight, 0.01)

    def see(self, frame: Tensor) -> Tensor:
        """Frames [n, 3, 64, 112] in 0–1 to features [n, 256]."""
        x = F.relu(self.conv1(frame))
        x = F.relu(self.conv2(x))
        x = F.relu(self.conv3(x))
        return F.relu(self.dense(x.flatten(1)))

    def forward(self, frame: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Logits, value and the new memory."""
        memory = self.gru(self.see(frame), memory)
        return self.policy(memory), self.value(memory), memory


class Trainer(nn.Module):
    """The agent with what only training needs: a critic that is told the maze, and a guess of what it is told."""

    def __init__(self, memory: int) -> None:
        super().__init__()
        self.agent = Agent(memory)
        self.critic = nn.Sequential(nn.Linear(memory + TOLD, 128), nn.Tanh(), nn.Linear(128, 1))
        self.guess = nn.Linear(memory, TOLD)

    def judge(self, memory: Tensor, told: Tensor) -> Tensor:
        """How much reward is to come, knowing the maze."""
        value: Tensor = self.critic(torch.cat([memory.detach(), told], -1))[..., 0]
        return value


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

    def begin(self, level: int, rng: np.random.Generator) -> np.ndarray:
        self.level = level
        choices = self.mazes[level]
        return self.game.play(choices[int(rng.integers(len(choices)))], seed=int(rng.integers(2**31)))

    def step(self, action: int) -> tuple[np.ndarray, float, int]:
        """Frame, reward and whether it ended; a step towards the next item pays, one away from it costs the same."""
        wanted, before = self.game.gathered, self.game.distance(self.game.gathered)
        played = self.game.step(action)
        reward = played.reward
        if played.picked_up is None or played.picked_up == wanted:
            # Not discounted: else standing still far from the items would pay.
            reward += self.shaping * (before - self.game.distance(wanted))
        return played.frame_hwc, reward, TIMED_OUT if played.outcome == TIME_UP else int(played.done)


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
    """Play the games of one worker; a byte in says which group to step, a byte out that it is done."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    rng = np.random.default_rng(task.seed)
    with tempfile.TemporaryDirectory(prefix="innerview-mazes-") as folder:
        levels, catalogue = draw_mazes(rng, task.mazes)
        wad = Path(folder) / "mazes.wad"
        wad.write_bytes(write_wad(catalogue))
        lessons = {i: Lesson(levels, catalogue, wad, task.shaping) for group in task.groups for i in group}
        chances = shared.chances.numpy()

        def begin(i: int) -> np.ndarray:
            level = int(rng.choice(len(LEVELS), p=chances / chances.sum()))
            return lessons[i].begin(level, rng)

        try:
            play(pipe, shared, task.groups, lessons, begin)
        finally:
            for lesson in lessons.values():
                lesson.game.close()


def draw_mazes(rng: np.random.Generator, count: int) -> tuple[dict[int, list[int]], list[Maze]]:
    """Mazes of every level, and where in the list each level's are."""
    levels: dict[int, list[int]] = {}
    catalogue: list[Maze] = []
    for level, (size, items) in enumerate(LEVELS):
        wanted = count if (size, items) == FULL else max(2, count // 3)
        levels[level] = list(range(len(catalogue), len(catalogue) + wanted))
        catalogue += [make_maze(int(s), size=size, items=items) for s in rng.integers(FIRST_TEST_SEED, size=wanted)]
    return levels, catalogue


def play(
    pipe: Connection,
    shared: Shared,
    groups: list[list[int]],
    lessons: dict[int, Lesson],
    begin: Callable[[int], np.ndarray],
) -> None:
    frames, actions, ended = shared.frames.numpy(), shared.actions.numpy(), shared.ended.numpy()
    rewards, done, told = shared.rewards.numpy(), shared.done.numpy(), shared.told.numpy()
    for i, lesson in lessons.items():
        frames[i], told[i] = begin(i), tell_critic(lesson.game)
    for group in range(2):
        pipe.send_bytes(bytes([group]))
    while (order := pipe.recv_bytes()) != b"q":
        for i in groups[order[0]]:
            lesson = lessons[i]
            try:
                frame, rewards[i], done[i] = lesson.step(int(actions[i]))
            except breakdowns():
                lesson.start()
                rewards[i], done[i] = 0.0, TIMED_OUT
            if done[i]:
                game = lesson.game
                ended[i] = lesson.level, game.gathered, len(game.maze.items), game.steps
                frame = begin(i)
            frames[i], told[i] = frame, tell_critic(lesson.game)
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


def shrink(frames: Tensor) -> Tensor:
    """Screens [n, h, w, 3] to the agent's input [n, 3, 64, 112], uint8, bilinear."""
    x = frames.permute(0, 3, 1, 2).float()
    return F.interpolate(x, INPUT_HW, mode="bilinear", align_corners=False).add_(0.5).clamp_(0, 255).byte()


class Rollout:
    """A window of steps of all games, on the GPU."""

    def __init__(self, steps: int, games: int, memory: int, device: torch.device) -> None:
        self.frames = torch.zeros(steps, games, 3, *INPUT_HW, dtype=torch.uint8, device=device)
        self.fresh = torch.zeros(steps, games, device=device)  # 1 where the step is the first of an episode
        self.actions = torch.zeros(steps, games, dtype=torch.int64, device=device)
        self.told = torch.zeros(steps, games, TOLD, device=device)
        self.log_probs, self.values, self.rewards, self.done = (
            torch.zeros(steps, games, device=device) for _ in range(4)
        )
        self.memory = torch.zeros(games, memory, device=device)
        self.last_values = torch.zeros(games, device=device)

    def advantages(self, gamma: float, lam: float) -> Tensor:
        """Generalised advantage estimates [steps, games]."""
        result, following = torch.zeros_like(self.rewards), self.last_values
        running = torch.zeros_like(following)
        for t in reversed(range(len(self.rewards))):
            alive = 1.0 - self.done[t]
            delta = self.rewards[t] + gamma * alive * following - self.values[t]
            running = delta + gamma * lam * alive * running
            result[t], following = running, self.values[t]
        return result


class Scores:
    """How recent episodes went, by level, and which levels to draw next."""

    def __init__(self) -> None:
        self.share = np.zeros(len(LEVELS))  # of the items gathered, a running mean
        self.items: deque[int] = deque(maxlen=300)
        self.steps: deque[int] = deque(maxlen=300)

    def add(self, level: int, gathered: int, items: int, steps: int) -> None:
        self.share[level] += 0.01 * (gathered / items - self.share[level])
        if LEVELS[level] == FULL:
            self.items.append(gathered)
            self.steps.append(steps)

    def chances(self) -> np.ndarray:
        """Most to the levels that are half mastered, and more to the task itself the better it goes."""
        weight = self.share * (1 - self.share) + 0.02
        for_task = 0.15 + 0.6 * self.share[-1]
        chances: np.ndarray = (1 - for_task) * weight / weight.sum()
        chances[-1] += for_task
        return chances

    def full(self) -> tuple[float, float]:
        """Mean items and share of complete episodes on the task itself."""
        if not self.items:
            return 0.0, 0.0
        return float(np.mean(self.items)), float(np.mean([n == FULL[1] for n in self.items]))


class Sampler:
    """Plays windows with two groups in turn, with weights of its own."""

    def __init__(self, args: argparse.Namespace, players: Players, scores: Scores, device: torch.device) -> None:
        self.args, self.players, self.scores, self.device = args, players, scores, device
        self.model = Trainer(args.memory).to(device)
        games = 2 * players.per_group
        self.memory = torch.zeros(games, args.memory, device=device)
        self.fresh = torch.ones(games, device=device)
        self.stream = torch.cuda.Stream(priority=-1) if device.type == "cuda" else None  # type: ignore[no-untyped-call]

    def begin(self, roll: Rollout) -> None:
        """Make the first decisions when every game has begun."""
        with torch.cuda.stream(self.stream):
            for group in range(2):
                self.players.wait()
                self.decide(roll, 0, group)

    def sample(self, roll: Rollout, following: Rollout) -> None:
        """Fill a window whose first decisions are made; make the first of the following one."""
        steps = len(roll.frames)
        with torch.cuda.stream(self.stream):
            for t in range(1, steps + 1):
                for group in range(2):
                    self.players.wait()  # the other group plays meanwhile
                    self.collect(roll, t - 1, group)
                    into = roll if t < steps else following
                    self.decide(into, t % steps, group)
            roll.last_values.copy_(following.values[0])
        self.players.shared.chances[:] = torch.from_numpy(self.scores.chances())
        if self.stream:
            self.stream.synchronize()

    @torch.no_grad()
    def decide(self, roll: Rollout, t: int, group: int) -> None:
        part, shared, agent = self.players.slice(group), self.players.shared, self.model.agent
        frames = shrink(shared.frames[part].to(self.device, non_blocking=True))
        told = shared.told[part].to(self.device)
        memory = self.memory[part] * (1 - self.fresh[part])[:, None]
        if t == 0:
            roll.memory[part] = memory
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            features = agent.see(frames.float() / 255)
        memory = agent.gru(features.float(), memory)
        log_all = F.log_softmax(agent.policy(memory), -1)
        action = torch.multinomial(log_all.exp(), 1)
        shared.actions[part] = action[:, 0].cpu()
        self.players.start(group)
        roll.frames[t, part], roll.fresh[t, part], roll.told[t, part] = frames, self.fresh[part], told
        roll.actions[t, part], roll.values[t, part] = action[:, 0], self.model.judge(memory, told)
        roll.log_probs[t, part] = log_all.gather(1, action)[:, 0]
        self.memory[part] = memory

    def collect(self, roll: Rollout, t: int, group: int) -> None:
        part, shared = self.players.slice(group), self.players.shared
        over = shared.done[part] > 0
        done = shared.done[part].to(self.device)
        # The clock is not the agent's fault: a timed-out episode is worth what was expected of its last state.
        rest = self.args.gamma * roll.values[t, part] * (done == TIMED_OUT)
        roll.rewards[t, part] = shared.rewards[part].to(self.device) + rest
        roll.done[t, part] = (done > 0).float()
        self.fresh[part] = 1.0 if self.args.memoryless else roll.done[t, part]
        for level, gathered, items, steps in shared.ended[part][over].tolist():
            self.scores.add(level, gathered, items, steps)


class Learner:
    """Improves the agent with PPO from windows that others played."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args, self.device = args, torch.device(args.device)
        self.model = Trainer(args.memory).to(self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=args.lr, eps=1e-5)
        self.steps, self.seconds = 0, 0.0
        self.curve: list[tuple[float, ...]] = []
        self.scores = Scores()
        if args.resume:
            self.load(Path(args.resume))

    def unroll(self, roll: Rollout, games: Tensor) -> Tensor:
        """Memory [steps, n, memory] of these games with the present weights."""
        agent, frames = self.model.agent, roll.frames[:, games]
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            features = agent.see(frames.flatten(0, 1).float() / 255)
        features = features.float().view(*frames.shape[:2], -1)
        memory, kept, states = roll.memory[games], (1 - roll.fresh[:, games])[..., None], []
        for feature, keep in zip(features.unbind(), kept.unbind(), strict=True):
            memory = agent.gru(feature, memory * keep)
            states.append(memory)
        return torch.stack(states)

    def improve(self, roll: Rollout) -> None:
        args, done = self.args, min(1.0, self.steps / self.args.steps)
        for group in self.optimizer.param_groups:
            group["lr"] = args.lr * max(0.05, 1 - done)
        entropy_weight = args.entropy + (args.last_entropy - args.entropy) * done
        advantages = roll.advantages(args.gamma, args.lam)
        returns = advantages + roll.values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
        for _ in range(args.epochs):
            for games in torch.randperm(roll.actions.shape[1], device=self.device).chunk(args.minibatches):
                loss = self.loss(roll, games, advantages[:, games], returns[:, games], entropy_weight)
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(self.model.parameters(), 0.5)
                self.optimizer.step()

    def loss(self, roll: Rollout, games: Tensor, gain: Tensor, returns: Tensor, entropy_weight: float) -> Tensor:
        args, model, told = self.args, self.model, roll.told[:, games]
        memory = self.unroll(roll, games)
        log_all = F.log_softmax(model.agent.policy(memory), -1)
        log_prob = log_all.gather(-1, roll.actions[:, games, None])[..., 0]
        ratio = (log_prob - roll.log_probs[:, games]).exp()
        policy = -torch.min(ratio * gain, ratio.clamp(1 - args.clip, 1 + args.clip) * gain).mean()
        value = F.smooth_l1_loss(model.judge(memory, told), returns)
        own_value = F.smooth_l1_loss(model.agent.value(memory)[..., 0], returns)
        entropy = -(log_all.exp() * log_all).sum(-1).mean()
        guess = F.mse_loss(model.guess(memory), told)
        loss: Tensor = policy + 0.5 * value + 0.25 * own_value + args.guess * guess - entropy_weight * entropy
        return loss

    def save(self, folder: Path) -> None:
        from safetensors.torch import save_file

        folder.mkdir(parents=True, exist_ok=True)
        state = {k: v.contiguous() for k, v in self.model.state_dict().items()}
        agent = {k.removeprefix("agent."): v for k, v in state.items() if k.startswith("agent.")}
        save_file(agent, folder / "agent.safetensors")
        names = dict(self.model.named_parameters())
        states = {n: self.optimizer.state[p] for n, p in names.items() if p in self.optimizer.state}
        kept = {f"{n}/{key}": s[key].bfloat16() for n, s in states.items() for key in ("exp_avg", "exp_avg_sq")}
        kept |= {k: v for k, v in state.items() if not k.startswith("agent.")}
        kept["progress"] = torch.tensor([self.steps, self.seconds], dtype=torch.float64)
        kept["share"] = torch.from_numpy(self.scores.share)
        save_file(kept, folder / "optimizer.safetensors")
        with (folder / "curve.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["steps", "seconds", "items", "complete", *(f"share_{s}x{s}_{k}" for s, k in LEVELS)])
            writer.writerows(self.curve)

    def load(self, folder: Path) -> None:
        from safetensors.torch import load_file

        kept = load_file(folder / "optimizer.safetensors", device=self.args.device)
        state = {f"agent.{k}": v for k, v in load_file(folder / "agent.safetensors").items()}
        state |= {k: v for k, v in kept.items() if k in self.model.state_dict()}
        self.model.load_state_dict(state)
        self.steps, self.seconds = int(kept["progress"][0]), float(kept["progress"][1])
        self.scores.share = kept["share"].cpu().numpy().copy()
        for name, p in self.model.named_parameters():
            if f"{name}/exp_avg" in kept:
                first, second = (kept[f"{name}/{key}"].float() for key in ("exp_avg", "exp_avg_sq"))
                self.optimizer.state[p] = {"step": torch.tensor(1e4), "exp_avg": first, "exp_avg_sq": second}
        with (folder / "curve.csv").open() as file:
            self.curve = [tuple(map(float, row)) for row in list(csv.reader(file))[1:]]


class Overlap:
    """Learns from one window in a thread of its own while the next is played."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        on_gpu = learner.device.type == "cuda"
        self.stream = torch.cuda.Stream() if on_gpu else None  # type: ignore[no-untyped-call]
        self.thread: threading.Thread | None = None
        self.error: BaseException | None = None
        self.seconds = 0.0  # that the last window took

    def start(self, roll: Rollout) -> None:
        self.thread = threading.Thread(target=self._run, args=(roll,))
        self.thread.start()

    def finish(self) -> None:
        if self.thread:
            self.thread.join()
            self.thread = None
        if self.error:
            raise self.error

    def _run(self, roll: Rollout) -> None:
        began = time.time()
        try:
            with torch.cuda.stream(self.stream):
                self.learner.improve(roll)
            if self.stream:
                self.stream.synchronize()
            self.seconds = time.time() - began
        except BaseException as error:  # noqa: BLE001  (raised again by `finish`, in the main thread)
            self.error = error


def train(args: argparse.Namespace) -> None:
    """Sample and learn until time or steps are up."""
    began = time.time()
    sys.setswitchinterval(2e-4)  # the sampler must not wait for the learner
    torch.backends.cudnn.benchmark = True
    torch.set_float32_matmul_precision("high")
    learner = Learner(args)
    players = Players(args, args.seed + learner.steps, learner.scores.chances())
    sampler, overlap = Sampler(args, players, learner.scores, learner.device), Overlap(learner)
    rolls = [Rollout(args.window, 2 * players.per_group, args.memory, learner.device) for _ in range(2)]
    hand_over(learner, sampler)
    sampler.begin(rolls[0])
    before, first = learner.seconds, learner.steps
    saved = told = playing = time.time()
    tell(f"{2 * players.per_group} games began after {playing - began:.1f} s")
    try:
        while learner.steps < args.steps and time.time() - began < args.minutes * 60:
            sampler.sample(rolls[0], rolls[1])
            overlap.finish()
            learner.steps += rolls[0].rewards.numel()
            learner.seconds = before + time.time() - began
            if time.time() - told > 10:
                told = time.time()
                tell(report(learner, (learner.steps - first) / (told - playing), overlap))
            if time.time() - saved > 60:
                saved = time.time()
                learner.save(Path(args.out))
            hand_over(learner, sampler)
            overlap.start(rolls[0])
            rolls.reverse()
        overlap.finish()
    finally:
        tell(report(learner, (learner.steps - first) / (time.time() - playing), overlap))
        learner.save(Path(args.out))
    players.close()


def hand_over(learner: Learner, sampler: Sampler) -> None:
    """Give the sampler the weights learnt so far; both threads stand still."""
    sampler.model.load_state_dict(learner.model.state_dict())
    if learner.device.type == "cuda":
        torch.cuda.synchronize()


def report(learner: Learner, speed: float, overlap: Overlap) -> str:
    """A line for the curve and for people."""
    scores = learner.scores
    items, complete = scores.full()
    shares = scores.share.round(3).tolist()
    line = (learner.steps, round(learner.seconds, 1), round(items, 3), round(complete, 3), *shares)
    learner.curve.append(line)
    levels = " ".join(f"{s}x{s}/{k}:{share:.2f}" for (s, k), share in zip(LEVELS, shares, strict=True))
    pace = f"{learner.steps:>11,} steps {speed:>7,.0f}/s  learning {overlap.seconds:.2f} s a window"
    return f"{pace}  full task {items:.2f} of 4, all {complete:.3f}  {levels}"


def tell(text: str) -> None:
    os.write(1, (text + "\n").encode())


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
        runs = list(pool.map(lambda _: Run(mazes, wad), range(lanes)))
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


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="run")
    parser.add_argument("--resume", default="")
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--steps", type=int, default=50_000_000, help="where learning rate and entropy end")
    parser.add_argument("--workers", type=int, default=30)
    parser.add_argument("--games", type=int, default=4, help="games per worker and group")
    parser.add_argument("--mazes", type=int, default=90, help="mazes of the full task per worker")
    parser.add_argument("--window", type=int, default=96)
    parser.add_argument("--memory", type=int, default=128)
    parser.add_argument("--memoryless", action="store_true", help="forget everything at each step")
    parser.add_argument("--shaping", type=float, default=0.1, help="reward for a cell walked towards the next item")
    parser.add_argument("--guess", type=float, default=0.1, help="weight of guessing what the critic is told")
    parser.add_argument("--lr", type=float, default=7e-4)
    parser.add_argument("--gamma", type=float, default=0.993)
    parser.add_argument("--lam", type=float, default=0.95)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=0.008)
    parser.add_argument("--last-entropy", type=float, default=0.003)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--minibatches", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--evaluate", default="", help="weights to score instead of training")
    parser.add_argument("--policy", choices=("agent", "random"), default="agent", help="random: score random actions")
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--layouts", default="", help="folder of JSON layouts to score on instead of test seeds")
    parser.add_argument("--lanes", type=int, default=8, help="games at a time when scoring")
    parser.add_argument("--greedy", action="store_true")
    return parser.parse_args()


def main() -> None:
    args = arguments()
    if args.evaluate or args.policy == "random":
        tell(summary(evaluate(args)))
        return
    train(args)


if __name__ == "__main__":
    main()
