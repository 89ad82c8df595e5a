"""Finds what the zoo holds."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from innerview.errors import UnknownName
from innerview.subjects import Subject
from innerview.worlds import World

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One bundled model."""

    name: str
    title: str
    folder: Path

    @property
    def card(self) -> str:
        """What it does, how it was trained and what it scores, in Markdown."""
        return (self.folder / "card.md").read_text(encoding="utf-8")


def entries() -> tuple[Entry, ...]:
    """Every bundled model that has its card, by name."""
    found = []
    for card in sorted(_FOLDER.glob("*/card.md")):
        with card.open(encoding="utf-8") as file:
            title = file.readline().lstrip("# ").strip()
        found.append(Entry(name=card.parent.name, title=title, folder=card.parent))
    return tuple(found)


def load(name: str) -> tuple[Subject, World]:
    """A bundled model, ready to run, and its world; also one that is still being trained and has no card yet."""
    names = sorted(weights.parent.name for weights in _FOLDER.glob("*/weights.safetensors"))
    if name not in names:
        raise UnknownName("zoo model", name, names)
    subject, world = import_module(f"innerview.zoo.{name}").load()
    return subject, world
