"""Reads the parts of whatever a module returns: tensors in tuples, dicts, named fields and distributions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Categorical, Distribution, Independent, Normal, OneHotCategorical

Key = str | int
Path = tuple[Key, ...]


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
    """The same structure of tuples, lists and dicts with other tensors in it."""
    if isinstance(template, Tensor):
        return next(tensors)
    if isinstance(template, Mapping):
        return {key: rebuild(item, tensors) for key, item in template.items()}
    if isinstance(template, tuple) and hasattr(template, "_fields"):
        return type(template)(*(rebuild(item, tensors) for item in template))
    if isinstance(template, tuple | list):
        return type(template)(rebuild(item, tensors) for item in template)
    return template


def _label(path: Path) -> str:
    return "part '" + ".".join(map(str, path)) + "'" if path else "the output"


def _children(value: Any) -> list[tuple[Key, Any]] | None:
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return list(zip(value._fields, value, strict=True))
    if isinstance(value, tuple | list):
        return list(enumerate(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)]
    if isinstance(value, Distribution):
        return [(key, _distribution_part(value, key)) for key in _distribution_keys(value)]
    return None


def _walk(value: Any, path: Path) -> Iterator[Part]:
    if isinstance(value, Tensor):
        yield Part(path, value)
        return
    for key, item in _children(value) or ():
        yield from _walk(item, (*path, key))


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    children = _children(value)
    if isinstance(value, Tensor) or value is None:
        return
    if children is None or (isinstance(value, Distribution) and not children):
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


def _distribution_keys(value: Distribution) -> tuple[str, ...]:
    base = value.base_dist if isinstance(value, Independent) else value
    if isinstance(base, Categorical | OneHotCategorical):
        return ("logits",)
    return ("mean", "log_std") if isinstance(base, Normal) else ()


def _distribution_part(value: Distribution, key: str) -> Tensor:
    base: Any = value.base_dist if isinstance(value, Independent) else value
    tensor: Tensor = torch.log(base.scale) if key == "log_std" else getattr(base, key)
    return tensor
