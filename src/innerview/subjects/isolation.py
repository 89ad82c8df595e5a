"""Runs somebody's module and leaves it as it was: training flags, random numbers and attributes it writes."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

FAILURES = (
    RuntimeError,
    TypeError,
    ValueError,
    IndexError,
    KeyError,
    AttributeError,
    AssertionError,
    NotImplementedError,
)
"""What a module raises when it is called in a way it was not written for."""


class Evaluating:
    """Every submodule in eval mode; afterwards exactly those that were training train again."""

    def __init__(self, modules: Iterable[nn.Module]) -> None:
        self._modules = modules
        self._training: list[nn.Module] = []

    def __enter__(self) -> None:
        self._training = [module for module in self._modules if module.training]
        for module in self._training:
            module.training = False

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for module in self._training:
            module.training = True


@contextlib.contextmanager
def differentiable(layers: Sequence[nn.RNNBase]) -> Iterator[None]:
    """Make backward possible in eval mode: cuDNN's recurrent kernels only have one while they train."""
    concerned = [layer for layer in layers if any(p.is_cuda for p in layer.parameters())]
    cudnn = torch.backends.cudnn.flags(enabled=False) if any(layer.dropout for layer in concerned) else None
    with cudnn or contextlib.nullcontext():  # Dropout must stay off: there torch's own, slower kernels serve.
        for layer in concerned:
            layer.training = not layer.dropout
        try:
            yield
        finally:
            for layer in concerned:
                layer.training = False


@dataclass(frozen=True)
class Written:
    """An attribute or buffer that a module's forward writes."""

    owner: nn.Module
    name: str
    buffer: bool

    def read(self) -> Any:
        """What it holds now."""
        return _table(self.owner, self.buffer).get(self.name, _ABSENT)

    def restore(self, value: Any) -> None:
        """Put back what it held."""
        table = _table(self.owner, self.buffer)
        if value is _ABSENT:
            table.pop(self.name, None)
        else:
            table[self.name] = value


@contextlib.contextmanager
def restoring(written: Sequence[Written]) -> Iterator[None]:
    """Attributes that forward is known to write hold afterwards what they held before."""
    before = [(item, item.read()) for item in written]
    copies = [(value, value.detach().clone()) for _, value in before if isinstance(value, Tensor)]
    try:
        yield
    finally:
        with torch.no_grad():
            for value, copy in copies:
                if not torch.equal(value, copy):
                    value.copy_(copy)
        for item, value in before:
            item.restore(value)


@contextlib.contextmanager
def watching(module: nn.Module) -> Iterator[list[Written]]:
    """Restore whatever forward writes, and tell what that was (the list is filled at the end)."""
    everything = [
        Written(owner, name, buffer)
        for owner in module.modules()
        for buffer in (False, True)
        for name in _table(owner, buffer)
        if buffer or name not in _OWN
    ]
    before = {item: (item.read(), _version(item.read())) for item in everything}
    found: list[Written] = []
    with restoring(everything):
        try:
            yield found
        finally:
            found += [item for item, (value, version) in before.items() if _differs(item.read(), value, version)]
            found += list(_new(module, set(everything)))
            for item in found:
                if item not in before:
                    item.restore(_ABSENT)


@contextlib.contextmanager
def same_random_numbers(device: torch.device) -> Iterator[None]:
    """Random number generators of torch, numpy and Python stand afterwards where they stood."""
    python, legacy = random.getstate(), np.random.get_state()
    devices = [device] if device.type == "cuda" else []
    try:
        with torch.random.fork_rng(devices=devices):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(legacy)


_ABSENT: Any = object()
_OWN = frozenset(nn.Module().__dict__)


def _table(owner: nn.Module, buffer: bool) -> dict[str, Any]:
    return owner._buffers if buffer else owner.__dict__


def _version(value: Any) -> int:
    return value._version if isinstance(value, Tensor) and not value.is_inference() else 0


def _differs(now: Any, before: Any, version: int) -> bool:
    return now is not before or _version(now) != version


def _new(module: nn.Module, known: set[Written]) -> Iterator[Written]:
    for owner in module.modules():
        for name in owner.__dict__:
            item = Written(owner, name, False)
            if name not in _OWN and item not in known:
                yield item
