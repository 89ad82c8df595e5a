"""What a training leaves behind: weights, snapshots on the way, a curve, and all that is needed to go on."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from innerview.errors import InnerviewError
from innerview.subjects.weights import save_weights
from innerview_zoo.models.atari.curves import drawn
from innerview_zoo.models.atari.graphs import prepared

SNAPSHOTS = {"early": 0.08, "middle": 0.3}
"""At which share of the time each is taken."""
_FIRST_SHARE = 0.004
"""Of a trail, after the untrained network."""


@dataclass(frozen=True)
class Point:
    """One line of the curve."""

    minutes: float
    steps: int
    updates: int
    games: int
    score: float
    """Mean of the last games of lanes that hardly explore."""


@dataclass(frozen=True)
class Progress:
    """How far a training got."""

    seconds: float = 0.0
    steps: int = 0
    updates: int = 0


class Folder:
    """A training's own folder; every file is whole at any time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def save_weights(self, network: nn.Module, name: str = "weights") -> None:
        """In half precision: what is bundled."""
        halves = {key: value.detach().half().cpu().contiguous() for key, value in network.state_dict().items()}
        self._save(f"{name}.safetensors", halves)

    def save_snapshots(self, network: nn.Module, share: float) -> None:
        """Those that are due and not there yet."""
        for name, due in SNAPSHOTS.items():
            if share >= due and not (self.path / f"{name}.safetensors").exists():
                self.save_weights(network, name)

    def save_step(self, network: nn.Module, steps: int) -> None:
        """A snapshot of a trail, named by the decisions before it, in 8 bits a weight."""
        part = self.path / "step.part.safetensors"
        save_weights(network, part, bits=8)
        part.replace(self.path / f"step-{steps:010d}.safetensors")

    def save_curve(self, points: Sequence[Point]) -> None:
        """All points so far, as a table and as a picture."""
        part = self.path / "curve.csv.part"
        with part.open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(Point.__dataclass_fields__)
            lines.writerows([*(round(value, 2) for value in asdict(point).values())] for point in points)
        part.replace(self.path / "curve.csv")
        part = self.path / "curve.svg.part"
        part.write_text(picture_of(points), encoding="utf-8")
        part.replace(self.path / "curve.svg")

    def read_curve(self) -> list[Point]:
        """The points so far."""
        path = self.path / "curve.csv"
        if not path.exists():
            return []
        with path.open(encoding="utf-8", newline="") as file:
            return [
                Point(float(r["minutes"]), int(r["steps"]), int(r["updates"]), int(r["games"]), float(r["score"]))
                for r in csv.DictReader(file)
            ]

    def save_all(self, network: nn.Module, optimizer: Optimizer, progress: Progress) -> None:
        """Everything but the past that was played: that is played anew."""
        kept = {f"network.{key}": value for key, value in network.state_dict().items()}
        kept |= {f"optimizer.{place}": value for place, value in enumerate(prepared(optimizer))}
        kept |= {f"progress.{key}": torch.tensor(value) for key, value in asdict(progress).items()}
        self._save("resume.safetensors", {k: v.detach().cpu().contiguous().clone() for k, v in kept.items()})

    def go_on(self, network: nn.Module, optimizer: Optimizer) -> Progress:
        """Take everything back up; how far the training had got."""
        path = self.path / "resume.safetensors"
        if not path.is_file():
            raise InnerviewError(f"There is no training to go on with in {self.path}: resume.safetensors is missing.")
        try:
            kept = load_file(path)
        except SafetensorError as error:
            raise InnerviewError(f"{path} is damaged or cut short: {error}. Begin anew without --resume.") from error
        network.load_state_dict(_part(kept, "network."))
        states = _part(kept, "optimizer.")
        with torch.no_grad():
            for place, tensor in enumerate(prepared(optimizer)):
                tensor.copy_(states[str(place)])
        told = _part(kept, "progress.")
        return Progress(float(told["seconds"]), int(told["steps"]), int(told["updates"]))

    def _save(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        part = self.path / f"{name}.part"
        save_file(dict(tensors), part)
        part.replace(self.path / name)


def trail(count: int) -> list[float]:
    """At which shares of the time a trail's snapshots are due: at once, and then ever further apart up to the end."""
    later = np.geomspace(_FIRST_SHARE, 1.0, max(count - 1, 0)).tolist() if count > 2 else [1.0]
    return [0.0, *later][:count]


def picture_of(points: Sequence[Point]) -> str:
    """The curve, with the snapshots marked where they were due."""
    whole = points[-1].minutes if points else 0.0
    marks = {
        name: next(p.steps for p in points if p.minutes >= due * whole) for name, due in SNAPSHOTS.items() if whole
    }
    return drawn([(point.steps, point.score) for point in points], marks=marks)


def _part(kept: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {key.removeprefix(prefix): value for key, value in kept.items() if key.startswith(prefix)}
