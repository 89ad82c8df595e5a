"""Things that people named, kept in one file of the study, oldest first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from innerview.errors import DamagedPart, InnerviewError, StoreError, UnknownName
from innerview.schema import from_json, to_json
from innerview.store.changes import change_json
from innerview.store.files import read_json
from innerview.store.paths import confined, is_there

_VERSION = 1


class HasName(Protocol):
    """What can be kept."""

    @property
    def name(self) -> str:
        """No two have the same."""
        ...


T = TypeVar("T", bound=HasName)


@dataclass(frozen=True, kw_only=True)
class NamedFile(Generic[T]):
    """A file of such things, all of one type."""

    one: str
    """What one is called: filter, of filters.json."""
    type: type[T]
    check: Callable[[T], None]
    """Raises where one cannot be kept."""
    limit: int
    """Bytes."""
    count: int = 500

    @property
    def many(self) -> str:
        """What several are called."""
        return f"{self.one}s"

    def load(self, root: Path) -> tuple[T, ...]:
        """All that were kept."""
        path = confined(root, f"{self.many}.json")
        return self.read(read_json(path, limit=self.limit), path) if is_there(path) else ()

    def save(self, root: Path, made: T) -> tuple[T, ...]:
        """Keep one; one of the same name is replaced. Gives all there are now."""
        self.check(made)

        def change(before: tuple[T, ...]) -> tuple[T, ...]:
            after = {**{kept.name: kept for kept in before}, made.name: made}
            if len(after) > self.count:
                raise StoreError(f"A study keeps at most {self.count} {self.many}. Drop some first.")
            return tuple(after.values())

        return self._changed(root, change)

    def drop(self, root: Path, name: str) -> tuple[T, ...]:
        """Forget one; gives those that are left."""

        def change(before: tuple[T, ...]) -> tuple[T, ...]:
            if name not in [kept.name for kept in before]:
                raise UnknownName(self.one, name, [kept.name for kept in before])
            return tuple(kept for kept in before if kept.name != name)

        return self._changed(root, change)

    def document(self, things: Sequence[T]) -> dict[str, Any]:
        """What a file of them says, as JSON values."""
        return {"format": f"innerview {self.many}", "version": _VERSION, self.many: to_json(tuple(things))}

    def read(self, value: Any, path: Path) -> tuple[T, ...]:
        """Them, from what a file says."""
        whole = isinstance(value, dict) and value.get("format") == f"innerview {self.many}"
        if not whole or not isinstance(value.get(self.many), list):
            raise DamagedPart(f"'{path.name}' does not hold {self.many} of innerview.")
        if value.get("version") != _VERSION:
            raise StoreError(f"'{path.name}' has version {value.get('version')!r}; this innerview reads {_VERSION}.")
        try:
            found = tuple(from_json(self.type, one) for one in value[self.many])
            for kept in found:
                self.check(kept)
        except InnerviewError as error:
            raise DamagedPart(f"'{path.name}' holds a {self.one} that cannot be read: {error}") from error
        return found

    def _changed(self, root: Path, change: Callable[[tuple[T, ...]], tuple[T, ...]]) -> tuple[T, ...]:
        file = f"{self.many}.json"
        return change_json(root, file, lambda: self.load(root), change, self.document, limit=self.limit)
