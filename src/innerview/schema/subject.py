"""What is known of a model without running it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

HeadKind = Literal["policy", "value", "q", "advantage", "gaussian", "pose", "answer", "other"]
InputKind = Literal["image", "vector", "tokens"]
Editable = Literal["state", "last layer", "carried"]


@dataclass(frozen=True, kw_only=True)
class InputSpec:
    """One named input as the module takes it, without the batch axis. An image is channel, height, width."""

    name: str
    kind: InputKind
    shape: tuple[int, ...]
    dtype: str = "float32"


@dataclass(frozen=True, kw_only=True)
class Head:
    """One named output. `policy` holds logits over `names`; `gaussian` the mean of a continuous action."""

    name: str
    kind: HeadKind
    size: int
    names: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MemorySite:
    """A recurrent state; `shape` is without the batch axis: (size,) or (layers, size)."""

    name: str
    layer: str
    kind: str
    """gru, gru cell, lstm hidden, lstm cell, declared."""
    shape: tuple[int, ...]
    editable: Editable = "state"
    """What a change made here reaches. `state`: the heads of the same step and every step after. `carried`: only the
    steps after. `last layer`: as `state` in the last of the stacked layers, as `carried` in those below."""


@dataclass(frozen=True, kw_only=True)
class AttentionSite:
    """A place where something attends to something."""

    name: str
    layer: str
    heads: int


@dataclass(frozen=True, kw_only=True)
class SubjectInfo:
    """A model's parts by name."""

    name: str
    family: str
    inputs: tuple[InputSpec, ...] = ()
    heads: tuple[Head, ...] = ()
    layers: tuple[str, ...] = ()
    convolutions: tuple[str, ...] = ()
    """Those of the layers that are convolutions over pictures; none where it is not known."""
    memory: tuple[MemorySite, ...] = ()
    attention: tuple[AttentionSite, ...] = ()
    parameters: int = 0
    weights_digest: str = ""
    """SHA-256 over names and values of all weights: tells two versions of a model apart."""

    def __str__(self) -> str:
        """A line for each kind of part, for people who print it."""
        return "\n".join(
            (
                f"{self.name} ({self.family}, {self.parameters:,} parameters)",
                f"inputs: {_listed(f'{i.name} ({i.kind} {_size(i.shape)})' for i in self.inputs)}",
                f"layers: {_listed(self.layers)}",
                f"memory: {_listed(f'{m.name} ({_size(m.shape)})' for m in self.memory)}",
                f"heads: {_listed(f'{h.name} ({h.kind} of {h.size})' for h in self.heads)}",
            )
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _size(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))
