"""A world of three steps in which one must jump over red and stay for green, and an agent that sees colours by channel.

Everything about it is known: with red ablated, an agent falls in exactly those episodes in which red appears.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from innerview.schema import ActionSpace, ArraySpec, Moment, WorldInfo
from innerview.subjects import Subject, subject
from innerview.worlds import Lanes, ThreadedLanes

SIZE, STEPS = 8, 3
CLASSES = ("ground", "red", "green")
STAY, JUMP = 0, 1
FRESH = 1_000
"""Seeds from here on nobody trained on."""


def thing(seed: int, step: int) -> int:
    """What stands there: an index into CLASSES. All there is in 27 seeds: seed 0 has nothing, seed 13 red thrice."""
    return int(seed // 3**step) % 3


def meets(seed: int, what: str) -> bool:
    """Whether a seed has that thing in any step."""
    return any(CLASSES[thing(seed, step)] == what for step in range(STEPS))


class Crossing:
    """The world; `hidden` things are there and not seen."""

    endings = ("through", "red", "green")
    hidable = CLASSES[1:]
    fresh_seed = FRESH

    def __init__(self, hidden: tuple[str, ...] = ()) -> None:
        self.hidden, self.begun = hidden, list[int]()

    @property
    def info(self) -> WorldInfo:
        """Pictures of the ground in blue and a thing in its colour, with masks."""
        flat = ("height", "width")
        seen = ArraySpec(
            name="observation", shape=(SIZE, SIZE, 3), dtype="uint8", role="observation", axes=(*flat, "channel")
        )
        mask = ArraySpec(name="mask", shape=(SIZE, SIZE), dtype="uint8", role="mask", axes=flat, elements=CLASSES)
        return WorldInfo(
            name="crossing",
            family="testing",
            observations=(seen, mask),
            actions=ActionSpace(kind="discrete", names=("stay", "jump")),
            settings={"hidden": list(self.hidden)},
        )

    def open(self, lanes: int) -> Lanes:
        """Start that many games."""
        return ThreadedLanes(lambda lane: _Game(self), lanes)

    def hiding(self, name: str) -> Crossing:
        """The same with a thing invisible."""
        return Crossing((*self.hidden, name))


@dataclass
class _Game:
    world: Crossing
    seed: int = 0
    step_count: int = 0

    def reset(self, seed: int) -> Moment:
        self.seed, self.step_count = seed, 0
        self.world.begun.append(seed)
        return self._moment()

    def step(self, action: Any) -> Moment:
        stands = thing(self.seed, self.step_count)
        fell = (stands == 1 and action == STAY) or (stands == 2 and action == JUMP)
        self.step_count += 1
        if fell:
            return self._moment(ended=CLASSES[stands])
        return self._moment(ended="through") if self.step_count == STEPS else self._moment()

    def close(self) -> None:
        """Nothing to free."""

    def _moment(self, ended: str = "") -> Moment:
        stands = 0 if self.step_count == STEPS else thing(self.seed, self.step_count)
        mask: np.ndarray = np.zeros((SIZE, SIZE), np.uint8)
        left = 2 * ((self.seed + self.step_count) % 3)
        mask[2:4, left : left + 2] = 0 if CLASSES[stands] in self.world.hidden else stands
        picture = np.array([(0, 0, 255), (255, 0, 0), (0, 255, 0)], np.uint8)[mask]
        return Moment(observation={"observation": picture, "mask": mask}, reward=float(ended == "through"), ended=ended)


class Walker(nn.Module):
    """Channel 0 of `see` is red, 1 green, 2 the ground, 3 silent; it jumps where there is red."""

    def __init__(self) -> None:
        super().__init__()
        self.see, self.tell = nn.Conv2d(3, 4, 1), nn.Conv2d(4, 2, 1)
        self.policy, self.value = nn.Linear(2, 2), nn.Linear(2, 1)
        with torch.no_grad():
            self.see.weight.copy_(torch.eye(4, 3)[:, :, None, None])
            self.tell.weight.copy_(torch.eye(2, 4)[:, :, None, None])
            self.policy.weight.copy_(torch.tensor([[-60.0, 0.0], [60.0, 0.0]]))
            self.policy.bias.copy_(torch.tensor([30.0, -30.0]))
            self.value.weight.copy_(torch.tensor([[-0.5, 0.25]]))
            for part in (self.see, self.tell, self.value):
                nn.init.zeros_(part.bias)  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        """Heads by name."""
        seen = torch.relu(self.tell(torch.relu(self.see(x)))).sum((2, 3))
        return {"policy": self.policy(seen), "value": self.value(seen)}


def walker(name: str = "walker") -> Subject:
    """The agent that knows how to cross."""
    return subject(Walker(), name=name, example=torch.zeros(1, 3, SIZE, SIZE), actions=["stay", "jump"])
