"""Proximal policy optimisation on games that live on the same device as the network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from innerview_zoo.models.platformer.fast import as_blocks

Network = Callable[[Tensor], tuple[Tensor, Tensor, Tensor, Tensor]]
"""Blocks of `as_blocks` to logits, value, how loud the layer is that is to say little and how badly it names."""


class Turn(Protocol):
    """What a step brought to each game."""

    @property
    def frames(self) -> Tensor: ...
    @property
    def reward(self) -> Tensor: ...
    @property
    def ended(self) -> Tensor: ...
    @property
    def outcome(self) -> Tensor: ...


class Games(Protocol):
    """Many games side by side; where one ended, the next frame is the first of another."""

    def reset(self) -> Tensor: ...
    def step(self, actions: Tensor) -> Turn: ...
    def masks(self) -> Tensor: ...


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that says how to learn; what falls does so with the share of the time that is over."""

    games: int = 1024
    window: int = 64
    epochs: int = 2
    batch: int = 8192
    lr: float = 5e-4
    last_lr: float = 1e-5
    gamma: float = 0.999
    lam: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    last_entropy: float = 0.001
    value_weight: float = 2.0
    sparse: float = 0.0
    """What layer 2b pays for saying anything, so that its channels come to stand for things one by one."""
    alone: float = 0.0
    """How much dearer that is where several channels speak at one place."""
    naming: float = 0.0
    """Weight of naming from layer 2b the dangers at each place, as the world's masks have them."""
    sparse_from: float = 0.2
    """The share of the time after which both count in full: what cannot be seen yet is not to be unlearnt."""
    slip: float = 0.0
    """The share of steps at which a training game takes a random action instead of the chosen one: whoever never fails
    has nothing to fear, and its value says nothing of dangers."""
    teach: float = 1.0
    """Weight of deciding as a teacher does, where there is one."""
    teach_until: float = 0.5
    """The share of the time by which the teacher has fallen silent."""
    max_norm: float = 0.5

    def at(self, share: float) -> tuple[float, float]:
        """Learning rate and weight of the entropy when that share of the time is over."""
        left = 1 - min(1.0, max(0.0, share))
        lr = self.last_lr + (self.lr - self.last_lr) * left
        return lr, self.last_entropy + (self.entropy - self.last_entropy) * left

    def prices(self, share: float) -> tuple[float, float]:
        """Weights of the loudness and of the naming when that share of the time is over."""
        part = min(1.0, share / max(self.sparse_from, 1e-9))
        return self.sparse * part, self.naming * part

    def lesson(self, share: float) -> float:
        """Weight of the teacher when that share of the time is over."""
        return self.teach * max(0.0, 1 - share / max(self.teach_until, 1e-9))


class Window:
    """Some steps of all games."""

    def __init__(self, steps: int, games: int, blocks: Tensor) -> None:
        device, shape = blocks.device, blocks.shape[1:]
        self.blocks = torch.zeros(steps, games, *shape, dtype=torch.uint8, device=device)
        self.actions = torch.zeros(steps, games, dtype=torch.int64, device=device)
        self.log_probs, self.values, self.rewards = (torch.zeros(steps, games, device=device) for _ in range(3))
        self.ended = torch.zeros(steps, games, dtype=torch.bool, device=device)
        self.outcomes = torch.zeros(steps, games, dtype=torch.uint8, device=device)
        self.last_values = torch.zeros(games, device=device)

    def advantages(self, gamma: float, lam: float) -> Tensor:
        """Generalised advantage estimates [steps, games]."""
        result, following = torch.empty_like(self.rewards), self.last_values
        running, alive = torch.zeros_like(following), (~self.ended).float()
        for t in reversed(range(len(self.rewards))):
            delta = self.rewards[t] + gamma * alive[t] * following - self.values[t]
            running = delta + gamma * lam * alive[t] * running
            result[t], following = running, self.values[t]
        return result

    def endings(self, kinds: int) -> Tensor:
        """How many episodes ended in each way [kinds]."""
        which = torch.arange(kinds, device=self.ended.device)
        return ((self.outcomes[..., None] == which) & self.ended[..., None]).sum((0, 1))


class Player:
    """Plays windows with a network, on and on; at a share of the steps, `slip`, a game does not do as it was told.

    With `marked` the windows also tell where dangers are.
    """

    def __init__(self, games: Games, steps: int, *, slip: float = 0.0, marked: bool = False) -> None:
        self.games, self.steps, self.slip, self.marked = games, steps, slip, marked
        self.seen = self.blocks(games.reset())
        self.window = Window(steps, len(self.seen), self.seen)

    @torch.no_grad()
    def play(self, network: Network) -> Window:
        """The next steps of all games; the window is written anew each time."""
        window = self.window
        for t in range(self.steps):
            logits, value, *_ = network(self.seen)
            log_all = F.log_softmax(logits, -1)
            action = draw(log_all)
            turn = self.games.step(slipped(action, self.slip, logits.shape[1]) if self.slip else action)
            window.blocks[t], window.actions[t], window.values[t] = self.seen, action, value[:, 0]
            window.log_probs[t] = log_all.gather(1, action[:, None])[:, 0]
            window.rewards[t] = turn.reward
            window.ended[t], window.outcomes[t] = turn.ended, turn.outcome
            self.seen = self.blocks(turn.frames)
        window.last_values.copy_(network(self.seen)[1][:, 0])
        return window

    def blocks(self, frames: Tensor) -> Tensor:
        """The games' present frames as the network takes them."""
        return as_blocks(frames, self.games.masks() if self.marked else None)


def draw(log_probs: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """One action a row: the largest log probability after Gumbel noise, which needs no word from the host."""
    noise = torch.empty_like(log_probs).exponential_(generator=generator)
    return (log_probs - noise.log()).argmax(-1)


def slipped(actions: Tensor, share: float, count: int) -> Tensor:
    """The actions, a share of them replaced by any of `count`."""
    chance = torch.rand(actions.shape, device=actions.device)
    return torch.where(chance < share, torch.randint_like(actions, count), actions)


@dataclass(frozen=True)
class Losses:
    """Means over a window, still on the device."""

    policy: Tensor
    value: Tensor
    entropy: Tensor
    loudness: Tensor
    naming: Tensor
    distance: Tensor
    """From the teacher's decisions; nothing without one."""


def improve(
    network: Network,
    optimizer: torch.optim.Optimizer,
    window: Window,
    *,
    recipe: Recipe,
    share: float,
    teacher: Network | None = None,
) -> Losses:
    """Some epochs of PPO on a window."""
    lr, entropy_weight = recipe.at(share)
    lesson, (price, naming) = recipe.lesson(share), recipe.prices(share)
    for group in optimizer.param_groups:
        group["lr"] = lr
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    gains = window.advantages(recipe.gamma, recipe.lam)
    flat = {
        "blocks": window.blocks.flatten(0, 1),
        "actions": window.actions.flatten(),
        "old": window.log_probs.flatten(),
        "returns": (gains + window.values).flatten(),
        "gains": ((gains - gains.mean()) / (gains.std() + 1e-6)).flatten(),
    }
    count = len(flat["actions"])
    batch = min(recipe.batch, count)
    for _ in range(recipe.epochs):
        order = torch.randperm(count, device=gains.device)
        for rows in order[: count - count % batch].view(-1, batch):
            some = {name: part[rows] for name, part in flat.items()}
            losses = loss_of(network, some, recipe.clip, teacher if lesson else None)
            total = losses.policy + recipe.value_weight * losses.value - entropy_weight * losses.entropy
            total = total + price * losses.loudness + naming * losses.naming + lesson * losses.distance
            optimizer.zero_grad(set_to_none=True)
            total.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(parameters, recipe.max_norm)
            optimizer.step()
    return Losses(*(getattr(losses, field.name).detach() for field in fields(losses)))


def loss_of(network: Network, rows: dict[str, Tensor], clip: float, teacher: Network | None = None) -> Losses:
    """The parts of the loss on some rows."""
    logits, value, loud, wrong = network(rows["blocks"])
    log_all = F.log_softmax(logits, -1)
    ratio = (log_all.gather(1, rows["actions"][:, None])[:, 0] - rows["old"]).exp()
    gains = rows["gains"]
    policy = -torch.min(ratio * gains, ratio.clamp(1 - clip, 1 + clip) * gains).mean()
    error = F.mse_loss(value[:, 0], rows["returns"])
    entropy = -(log_all.exp() * log_all).sum(-1).mean()
    distance = torch.zeros_like(loud) if teacher is None else distance_from(teacher, rows["blocks"], log_all)
    return Losses(policy, error, entropy, loud, wrong, distance)


def distance_from(teacher: Network, blocks: Tensor, log_probs: Tensor) -> Tensor:
    """How far these decisions are from a teacher's: the mean Kullback–Leibler divergence."""
    with torch.no_grad():
        wanted = F.log_softmax(teacher(blocks)[0], -1)
    return F.kl_div(log_probs, wanted, log_target=True, reduction="batchmean")
