"""Gymnasium's observation spaces in our words: named arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from innerview.errors import WorldError
from innerview.schema import ArraySpec

SINGLE = "observation"
"""The name of an observation that has none of its own."""
COLOURS = ("red", "green", "blue")
TEXT_LENGTH = 256
"""Characters of a text whose space does not say how long it may be."""


@dataclass(frozen=True)
class Observed:
    """One named part of an observation and how to read it."""

    spec: ArraySpec
    path: tuple[Any, ...]
    """Keys and places that lead to it through nested dicts and tuples."""
    convert: Callable[[Any], np.ndarray]
    text: bool = False
    """Whether it is a text, which people read as words."""

    def found(self, observation: Any) -> Any:
        """This part as the environment gave it."""
        for key in self.path:
            observation = observation[key]
        return observation

    def read(self, observation: Any) -> np.ndarray:
        """This part of what the environment gave, as an array of our own."""
        array = self.convert(self.found(observation))
        if array.shape != self.spec.shape:
            raise WorldError(
                f"The environment gave '{self.spec.name}' with shape {array.shape}; its space says {self.spec.shape}. "
                "Correct the environment's observation_space."
            )
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise WorldError(f"'{self.spec.name}' holds NaN (not a number).")
        return array


def observed(space: Any) -> tuple[Observed, ...]:
    """Every part of an observation space; nested dicts and tuples get names such as "camera.left" and "part 0"."""
    parts: list[Observed] = []
    _collect(space, (), parts)
    return tuple(parts)


def observed_like(example: Any) -> tuple[Observed, ...]:
    """Every part of an observation like this one, where no space describes it."""
    parts: list[Observed] = []
    _collect_like(example, (), parts)
    return tuple(parts)


def _collect_like(example: Any, path: tuple[Any, ...], parts: list[Observed]) -> None:
    if isinstance(example, Mapping | tuple):
        inside = example.items() if isinstance(example, Mapping) else enumerate(example)
        for key, inner in inside:
            _collect_like(inner, (*path, key), parts)
        return
    name = _name(path)
    if isinstance(example, str):
        parts.append(_text(name, path, TEXT_LENGTH))
        return
    array = _numbers(example)
    if array.dtype.kind not in "biuf":
        raise WorldError(f"The observation '{name}' is {example!r:.60}, no array of numbers, text or dict of these.")
    parts.append(_box(name, path, array.shape, array.dtype))


def _numbers(value: Any) -> np.ndarray:
    """Of a list, an array or a tensor."""
    return np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)


def _name(path: tuple[Any, ...]) -> str:
    return ".".join(f"part {key}" if isinstance(key, int) else str(key) for key in path) or SINGLE


def _collect(space: Any, path: tuple[Any, ...], parts: list[Observed]) -> None:
    from gymnasium import spaces

    if isinstance(space, spaces.Dict):
        for key, inner in space.spaces.items():
            _collect(inner, (*path, key), parts)
    elif isinstance(space, spaces.Tuple):
        for place, inner in enumerate(space.spaces):
            _collect(inner, (*path, place), parts)
    else:
        parts.append(_part(_name(path), path, space))


def _part(name: str, path: tuple[Any, ...], space: Any) -> Observed:
    from gymnasium import spaces

    if isinstance(space, spaces.Discrete):
        return _counted(name, path, (1,), int(space.start))
    if isinstance(space, spaces.MultiDiscrete):
        return _counted(name, path, tuple(np.asarray(space.nvec).shape), np.asarray(space.start))
    if isinstance(space, spaces.Box | spaces.MultiBinary):
        return _box(name, path, tuple(space.shape), np.dtype(space.dtype))
    if isinstance(space, spaces.Text) or isinstance(_sampled(space), str):
        return _text(name, path, int(getattr(space, "max_length", TEXT_LENGTH)))
    raise WorldError(
        f"The observation '{name}' has the space {space}, which cannot be recorded. Known: Box, Discrete, "
        "MultiDiscrete, MultiBinary, Text, and Dict and Tuple of these. Wrap the environment, for example with "
        "gymnasium.wrappers.TransformObservation."
    )


def _sampled(space: Any) -> Any:
    """Something of a space that is none of Gymnasium's own, such as MiniGrid's missions."""
    from gymnasium import spaces

    return None if type(space).__module__.startswith(spaces.__name__) else space.sample()


def _counted(name: str, path: tuple[Any, ...], shape: tuple[int, ...], start: Any) -> Observed:
    """Whole numbers, counted from 0."""
    spec = ArraySpec(name=name, shape=shape, dtype="int64", role="observation")
    return Observed(spec, path, lambda value: np.asarray(value, np.int64).reshape(shape) - start)


def _text(name: str, path: tuple[Any, ...], length: int) -> Observed:
    """A text by its characters' numbers (Unicode), filled up with zeros; its words are a fact of the same name."""
    spec = ArraySpec(name=name, shape=(length,), dtype="int64", role="observation", axes=("character",))

    def convert(value: Any) -> np.ndarray:
        codes = np.zeros(max(length, len(value)), np.int64)
        codes[: len(value)] = [ord(letter) for letter in value]
        return codes

    return Observed(spec, path, convert, text=True)


def _box(name: str, path: tuple[str, ...], shape: tuple[int, ...], dtype: np.dtype[Any]) -> Observed:
    axes: tuple[str, ...] = ()
    order: tuple[int, ...] | None = None
    if dtype == np.uint8 and len(shape) in (2, 3):
        axes = ("height", "width", "channel")[: len(shape)]
        if is_channel_first(shape):
            order, shape = (1, 2, 0), (*shape[1:], shape[0])
    spec = ArraySpec(name=name, shape=shape or (1,), dtype=str(dtype), role="observation", axes=axes)

    def convert(value: Any) -> np.ndarray:
        array = _as_declared(_numbers(value), dtype, name)  # a copy: environments reuse their buffers
        return np.ascontiguousarray(array.transpose(order)) if order else np.atleast_1d(array)

    return Observed(spec, path, convert)


def _as_declared(given: np.ndarray, dtype: np.dtype[Any], name: str) -> np.ndarray:
    """A copy of that type, or an error where the type cannot hold the values: rounding of fractions alone is fine."""
    with np.errstate(invalid="ignore", over="ignore"):
        array = np.array(given, dtype)
    if given.dtype != dtype and given.dtype.kind in "biuf":
        changed = array != given if dtype.kind in "biu" else np.isinf(array) & ~np.isinf(given)
        if np.any(changed):
            raise WorldError(
                f"'{name}' holds {given[changed].flat[0]!s}, which {dtype} cannot: that is the type of its space, or "
                "of the first observation. Correct the environment's observation_space, or give one type always."
            )
    return array


def coloured(part: Observed) -> Observed:
    """The same with its channels named red, green and blue, frame after frame."""
    count = part.spec.shape[-1] // len(COLOURS) if part.spec.is_image else 0
    return replace(part, spec=replace(part.spec, elements=COLOURS * count)) if count else part


def is_channel_first(shape: Sequence[int]) -> bool:
    """Whether three axes are channel, height, width: the first is the smallest."""
    return len(shape) == 3 and shape[0] < min(shape[1:]) and (shape[2] not in (1, 3, 4) or shape[0] in (1, 3))


def read_all(parts: Sequence[Observed], observation: Any) -> Mapping[str, np.ndarray]:
    """The named arrays of one observation."""
    return {part.spec.name: part.read(observation) for part in parts}
