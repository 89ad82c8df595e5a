"""Masks of a Gymnasium environment: which kind of thing each pixel belongs to, told by a function of the user's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from innerview.errors import WorldError
from innerview.schema import ArraySpec

MasksOf = Callable[[Any, Mapping[str, Any]], Mapping[str, Any]]
"""The user's function: environment and info to pictures of yes and no, by kind of thing."""
MASK, BACKGROUND = "mask", "background"
_MAX_KINDS = 255
"""Kinds that a byte can number, behind the background."""
_HOW = 'masks=lambda env, info: {"apple": …, "bomb": …}, with a height × width array of yes and no for each'


@dataclass(frozen=True)
class GymMasks:
    """Reads masks; which kinds there are was found out at a first reset."""

    spec: ArraySpec
    asked: MasksOf

    def read(self, env: Any, info: Mapping[str, Any]) -> np.ndarray:
        """The kind of each pixel by its number; where two kinds overlap, the later one stands in front."""
        kinds, told = self.spec.elements[1:], self.asked(env, info)
        if set(told) - set(kinds):
            strange = ", ".join(sorted(set(told) - set(kinds)))
            raise WorldError(
                f"masks(env, info) gives {strange}, which it did not at the first reset ({', '.join(kinds)}). Give "
                "every kind each time, also where there is none of it: np.zeros((height, width), bool)."
            )
        mask = np.zeros(self.spec.shape, np.uint8)
        for number, kind in enumerate(kinds, 1):
            if kind in told:
                mask[_fitting(kind, told[kind], self.spec.shape)] = number
        return mask


def find_masks(env: Any, info: Mapping[str, Any], asked: MasksOf, seen: Sequence[ArraySpec]) -> GymMasks:
    """Which kinds of things an environment tells, judged by its first reset."""
    picture = next((spec for spec in seen if spec.is_image), None)
    if picture is None:
        raise WorldError("Masks say what is where in a picture, and no observation of this environment is one.")
    told = _first_masks(env, info, asked)
    _check_kinds(told)
    size = picture.shape[:2]
    for kind, where in told.items():
        _fitting(kind, where, size)
    kinds = (BACKGROUND, *told)
    spec = ArraySpec(name=MASK, shape=size, dtype="uint8", role="mask", axes=("height", "width"), elements=kinds)
    return GymMasks(spec, asked)


def _first_masks(env: Any, info: Mapping[str, Any], asked: MasksOf) -> Mapping[str, Any]:
    try:
        told = asked(env, info)
    except Exception as error:
        raise WorldError(
            f"masks(env, info) failed at the first reset: {type(error).__name__}: {error}. It is asked at every "
            "moment, also right after a reset; env.unwrapped is the environment without its wrappers."
        ) from error
    if not isinstance(told, Mapping) or not told:
        raise WorldError(f"masks(env, info) should give arrays by kind of thing, not {told!r:.80}: {_HOW}.")
    return told


def _check_kinds(kinds: Collection[Any]) -> None:
    if len(kinds) > _MAX_KINDS:
        raise WorldError(
            f"masks(env, info) gives {len(kinds)} kinds of things; {_MAX_KINDS} can be distinguished. Join some."
        )
    for kind in kinds:
        if not isinstance(kind, str) or not kind:
            raise WorldError(f"masks(env, info) calls a kind of thing {kind!r}; a kind has a name: {_HOW}.")
    if BACKGROUND in kinds:
        raise WorldError(f"'{BACKGROUND}' is where nothing else is; leave it out of masks, or call it another name.")


def _fitting(kind: str, where: Any, size: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(where)
    if array.shape != tuple(size):
        raise WorldError(
            f"The mask of '{kind}' has shape {array.shape}; the picture is {size[0]} × {size[1]} (height × width)."
        )
    if array.dtype.kind not in "biuf" or np.isnan(array).any():
        raise WorldError(f"The mask of '{kind}' says neither yes nor no somewhere (NaN, or no number): {_HOW}.")
    return array.astype(bool)
