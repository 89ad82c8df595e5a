"""Small subjects of every shape that a lens must cope with, each with rows of its own: the table of `check_lens`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from innerview.schema import (
    ArraySpec,
    Camera,
    Column,
    Ordering,
    PosePart,
    Predicted,
    RecordingInfo,
    RowArray,
    Rows,
    Scene,
    States,
)
from innerview.subjects import Subject, subject
from innerview.testing.feeds import GivenFeed, carried_rows
from innerview.testing.subjects import TORCH_CASES, random_inputs

STEPS = 6
"""Rows of each episode."""
SIZE = 8
ACTIONS = ("left", "stay", "right")


class _Sees(nn.Module):
    """A picture in; a policy and a value out."""

    def __init__(self, channels: int = 3, features: int = 4 * 16) -> None:
        super().__init__()
        self.see = nn.Conv2d(channels, 4, 3, stride=2, padding=1)
        self.policy, self.value = nn.Linear(features, 3), nn.Linear(features, 1)

    def heads(self, features: Tensor) -> dict[str, Tensor]:
        return {"policy": self.policy(features), "value": self.value(features)}

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return self.heads(functional.relu(self.see(x)).flatten(1))


class _InPlace(_Sees):
    """Its ReLU overwrites what the convolution put out."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(self.see, nn.ReLU(inplace=True), nn.Flatten())

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return self.heads(self.body(x))


class _Recurrent(_Sees):
    """An LSTM behind the eye."""

    def __init__(self) -> None:
        super().__init__(features=8)
        self.core = nn.LSTMCell(4 * 16, 8)

    def forward(  # type: ignore[override]
        self, x: Tensor, state: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        hidden, cell = self.core(torch.relu(self.see(x)).flatten(1), state)
        return self.policy(hidden), self.value(hidden), (hidden, cell)


class _Dueling(_Sees):
    """Q values of a value and advantages."""

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        said = super().forward(x)
        advantage, value = said["policy"], said["value"]
        return {"q": value + advantage - advantage.mean(1, keepdim=True), "advantage": advantage, "value": value}


class _Dict(_Sees):
    """A picture and a speed by name."""

    def __init__(self) -> None:
        super().__init__(features=4 * 16 + 2)

    def forward(self, observation: dict[str, Tensor]) -> dict[str, Tensor]:  # type: ignore[override]
        seen = torch.relu(self.see(observation["camera"])).flatten(1)
        return self.heads(torch.cat([seen, observation["speed"]], dim=1))


class _Attention(_Sees):
    """Patches that attend to each other."""

    def __init__(self) -> None:
        super().__init__(features=4)
        self.attend = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        patches = torch.relu(self.see(x)).flatten(2).transpose(1, 2)
        return self.heads(self.attend(patches, patches, patches)[0].mean(1))


class _Poses(_Sees):
    """Colour and depth in; where the camera stands out, read off means over maps, beside a policy and a value."""

    def __init__(self) -> None:
        super().__init__(channels=4)
        self.place = nn.Linear(4, 3)

    def forward(self, rgbd: Tensor) -> dict[str, Tensor]:
        seen = functional.relu(self.see(rgbd))
        return {**self.heads(seen.flatten(1)), "pose": self.place(seen.mean((2, 3)))}


@dataclass(frozen=True)
class LensCase:
    """A subject and rows that it can be run on."""

    name: str
    subject: Subject
    rows: Rows
    info: RecordingInfo
    """What a recording of these rows would say of itself."""


_PICTURE = torch.zeros(1, 3, SIZE, SIZE)
_SEEING: dict[str, Callable[[], Subject]] = {
    "lstm": lambda: subject(_Recurrent(), example=_PICTURE, actions=ACTIONS),
    "dueling": lambda: subject(_Dueling(), example=_PICTURE, actions=ACTIONS),
    "functional relu": lambda: subject(_Sees(), example=_PICTURE, actions=ACTIONS),
    "in-place relu": lambda: subject(_InPlace(), example=_PICTURE, actions=ACTIONS),
    "frame stack": lambda: subject(_Sees(4), example=torch.zeros(1, 4, SIZE, SIZE), actions=ACTIONS),
    "dict": lambda: subject(_Dict(), example={"camera": _PICTURE, "speed": torch.zeros(1, 2)}, actions=ACTIONS),
    "attention": lambda: subject(_Attention(), example=_PICTURE, actions=ACTIONS),
}


_OF_NUMBERS = (
    "lstm",
    "mlp",
    "gru",
    "rnn cell",
    "stacked lstm",
    "gru inside, time first",
    "lstm cell with two arguments",
    "lstm cell with a dict of states",
    "gru cell with its state as an attribute",
    "gru cell with a learned start",
    "declared memory",
)
"""Of the table of subjects: one for each way to lay out a memory, and one without."""


def lens_cases() -> tuple[LensCase, ...]:
    """All of them, made anew; those that see first."""
    found = []
    with torch.random.fork_rng(devices=[]):
        for name, make in _SEEING.items():
            torch.manual_seed(7)
            found.append(_case(name, make()))
        torch.manual_seed(7)
        found.append(_paired())
    cases = {case.name: case for case in TORCH_CASES}
    of_numbers = [_case(f"{name} of numbers", cases[name].adapt(cases[name].build())) for name in _OF_NUMBERS]
    return (*found, *of_numbers)


def _paired() -> LensCase:
    """Rows that two domains show, with a pose, depth, a map and a camera."""
    adapted = subject(_Poses(), example={"rgbd": torch.zeros(1, 4, SIZE, SIZE)}, actions=ACTIONS)
    case = _case("pairs", adapted)
    count = case.rows.count
    sides = {name: random_inputs(adapted.info, batch=count, seed=seed) for seed, name in enumerate(("real", "sim"))}
    parts: tuple[PosePart, ...] = ("x", "y", "angle")
    poses: dict[str, Column] = {
        part: Column(name=part, type="float", pose=part, unit="rad" if part == "angle" else "m") for part in parts
    }
    depth = {f"{side}.depth": _depth(f"{side}.depth", side, count, seed) for seed, side in enumerate(sides)}
    camera = Camera(width_px=SIZE, height_px=SIZE, focal_px=(6.0, 6.0), centre_px=(SIZE / 2, SIZE / 2))
    room = Scene(unit="m", walls=((0.0, 0.0, 4.0, 4.0),), camera=camera)
    rows = replace(
        case.rows,
        columns={**case.rows.columns, **{part: np.linspace(0.5, 3.0, count) for part in parts}},
        specs={**case.rows.specs, **poses},
        domains={name: GivenFeed(adapted, given) for name, given in sides.items()},
        channels={"rgbd": ("colour",) * 3 + ("depth",)},
        arrays=depth,
        scene=lambda: room,
        predicted=lambda: [_predicted(adapted, name, given) for name, given in sides.items()],
    )
    colour = [
        ArraySpec(name=f"{side}.rgb", shape=(SIZE, SIZE, 3), dtype="uint8", domain=side, pair="rgb") for side in sides
    ]
    arrays = (*case.info.arrays, *colour, *(array.spec for array in depth.values()))
    info = replace(case.info, columns=(*case.info.columns, *poses.values()), arrays=arrays, scene="room")
    return LensCase("pairs", adapted, rows, info)


def _predicted(adapted: Subject, domain: str, given: dict[str, Tensor]) -> Predicted:
    said = adapted.run(given, keep=("see",))
    kept = {"head.pose": said.heads["pose"], "see": said.sites["see"]}
    states = {name: States.of(values.numpy()) for name, values in kept.items()}
    return Predicted(subject="pairs", domain=domain, states=states)


def _depth(name: str, side: str, count: int, seed: int) -> RowArray:
    values = np.random.default_rng(seed).integers(0, 4000, (count, SIZE, SIZE)).astype(np.uint16)
    axes = ("height", "width")
    spec = ArraySpec(
        name=name, shape=(SIZE, SIZE), dtype="uint16", axes=axes, unit="mm", domain=side, pair="depth", role="image"
    )
    return RowArray(spec=spec, read=lambda places: values[places])


def _case(name: str, adapted: Subject) -> LensCase:
    # What a memory holds is found in some episodes and confirmed in others: that needs several.
    episodes = 8 if adapted.info.memory else 2
    count, groups = episodes * STEPS, tuple((i * STEPS, (i + 1) * STEPS) for i in range(episodes))
    action = Column(name="action", type="int", kind="action", categories=ACTIONS)
    reward = Column(name="reward", type="float")
    masks = np.random.default_rng(0).integers(0, 3, (count, SIZE, SIZE)).astype(np.uint8)
    sees = any(spec.kind == "image" for spec in adapted.info.inputs)
    rows = carried_rows(
        adapted,
        random_inputs(adapted.info, batch=count, seed=0),
        groups,
        columns={"action": np.arange(count) % 3.0, "reward": np.linspace(-1, 1, count)},
        specs={"action": action, "reward": reward},
        mask=(lambda places: masks[places]) if sees else None,
        classes=("nothing", "wall", "coin") if sees else (),
    )
    given = [
        ArraySpec(name=spec.name, shape=spec.shape, dtype="float32", role="observation") for spec in adapted.info.inputs
    ]
    memory = [
        ArraySpec(name=name, shape=(states.elements,), dtype="float32", role="memory")
        for name, states in rows.memory.items()
    ]
    mask = [ArraySpec(name="mask", shape=(SIZE, SIZE), dtype="uint8", role="mask")] if sees else []
    info = RecordingInfo(
        name=name,
        ordering=Ordering(),
        columns=(action, reward),
        arrays=(*given, *memory, *mask),
        subject=adapted.info,
    )
    return LensCase(name, adapted, rows, info)
