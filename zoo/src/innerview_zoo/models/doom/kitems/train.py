"""Trains conv + GRU-128 to gather items in the right order in mazes never seen before, with recurrent PPO.

Needs torch, numpy, safetensors and vizdoom, one GPU and some CPU cores:

    python train.py --out run --minutes 9                # begin
    python train.py --out run2 --resume run --minutes 9  # go on
    python train.py --evaluate weights.safetensors       # 200 mazes of seeds never trained on
    python train.py --policy random                      # the same for random actions

Games run in worker processes in two groups, so that they play while the network decides for the others; the network
learns from the last window of steps while the next one is played. During training only: a teacher that knows what was
in view so far says what it would do, less and less weight is given to it, and none in the last third; a critic is told
where the items are; walking towards the next item pays; the memory is asked for what was seen; smaller mazes with fewer
items are played too. `--teacher 0` trains without the teacher.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import threading
import time
from collections import deque
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from innerview_zoo.models.doom.kitems.agent import shrink
from innerview_zoo.models.doom.kitems.lessons import (
    ADVICE,
    DONE,
    FOR_CRITIC,
    FULL,
    LED,
    LEVELS,
    REWARD,
    SEEN,
    TIMED_OUT,
    Players,
)
from innerview_zoo.models.doom.kitems.score import evaluate, summary
from innerview_zoo.models.doom.kitems.windows import Rollout, Trainer, compare, half_precision, remember


class Scores:
    """How recent episodes went, by level, and which levels to draw next."""

    def __init__(self, least: float) -> None:
        self.least = least  # of the episodes that are the task itself
        self.share = np.zeros(len(LEVELS))  # of the items gathered, a running mean
        self.seen = np.zeros(len(LEVELS))
        self.items: deque[int] = deque(maxlen=300)
        self.steps: deque[int] = deque(maxlen=300)

    def add(self, level: int, gathered: int, items: int, steps: int) -> None:
        self.seen[level] += 1
        self.share[level] += max(0.01, 1 / self.seen[level]) * (gathered / items - self.share[level])
        if LEVELS[level] == FULL:
            self.items.append(gathered)
            self.steps.append(steps)

    def chances(self) -> np.ndarray:
        """Most to the levels that are half mastered, and more to the task itself the better it goes."""
        weight = self.share * (1 - self.share) + 0.02
        for_task = self.least + (0.9 - self.least) * self.share[-1]
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
                self.players.wait(group)
                self.decide(roll, 0, group, self.fetch(group))

    def sample(self, roll: Rollout, following: Rollout) -> None:
        """Fill a window whose first decisions are made; make the first of the following one."""
        steps = len(roll.frames)
        with torch.cuda.stream(self.stream):
            for t in range(1, steps + 1):
                for group in range(2):
                    self.players.wait(group)  # the other group plays meanwhile
                    notes = self.fetch(group)
                    self.collect(roll, t - 1, group, notes)
                    into = roll if t < steps else following
                    self.decide(into, t % steps, group, notes)
            roll.last_values.copy_(following.values[0])
        if self.stream:
            self.stream.synchronize()

    def fetch(self, group: int) -> Tensor:
        """What the games of a group noted down; a copy, as the workers write there again."""
        return self.players.shared.notes[self.players.slice(group)].to(self.device, copy=True)

    @torch.no_grad()
    def decide(self, roll: Rollout, t: int, group: int, notes: Tensor) -> None:
        part, shared, agent = self.players.slice(group), self.players.shared, self.model.agent
        frames = shrink(shared.frames[part].to(self.device, non_blocking=True))
        memory = self.memory[part] * (1 - self.fresh[part])[:, None]
        if t == 0:
            roll.memory[part] = memory
        with half_precision(self.device):
            features = agent.see(frames.float() / 255)
        memory = agent.gru(features.float(), memory)
        log_all = F.log_softmax(agent.policy(memory), -1)
        action = torch.multinomial(log_all.exp(), 1)
        action = torch.where(notes[:, LED, None] > 0, notes[:, ADVICE, None].long(), action)
        shared.actions[part] = action[:, 0].cpu()
        self.players.start()
        roll.frames[t, part], roll.fresh[t, part], roll.notes[t, part] = frames, self.fresh[part], notes
        roll.actions[t, part], roll.values[t, part] = action[:, 0], self.model.judge(memory, notes[:, FOR_CRITIC])
        roll.log_probs[t, part] = log_all.gather(1, action)[:, 0]
        self.memory[part] = memory

    def collect(self, roll: Rollout, t: int, group: int, notes: Tensor) -> None:
        part, shared = self.players.slice(group), self.players.shared
        over = shared.notes[part, DONE] > 0
        done = notes[:, DONE]
        # The clock is not the agent's fault: a timed-out episode is worth what was expected of its last state.
        rest = self.args.gamma * roll.values[t, part] * (done == TIMED_OUT)
        roll.rewards[t, part] = notes[:, REWARD] + rest
        roll.done[t, part] = (done > 0).float()
        self.fresh[part] = 1.0 if self.args.memoryless else roll.done[t, part]
        for level, gathered, items, steps, led in shared.ended[part][over].tolist():
            if not led:
                self.scores.add(level, gathered, items, steps)


class Learner:
    """Improves the agent with PPO from windows that others played."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args, self.device = args, torch.device(args.device)
        self.model = Trainer(args.memory).to(self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=args.lr, eps=1e-5)
        self.steps, self.seconds = 0, 0.0
        self.agreement = torch.zeros(())  # probability given to what the teacher advised
        self.curve: list[tuple[float, ...]] = []
        self.scores = Scores(args.least)
        if args.resume:
            self.load(Path(args.resume))
        elif args.eyes:
            self.take_eyes(Path(args.eyes))

    def unroll(self, roll: Rollout, games: Tensor) -> Tensor:
        """Memory [steps, n, memory] of these games with the present weights."""
        agent, frames = self.model.agent, roll.frames[:, games]
        with half_precision(self.device):
            features = agent.see(frames.flatten(0, 1).float() / 255)
        features = features.float().view(*frames.shape[:2], -1)
        return remember(agent.gru, features, roll.memory[games], roll.fresh[:, games] > 0)

    def help(self) -> float:
        """How much of the teacher's weight is left: all at first, none in the last part."""
        return max(0.0, 1 - self.steps / (self.args.steps * self.args.until)) if self.args.teacher else 0.0

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
        args, model, notes, left = self.args, self.model, roll.notes[:, games], self.help()
        memory = self.unroll(roll, games)
        log_all = F.log_softmax(model.agent.policy(memory), -1)
        log_prob = log_all.gather(-1, roll.actions[:, games, None])[..., 0]
        ratio = (log_prob - roll.log_probs[:, games]).exp()
        own = 1 - notes[..., LED]  # steps that the agent chose itself
        policy = -torch.min(ratio * gain, ratio.clamp(1 - args.clip, 1 + args.clip) * gain)
        policy = (1 - 0.8 * left) * (policy * own).sum() / own.sum().clamp(min=1)
        value = F.smooth_l1_loss(model.judge(memory, notes[..., FOR_CRITIC]), returns)
        own_value = F.smooth_l1_loss(model.agent.value(memory)[..., 0], returns)
        entropy = -(log_all.exp() * log_all).sum(-1).mean()
        loss: Tensor = policy + 0.5 * value + 0.25 * own_value - entropy_weight * entropy
        if args.guess:
            loss = loss + args.guess * compare(model.guess(memory), notes[..., SEEN])
        if left:
            advised = -log_all.gather(-1, notes[..., ADVICE, None].long()).mean()
            self.agreement = (-advised.detach()).exp()
            loss = loss + args.teacher * left * advised
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

    def take_eyes(self, weights: Path) -> None:
        """Begin with the convolutions and the dense layer of another agent."""
        from safetensors.torch import load_file

        eyes = {k: v for k, v in load_file(weights).items() if k.startswith(("conv", "dense"))}
        self.model.agent.load_state_dict(eyes, strict=False)

    def load(self, folder: Path) -> None:
        from safetensors.torch import load_file

        kept = load_file(folder / "optimizer.safetensors", device=self.args.device)
        state = {f"agent.{k}": v for k, v in load_file(folder / "agent.safetensors").items()}
        state |= {k: v for k, v in kept.items() if k in self.model.state_dict()}
        self.model.load_state_dict(state)
        self.steps, self.seconds = int(kept["progress"][0]), float(kept["progress"][1])
        self.scores.share = kept["share"].cpu().numpy().copy()
        self.scores.seen[:] = 100
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

    def wait(self) -> None:
        """Until the window is learnt from."""
        if self.thread:
            self.thread.join()
            self.thread = None

    def finish(self) -> None:
        """The same, and say what went wrong."""
        self.wait()
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
    log(f"{2 * players.per_group} games began after {playing - began:.1f} s")
    try:
        while learner.steps < args.steps and time.time() - began < args.minutes * 60:
            sampler.sample(rolls[0], rolls[1])
            overlap.finish()
            learner.steps += rolls[0].rewards.numel()
            learner.seconds = before + time.time() - began
            if time.time() - told > 10:
                told = time.time()
                log(report(learner, (learner.steps - first) / (told - playing), overlap))
            if time.time() - saved > 60:
                saved = time.time()
                learner.save(Path(args.out))
            players.draw(learner.scores.chances(), lead=args.lead * learner.help())
            hand_over(learner, sampler)
            overlap.start(rolls[0])
            rolls.reverse()
        overlap.finish()
    finally:
        overlap.wait()
        log(report(learner, (learner.steps - first) / (time.time() - playing), overlap))
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
    teacher = f"teacher {learner.help():.2f}, followed {learner.agreement.item():.2f}"
    return f"{pace}  {teacher}  full task {items:.2f} of 4, all {complete:.3f}  {levels}"


def log(text: str) -> None:
    os.write(1, (text + "\n").encode())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="run")
    parser.add_argument("--resume", default="")
    parser.add_argument("--eyes", default="", help="weights of another agent to take the layers before the memory from")
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--steps", type=int, default=17_000_000, help="where learning rate and entropy end")
    parser.add_argument("--workers", type=int, default=30)
    parser.add_argument("--games", type=int, default=4, help="games per worker and group")
    parser.add_argument("--mazes", type=int, default=90, help="mazes of the full task per worker")
    parser.add_argument("--window", type=int, default=128)
    parser.add_argument("--memory", type=int, default=128)
    parser.add_argument("--memoryless", action="store_true", help="forget everything at each step")
    parser.add_argument("--shaping", type=float, default=0.1, help="reward for a cell walked towards the next item")
    parser.add_argument("--teacher", type=float, default=1.0, help="weight of the teacher's advice at first; 0: none")
    parser.add_argument("--until", type=float, default=0.55, help="share of the steps after which no advice is left")
    parser.add_argument("--lead", type=float, default=0.3, help="share of episodes that the teacher begins, at first")
    parser.add_argument("--least", type=float, default=0.5, help="least share of the episodes that are the full task")
    parser.add_argument("--guess", type=float, default=0.5, help="weight of asking the memory for what was seen")
    parser.add_argument("--lr", type=float, default=7e-4)
    parser.add_argument("--gamma", type=float, default=0.993)
    parser.add_argument("--lam", type=float, default=0.95)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=0.008)
    parser.add_argument("--last-entropy", type=float, default=0.0)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--minibatches", type=int, default=5)
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
        log(summary(evaluate(args)))
        return
    train(args)


if __name__ == "__main__":
    main()
