"""Parts the channel of layer 2b that says "danger" into three: for saws, enemies moving left, enemies moving right.

Agents that pay for speaking (`train.py --sparse`) say of all three the same: whatever kills by touch. This makes an
agent that decides as the one it begins with, and in which it is known what sees what:

    python -m innerview_zoo.models.platformer.split run/weights.safetensors --out apart --minutes 8

Two silent channels and the one that spoke begin as copies of it, read alike by the next layer. Then the layers up to 2b
learn to speak in the one of the three that belongs to the nearest danger, as the world's masks have it, and to say all
else as before. Layers after 2b stay as they were. The agent is to decide rightly with any one of the three taken away,
too: as one would to whom that kind of danger, and no other, is silent. It learns so in games that it plays like that.
"""

from __future__ import annotations

import argparse
import copy
import csv
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from innerview.errors import InnerviewError
from innerview_zoo.models.platformer.agent import ACTION_COUNT, Agent, as_input
from innerview_zoo.models.platformer.ppo import draw, slipped
from innerview_zoo.models.platformer.score import load_agent
from innerview_zoo.models.platformer.train import Log, log
from innerview_zoo.worlds.platformer import CLASSES, Platformer, PlatformerSettings

KINDS = ("saw", "enemy moving left", "enemy moving right")
EARLY = ("conv1a", "conv2a", "conv2b")
REACH = 6  # places of layer 2b that the nearest danger may be away
SLIP = 0.2
SEED = 7
STEPS = 8  # played between two rounds of learning, in batches of as many frames as there are games
GAMES, GAMES_ON_GPU = 64, 1024
LOOKED_AT = 60  # steps to find the channel in
LR, LAST_LR = 1e-3, 1e-5
VALUE_WEIGHT = 4.0
APART = 4.0  # how much more the three channels count than any other
TELL_S = 30.0
CHANNELS = "channels"
COLUMNS = ("seconds", "other_than_wanted", "in_the_right_channel")


@dataclass(frozen=True)
class Seen:
    """Frames of games, and what an agent made of them."""

    frames: Tensor
    spoken: Tensor
    """What layer 2b says [n, 32, 32, 32]."""
    masks: Tensor
    logits: Tensor
    value: Tensor

    def at(self, rows: Tensor) -> Seen:
        """Some of them."""
        return Seen(*(part[rows] for part in self._parts()))

    def _parts(self) -> tuple[Tensor, ...]:
        return self.frames, self.spoken, self.masks, self.logits, self.value

    @staticmethod
    def joined(some: list[Seen]) -> Seen:
        """One after the other."""
        return Seen(*(torch.cat(parts) for parts in zip(*(each._parts() for each in some), strict=True)))


def early(agent: Agent, frames: Tensor) -> Tensor:
    """Frames in 0–1 to what layer 2b says."""
    x = agent.relu2a(agent.conv2a(agent.pool1(agent.relu1a(agent.conv1a(frames)))))
    spoken: Tensor = agent.relu2b(agent.conv2b(x))
    return spoken


def late(agent: Agent, spoken: Tensor) -> tuple[Tensor, Tensor]:
    """What layer 2b says to logits and value."""
    x = agent.pool3(agent.relu3a(agent.conv3a(agent.pool2(spoken))))
    return agent.decide(agent.pool4(agent.relu4a(agent.conv4a(x))))


@torch.no_grad()
def played(agent: Agent, *, games: int, seed: int, player: Callable[[Tensor], Tensor] | None = None) -> Iterator[Seen]:
    """What an agent makes of games, without end; it plays them, or `player` does (frames in 0–1 to logits).

    Now and then something else is done than was chosen.
    """
    device = str(next(agent.parameters()).device)
    world = Platformer(games, settings=PlatformerSettings(), device=device, seed=seed)
    frames = world.reset()
    while True:
        spoken = early(agent, as_input(frames))
        logits, value = late(agent, spoken)
        yield Seen(frames, spoken, world.masks(), logits, value)
        chosen = draw((player(as_input(frames)) if player else logits).log_softmax(-1))
        frames = world.step(slipped(chosen, SLIP, ACTION_COUNT)).frames


def nearest(masks: Tensor) -> Tensor:
    """[n, 64, 64] classes to [n, kind, 32, 32]: 1 where that danger is the nearest within reach; the first of two."""
    kinds = torch.stack([masks == CLASSES.index(kind) for kind in KINDS], 1).float()
    kinds = F.max_pool2d(kinds, 2)
    owner, free = torch.zeros_like(kinds), torch.ones_like(kinds[:, :1])
    for away in range(REACH + 1):
        near = F.max_pool2d(kinds, 2 * away + 1, 1, away) * free
        near = near * (near.cumsum(1) <= 1)
        owner, free = owner + near, free - near.sum(1, keepdim=True)
    return owner


def choose(agent: Agent, seen: Iterator[Seen]) -> tuple[int, ...]:
    """The channel that says most where dangers are, and the most silent ones: as many as there are kinds."""
    read = agent.conv3a.weight.square().sum((0, 2, 3)).sqrt()
    on = total = torch.zeros_like(read)
    for _ in range(LOOKED_AT):
        some = next(seen)
        spoken = some.spoken * read[:, None, None]
        on = on + (spoken * nearest(some.masks).sum(1, keepdim=True)).mean((0, 2, 3))
        total = total + spoken.mean((0, 2, 3))
    loudest = int(on.argmax())
    silent = [int(c) for c in total.argsort(stable=True) if int(c) != loudest]
    return (loudest, *silent[: len(KINDS) - 1])


@torch.no_grad()
def copied(agent: Agent, channels: tuple[int, ...]) -> Agent:
    """The agent with a channel's kernels, but for a little noise, in all of `channels`, each read as that one was."""
    new, source = copy.deepcopy(agent), channels[0]
    kernel, bias = agent.conv2b.weight[source], agent.conv2b.bias
    assert bias is not None and new.conv2b.bias is not None
    for channel in channels:
        new.conv2b.weight[channel] = kernel + 0.02 * kernel.std() * torch.randn_like(kernel)
        new.conv2b.bias[channel] = bias[source]
        new.conv3a.weight[:, channel] = agent.conv3a.weight[:, source]
    return new


def wanted(seen: Seen, channels: tuple[int, ...]) -> Tensor:
    """What layer 2b should say: as before, but dangers each in their own channel."""
    target = seen.spoken.clone()
    target[:, list(channels)] = seen.spoken[:, channels[:1]] * nearest(seen.masks)
    return target


def without(spoken: Tensor, channels: tuple[int, ...], which: Tensor) -> Tensor:
    """What was said, in each row without one of `channels`; where `which` is their number, with all of them."""
    kept = 1 - torch.eye(len(channels) + 1, len(channels), device=spoken.device)
    gaps = torch.ones(len(channels) + 1, spoken.shape[1], device=spoken.device)
    gaps[:, list(channels)] = kept
    return spoken * gaps[which][:, :, None, None]


def split(agent: Agent, out: Path, *, minutes: float, games: int, begun: Begun | None = None, log: Log) -> Agent:
    """An agent that decides alike, with a channel for each kind of danger; saved to `out` now and then."""
    torch.manual_seed(SEED)
    agent.requires_grad_(False)
    channels = begun.channels if begun else choose(agent, played(agent, games=games, seed=SEED))
    log(f"channel {channels[0]} said danger; {', '.join(map(str, channels[1:]))} were silent and take parts of it")
    new = (begun.agent if begun else copied(agent, channels)).requires_grad_(False)
    learnt = [p for name, p in new.named_parameters() if name.partition(".")[0] in EARLY]
    for parameter in learnt:
        parameter.requires_grad_(True)
    optimizer = torch.optim.Adam(learnt, lr=LR)
    roles = torch.arange(games, device=learnt[0].device) % (len(channels) + 1)

    def player(frames: Tensor) -> Tensor:
        return late(new, without(early(new, frames), channels, roles))[0]

    source = played(agent, games=games, seed=SEED, player=player)
    power = next(source).spoken.square().mean((0, 2, 3))
    weight = 1 / (power + 0.03 * power.mean())  # so that quiet channels count too
    weight[list(channels)] = APART * float(weight[channels[0]])
    began = told = time.time()
    curve: list[tuple[float, float, float]] = []
    while (share := (time.time() - began) / (60 * minutes)) < 1:
        for group in optimizer.param_groups:
            group["lr"] = LAST_LR + (LR - LAST_LR) * (1 - share)
        seen = Seen.joined([next(source) for _ in range(STEPS)])
        for rows in torch.split(torch.randperm(len(seen.frames), device=seen.frames.device), games):
            fit, apart = _learn(new, optimizer, seen.at(rows), channels, weight)
        if time.time() - told > TELL_S:
            told = time.time()
            curve.append((round(told - began, 1), round(fit, 4), round(apart, 4)))
            log(f"{told - began:6.0f} s  other than wanted {fit:.3f}, in the right channel {apart:.3f}")
            save(new, out, channels, curve)
    save(new, out, channels, curve)
    return new


def _learn(
    new: Agent, optimizer: torch.optim.Optimizer, seen: Seen, channels: tuple[int, ...], weight: Tensor
) -> tuple[float, float]:
    target = wanted(seen, channels)
    spoken = early(new, as_input(seen.frames))
    fit = ((spoken - target).square() * weight[:, None, None]).sum(1).mean()
    which = torch.randint(len(channels), (len(target),), device=target.device)
    with torch.no_grad():
        partly = late(new, without(target, channels, which))
    whole = _unlike(late(new, spoken), (seen.logits, seen.value))
    loss = fit + whole + _unlike(late(new, without(spoken, channels, which)), partly)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], 1.0)
    optimizer.step()
    with torch.no_grad():
        owner, parts = nearest(seen.masks), spoken[:, list(channels)]
        right = (parts * owner).sum() / (parts * owner.sum(1, keepdim=True)).sum().clamp(min=1e-9)
    return fit.item(), right.item()


def _unlike(decided: tuple[Tensor, Tensor], aim: tuple[Tensor, Tensor]) -> Tensor:
    """How far logits and values are from others."""
    (logits, value), (others, worth) = decided, aim
    policy = F.kl_div(logits.log_softmax(-1), others.log_softmax(-1), log_target=True, reduction="batchmean")
    return policy + VALUE_WEIGHT * F.mse_loss(value, worth)


@dataclass(frozen=True)
class Begun:
    """An earlier run."""

    agent: Agent
    channels: tuple[int, ...]

    @classmethod
    def load(cls, folder: Path, device: str) -> Begun:
        """From where it was saved."""
        from safetensors import safe_open

        path = folder / "weights.safetensors"
        agent = load_agent(path, device)
        with safe_open(path, "pt") as file:
            channels = (file.metadata() or {}).get(CHANNELS, "")
        if not channels:
            raise InnerviewError(f"{path} does not say which channels it parts. Begin anew, without --resume.")
        return cls(agent, tuple(map(int, channels.split(","))))


def save(agent: Agent, out: Path, channels: tuple[int, ...], curve: Sequence[tuple[float, float, float]]) -> None:
    """The weights as they ship, and how it went."""
    from safetensors.torch import save_file

    out.mkdir(parents=True, exist_ok=True)
    state = {name: value.detach().half().cpu().contiguous() for name, value in agent.state_dict().items()}
    save_file(state, out / "weights.safetensors.part", {CHANNELS: ",".join(map(str, channels))})
    (out / "weights.safetensors.part").replace(out / "weights.safetensors")
    with (out / "curve.csv").open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *curve])


def main(given: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path, help="of an agent that says danger in one channel (safetensors)")
    parser.add_argument("--out", type=Path, default=Path("apart"), help="folder for the new weights")
    parser.add_argument("--resume", type=Path, help="folder of an earlier run to go on with")
    parser.add_argument("--minutes", type=float, default=8.0, help="from now on; without a GPU give it an hour")
    parser.add_argument("--games", type=int, help=f"played side by side; {GAMES}, or {GAMES_ON_GPU} on a GPU")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args(given)
    agent = load_agent(args.weights, args.device)
    begun = Begun.load(args.resume, args.device) if args.resume else None
    usual = GAMES if torch.device(args.device).type == "cpu" else GAMES_ON_GPU
    games = usual if args.games is None else args.games
    split(agent, args.out, minutes=args.minutes, games=games, begun=begun, log=log)


if __name__ == "__main__":
    main()
