"""A paired recording of plain colours, and a subject that reads the pose off them: every error is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.schema import ArraySpec, Column, Head

ROWS, SIZE = 12, 8
POSE = Head(name="pose", kind="pose", size=3, names=("x", "y", "angle"), units=("m", "m", "rad"))
PICTURE, PLANE = ("height", "width", "channel"), ("height", "width")
SPECS = (
    Column(name="x", type="float", unit="m", pose="x"),
    Column(name="y", type="float", unit="m", pose="y"),
    Column(name="angle", type="float", unit="rad", pose="angle"),
)


class Painted(nn.Module):
    """Ten metres are full red and full green, two radians full blue; what it says is multiplied by `scale`."""

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(scale))

    def forward(self, rgb: Tensor) -> dict[str, Tensor]:
        return {"pose": rgb.mean((2, 3)) * torch.tensor([10.0, 10.0, 2.0]) * self.scale}


class Blind(nn.Module):
    """Says the same of every picture."""

    def __init__(self) -> None:
        super().__init__()
        self.said = nn.Parameter(torch.tensor([2.0, 2.0, 0.5]))

    def forward(self, rgb: Tensor) -> dict[str, Tensor]:
        return {"pose": self.said + 0 * rgb.mean((2, 3))}


def painted(name: str = "painted", scale: float = 1.0) -> iv.Subject:
    return iv.subject(Painted(scale), name=name, inputs={"rgb": (3, SIZE, SIZE)}, heads={"pose": POSE})


def blind() -> iv.Subject:
    return iv.subject(Blind(), name="blind", inputs={"rgb": (3, SIZE, SIZE)}, heads={"pose": POSE})


def colours(rows: int = ROWS) -> np.ndarray:
    """Even bytes [row, 3] that may be halved and doubled without loss."""
    return 2 * np.random.default_rng(1).integers(10, 61, (rows, 3))


def poses(rows: int = ROWS) -> np.ndarray:
    """x, y and angle [row, 3], as a subject reads them off simulated pictures."""
    return colours(rows) / 255 * np.array([10.0, 10.0, 2.0])


def paired_study(
    folder: Path, *, rows: int = ROWS, dim: float = 0.5, unit: str = "m", unknown: tuple[int, ...] = ()
) -> iv.Study:
    """Study with "pairs": real colours are the simulated ones times `dim`; poses of `unknown` rows are NaN."""
    study = iv.Study.create(folder / "pairs.study")
    paint = np.broadcast_to(colours(rows)[:, None, None], (rows, SIZE, SIZE, 3))
    x, y, angle = (poses(rows)[:, part] for part in range(3))
    x = np.where(np.isin(np.arange(rows), unknown), np.nan, x)
    specs: list[Column | ArraySpec] = [
        *(Column(name=c.name, type="float", unit=unit if c.unit == "m" else c.unit, pose=c.pose) for c in SPECS)
    ]
    shape = (SIZE, SIZE, 3)
    specs += [
        ArraySpec(name=f"{d}.rgb", shape=shape, dtype="uint8", role="image", axes=PICTURE, domain=d, pair="rgb")
        for d in ("sim", "real")
    ]
    arrays = {"sim.rgb": paint.astype(np.uint8), "real.rgb": np.rint(paint * dim).astype(np.uint8)}
    iv.write_rows(study, "pairs", columns={"x": x, "y": y, "angle": angle}, arrays=arrays, specs=specs)
    return study
