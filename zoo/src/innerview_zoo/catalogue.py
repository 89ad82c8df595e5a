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
from innerview_zoo.manifest import MODELS, Model
from innerview_zoo.report import Figures, Progress, Report, no_progress, read_figures

_FOLDER = MODELS


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One bundled model."""

    name: str
    title: str
    family: str
    """What it shares its world and its training script with."""
    folder: Path

    @property
    def card(self) -> str:
        """What it does, how it was trained and what it scores, in Markdown."""
        return (self.folder / "card.md").read_text(encoding="utf-8")

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
    def manifest(self) -> Model:
        """How it is loaded, evaluated and trained."""
        found: Model = _family(self.family).MODELS[self.name]
        return found


def entries() -> tuple[Entry, ...]:
    """Every bundled model that has its card, by name."""
    found = []
    for card in sorted(_FOLDER.glob("*/*/card.md"), key=lambda path: path.parent.name):
        with card.open(encoding="utf-8") as file:
            title = file.readline().lstrip("# ").strip()
        folder = card.parent
        found.append(Entry(name=folder.name, title=title, family=folder.parent.name, folder=folder))
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
    folders = {weights.parent.name: weights.parent.parent.name for weights in _FOLDER.glob("*/*/weights.safetensors")}
    if name not in folders:
        raise UnknownName("zoo model", name, sorted(folders))
    make = _family(folders[name]).MODELS[name].load
    _check_choices(name, make, choices)
    try:
        subject, world = make(**choices)
    except SubjectError as error:
        raise SubjectError(
            f"The zoo's model '{name}' cannot be loaded: {error} If nobody changed the file, install innerview again."
        ) from error
    return subject, world


def evaluate(name: str, count: int | None = None, progress: Progress = no_progress) -> Report:
    """The card's table worked out anew, over `count` episodes, levels or images; as many as the card's by default."""
    _check_count(count)
    return entry(name).manifest.evaluate(count, progress)


def evaluate_family(family: str, count: int | None = None, progress: Progress = no_progress) -> tuple[Report, ...]:
    """One table of all its models where the family has one, else a table for each of them."""
    members = [each.name for each in entries() if each.family == family]
    if not members:
        raise UnknownName("family of zoo models", family, sorted({each.family for each in entries()}))
    _check_count(count)
    table: Callable[[int | None, Progress], Report] | None = getattr(_family(family), "family_table", None)
    if table is not None:
        return (table(count, progress),)
    return tuple(evaluate(name, count, progress) for name in members)


def _family(name: str) -> Any:
    return import_module(f"innerview_zoo.models.{name}")


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
