"""Numbers drawn from a seed by whole-number arithmetic alone: the same on every device."""

from __future__ import annotations

from typing import Any

from torch import Tensor

_LOW = 0xFFFFFFFF
_STEP = 0x9E3779B1
"""Odd and without pattern: keys that follow each other are thrown far apart."""


def mix(value: Any) -> Any:
    """Shuffles 32 bits, of an int or of int64 tensors, so that like numbers become unlike."""
    value = value & _LOW
    value = ((value ^ (value >> 16)) * 0x45D9F3B) & _LOW
    value = ((value ^ (value >> 16)) * 0x45D9F3B) & _LOW
    return value ^ (value >> 16)


def root(seed: Tensor) -> Tensor:
    """What all draws of a seed start from; all 64 bits of the seed count."""
    mixed: Tensor = mix(seed + mix((seed >> 32) + 0x51ED27))
    return mixed


def draw(roots: Tensor, key: int | Tensor, span: int | Tensor) -> Tensor:
    """A number from 0 to span - 1 (at most 2**31) for each root; another key, another number."""
    spread = (key * _STEP) & _LOW
    drawn: Tensor = (mix(roots ^ mix(spread + 0x2545F)) * span) >> 32
    return drawn
