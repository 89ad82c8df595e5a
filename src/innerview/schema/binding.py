"""Which arrays of a recording feed which inputs of a subject, and what is done to them on the way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, prod
from typing import Literal

from innerview.errors import RequestError, UnknownName
from innerview.schema.data import ArraySpec
from innerview.schema.picture.filter import (
    FILTER_GRAMMAR,
    PICTURE_FILTERS,
    FilterName,
    filter_numbers,
    named_filter,
)
from innerview.schema.place.units import units_per
from innerview.schema.subject import InputSpec

StepKind = Literal["resize", "stack", "channels first", "divide", "depth", "mask", FilterName]
STEP_KINDS: tuple[StepKind, ...] = ("resize", "stack", "channels first", "divide", "depth", "mask")
DEPTH_RANGE_M = 10.0
"""What depth is divided by where a domain is named and nothing else is said."""
_FEEDING = ("observation", "image", "other")
_GRAMMAR = (
    "Steps: resize 64x48 (width x height), stack 4, channels first, divide 1000, depth 10 (in units of 10 m, from 0 "
    "to 1), mask. Pictures are joined along their channels by +: 'sim.rgb + sim.depth | depth 10'."
)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing done to an array before a subject takes it."""

    kind: StepKind
    values: tuple[float, ...] = ()

    def __str__(self) -> str:
        if self.kind == "resize":
            return f"resize {self.values[0]:g}x{self.values[1]:g}"
        return " ".join([self.kind, *(f"{value:g}" for value in self.values)])


@dataclass(frozen=True, kw_only=True)
class InputBinding:
    """One array that feeds an input. Several of one input are pictures, joined along their channels in this order."""

    input: str
    array: str
    domain: str = ""
    steps: tuple[Step, ...] = ()

    @property
    def text(self) -> str:
        """As it is written: array | step | step."""
        return " | ".join([self.array, *map(str, self.steps)])


@dataclass(frozen=True, kw_only=True)
class Binding:
    """Every input of a subject; part of the id of whatever is made with it."""

    inputs: tuple[InputBinding, ...]

    def __str__(self) -> str:
        return ", ".join(f"{name} ← {text}" for name, text in self.texts.items())

    @property
    def by_input(self) -> dict[str, tuple[InputBinding, ...]]:
        """What feeds each input; several arrays are joined."""
        names = dict.fromkeys(item.input for item in self.inputs)
        return {name: tuple(item for item in self.inputs if item.input == name) for name in names}

    @property
    def texts(self) -> dict[str, str]:
        """By input, as it is written: array | step + array | step."""
        return {name: " + ".join(item.text for item in items) for name, items in self.by_input.items()}

    @property
    def filters(self) -> str:
        """What pictures go through, whatever domain they are of: brightness 1.2 | blur 0.8."""
        steps = [str(step) for item in self.inputs for step in item.steps if _part(step)]
        return " | ".join(dict.fromkeys(steps))


def bind(
    inputs: Sequence[InputSpec], arrays: Sequence[ArraySpec], wanted: Mapping[str, str] | None = None, *, where: str
) -> Binding:
    """Bind inputs to arrays as declared, else by name, else by shape and role, else an error with the choices.

    Shape alone binds only where one array that feeds nothing else fits one input.
    """
    wanted = wanted or {}
    for name in wanted:
        if name not in {spec.name for spec in inputs}:
            raise UnknownName("input", name, [spec.name for spec in inputs], "inputs= names inputs of the subject.")
    known = {spec.name: spec for spec in arrays}
    found = {spec.name: _declared(spec, wanted[spec.name], known) for spec in inputs if spec.name in wanted}
    open_inputs = [spec for spec in inputs if spec.name not in found]
    named = {spec.name: array for spec in open_inputs if (array := _by_name(spec, inputs, known))}
    rest = [spec for spec in open_inputs if spec.name not in named]
    used = {item.array for items in found.values() for item in items} | {array.name for array in named.values()}
    chosen = named | _by_shape(rest, {name: array for name, array in known.items() if name not in used}, known, where)
    found |= {name: (InputBinding(input=name, array=a.name, domain=a.domain),) for name, a in chosen.items()}
    return Binding(inputs=tuple(item for spec in inputs for item in found[spec.name]))


def parse_steps(texts: Iterable[str]) -> tuple[Step, ...]:
    """Steps as people write them."""
    return tuple(_step(text.strip()) for text in texts)


def parse_filters(text: str) -> tuple[Step, ...]:
    """Filters of pictures as people write them: "brightness 1.2 | blur 0.8"."""
    if not isinstance(text, str) or not text.strip():
        raise RequestError(f"A filter is written as its name and its numbers, not as {text!r:.60}. {FILTER_GRAMMAR}")
    steps = []
    for part in text.split("|"):
        if named_filter(part.strip()) is None:
            words = " ".join(word for word in part.split() if not word[:1].isdigit() and word[:1] not in "+-.")
            raise UnknownName("filter", words, PICTURE_FILTERS, f"Filters: {FILTER_GRAMMAR}")
        steps.append(_step(part.strip()))
    return tuple(steps)


def _declared(spec: InputSpec, text: str, known: Mapping[str, ArraySpec]) -> tuple[InputBinding, ...]:
    """What feeds an input as people write it: an array, several joined by +, or a domain."""
    first = str(text).split("|")[0].strip()
    parts = [str(text)] if "+" in first and first in known else re.split(r"\s\+\s", str(text))
    if len(parts) == 1 and first not in known and first in {array.domain for array in known.values()} - {""}:
        return _of_domain(spec, first, parse_steps(str(text).split("|")[1:]), known)
    items = []
    for part in parts:
        name, *steps = (piece.strip() for piece in part.split("|"))
        if name not in known:
            domains = {array.domain for array in known.values()} - {""}
            raise UnknownName("array", name, (*known, *sorted(domains)), f"It is bound to input '{spec.name}'.")
        items.append(InputBinding(input=spec.name, array=name, domain=known[name].domain, steps=parse_steps(steps)))
    return _checked(spec, tuple(items), known)


def _of_domain(
    spec: InputSpec, domain: str, steps: tuple[Step, ...], known: Mapping[str, ArraySpec]
) -> tuple[InputBinding, ...]:
    """The picture of a domain that fits, or its colour and its depth joined."""
    own = [array for array in known.values() if array.domain == domain and array.kind != "ragged"]
    said = any(step.kind == "depth" for step in steps)
    single = [array for array in own if _channels(array) == spec.shape[0] and array.is_image] if spec.shape else []
    if len(single) == 1 and not (said and not is_depth(single[0])):
        return _checked(spec, (InputBinding(input=spec.name, array=single[0].name, domain=domain, steps=steps),), known)
    pair = colour_and_depth(own)
    if pair is None or single or spec.kind != "image" or spec.shape[0] != 4:
        size = " × ".join(map(str, spec.shape))
        raise RequestError(
            f"Nothing of '{domain}' feeds input '{spec.name}' ({spec.kind} {size}) without a choice. Its arrays: "
            f"{_listed(own)}. Name one, or join them: 'sim.rgb + sim.depth | depth 10'. {_GRAMMAR}"
        )
    colour = tuple(step for step in steps if step.kind != "depth" and _part(step) != "depth")
    plain = tuple(step for step in steps if _part(step) != "colour")
    far = plain if said else (*plain, Step(kind="depth", values=(DEPTH_RANGE_M,)))
    items = [
        InputBinding(input=spec.name, array=a.name, domain=domain, steps=s)
        for a, s in zip(pair, (colour, far), strict=True)
    ]
    return _checked(spec, tuple(items), known)


def colour_and_depth(arrays: Iterable[ArraySpec]) -> tuple[ArraySpec, ArraySpec] | None:
    """The one picture in colour and the one of depth among arrays; None where there are none or several."""
    pictures = [array for array in arrays if array.is_image]
    colours = [array for array in pictures if _channels(array) == 3 and array.dtype == "uint8" and not array.unit]
    depths = [array for array in pictures if is_depth(array)]
    return (colours[0], depths[0]) if len(colours) == len(depths) == 1 else None


def is_depth(array: ArraySpec) -> bool:
    """Whether a picture holds lengths, one a pixel."""
    return array.is_image and _channels(array) == 1 and units_per(array.unit, "m") is not None


def _channels(array: ArraySpec) -> int:
    return array.shape[2] if len(array.shape) == 3 else 1 if len(array.shape) == 2 else 0


def _checked(
    spec: InputSpec, items: tuple[InputBinding, ...], known: Mapping[str, ArraySpec]
) -> tuple[InputBinding, ...]:
    for item in items:
        array = known[item.array]
        _check_filters(item, array)
        if any(step.kind == "depth" for step in item.steps) and units_per(array.unit, "m") is None:
            unit = f"'{array.unit}'" if array.unit else "not said"
            raise RequestError(
                f"Step 'depth' takes lengths; the unit of '{array.name}' is {unit}. Import it with one: mm."
            )
    if len(items) > 1:
        _check_joined(spec, items, known)
    return items


def _part(step: Step) -> str:
    """What a filter changes; nothing of another step."""
    return PICTURE_FILTERS[step.kind].part if step.kind in PICTURE_FILTERS else ""


def _check_filters(item: InputBinding, array: ArraySpec) -> None:
    """Filters are of recorded pictures: they come first, and suit what the pictures hold."""
    parts = [_part(step) for step in item.steps]
    if not any(parts):
        return
    if any(later and not earlier for earlier, later in pairwise(parts)):
        raise RequestError(
            f"'{item.text}': filters change pictures as they were recorded, and come before other steps."
        )
    if not array.is_image:
        raise RequestError(f"'{item.text}': filters change pictures, and '{array.name}' is none.")
    for step, part in zip(item.steps, parts, strict=True):
        if part == "colour" and is_depth(array):
            raise RequestError(f"'{step}' changes colours, and '{array.name}' holds depth.")
        if part == "depth" and not is_depth(array):
            raise RequestError(
                f"'{step}' changes depth in metres, and '{array.name}' is no picture of depth with a unit."
            )


def _check_joined(spec: InputSpec, items: tuple[InputBinding, ...], known: Mapping[str, ArraySpec]) -> None:
    channels, sizes = 0, dict[str, tuple[int, int]]()
    for item in items:
        array = known[item.array]
        kinds = {step.kind for step in item.steps}
        if not array.is_image or kinds & {"stack", "mask", "channels first"}:
            raise RequestError(
                f"'{item.text}' cannot be joined: what is joined by + are pictures [height, width] or [height, width, "
                "channel], with the steps resize, divide and depth."
            )
        resized = [step.values for step in item.steps if step.kind == "resize"]
        sizes[item.text] = (int(resized[-1][1]), int(resized[-1][0])) if resized else (array.shape[0], array.shape[1])
        channels += _channels(array)
    if spec.kind != "image" or channels != spec.shape[0] or set(sizes.values()) != {spec.shape[1:]}:
        parts = ", ".join(f"'{text}' {height} × {width}" for text, (height, width) in sizes.items())
        size = " × ".join(map(str, spec.shape))
        raise RequestError(
            f"Joined there are {channels} channels ({parts}); input '{spec.name}' takes {spec.kind} {size} (channel, "
            f"height, width). {_GRAMMAR}"
        )


def _step(text: str) -> Step:
    if (chosen := named_filter(text)) is not None:
        return Step(kind=chosen.name, values=filter_numbers(chosen, text))
    if text in ("channels first", "mask"):
        return Step(kind=text)  # type: ignore[arg-type]
    if match := re.fullmatch(r"resize (\d+)x(\d+)", text):
        return _above_zero(text, Step(kind="resize", values=(float(match[1]), float(match[2]))))
    if match := re.fullmatch(r"stack (\d+)", text):
        return _above_zero(text, Step(kind="stack", values=(float(match[1]),)))
    if match := re.fullmatch(r"depth (\d+(?:\.\d*)?)", text):
        return _above_zero(text, Step(kind="depth", values=(float(match[1]),)))
    if match := re.fullmatch(r"divide (\d+(?:\.\d*)?(?:e[+-]?\d+)?)", text):
        return _above_zero(text, Step(kind="divide", values=(float(match[1]),)))
    raise UnknownName("step", text, (*STEP_KINDS, *PICTURE_FILTERS), f"{_GRAMMAR} Filters: {FILTER_GRAMMAR}")


def _above_zero(text: str, step: Step) -> Step:
    if min(step.values) <= 0 or not isfinite(max(step.values)):
        raise RequestError(f"Step '{text}': its numbers are above zero. {_GRAMMAR}")
    return step


def _by_name(spec: InputSpec, inputs: Sequence[InputSpec], known: Mapping[str, ArraySpec]) -> ArraySpec | None:
    for name in (spec.name, f"observation.{spec.name}"):
        if name in known and (fits(spec, known[name]) or known[name].role == "observation"):
            return known[name]
    seen = [array for array in known.values() if array.role == "observation"]
    # What a subject was recorded with is what it takes, whatever a single input is called.
    return seen[0] if len(inputs) == 1 and len(seen) == 1 else None


def _by_shape(
    inputs: Sequence[InputSpec], free: dict[str, ArraySpec], known: Mapping[str, ArraySpec], where: str
) -> dict[str, ArraySpec]:
    """The array of each input, where shape and role leave no choice."""
    found: dict[str, ArraySpec] = {}
    rest = list(inputs)
    while rest:
        fitting = {spec.name: _fitting(spec, free) for spec in rest}
        single = {name: arrays[0] for name, arrays in fitting.items() if len(arrays) == 1}
        shared = Counter(array.name for array in single.values())
        settled = {name: array for name, array in single.items() if shared[array.name] == 1}
        if not settled:
            raise RequestError(_no_array(rest[0], fitting[rest[0].name], known, where))
        found |= settled
        free = {name: array for name, array in free.items() if array not in settled.values()}
        rest = [spec for spec in rest if spec.name not in settled]
    return found


def _fitting(spec: InputSpec, free: Mapping[str, ArraySpec]) -> list[ArraySpec]:
    """Arrays that could feed an input, of the first role that has any."""
    for role in _FEEDING:
        if these := [array for array in free.values() if array.role == role and fits(spec, array)]:
            return these
    return []


def fits(spec: InputSpec, array: ArraySpec) -> bool:
    """Whether rows of an array can be given to an input without any step."""
    if array.kind == "ragged":
        return len(spec.shape) >= 1 and spec.shape[1:] == array.shape
    shape = array.shape
    if spec.kind == "image":
        if len(shape) == 3 and (shape[2], *shape[:2]) == spec.shape:
            return True
        if len(shape) == 4 and (shape[0] * shape[3], *shape[1:3]) == spec.shape:
            return True
        return shape == spec.shape or (len(shape) == 2 and (1, *shape) == spec.shape)
    return shape == spec.shape or (spec.kind == "vector" and prod(shape) == prod(spec.shape) and not array.is_image)


def _size(array: ArraySpec) -> str:
    length = ("entries",) if array.kind == "ragged" else ()
    return f"{' × '.join(map(str, (*length, *array.shape)))} {array.dtype}"


def _no_array(spec: InputSpec, fitting: Sequence[ArraySpec], known: Mapping[str, ArraySpec], where: str) -> str:
    size = " × ".join(map(str, spec.shape))
    what = f"Input '{spec.name}' ({spec.kind} {size})"
    example = next((array.name for array in fitting), next(iter(known), "ARRAY"))
    if fitting:
        problem = (
            f"By shape, {what[0].lower()}{what[1:]} could be fed by {_listed(fitting)} of '{where}', and shape alone "
            "does not decide between its arrays and inputs."
        )
    else:
        problem = f"{what} fits no array of '{where}' by name, or by shape alone. Arrays: {_listed(known.values())}."
    if joined := _joinable(spec, known):
        texts = [f"inputs={{'{spec.name}': '{domain}'}}" for domain in joined]
        return (
            f"{problem} Colour and depth of a domain are joined: {' or '.join(texts)}, with depth in units of "
            f"{DEPTH_RANGE_M:g} m unless another step is said ('{joined[0]} | depth 5'). {_GRAMMAR}"
        )
    alone = colour_and_depth(array for array in known.values() if not array.domain)
    if alone is not None and spec.kind == "image" and spec.shape[0] == 4:
        example = f"{alone[0].name} + {alone[1].name} | depth {DEPTH_RANGE_M:g}"
        return f"{problem} Colour and depth are joined by inputs={{'{spec.name}': '{example}'}}. {_GRAMMAR}"
    return (
        f"{problem} Say which one feeds it: inputs={{'{spec.name}': '{example}'}}, with steps where it has another "
        f"size: '{example} | resize 64x64'. {_GRAMMAR}"
    )


def _joinable(spec: InputSpec, known: Mapping[str, ArraySpec]) -> list[str]:
    """Domains whose colour and depth together would feed an input."""
    domains = dict.fromkeys(array.domain for array in known.values() if array.domain)
    pairs = {d: colour_and_depth(array for array in known.values() if array.domain == d) for d in domains}
    fits_both = spec.kind == "image" and spec.shape[0] == 4
    return [d for d, pair in pairs.items() if fits_both and pair and pair[0].shape[:2] == spec.shape[1:]]


def _listed(arrays: Iterable[ArraySpec]) -> str:
    return ", ".join(f"{array.name} ({_size(array)})" for array in arrays) or "none"
