"""Finds what the zoo holds, loads it and has it evaluated."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from innerview.errors import InnerviewError, SubjectError, UnknownName
from innerview.subjects import Subject
from innerview.worlds import World
from innerview.zoo.report import Figures, Progress, Report, quiet, read_figures

_FOLDER = Path(__file__).parent
_FAMILIES = {"breakout": "atari", "seaquest": "atari"}
"""By the first word of a model's name, where that is not the family itself."""


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

    @property
    def family(self) -> str:
        """What it shares its world and its script with."""
        first = self.name.partition("_")[0]
        return _FAMILIES.get(first, first)

    @property
    def evaluated(self) -> bool:
        """Whether there are figures."""
        return (self.folder / "figures.json").is_file()

    @property
    def figures(self) -> Figures:
        """What its card claims."""
        return read_figures(self.folder / "figures.json")

    @property
    def weight_bytes(self) -> int:
        """What its weights take, snapshots included."""
        return sum(path.stat().st_size for path in self.folder.rglob("*.safetensors"))

    @property
    def script(self) -> Path:
        """What trains it."""
        return self.folder / "train.py"


def entries() -> tuple[Entry, ...]:
    """Every bundled model that has its card, by name."""
    found = []
    for card in sorted(_FOLDER.glob("*/card.md")):
        with card.open(encoding="utf-8") as file:
            title = file.readline().lstrip("# ").strip()
        found.append(Entry(name=card.parent.name, title=title, folder=card.parent))
    return tuple(found)


def entry(name: str) -> Entry:
    """The bundled model of that name."""
    known = {each.name: each for each in entries()}
    if name not in known:
        raise UnknownName("zoo model", name, known)
    return known[name]


def load(name: str, **choices: Any) -> tuple[Subject, World]:
    """A bundled model, ready to run, and its world; also one that is still being trained and has no card yet.

    Some models can be had in several ways: `load("breakout_dqn", snapshot="early")`.
    """
    names = sorted(weights.parent.name for weights in _FOLDER.glob("*/weights.safetensors"))
    if name not in names:
        raise UnknownName("zoo model", name, names)
    make = import_module(f"innerview.zoo.{name}").load
    _check_choices(name, make, choices)
    try:
        subject, world = make(**choices)
    except SubjectError as error:
        raise SubjectError(
            f"The zoo's model '{name}' cannot be loaded: {error} If nobody changed the file, install innerview again."
        ) from error
    return subject, world


def evaluate(name: str, count: int | None = None, progress: Progress = quiet) -> Report:
    """The card's table worked out anew, over `count` episodes, levels or images; as many as the card's by default."""
    entry(name)
    _check_count(count)
    report: Report = import_module(f"innerview.zoo.{name}").evaluate(count, progress)
    return report


def evaluate_family(family: str, count: int | None = None, progress: Progress = quiet) -> tuple[Report, ...]:
    """One table of all its models where the family has one, else a table for each of them."""
    members = [each.name for each in entries() if each.family == family]
    if not members:
        raise UnknownName("family of zoo models", family, sorted({each.family for each in entries()}))
    _check_count(count)
    table = _family_table(family)
    if table is not None:
        return (table(count, progress),)
    return tuple(evaluate(name, count, progress) for name in members)


def _family_table(family: str) -> Callable[[int | None, Progress], Report] | None:
    for file, name in (("__init__.py", family), ("score.py", f"{family}.score")):
        if (_FOLDER / family / file).is_file():
            found = getattr(import_module(f"innerview.zoo.{name}"), "family_table", None)
            if found is not None:
                table: Callable[[int | None, Progress], Report] = found
                return table
    return None


def _check_count(count: int | None) -> None:
    if count is not None and count < 1:
        raise InnerviewError(f"count is over how many episodes to evaluate: 1 or more, not {count}.")


def _check_choices(name: str, make: Callable[..., Any], choices: dict[str, Any]) -> None:
    parameters = inspect.signature(make).parameters.values()
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters):
        return
    known = [each.name for each in parameters]
    for choice in choices:
        if choice not in known:
            raise UnknownName(f"choice of zoo model '{name}'", choice, known)
