"""Reads the parts of whatever a module returns or keeps: tensors in tuples, dicts, objects and distributions."""

from __future__ import annotations

import copy
import dataclasses
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributions import (
    Bernoulli,
    Categorical,
    Distribution,
    Independent,
    MultivariateNormal,
    Normal,
    OneHotCategorical,
)

from innerview.subjects.combinations import joint_bits, joint_logits

Key = str | int
Path = tuple[Key, ...]
_DEPTH = 8
"""Structures are read no deeper: an object may hold itself."""


@dataclass(frozen=True)
class Part:
    """One tensor inside an output, and the way to it."""

    path: Path
    value: Tensor

    @property
    def name(self) -> str:
        """The path as people write it: "heads.policy", "1"."""
        return ".".join(str(key) for key in self.path) or "output"

    @property
    def named(self) -> bool:
        """Whether the module itself gave this part a name (a key or a field, not a position)."""
        return bool(self.path) and isinstance(self.path[-1], str)


def parts(value: Any) -> list[Part]:
    """Every tensor of an output, in order."""
    return list(_walk(value, ()))


def unreadable(value: Any) -> list[str]:
    """What in an output is neither a tensor nor a structure of tensors, for error messages."""
    found = [f"{_label(path)} ({type(item).__name__})" for path, item in _leaves(value, ())]
    return found


def pick(value: Any, path: Path) -> Any:
    """The item at a path."""
    for key in path:
        value = _step(value, key)
    return value


def rebuild(template: Any, tensors: Iterator[Tensor]) -> Any:
    """The same structure with other tensors in it."""
    return mapped(template, lambda _, item: next(tensors) if isinstance(item, Tensor) else item)


def mapped(template: Any, change: Callable[[Path, Any], Any], path: Path = ()) -> Any:
    """The same structure, made anew, with its leaves (tensors, numbers, words) changed; `change` gets their path."""
    children = _children(template) if len(path) < _DEPTH else None
    if children is None or isinstance(template, Distribution):
        return change(path, template)
    made = {key: mapped(item, change, (*path, key)) for key, item in children}
    if isinstance(template, tuple) and hasattr(template, "_fields"):
        return type(template)(*made.values())
    if isinstance(template, tuple | list):
        return type(template)(made.values())
    if isinstance(template, deque):
        return deque(made.values(), template.maxlen)
    new = copy.copy(template)
    for key, item in made.items():
        if isinstance(new, Mapping):
            new[key] = item  # type: ignore[index]
        else:
            object.__setattr__(new, str(key), item)
    return new


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Whatever stands in a structure and is no structure itself, in order, with the way to it."""
    children = _children(value) if len(path) < _DEPTH else None
    if children is None or isinstance(value, Distribution):
        yield path, value
        return
    for key, item in children:
        yield from leaves(item, (*path, key))


def lists(value: Any, path: Path = ()) -> Iterator[tuple[Path, list[Any] | tuple[Any, ...]]]:
    """Every list and tuple of a structure."""
    if isinstance(value, list | tuple):
        yield path, value
    for key, item in (_children(value) or ()) if len(path) < _DEPTH else ():
        yield from lists(item, (*path, key))


def nodes(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every part of a structure that holds tensors, the whole first."""
    if isinstance(value, Tensor) or parts(value):
        yield path, value
    for key, item in (_children(value) or ()) if len(path) < _DEPTH else ():
        yield from nodes(item, (*path, key))


def _label(path: Path) -> str:
    return "part '" + ".".join(map(str, path)) + "'" if path else "the output"


def _children(value: Any) -> list[tuple[Key, Any]] | None:
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return list(zip(value._fields, value, strict=True))
    if isinstance(value, tuple | list | deque):
        return list(enumerate(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)]
    if isinstance(value, Distribution):
        return [(key, _distribution_part(value, key)) for key in _distribution_keys(value)]
    return list(vars(value).items()) if _is_plain(value) else None


def _is_plain(value: Any) -> bool:
    """An object of somebody's own class that holds tensors in its attributes."""
    own = getattr(value, "__dict__", None)
    if not isinstance(own, dict) or isinstance(value, type | nn.Module | Tensor) or callable(value):
        return False
    return type(value).__module__.split(".")[0] not in _LIBRARIES and any(
        isinstance(item, Tensor | tuple | list | dict | deque) for item in own.values()
    )


def _walk(value: Any, path: Path) -> Iterator[Part]:
    if isinstance(value, Tensor):
        yield Part(path, value)
        return
    for key, item in (_children(value) or ()) if len(path) < _DEPTH else ():
        yield from _walk(item, (*path, key))


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    children = _children(value)
    if isinstance(value, Tensor) or value is None:
        return
    if children is None or len(path) >= _DEPTH or (isinstance(value, Distribution) and not children):
        yield path, value
        return
    for key, item in children:
        yield from _leaves(item, (*path, key))


def _step(value: Any, key: Key) -> Any:
    if isinstance(value, Distribution):
        return _distribution_part(value, str(key))
    if isinstance(value, Mapping) or isinstance(key, int):
        return value[key]
    return getattr(value, key)


_LIBRARIES = frozenset({"torch", "numpy", "builtins", "collections", "typing", "random", "logging", "threading"})


def _distribution_keys(value: Distribution) -> tuple[str, ...]:
    base = value.base_dist if isinstance(value, Independent) else value
    if isinstance(base, Categorical | OneHotCategorical | Bernoulli):
        return ("logits",)
    return ("mean", "log_std") if isinstance(base, Normal | MultivariateNormal) else ()


def _distribution_part(value: Distribution, key: str) -> Tensor:
    base: Any = value.base_dist if isinstance(value, Independent) else value
    if isinstance(base, Bernoulli):
        return joint_bits(base.logits.reshape(len(base.logits), -1))
    if isinstance(base, Categorical) and base.logits.ndim > 2:  # several decisions at once
        rows, sizes = len(base.logits), (base.logits.shape[-1],) * base.logits[0, ..., 0].numel()
        return joint_logits(base.logits.reshape(rows, -1), sizes)
    tensor: Tensor = torch.log(base.stddev) if key == "log_std" else getattr(base, key)
    return tensor
