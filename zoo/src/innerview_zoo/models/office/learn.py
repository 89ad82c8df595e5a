"""Trains one pose network: batches, loss, averaged weights, checkpoints."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from innerview.errors import SubjectError
from innerview_zoo.models.office.augment import Lens, turn_aside
from innerview_zoo.models.office.data import Images
from innerview_zoo.models.office.pose import PoseNet, folded, pose_loss, wrapped
from innerview_zoo.models.office.recipes import Recipe

_CELL_M = 2.0
_CELLS = 12
_TURNS = 24
_FOR_STATISTICS = 512


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a network is trained."""

    device: torch.device
    batch: int = 256
    lr: float = 2e-3
    decay: float = 0.02
    """Weight decay."""
    hint: float = 2.0
    """Weight of the questions that are asked during training only; it falls to nothing."""
    unit_m: float = 1.0
    """Of places in the loss. In metres the net first learns where it is; a larger unit then sharpens headings."""
    turn_deg: float = 5.0
    """Half of the pictures are turned aside by up to this much, and their headings with them."""
    lens: Lens | None = None
    """Of the camera; without it nothing is turned."""
    seed: int = 0


class Lesson(nn.Module):
    """A pose network and two questions that only training asks: which square of 2 m, which of 24 directions.

    The answers are learnt early, when the squared error of the place still pulls everything to the middle.
    """

    def __init__(self, net: PoseNet) -> None:
        super().__init__()
        self.net = net
        self.square = nn.Linear(net.place.in_features, _CELLS**2)
        self.direction = nn.Linear(net.place.in_features, _TURNS)

    def loss(self, rgbd: Tensor, truth: Tensor, *, hint: float, unit_m: float = 1.0) -> tuple[Tensor, Tensor]:
        """What is minimised, and the pose's part of it."""
        with torch.autocast(rgbd.device.type, torch.bfloat16, enabled=rgbd.is_cuda):
            features = self.net.features(rgbd)
        features = features.float()
        place_m, heading = self.net.read(features)
        pose = pose_loss(place_m, heading, truth, unit_m=unit_m)
        # atan2 has no slope to speak of far out and too much near zero: the vector is kept about 1 long.
        whole = pose + 0.1 * (heading.norm(dim=1) - 1).square().mean()
        if hint > 0:
            column, row = (truth[:, :2] / _CELL_M).long().clamp(0, _CELLS - 1).unbind(1)
            turn = (truth[:, 2] / (2 * math.pi) * _TURNS).floor().long() % _TURNS
            asked = F.cross_entropy(self.square(features), column * _CELLS + row)
            whole = whole + hint * (asked + 0.5 * F.cross_entropy(self.direction(features), turn))
        return whole, pose.detach()


class Learner:
    """One network while it is trained."""

    def __init__(self, recipe: Recipe, plan: Plan, images: Images, *, start: Path | None = None) -> None:
        self.recipe, self.plan, self.images = recipe, plan, images
        self.tuning: Images | None = None
        self.seconds, self.steps, self.seen = 0.0, 0, 0
        self.curve: list[tuple[float, ...]] = []
        torch.manual_seed(plan.seed)
        self.draw = torch.Generator(plan.device).manual_seed(plan.seed)
        # Weights that were kept have no batch normalisation any more.
        self.lesson = Lesson(PoseNet(norm=start is None)).to(plan.device)
        self.lesson.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        if start is not None:
            from innerview.subjects.weights import load_weights

            load_weights(self.lesson.net, start)
        else:
            self._normalise()
        self.average = {name: value.clone() for name, value in self.lesson.net.state_dict().items()}
        self.optimizer = torch.optim.AdamW(
            self._groups(), lr=plan.lr, betas=(0.9, 0.98), eps=1e-7, fused=plan.device.type == "cuda"
        )
        self.order = torch.zeros(0, dtype=torch.int64)

    def _groups(self) -> list[dict[str, Any]]:
        wide = [p for p in self.lesson.parameters() if p.ndim > 1]
        flat = [p for p in self.lesson.parameters() if p.ndim <= 1]
        return [{"params": wide, "weight_decay": self.plan.decay}, {"params": flat, "weight_decay": 0.0}]

    def _normalise(self) -> None:
        """By what this model sees: pictures changed as it will see them."""
        rows = torch.randperm(len(self.images), generator=torch.Generator().manual_seed(self.plan.seed))
        few = torch.split(rows[:_FOR_STATISTICS], 64)
        parts = [self._changed(self.images.batch(part, self.plan.device)[0]) for part in few]
        self.lesson.net.normalise(torch.cat(parts), self.images.poses[:, :2].to(self.plan.device))

    def _changed(self, rgbd: Tensor) -> Tensor:
        return self.recipe.change(rgbd, self.draw) if self.recipe.change else rgbd

    def step(self, done: float) -> Tensor:
        """Learn from one batch; `done` from 0 to 1 says how much of the training is behind. The loss of the pose."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.plan.lr * _pace(done, self.steps)
        rgbd, truth = self._batch()
        self.lesson.train()
        whole, pose = self.lesson.loss(
            rgbd.contiguous(memory_format=torch.channels_last),
            truth,
            hint=self.plan.hint * (1 - done),
            unit_m=self.plan.unit_m,
        )
        self.optimizer.zero_grad(set_to_none=True)
        whole.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.lesson.parameters(), 20.0)
        self.optimizer.step()
        self.steps += 1
        self.seen += len(truth)
        self._remember()
        return pose

    def _batch(self) -> tuple[Tensor, Tensor]:
        size = min(self.plan.batch, len(self.images))
        own = size // 2 if self.tuning is not None else 0
        if len(self.order) < size - own:
            self.order = torch.randperm(len(self.images), generator=self.draw, device=self.plan.device)
        rows, self.order = self.order[: size - own], self.order[size - own :]
        rgbd, truth = self._turned(*self.images.batch(rows, self.plan.device))
        if self.tuning is not None:
            rows = torch.randint(len(self.tuning), (own,), generator=self.draw, device=self.plan.device)
            real, there = self._turned(*self.tuning.batch(rows, self.plan.device))
            rgbd, truth = torch.cat((rgbd, real)), torch.cat((truth, there))
        return self._changed(rgbd), truth

    def _turned(self, rgbd: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
        """Headings between those of the training pictures: places must be told apart from 60,000, headings need not."""
        half = len(rgbd) // 2
        if self.plan.lens is None or not self.plan.turn_deg or not half:
            return rgbd, truth
        drawn = torch.rand(half, generator=self.draw, device=rgbd.device)
        turn = math.radians(self.plan.turn_deg) * (2 * drawn - 1)
        truth = truth.clone()
        truth[:half, 2] = wrapped(truth[:half, 2] + turn)
        return torch.cat((turn_aside(rgbd[:half], turn, self.plan.lens), rgbd[half:])), truth

    @torch.no_grad()
    def _remember(self) -> None:
        """Weights averaged over the last thousand steps or so are better than any of them."""
        keep = min(0.999, (1 + self.steps) / (10 + self.steps))
        now = self.lesson.net.state_dict()
        names = [name for name, value in now.items() if value.is_floating_point()]
        torch._foreach_lerp_([self.average[n] for n in names], [now[n] for n in names], 1 - keep)

    def model(self) -> PoseNet:
        """The plain network with averaged weights."""
        averaged = PoseNet(norm=self.lesson.net.conv1.norm is not None).to(self.plan.device)
        averaged.load_state_dict(self.average)
        return folded(averaged)

    def save(self, path: Path) -> None:
        """Everything that going on needs."""
        state = {
            "lesson": self.lesson.state_dict(),
            "average": self.average,
            "optimizer": self.optimizer.state_dict(),
            "draw": self.draw.get_state(),
            "progress": [self.seconds, float(self.steps), float(self.seen)],
            "curve": [list(row) for row in self.curve],
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        torch.save(state, part)
        part.replace(path)

    def load(self, path: Path) -> None:
        """Go on from what `save` wrote."""
        if not path.is_file():
            raise SubjectError(f"There is nothing to go on from at {path}; --resume takes the --out of an earlier run.")
        state = torch.load(path, map_location=self.plan.device, weights_only=True)
        self.lesson.load_state_dict(state["lesson"])
        self.average = state["average"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.draw.set_state(state["draw"].cpu())
        self.seconds, self.steps, self.seen = state["progress"][0], *map(int, state["progress"][1:])
        self.curve = [tuple(row) for row in state["curve"]]


def _pace(done: float, steps: int) -> float:
    """The learning rate's share: up within 100 steps, then down a cosine to almost nothing."""
    return min(1.0, (steps + 1) / 100) * max(0.005, 0.5 * (1 + math.cos(math.pi * min(done, 1.0))))
