"""Finds every lens in the compute rooms: a lens is a module with `LENS` and `look`, and needs no other line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

from innerview.registry import Registry
from innerview.schema import Lens

ROOMS = (
    "saliency",
    "features",
    "memory",
    "attention",
    "transfer",
    "synthesis",
    "projection",
    "trust",
)


@dataclass(frozen=True)
class Looking:
    """A lens and the function that does it."""

    lens: Lens
    look: Callable[..., Any]


@cache
def all_lenses() -> Registry[Looking]:
    """Every lens by name."""
    registry: Registry[Looking] = Registry("lens")
    for room in ROOMS:
        if find_spec(f"innerview.{room}") is None:
            continue
        package = import_module(f"innerview.{room}")
        for found in iter_modules(package.__path__):
            module = import_module(f"{package.__name__}.{found.name}")
            lens = getattr(module, "LENS", None)
            if isinstance(lens, Lens):
                registry.register(lens.name, Looking(lens, module.look))
    return registry
