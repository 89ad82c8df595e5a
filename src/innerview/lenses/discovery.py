"""Finds every lens, in compute rooms and plug-ins: a module with `LENS` and `look`, and no other line."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from math import inf
from pkgutil import walk_packages
from typing import Any

from innerview.errors import InnerviewError, LensError, UnknownName
from innerview.registry import Registry, load_plugins
from innerview.schema import Lens, Parameter

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


_CALLED = {"int": "a whole number", "float": "a number", "bool": "true or false"}
_KINDS: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,)}


@dataclass(frozen=True)
class LoadedLens:
    """A lens and the function that does it."""

    lens: Lens
    look: Callable[..., Any]

    def checked(self, given: Any) -> dict[str, Any]:
        """Parameters from outside, or an error that says what would be right."""
        if not isinstance(given, Mapping):
            raise LensError(f"Parameters are given by name, as {{name: value}}, not as {given!r:.80}.")
        known = {parameter.name: parameter for parameter in self.lens.parameters}
        for name, value in given.items():
            if name not in known:
                raise UnknownName(f"parameter of lens '{self.lens.name}'", str(name), known)
            _check_value(known[name], value)
        return dict(given)


def _check_value(parameter: Parameter, value: Any) -> None:
    kinds = _KINDS.get(parameter.type, (str,))
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        wanted = _CALLED.get(parameter.type, "a text")
        raise LensError(f"'{parameter.name}' is {wanted}, not {value!r:.80}. {parameter.description}")
    if parameter.choices and value not in parameter.choices:
        raise UnknownName(parameter.name, str(value), parameter.choices)
    low = -inf if parameter.low is None else parameter.low
    high = inf if parameter.high is None else parameter.high
    if isinstance(value, int | float) and not low <= value <= high:
        ends = f"from {low:g}" + ("" if high == inf else f" to {high:g}")
        raise LensError(f"'{parameter.name}' goes {ends if low > -inf else f'up to {high:g}'}; {value} is outside.")


@cache
def all_lenses() -> Registry[LoadedLens]:
    """Every lens by name: those of the compute rooms, also in their folders, then those of plug-ins."""
    registry: Registry[LoadedLens] = Registry("lens")
    for room in ROOMS:
        if find_spec(f"innerview.{room}") is None:
            continue
        package = import_module(f"innerview.{room}")
        for found in walk_packages(package.__path__, f"{package.__name__}."):
            module = import_module(found.name)
            if isinstance(getattr(module, "LENS", None), Lens):
                registry.register(module.LENS.name, as_loaded_lens(module))
    for name, thing in load_plugins("lenses").items():
        try:
            looking = as_loaded_lens(thing)
            registry.register(looking.lens.name, looking)
        except InnerviewError as error:
            warnings.warn(f"The plug-in '{name}' (lenses) is left out. {error}", stacklevel=2)
    return registry


def as_loaded_lens(thing: Any) -> LoadedLens:
    """A lens from a module, or anything else, with `LENS` and `look`; or from its name."""
    if isinstance(thing, LoadedLens):
        return thing
    if isinstance(thing, str):
        return all_lenses().get(thing)
    lens, look = getattr(thing, "LENS", None), getattr(thing, "look", None)
    if not isinstance(lens, Lens) or not callable(look):
        raise LensError(f"{thing!r:.80} is not a lens: a lens is a module with a Lens `LENS` and a function `look`.")
    return LoadedLens(lens, look)
