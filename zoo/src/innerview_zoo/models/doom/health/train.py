"""Trains conv + GRU-512 on ViZDoom's health_gathering_supreme with recurrent PPO.

One file, needs torch, numpy, safetensors and vizdoom, one GPU and some CPU cores:

    python train.py --out run --minutes 9              # begin
    python train.py --out run2 --resume run --minutes 9  # go on
    python train.py --evaluate weights.safetensors       # 100 fresh seeds

Games run in worker processes in two groups: while one group is being played, the network decides for the other.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing as mp
import os
import signal
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SCREEN_HW = (180, 320)
INPUT_HW = (64, 112)
FRAME_SKIP = 4
# Buttons in the order of the scenario's config: turn left, turn right, move forward.
ACTIONS = {
    "left": [1, 0, 0],
    "right": [0, 1, 0],
    "forward": [0, 0, 1],
    "forward+left": [1, 0, 1],
    "forward+right": [0, 1, 1],
}
DIED, TIMED_OUT = 1, 2
EVALUATION_SEED = 1_000_000  # training draws its seeds below this one


class Agent(nn.Module):
    """Frame in, action logits and value out, with a GRU as memory."""

    def __init__(self, memory: int = 512, actions: int = len(ACTIONS)) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 8, 4)
        self.conv2 = nn.Conv2d(32, 64, 4, 2)
        self.conv3 = nn.Conv2d(64, 32, 3, 1)
        self.dense = nn.Linear(32 * 4 * 10, memory)
        self.gru = nn.GRUCell(memory, memory)
        self.policy = nn.Linear(memory, actions)
        self.value = nn.Linear(memory, 1)
        for layer in (self.conv1, self.conv2, self.conv3, self.dense):
            nn.init.orthogonal_(layer.weight, 2**0.5)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
        nn.init.orthogonal_(self.policy.weight, 0.01)

    def see(self, frame: Tensor) -> Tensor:
        """Frames [n, 3, 64, 112] in 0–1 to features [n, memory]."""
        x = F.relu(self.conv1(frame))
        x = F.relu(self.conv2(x))
        x = F.relu(self.conv3(x))
        return F.relu(self.dense(x.flatten(1)))

    def forward(self, frame: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Logits, value and the new memory."""
        memory = self.gru(self.see(frame), memory)
        return self.policy(memory), self.value(memory), memory


class Game:
    """One Doom engine with the reward that the agent is trained on."""

    def __init__(self) -> None:
        import vizdoom as vzd

        self.engine = vzd.DoomGame()
        self.engine.load_config(str(Path(vzd.scenarios_path) / "health_gathering_supreme.cfg"))
        self.engine.set_screen_resolution(vzd.ScreenResolution.RES_320X180)
        self.engine.set_screen_format(vzd.ScreenFormat.RGB24)
        self.engine.set_available_game_variables([vzd.GameVariable.HEALTH])
        self.engine.set_window_visible(False)
        self.engine.init()

    def reset(self, seed: int) -> Any:
        self.engine.set_seed(seed)
        self.engine.new_episode()
        self.steps = 0
        self.packs = 0
        return self._look()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool]:
        """Frame, reward, whether the episode ended, whether by death."""
        before = self.health
        self.engine.make_action(list(ACTIONS.values())[action], FRAME_SKIP)
        self.steps += 1
        if self.engine.is_episode_finished():
            died = self.engine.is_player_dead()
            return self.frame, -1.0 if died else 0.0, True, died
        self._look()
        change = self.health - before
        self.packs += change > 0
        # The floor takes 8 now and then whatever one does; a pack gives, a vial takes far more.
        reward = 0.02 + (0.5 if change > 0 else 0.0) - (0.5 if change < -10 else 0.0)
        return self.frame, reward, False, False

    def _look(self) -> Any:
        state: Any = self.engine.get_state()
        self.frame = state.screen_buffer
        self.health = float(state.game_variables[0])
        return self.frame


@dataclass(frozen=True)
class Shared:
    """Memory that the workers fill and the learner reads, one line per game."""

    frames: Tensor
    actions: Tensor
    rewards: Tensor
    done: Tensor
    lengths: Tensor
    packs: Tensor

    @staticmethod
    def make(games: int) -> Shared:
        def zeros(*shape: int, dtype: torch.dtype) -> Tensor:
            tensor = torch.zeros(*shape, dtype=dtype)
            tensor.share_memory_()  # type: ignore[no-untyped-call]
            return tensor

        return Shared(
            frames=zeros(games, *SCREEN_HW, 3, dtype=torch.uint8),
            actions=zeros(games, dtype=torch.int64),
            rewards=zeros(games, dtype=torch.float32),
            done=zeros(games, dtype=torch.float32),
            lengths=zeros(games, dtype=torch.int32),
            packs=zeros(games, dtype=torch.int32),
        )


def work(pipe: Connection, shared: Shared, groups: list[list[int]], seed: int) -> None:
    """Play the games of one worker; a byte in says which group to step, a byte out that it is done."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    rng = np.random.default_rng(seed)
    frames, actions = shared.frames.numpy(), shared.actions.numpy()
    rewards, done = shared.rewards.numpy(), shared.done.numpy()
    games = {i: Game() for group in groups for i in group}
    for i, game in games.items():
        frames[i] = game.reset(int(rng.integers(EVALUATION_SEED)))
    pipe.send_bytes(b"r")
    while (order := pipe.recv_bytes()) != b"q":
        for i in groups[order[0]]:
            frame, rewards[i], ended, died = games[i].step(int(actions[i]))
            done[i] = DIED if died else TIMED_OUT if ended else 0
            if ended:
                shared.lengths[i], shared.packs[i] = games[i].steps, games[i].packs
                frame = games[i].reset(int(rng.integers(EVALUATION_SEED)))
            frames[i] = frame
        pipe.send_bytes(order)
    for game in games.values():
        game.engine.close()


class Players:
    """All worker processes, stepped a group at a time."""

    def __init__(self, workers: int, games: int, seed: int) -> None:
        self.per_group = workers * games
        self.shared = Shared.make(2 * self.per_group)
        context = mp.get_context("spawn")
        self.pipes: list[Any] = []
        self.processes = []
        for w in range(workers):
            groups = [[g * self.per_group + w * games + k for k in range(games)] for g in range(2)]
            ours, theirs = context.Pipe()
            args = (theirs, self.shared, groups, seed * 1000 + w)
            process = context.Process(target=work, args=args, daemon=True)
            process.start()
            self.pipes.append(ours)
            self.processes.append(process)
        for pipe in self.pipes:
            pipe.recv_bytes()
        # Pinned, so that frames travel to the GPU at full speed.
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
        for pipe in self.pipes:
            pipe.send_bytes(b"q")
        for process in self.processes:
            process.join(timeout=10)


def shrink(frames: Tensor) -> Tensor:
    """Screens [n, 180, 320, 3] to the agent's input [n, 3, 64, 112], uint8, every pixel counted."""
    x = frames.permute(0, 3, 1, 2).float()
    small = F.interpolate(x, INPUT_HW, mode="bilinear", antialias=True, align_corners=False)
    return small.add_(0.5).clamp_(0, 255).byte()


class Rollout:
    """A window of steps of all games, on the GPU."""

    def __init__(self, steps: int, games: int, memory: int, device: torch.device) -> None:
        self.frames = torch.zeros(steps, games, 3, *INPUT_HW, dtype=torch.uint8, device=device)
        self.fresh = torch.zeros(steps, games, device=device)  # 1 where the step is the first of an episode
        self.actions = torch.zeros(steps, games, dtype=torch.int64, device=device)
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


class Learner:
    """Samples windows with two groups in turn and improves the agent with PPO."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args, self.device = args, torch.device("cuda")
        self.agent = Agent().to(self.device)
        self.optimizer = torch.optim.Adam(self.agent.parameters(), lr=args.lr, eps=1e-5)
        self.steps, self.seconds = 0, 0.0
        self.curve: list[tuple[int, float, float, float]] = []
        if args.resume:
            self.load(Path(args.resume))
        self.players = Players(args.workers, args.games, seed=args.seed + self.steps)
        games = 2 * self.players.per_group
        self.memory = torch.zeros(games, 512, device=self.device)
        self.fresh = torch.ones(games, device=self.device)
        self.rollout = Rollout(args.window, games, 512, self.device)
        self.lengths: list[int] = []
        self.packs: list[int] = []

    @torch.no_grad()
    def decide(self, t: int, group: int) -> None:
        part, roll = self.players.slice(group), self.rollout
        frames = shrink(self.players.shared.frames[part].to(self.device, non_blocking=True))
        memory = self.memory[part] * (1 - self.fresh[part])[:, None]
        with torch.autocast("cuda", torch.bfloat16):
            features = self.agent.see(frames.float() / 255)
        memory = self.agent.gru(features.float(), memory)
        value = self.agent.value(memory)[:, 0]
        if t == len(roll.frames):  # only the value behind the last step is wanted
            roll.last_values[part] = value
            return
        logits = F.log_softmax(self.agent.policy(memory), -1)
        action = torch.multinomial(logits.exp(), 1)
        roll.frames[t, part], roll.fresh[t, part] = frames, self.fresh[part]
        roll.actions[t, part], roll.values[t, part] = action[:, 0], value
        roll.log_probs[t, part] = logits.gather(1, action)[:, 0]
        self.memory[part] = memory
        self.players.shared.actions[part] = action[:, 0].cpu()

    def collect(self, t: int, group: int) -> None:
        part, shared = self.players.slice(group), self.players.shared
        ended = shared.done[part] > 0
        done = shared.done[part].to(self.device)
        # The clock is not the agent's fault: a timed-out episode is worth what was expected of its last state.
        rest = self.args.gamma * self.rollout.values[t, part] * (done == TIMED_OUT)
        self.rollout.rewards[t, part] = shared.rewards[part].to(self.device) + rest
        self.rollout.done[t, part] = self.fresh[part] = (done > 0).float()
        self.lengths += shared.lengths[part][ended].tolist()
        self.packs += shared.packs[part][ended].tolist()

    def sample(self) -> None:
        steps = len(self.rollout.frames)
        self.rollout.memory.copy_(self.memory * (1 - self.fresh)[:, None])
        self.decide(0, 0)
        self.players.start(0)
        for t in range(steps):
            self.decide(t, 1)  # group 0 plays meanwhile
            self.players.wait()
            self.collect(t, 0)
            self.players.start(1)
            self.decide(t + 1, 0)  # group 1 plays meanwhile
            self.players.wait()
            self.collect(t, 1)
            if t + 1 < steps:
                self.players.start(0)
        self.decide(steps, 1)
        self.steps += self.rollout.rewards.numel()

    def unroll(self, games: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [steps, n, actions] and values [steps, n] of these games with the present weights."""
        roll = self.rollout
        frames = roll.frames[:, games]
        with torch.autocast("cuda", torch.bfloat16):
            features = self.agent.see(frames.flatten(0, 1).float() / 255)
        features = features.float().view(*frames.shape[:2], -1)
        memory, kept, states = roll.memory[games], 1 - roll.fresh[:, games], []
        for t in range(len(features)):
            memory = self.agent.gru(features[t], memory * kept[t][:, None])
            states.append(memory)
        all_states = torch.stack(states)
        return self.agent.policy(all_states), self.agent.value(all_states)[..., 0]

    def improve(self) -> None:
        args, roll = self.args, self.rollout
        rate = max(0.05, 1 - self.steps / args.steps)
        for group in self.optimizer.param_groups:
            group["lr"] = args.lr * rate
        advantages = roll.advantages(args.gamma, args.lam)
        returns = advantages + roll.values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
        for _ in range(args.epochs):
            for games in torch.randperm(roll.actions.shape[1], device=self.device).chunk(args.minibatches):
                logits, values = self.unroll(games)
                log_all = F.log_softmax(logits, -1)
                log_prob = log_all.gather(-1, roll.actions[:, games, None])[..., 0]
                ratio = (log_prob - roll.log_probs[:, games]).exp()
                gain = advantages[:, games]
                policy_loss = -torch.min(ratio * gain, ratio.clamp(1 - args.clip, 1 + args.clip) * gain).mean()
                value_loss = F.smooth_l1_loss(values, returns[:, games])
                entropy = -(log_all.exp() * log_all).sum(-1).mean()
                loss = policy_loss + 0.5 * value_loss - args.entropy * entropy
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(self.agent.parameters(), 0.5)
                self.optimizer.step()

    def save(self, folder: Path) -> None:
        from safetensors.torch import save_file

        folder.mkdir(parents=True, exist_ok=True)
        save_file({k: v.contiguous() for k, v in self.agent.state_dict().items()}, folder / "agent.safetensors")
        names = dict(self.agent.named_parameters())
        states = {n: self.optimizer.state[p] for n, p in names.items() if p in self.optimizer.state}
        moments = {f"{n}/{key}": s[key].bfloat16() for n, s in states.items() for key in ("exp_avg", "exp_avg_sq")}
        moments["progress"] = torch.tensor([self.steps, self.seconds], dtype=torch.float64)
        save_file(moments, folder / "optimizer.safetensors")
        with (folder / "curve.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["steps", "seconds", "survived_steps", "packs"])
            writer.writerows(self.curve)

    def load(self, folder: Path) -> None:
        from safetensors.torch import load_file

        self.agent.load_state_dict(load_file(folder / "agent.safetensors"))
        moments = load_file(folder / "optimizer.safetensors", device="cuda")
        self.steps, self.seconds = int(moments["progress"][0]), float(moments["progress"][1])
        for name, p in self.agent.named_parameters():
            first, second = (moments[f"{name}/{key}"].float() for key in ("exp_avg", "exp_avg_sq"))
            self.optimizer.state[p] = {"step": torch.tensor(1e4), "exp_avg": first, "exp_avg_sq": second}
        with (folder / "curve.csv").open() as file:
            rows = list(csv.reader(file))[1:]
            self.curve = [(int(r[0]), float(r[1]), float(r[2]), float(r[3])) for r in rows]

    def train(self) -> None:
        args, began, before = self.args, time.time(), self.seconds
        saved = told = time.time()
        start_steps = self.steps
        try:
            while self.steps < args.steps and time.time() - began < args.minutes * 60:
                self.sample()
                self.improve()
                if time.time() - told > 10 and self.lengths:
                    told, self.seconds = time.time(), before + time.time() - began
                    length, packs = float(np.mean(self.lengths[-400:])), float(np.mean(self.packs[-400:]))
                    self.curve.append((self.steps, round(self.seconds, 1), round(length, 2), round(packs, 2)))
                    speed = (self.steps - start_steps) / (time.time() - began)
                    self.log(f"{self.steps:>11,} steps  {speed:>7,.0f}/s  survived {length:6.1f}  packs {packs:5.1f}")
                if time.time() - saved > 60:
                    saved = time.time()
                    self.save(Path(args.out))
        finally:  # Ctrl-C leaves a checkpoint too
            self.seconds = before + time.time() - began
            self.save(Path(args.out))
        self.players.close()

    def log(self, text: str) -> None:
        os.write(1, (text + "\n").encode())


def evaluate(weights: Path, episodes: int, greedy: bool) -> np.ndarray:
    """Steps survived in each of `episodes` fresh seeds."""
    from safetensors.torch import load_file

    agent = Agent()
    agent.load_state_dict({k: v.float() for k, v in load_file(weights).items()})
    game, survived = Game(), []
    for episode in range(episodes):
        rng = torch.Generator().manual_seed(episode)
        frame, memory, ended = game.reset(EVALUATION_SEED + episode), torch.zeros(1, 512), False
        while not ended:
            with torch.no_grad():
                logits, _, memory = agent(shrink(torch.from_numpy(frame)[None]).float() / 255, memory)
            action = logits.argmax(-1) if greedy else torch.multinomial(logits.softmax(-1), 1, generator=rng)
            frame, _, ended, _ = game.step(int(action))
        survived.append(game.steps)
    game.engine.close()
    return np.array(survived)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="run")
    parser.add_argument("--resume", default="")
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--steps", type=int, default=30_000_000)
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 1))
    parser.add_argument("--games", type=int, default=8, help="games per worker and group")
    parser.add_argument("--window", type=int, default=64)
    parser.add_argument("--lr", type=float, default=5e-4)
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--lam", type=float, default=0.95)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=0.004)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--minibatches", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--evaluate", default="", help="weights to score instead of training")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--greedy", action="store_true")
    args = parser.parse_args()
    if args.evaluate:
        survived = evaluate(Path(args.evaluate), args.episodes, args.greedy)
        mean, error = survived.mean(), survived.std(ddof=1) / len(survived) ** 0.5
        os.write(1, f"survived {mean:.1f} ± {1.96 * error:.1f} of 525 steps, {len(survived)} seeds\n".encode())
        return
    Learner(args).train()


if __name__ == "__main__":
    main()
