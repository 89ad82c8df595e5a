"""Facts from what a Gymnasium environment says in `info`, and from a function of the user's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from innerview.errors import WorldError
from innerview.schema import Column, with_foreign_poses

FactsOf = Callable[[Any, Mapping[str, Any]], Mapping[str, Any]]
"""The user's function: environment and info to facts by name."""

RESERVED = frozenset(("episode", "step", "action", "reward", "value", "entropy", "seed", "return", "length", "outcome"))
"""Columns every recording has; a fact of that name is called "info …"."""
REASONS = ("ended", "end_reason", "termination_reason", "reason", "outcome")
"""Where in `info` an environment may say in words why the episode is over."""


@dataclass(frozen=True)
class GymFacts:
    """Reads facts; which ones there are was found out at a first reset and a first step."""

    keys: Mapping[str, str]
    """Name of the column by key of `info`."""
    columns: tuple[Column, ...]
    asked: FactsOf | None = None
    described: tuple[Column, ...] = ()
    """What the user says of facts: kind, unit, part of a pose."""

    def read(self, env: Any, info: Mapping[str, Any]) -> dict[str, Any]:
        """The facts of one moment; what is not told now is left out."""
        facts = {name: _plain(info[key]) for key, name in self.keys.items() if key in info}
        if self.asked is not None:
            facts |= {name: _plain(value) for name, value in self.asked(env, info).items()}
        return {column.name: fitting(column, facts[column.name]) for column in self.columns if column.name in facts}

    def with_more(self, info: Mapping[str, Any]) -> GymFacts:
        """These and the numbers that a first step tells: many environments say nothing at reset."""
        known = {column.name for column in self.columns}
        keys = {key: name for key, name in _numbers(info).items() if name not in known}
        columns = columns_of({name: info[key] for key, name in keys.items()}, self.described)
        return replace(self, keys={**self.keys, **keys}, columns=self.columns + columns)


def find_facts(env: Any, info: Mapping[str, Any], asked: FactsOf | None, described: Sequence[Column] = ()) -> GymFacts:
    """Which facts an environment tells, judged by its first info."""
    keys = _numbers(info)
    facts = {name: info[key] for key, name in keys.items()}
    if asked is not None:
        told = _read_facts(env, info, asked)
        if not isinstance(told, Mapping):
            raise WorldError(f"facts(env, info) should give a dict of facts by name, not {told!r}.")
        facts |= told
    return GymFacts(keys, columns_of(facts, described), asked, tuple(described))


def _numbers(info: Mapping[str, Any]) -> dict[str, str]:
    """Name of the column by key, of what can be a fact as it is."""
    return {key: _column_name(key) for key, value in info.items() if _type(value) in ("int", "float", "bool")}


def _read_facts(env: Any, info: Mapping[str, Any], asked: FactsOf) -> Mapping[str, Any]:
    try:
        return asked(env, info)
    except KeyError as error:
        there = f"it gives {', '.join(info)}" if info else "it gives nothing"
        raise WorldError(
            f"facts(env, info) looks for {error} in info, which the environment does not give at reset ({there}). "
            f"Write info.get({error}, 0), or read it off env.unwrapped."
        ) from error


def why_ended(*, terminated: bool, truncated: bool, info: Mapping[str, Any]) -> str:
    """The environment's own words where it has some, else "terminated" or "time limit"; empty while it goes on."""
    if not (terminated or truncated):
        return ""
    for key in REASONS:
        if isinstance(info.get(key), str) and info[key]:
            return str(info[key])
    return "terminated" if terminated else "time limit"


def columns_of(facts: Mapping[str, Any], described: Sequence[Column] = ()) -> tuple[Column, ...]:
    """The columns of facts, as described or judged by first values; parts of a pose are known by their usual names."""
    said = {column.name: column for column in described}
    return with_foreign_poses([said.get(name) or column_of(name, value) for name, value in facts.items()])


def column_of(name: str, value: Any) -> Column:
    """The column of a fact, judged by a first value."""
    kind = _type(value)
    if kind is None:
        raise WorldError(
            f"The fact '{name}' is {value!r}. A fact is a number, a bool, a text or a list of objects "
            '(dicts such as {"name": "door", "x": 1.0, "y": 2.0}).'
        )
    kinds: dict[str, Any] = {"text": "category", "objects": "objects"}
    return Column(name=name, type=kind, kind=kinds.get(kind, "fact"))


def _column_name(key: str) -> str:
    return f"info {key}" if key in RESERVED else key


def fitting(column: Column, value: Any) -> Any:
    """The value as its column takes it. A column's type was read off the first value, which may not tell all."""
    value = _plain(value)
    got = _type(value)
    if value is None or got == column.type:
        return value
    if column.type == "float" and got in ("int", "bool"):
        return float(value)
    if column.type == "int" and (got == "bool" or (got == "float" and value.is_integer())):
        return int(value)
    if column.type == "bool" and value in (0, 1):
        return bool(value)
    if got == "float" and value != value:  # NaN: unknown
        return None
    raise WorldError(
        f"The fact '{column.name}' was of type {column.type} at the first reset and is {value!r} now. Give it a type "
        f"that always fits: world(…, facts=lambda env, info: {{'{column.name}': float(…)}})."
    )


def _type(value: Any) -> Any:
    value = _plain(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "objects" if all(isinstance(each, Mapping) for each in value) else None
    for kind, name in ((bool, "bool"), (int, "int"), (float, "float"), (str, "text")):
        if isinstance(value, kind):
            return name
    return None


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    return value
