"""Runs somebody's module and leaves it as it was: training flags, random numbers and attributes it writes."""

from __future__ import annotations

import contextlib
import random
from collections import deque
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

    def title(self, module: nn.Module) -> str:
        """As people write it, from the whole module on."""
        owner = next((name for name, part in module.named_modules() if part is self.owner), "")
        return f"{owner}.{self.name}".lstrip(".")

    def read(self) -> Any:
        """What it holds now."""
        table = _table(self.owner, self.buffer)
        return table[self.name] if self.name in table else ABSENT  # noqa: SIM401 of a scripted module it is no dict

    def restore(self, value: Any) -> None:
        """Put back what it held."""
        table = _table(self.owner, self.buffer)
        if value is ABSENT:
            table.pop(self.name, None)
        else:
            table[self.name] = value


class _Held:
    """What an attribute holds, to tell whether it was changed, in place too, and to put it back."""

    def __init__(self, value: Any, depth: int = 4) -> None:
        self.value = value
        self._version = _version(value)
        self._copy = value.detach().clone() if isinstance(value, Tensor) else None
        found = _contents(value) if depth else None
        self._keys = None if found is None else list(found)
        self._items = [_Held(item, depth - 1) for item in found.values()] if found else []

    def changed(self, now: Any) -> bool:
        """Whether an attribute that now holds `now` was written."""
        if now is not self.value or _version(now) != self._version:
            return True
        if self._keys is None:
            return False
        found = _contents(now) or {}
        if list(found) != self._keys:
            return True
        return any(item.changed(new) for item, new in zip(self._items, found.values(), strict=True))

    def put_back(self) -> Any:
        """The value, with what it held."""
        if self._copy is not None and not torch.equal(self.value, self._copy):
            self.value.copy_(self._copy)
        if self._keys is not None:
            old = [item.put_back() for item in self._items]
            now = _contents(self.value) or {}
            if list(now) != self._keys or any(a is not b for a, b in zip(now.values(), old, strict=True)):
                _fill(self.value, self._keys, old)
        return self.value


_MOST = 512
"""Longer lists and dicts, such as buffers of experience, are not looked into."""


def _contents(value: Any) -> dict[Any, Any] | None:
    if isinstance(value, list | deque):
        return dict(enumerate(value)) if len(value) <= _MOST else None
    if isinstance(value, dict):
        return dict(value) if len(value) <= _MOST else None
    if isinstance(value, nn.Module | Tensor | type) or callable(value):
        return None
    own = getattr(value, "__dict__", None)
    known = type(value).__module__.split(".")[0] in ("torch", "numpy", "threading", "logging")
    return dict(own) if isinstance(own, dict) and not known else None


def _fill(value: Any, keys: list[Any], items: list[Any]) -> None:
    if isinstance(value, list | deque):
        value.clear()
        value.extend(items)
        return
    table = value if isinstance(value, dict) else value.__dict__
    table.clear()
    table.update(zip(keys, items, strict=True))


@contextlib.contextmanager
def restoring(written: Sequence[Written]) -> Iterator[None]:
    """Attributes that forward is known to write hold afterwards what they held before."""
    before = [(item, _Held(item.read())) for item in written]
    try:
        yield
    finally:
        with torch.no_grad():
            for item, held in before:
                item.restore(held.put_back())


@contextlib.contextmanager
def watching(module: nn.Module) -> Iterator[list[Written]]:
    """Restore whatever forward writes, and tell what that was (the list is filled at the end)."""
    everything = [
        Written(owner, name, buffer)
        for owner in module.modules()
        for buffer in (False, True)
        for name in list(_table(owner, buffer).keys())  # of a scripted module it is no dict
        if buffer or name not in _OWN
    ]
    before = {item: _Held(item.read()) for item in everything}
    found: list[Written] = []
    try:
        yield found
    finally:
        found += [item for item, held in before.items() if held.changed(item.read())]
        new = list(_new(module, set(everything)))
        with torch.no_grad():
            for item in found:
                item.restore(before[item].put_back())
        for item in new:
            item.restore(ABSENT)
        found += new


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


class ABSENT:
    """Stands for an attribute that is not there, and for an argument that is not given; a copy of it is itself."""


_OWN = frozenset(nn.Module().__dict__)


def _table(owner: nn.Module, buffer: bool) -> dict[str, Any]:
    return owner._buffers if buffer else owner.__dict__


def _version(value: Any) -> int:
    return value._version if isinstance(value, Tensor) and not value.is_inference() else 0


def _new(module: nn.Module, known: set[Written]) -> Iterator[Written]:
    for owner in module.modules():
        for name in owner.__dict__:
            item = Written(owner, name, False)
            if name not in _OWN and item not in known:
                yield item
