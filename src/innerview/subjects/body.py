"""How one family of models is called, and what a run gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from torch import Tensor

from innerview.subjects.inputs import Input
from innerview.subjects.memory.carriers import Slot
from innerview.subjects.memory.convention import Start
from innerview.subjects.sites.hooks import Layers


@dataclass(frozen=True)
class Output:
    """What one run gave, all with the batch axis first."""

    heads: dict[str, Tensor]
    """[batch, size] by head name: logits of a policy, [batch, 1] of a value, the mean of a gaussian."""
    memory: dict[str, Tensor] = field(default_factory=dict)
    """[batch, *shape] by name of the memory site: the state after this run."""
    sites: dict[str, Tensor] = field(default_factory=dict)
    """[batch, *shape] by address, for the sites that were asked for."""


class Body(Protocol):
    """How one family of models is called."""

    @property
    def inputs(self) -> tuple[Input, ...]:
        """What it takes."""

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The tensors of its memory."""

    @property
    def starts(self) -> Mapping[str, Start]:
        """Initial states that are not zero."""

    @property
    def layers(self) -> Layers:
        """How to keep the output of its layers."""

    def call(
        self, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]
    ) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Heads [batch, size] and memory [batch, *shape]."""

    def groups(self, memory: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        """Rows that can be run together, where not all can; none where all can."""

    def acted(self, memory: Mapping[str, Tensor], actions: np.ndarray, rewards: np.ndarray) -> dict[str, Tensor]:
        """The memory with what was done and earned in this step, where the model is told of it in the next."""

    def by_hand(self, steps: Sequence[Mapping[str, Tensor]], seed: int) -> list[Heard]:
        """What the model says in each step when its author calls it, all rows from a fresh state."""

    @property
    def apart(self) -> bool:
        """Whether its author's way begins each step afresh, whatever is carried here."""

    @property
    def told_names(self) -> tuple[str, ...]:
        """Inputs, carried as memory, that tell what was done and earned in the step before."""

    def bounded(self, action: np.ndarray) -> np.ndarray:
        """A continuous action as the world takes it."""


@dataclass(frozen=True)
class Heard:
    """What a module said in one step when its author called it."""

    heads: Mapping[str, Tensor]
    action: np.ndarray | None = None
    """What it did without chance, where its author's way gives that: [rows] or [rows, dimensions]."""
    problem: str = ""
    """How what it returned contradicts a head, in words."""
