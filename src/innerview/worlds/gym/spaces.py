"""Gymnasium's spaces in our words: observations as named arrays, actions with names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from innerview.errors import WorldError
from innerview.schema import ActionSpace, ArraySpec

SINGLE = "observation"
"""The name of an observation that has none of its own."""
COLOURS = ("red", "green", "blue")


@dataclass(frozen=True)
class Observed:
    """One named part of an observation and how to read it."""

    spec: ArraySpec
    path: tuple[str, ...]
    """Keys that lead to it through nested dicts."""
    convert: Callable[[Any], np.ndarray]

    def read(self, observation: Any) -> np.ndarray:
        """This part of what the environment gave, as an array of our own."""
        for key in self.path:
            observation = observation[key]
        array = self.convert(observation)
        if array.shape != self.spec.shape:
            raise WorldError(
                f"The environment gave '{self.spec.name}' with shape {array.shape}; its space says {self.spec.shape}. "
                "Correct the environment's observation_space."
            )
        return array


def observed(space: Any) -> tuple[Observed, ...]:
    """Every part of an observation space; nested dicts get names such as "camera.left"."""
    from gymnasium import spaces

    if not isinstance(space, spaces.Dict):
        return (_part(SINGLE, (), space),)
    parts: list[Observed] = []
    _collect(space, (), parts)
    return tuple(parts)


def _collect(space: Any, path: tuple[str, ...], parts: list[Observed]) -> None:
    from gymnasium import spaces

    for key, inner in space.spaces.items():
        here = (*path, key)
        if isinstance(inner, spaces.Dict):
            _collect(inner, here, parts)
        else:
            parts.append(_part(".".join(here), here, inner))


def _part(name: str, path: tuple[str, ...], space: Any) -> Observed:
    from gymnasium import spaces

    if isinstance(space, spaces.Discrete):
        count, start = int(space.n), int(space.start)
        names = tuple(str(start + i) for i in range(count))
        spec = ArraySpec(name=name, shape=(count,), dtype="float32", role="observation", elements=names)
        return Observed(spec, path, lambda value: _one_hot(int(value) - start, count))
    if isinstance(space, spaces.Box | spaces.MultiBinary):
        return _box(name, path, tuple(space.shape), np.dtype(space.dtype))
    raise WorldError(
        f"The observation '{name}' has the space {space}, which cannot be recorded. Known: Box, Discrete, MultiBinary "
        "and Dict of these. Wrap the environment, for example with gymnasium.wrappers.FlattenObservation."
    )


def _box(name: str, path: tuple[str, ...], shape: tuple[int, ...], dtype: np.dtype[Any]) -> Observed:
    axes: tuple[str, ...] = ()
    order: tuple[int, ...] | None = None
    if dtype == np.uint8 and len(shape) in (2, 3):
        axes = ("height", "width", "channel")[: len(shape)]
        if is_channel_first(shape):
            order, shape = (1, 2, 0), (*shape[1:], shape[0])
    spec = ArraySpec(name=name, shape=shape or (1,), dtype=str(dtype), role="observation", axes=axes)

    def convert(value: Any) -> np.ndarray:
        array = np.array(value, dtype)  # a copy: environments reuse their buffers
        return np.ascontiguousarray(array.transpose(order)) if order else np.atleast_1d(array)

    return Observed(spec, path, convert)


def coloured(part: Observed) -> Observed:
    """The same with its channels named red, green and blue, frame after frame."""
    count = part.spec.shape[-1] // len(COLOURS) if part.spec.is_image else 0
    return replace(part, spec=replace(part.spec, elements=COLOURS * count)) if count else part


def is_channel_first(shape: Sequence[int]) -> bool:
    """Whether three axes are channel, height, width: the first is the smallest."""
    return len(shape) == 3 and shape[0] < min(shape[1:]) and (shape[2] not in (1, 3, 4) or shape[0] in (1, 3))


def _one_hot(index: int, count: int) -> np.ndarray:
    array = np.zeros(count, np.float32)
    array[index] = 1
    return array


@dataclass(frozen=True)
class Actions:
    """An action space and how our actions become the environment's."""

    space: ActionSpace
    convert: Callable[[Any], Any]


def actions(space: Any, names: Sequence[str] | None, meanings: Sequence[str] | None = None) -> Actions:
    """Named actions from a Discrete or Box space; `names` given by a person come before the environment's own."""
    from gymnasium import spaces

    if isinstance(space, spaces.Discrete):
        return _discrete(int(space.n), int(space.start), _names(int(space.n), names, meanings))
    if isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.floating):
        return _continuous(space, names)
    advice = {
        spaces.MultiDiscrete: "Give one Discrete number a combination, with gymnasium.wrappers.TransformAction.",
        spaces.MultiBinary: "Give one Discrete number a combination, with gymnasium.wrappers.TransformAction.",
        spaces.Dict: "Flatten them into one Box, with gymnasium.wrappers.TransformAction.",
    }.get(type(space), "Wrap the environment so that its actions are Discrete or a Box of floats.")
    raise WorldError(f"Actions of the space {space} are not supported; Discrete and Box of floats are. {advice}")


def _discrete(count: int, start: int, names: tuple[str, ...]) -> Actions:
    def convert(action: Any) -> int:
        index = int(action)
        if not 0 <= index < count:
            raise WorldError(f"There is no action {index}; there are {count}: {', '.join(names)}.")
        return index + start

    return Actions(ActionSpace(kind="discrete", names=names), convert)


def _continuous(space: Any, names: Sequence[str] | None) -> Actions:
    low, high = np.asarray(space.low), np.asarray(space.high)

    def convert(action: Any) -> np.ndarray:
        """Bounded as the space says: a sampled action may lie outside."""
        array = np.asarray(action, space.dtype)
        if array.size != low.size or not np.isfinite(array).all():
            raise WorldError(f"An action is {low.size} finite numbers here, not {np.array2string(array)}.")
        return np.clip(array.reshape(space.shape), low, high)

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


def read_all(parts: Sequence[Observed], observation: Any) -> Mapping[str, np.ndarray]:
    """The named arrays of one observation."""
    return {part.spec.name: part.read(observation) for part in parts}
