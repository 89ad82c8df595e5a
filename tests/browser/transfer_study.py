"""Pairs of pictures whose mean colour says where they were taken, and two nets that read it, one of them badly."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

import innerview as iv
from innerview.schema import ArraySpec, Column, Head, MapImage, Polygon, RecordingInfo, RowKind, Scene
from innerview.store.recordings.scenes import map_name, scene_key

COUNT, WIDTH, HEIGHT = 60, 16, 12
ROOMS = (
    Polygon(name="hall", points=((0, 0), (10, 0), (10, 3), (0, 3))),
    Polygon(name="lab", points=((0, 3), (6, 3), (6, 6), (0, 6))),
)
SCALE = (20.0, 30.0, 30.0)
"""Of a byte of red, green and blue, per metre and radian."""
PICTURE = ("height", "width", "channel")


class PoseNet(nn.Module):
    """Reads a pose off the mean colour; `skew` adds a share of each part to the next."""

    def __init__(self, skew: float) -> None:
        super().__init__()
        self.deep, self.pose = nn.Linear(3, 6), nn.Linear(6, 3)
        torch.manual_seed(1)
        with torch.no_grad():
            wide = torch.linalg.qr(torch.randn(6, 6))[0][:, :3]
            turn = (torch.eye(3) + skew * torch.roll(torch.eye(3), 1, 0)) * 255 / torch.tensor(SCALE)
            self.deep.weight.copy_(wide)
            self.deep.bias.zero_()
            self.pose.weight.copy_(turn @ wide.T)
            self.pose.bias.zero_()

    def forward(self, rgb: Tensor) -> dict[str, Tensor]:
        return {"pose": self.pose(self.deep(rgb.mean((2, 3))))}


NETS = {"net good": PoseNet(0.0).eval(), "net bad": PoseNet(0.5).eval()}


def make(folder: Path) -> iv.Study:
    study = iv.Study.create(folder, "transfer")
    random = np.random.default_rng(5)
    place = random.uniform((0.5, 0.3, 0), (9.5, 5.7, 2 * np.pi), (COUNT, 3))
    colour = place * SCALE
    # In reality it is redder in every third picture, and everything is a little off.
    off = random.normal(0, 6, (COUNT, 3)) + np.where(np.arange(COUNT)[:, None] % 3, 0, (60, 0, 0))
    flat = {"sim": colour, "real": colour + off}
    shape = (COUNT, HEIGHT, WIDTH, 3)
    arrays = {
        **{f"{s}.rgb": np.broadcast_to(c.clip(0, 255)[:, None, None], shape).astype(np.uint8) for s, c in flat.items()},
        **{f"{s}.depth": random.integers(500, 9000, shape[:3], dtype=np.uint16) for s in flat},
    }
    specs = {
        "rgb": ArraySpec(name="rgb", shape=(HEIGHT, WIDTH, 3), dtype="uint8", role="image", axes=PICTURE, pair="rgb"),
        "depth": ArraySpec(
            name="depth", shape=(HEIGHT, WIDTH), dtype="uint16", role="image", axes=PICTURE[:2], unit="mm", pair="depth"
        ),
    }
    file = io.BytesIO()
    Image.fromarray(np.full((60, 100, 3), 235, np.uint8)).save(file, "PNG")
    content = file.getvalue()
    image = MapImage(file=map_name(content), width_px=100, height_px=60, origin=(0.0, 0.0), scale=0.1)
    scene = Scene(unit="m", polygons=ROOMS, image=image)
    room = ["hall" if y < 3 else "lab" for _, y, _ in place]
    info = RecordingInfo(
        name="office",
        row=RowKind(one="pair", many="pairs"),
        columns=(
            Column(name="x", type="float", unit="m", pose="x"),
            Column(name="y", type="float", unit="m", pose="y"),
            Column(name="angle", type="float", unit="rad", pose="angle"),
            Column(name="room", type="text", kind="category"),
        ),
        arrays=tuple(
            replace(spec, name=f"{side}.{kind}", domain=side) for kind, spec in specs.items() for side in flat
        ),
        scene=scene_key(scene),
    )
    with study.writer(info) as writer:
        writer.add_scene(scene, content)
        table = {"x": place[:, 0], "y": place[:, 1], "angle": place[:, 2]}
        writer.append({**{name: values.tolist() for name, values in table.items()}, "room": room}, arrays)
    for subject in subjects().values():
        for side in flat:
            iv.predict(study, subject, "office", inputs={"rgb": f"{side}.rgb"}, keep=["deep"], progress=False)
    return study


def subjects() -> dict[str, iv.Subject]:
    head = Head(name="pose", kind="pose", size=3, names=("x", "y", "angle"), units=("m", "m", "rad"))
    example = {"rgb": torch.zeros(1, 3, HEIGHT, WIDTH)}
    return {name: iv.subject(net, name=name, example=example, heads={"pose": head}) for name, net in NETS.items()}


@dataclass(frozen=True)
class Said:
    """What one net says of the pictures of one domain, run by hand."""

    pose: np.ndarray
    position: np.ndarray
    heading: np.ndarray
    kinds: list[str]

    def of(self, what: str) -> np.ndarray:
        return self.position if what == "position" else self.heading


def by_hand(study: iv.Study) -> Mapping[tuple[str, str], Said]:
    """By net and domain, from the modules themselves."""
    recording = study.recording("office")
    true = recording.columns(["x", "y", "angle"]).to_numpy()
    found = {}
    for name, net in NETS.items():
        for side in ("sim", "real"):
            given = torch.from_numpy(recording.array(f"{side}.rgb", 0, COUNT)).permute(0, 3, 1, 2).float() / 255
            with torch.no_grad():
                said = net(given)["pose"].numpy().astype(np.float64)
            turned = np.degrees(np.abs(said[:, 2] - true[:, 2])) % 360
            position = np.linalg.norm(said[:, :2] - true[:, :2], axis=1)
            found[name, side] = Said(said, position, np.minimum(turned, 360 - turned), _kinds(said, true, position))
    return found


def _kinds(said: np.ndarray, true: np.ndarray, error: np.ndarray) -> list[str]:
    def room(x: float, y: float) -> str:
        if 0 <= x < 10 and 0 <= y < 3:
            return "hall"
        return "lab" if 0 <= x < 6 and 3 <= y < 6 else ""

    kinds = []
    for (x, y, _), (tx, ty, _), off in zip(said, true, error, strict=True):
        where = room(x, y)
        kinds.append(
            "right"
            if off <= 1
            else "unreachable place"
            if not where
            else "same room"
            if where == room(tx, ty)
            else "other room"
        )
    return kinds


def gap_kind(sim: float, real: float, gap: float) -> str:
    """Whether two errors and the way between their places are a gap."""
    if gap <= 1 or (sim <= 1 and real <= 1):
        return "no gap"
    if real - sim > 1 or (real > 1 >= sim):
        return "worse in real"
    return "worse in sim" if sim - real > 1 or (sim > 1 >= real) else "wrong in both, apart"
