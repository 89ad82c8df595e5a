"""Finds a thing by name, here or in a plug-in."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, Generic, TypeVar

from innerview.errors import InnerviewError, PluginError, UnknownName

T = TypeVar("T")


class Registry(Generic[T]):
    """Named things of one kind, in order of registration."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._things: dict[str, T] = {}

    def register(self, name: str, thing: T) -> T:
        """Add a thing; a name can be taken once."""
        if name in self._things and self._things[name] is not thing:
            raise InnerviewError(f"The {self.what} '{name}' is registered already. Choose another name.")
        self._things[name] = thing
        return thing

    def get(self, name: str, hint: str = "") -> T:
        """The thing of that name, or an error that names the nearest one."""
        if name not in self._things:
            raise UnknownName(self.what, name, self._things, hint)
        return self._things[name]

    def names(self) -> tuple[str, ...]:
        """Every registered name."""
        return tuple(self._things)

    def __iter__(self) -> Iterator[tuple[str, T]]:
        return iter(self._things.items())

    def __len__(self) -> int:
        return len(self._things)


_CHECKOUTS = ("innerview_zoo",)
"""Packages that are found on the path too, where they are not installed: their module `plugins` lists what they add."""


@dataclass(frozen=True)
class Plugin:
    """Something that another package adds under a name."""

    group: str
    name: str
    home: str
    """Where it is, as module:attribute, or a whole module."""

    def load(self) -> Any:
        """The thing itself."""
        try:
            return EntryPoint(self.name, self.home, self.group).load()
        except Exception as error:
            raise PluginError(f"{self} cannot be loaded: {type(error).__name__}: {error}") from error

    def __str__(self) -> str:
        return f"The plug-in '{self.name}' ({self.group}, {self.home})"


def plugins(group: str) -> dict[str, Plugin]:
    """What other packages add, by name: adapters, commands, lenses, models or worlds."""
    found: dict[str, str] = {}
    for package in _CHECKOUTS:
        if find_spec(package) is not None:
            found |= import_module(f"{package}.plugins").PLUGINS.get(group, {})
    found |= {each.name: each.value for each in entry_points(group=f"innerview.{group}")}
    return {name: Plugin(group, name, home) for name, home in sorted(found.items())}


def load_plugins(group: str) -> dict[str, Any]:
    """All of them, loaded; a broken one is named in a warning and left out."""
    loaded = {}
    for name, plugin in plugins(group).items():
        try:
            loaded[name] = plugin.load()
        except PluginError as error:
            warnings.warn(f"{error} It is left out.", stacklevel=2)
    return loaded
