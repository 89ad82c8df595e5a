"""Gymnasium's action spaces in our words: actions with names, and how one becomes the environment's."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import prod
from typing import Any

import numpy as np

from innerview.errors import WorldError
from innerview.schema import ActionSpace

MAX_COMBINATIONS = 4096
"""Actions of several choices at once are counted by their combinations, up to so many."""


@dataclass(frozen=True)
class Actions:
    """An action space and how our actions become the environment's."""

    space: ActionSpace
    convert: Callable[[Any], Any]

    @property
    def first(self) -> Any:
        """An action to try an environment with."""
        return 0 if self.space.kind == "discrete" else np.zeros(self.space.size, np.float32)


def actions(space: Any, names: Sequence[str] | None, meanings: Sequence[str] | None = None) -> Actions:
    """Named actions of a space; `names` given by a person come before the environment's own.

    Choices that are made at once (MultiDiscrete, MultiBinary, a Tuple or Dict of Discrete ones) are one action for each
    combination, counted as numpy.unravel_index does.
    """
    from gymnasium import spaces

    if isinstance(space, spaces.Discrete):
        count = int(space.n)
        return _discrete(_names(count, names, meanings), lambda index: index + int(space.start))
    if isinstance(space, spaces.Box):
        return _continuous(space, names)
    choices = _choices(space)
    if choices is None:
        raise WorldError(
            f"Actions of the space {space} cannot be recorded. Known: Discrete, MultiDiscrete, MultiBinary, Box, and "
            "Tuple or Dict of those that are counted. Wrap the environment, with gymnasium.wrappers.TransformAction."
        )
    sizes, build = choices
    if prod(sizes) > MAX_COMBINATIONS:
        raise WorldError(
            f"Actions of the space {space} have {prod(sizes):,} combinations; up to {MAX_COMBINATIONS:,} can be told "
            "apart. Leave out what the agent never does, with gymnasium.wrappers.TransformAction."
        )
    words = [" + ".join(map(str, np.unravel_index(index, sizes))) for index in range(prod(sizes))]
    called = tuple(names) if names is not None else tuple(words)
    return _discrete(_names(prod(sizes), called, None), lambda index: build(np.unravel_index(index, sizes)), sizes)


def names_of(env: Any) -> Sequence[str] | None:
    """What an environment calls its actions: `action_names`, `get_action_meanings()`, or an enumeration `actions`."""
    return next((found for level in levels(env) if (found := _named_by(level)) is not None), None)


def levels(env: Any) -> Iterator[Any]:
    """An environment, what it wraps, and so on to the innermost."""
    while env is not None:
        yield env
        env = env.__dict__.get("env")


def _named_by(env: Any) -> Sequence[str] | None:
    def own(name: str) -> Any:
        # Some wrappers ask what they wrap, with a warning.
        return None if inspect.getattr_static(env, name, None) is None else getattr(env, name)

    names = own("action_names")
    if isinstance(names, Sequence) and not isinstance(names, str):
        return tuple(map(str, names))
    if callable(tell := own("get_action_meanings")):
        return tuple(str(meaning) for meaning in tell())
    kinds = own("actions")
    if isinstance(kinds, type) and issubclass(kinds, Enum):
        listed = sorted((each for each in kinds if isinstance(each.value, int)), key=lambda each: int(each.value))
        if [each.value for each in listed] == list(range(len(listed))):
            return tuple(each.name for each in listed)
    return None


Build = Callable[[Sequence[Any]], Any]


def _choices(space: Any) -> tuple[tuple[int, ...], Build] | None:
    """How many there are to choose among each time, and how the environment takes what was chosen."""
    from gymnasium import spaces

    if isinstance(space, spaces.Discrete):
        return (int(space.n),), lambda chosen: int(chosen[0]) + int(space.start)
    if isinstance(space, spaces.MultiDiscrete):
        start = np.asarray(space.start)
        shape, kind = np.asarray(space.nvec).shape, space.dtype
        sizes = tuple(int(count) for count in np.asarray(space.nvec).ravel())
        return sizes, lambda chosen: np.asarray(chosen, kind).reshape(shape) + start.astype(kind)
    if isinstance(space, spaces.MultiBinary):
        shape = tuple(space.shape)
        return (2,) * prod(shape), lambda chosen: np.asarray(chosen, np.int8).reshape(shape)
    if isinstance(space, spaces.Tuple | spaces.Dict):
        inside = dict(space.spaces) if isinstance(space, spaces.Dict) else dict(enumerate(space.spaces))
        return _joined({key: _choices(each) for key, each in inside.items()}, named=isinstance(space, spaces.Dict))
    return None


def _joined(parts: Mapping[Any, tuple[tuple[int, ...], Build] | None], *, named: bool) -> tuple[Any, Build] | None:
    known = {key: part for key, part in parts.items() if part is not None}
    if len(known) < len(parts) or not known:
        return None

    def build(chosen: Sequence[Any]) -> Any:
        made, at = {}, 0
        for key, (sizes, inner) in known.items():
            made[key] = inner(chosen[at : at + len(sizes)])
            at += len(sizes)
        return made if named else tuple(made.values())

    return tuple(size for sizes, _ in known.values() for size in sizes), build


def _discrete(names: tuple[str, ...], build: Callable[[int], Any], choices: tuple[int, ...] = ()) -> Actions:
    def convert(action: Any) -> Any:
        index = int(action)
        if not 0 <= index < len(names):
            raise WorldError(f"There is no action {index}; there are {len(names)}: {', '.join(names)}.")
        return build(index)

    return Actions(ActionSpace(kind="discrete", names=names, choices=choices), convert)


def _continuous(space: Any, names: Sequence[str] | None) -> Actions:
    low, high = np.asarray(space.low), np.asarray(space.high)
    whole = np.issubdtype(space.dtype, np.integer)

    def convert(action: Any) -> np.ndarray:
        """Bounded as the space says: a sampled action may lie outside."""
        array = np.asarray(action, np.float64 if whole else space.dtype)
        if array.size != low.size or not np.isfinite(array).all():
            raise WorldError(f"An action is {low.size} finite numbers here, not {np.array2string(array)}.")
        bounded = np.clip(array.reshape(space.shape), low, high)
        return np.rint(bounded).astype(space.dtype) if whole else bounded

    described = ActionSpace(
        kind="continuous",
        names=_names(low.size, names, None),
        low=tuple(float(v) for v in low.ravel()),
        high=tuple(float(v) for v in high.ravel()),
    )
    return Actions(described, convert)


def _names(count: int, names: Sequence[str] | None, meanings: Sequence[str] | None) -> tuple[str, ...]:
    if names is not None and len(names) != count:
        raise WorldError(f"actions names {len(names)} actions ({', '.join(names)}), but the environment has {count}.")
    if names is None and meanings is not None and len(meanings) == count and len(set(meanings)) == count:
        names = [meaning.lower().replace("_", " ") for meaning in meanings]
    return tuple(names) if names is not None else tuple(f"action {i}" for i in range(count))
