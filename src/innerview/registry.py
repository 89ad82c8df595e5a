"""Finds a thing by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from innerview.errors import InnerviewError, UnknownName

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
