"""A module to be tried, and what was found of its memory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from innerview.subjects.memory.carriers import Call, Carrier
from innerview.subjects.memory.convention import Convention, Start
from innerview.subjects.structure import Path
from innerview.subjects.trace import Trace, trace

_MEMORY_WORDS = frozenset(
    {"h", "c", "hx", "cx", "hc", "hxs", "hidden", "state", "states", "memory", "mem", "carry"}
    | {"rnn", "lstm", "gru", "recurrent", "core", "cell", "history", "window", "cache"}
)


@dataclass(frozen=True)
class Found:
    """A module's memory, how its author carries it, and the run that showed it."""

    carrier: Carrier
    trace: Trace
    convention: Convention
    starts: Mapping[str, Start] = field(default_factory=dict)
    paths: tuple[Path, ...] = ()
    """Parts of the output that are memory, not heads."""


@dataclass(frozen=True)
class Probe:
    """A module and ways to call it on a batch of rows, one for each of some steps."""

    module: nn.Module
    calls: tuple[Call, ...]
    batch: int
    device: torch.device
    time_axis: int | None = None

    def trace(self, extra: Mapping[str, Any] | None = None, states: Mapping[str, Any] | None = None) -> Trace:
        """One quiet run."""
        return trace(self.module, lambda: self.calls[0](extra or {}), device=self.device, states=states)

    @property
    def blank(self) -> Tensor:
        """A number of the module's own type."""
        return next(self.module.parameters(), torch.zeros((), device=self.device))


def remembers(name: str) -> bool:
    """Whether an argument or a part of an output is called as memory usually is."""
    return bool(words_of(name) & _MEMORY_WORDS)


def words_of(name: str) -> set[str]:
    """Of a name as programs write it."""
    return set(re.split(r"[^a-z]+", name.lower()))


def layout_problem(seen: Trace, batch: int) -> str:
    """Why the rows of a batch would not stay apart in a recurrent layer, or nothing."""
    for name, call in seen.recurrent.items():
        shape, layer = tuple(call.input.shape), call.layer
        if isinstance(layer, nn.RNNBase):
            time, rows = (1, 0) if layer.batch_first else (0, 1)
            if len(shape) == 2 or (shape[time] == batch and shape[rows] == 1):
                return f"recurrent layer '{name}' takes the batch of rows for a sequence (its input is {list(shape)})"
        elif len(shape) == 1:
            return f"recurrent layer '{name}' gets no batch axis (its input is {list(shape)})"
        elif shape[0] % batch:
            # A loop over the first axis: it is of time, so each call has as many rows as there are steps.
            return (
                f"recurrent layer '{name}' takes the batch of rows for a sequence (each of its inputs is {list(shape)})"
            )
    return ""
