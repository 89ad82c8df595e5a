"""Which arrays of a recording feed which inputs of a subject, and what is done to them on the way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, prod
from typing import Literal

from innerview.errors import RequestError, UnknownName
from innerview.schema.data import ArraySpec
from innerview.schema.subject import InputSpec

StepKind = Literal["resize", "stack", "channels first", "divide", "mask"]
STEP_KINDS: tuple[StepKind, ...] = ("resize", "stack", "channels first", "divide", "mask")
_FEEDING = ("observation", "image", "other")
_GRAMMAR = "Steps: resize 64x48 (width x height), stack 4, channels first, divide 1000, mask."


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
    """One input and the array that feeds it."""

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
        return ", ".join(f"{item.input} ← {item.text}" for item in self.inputs)


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
    used = {item.array for item in found.values()} | {array.name for array in named.values()}
    chosen = named | _by_shape(rest, {name: array for name, array in known.items() if name not in used}, known, where)
    found |= {name: InputBinding(input=name, array=a.name, domain=a.domain) for name, a in chosen.items()}
    return Binding(inputs=tuple(found[spec.name] for spec in inputs))


def parse_steps(texts: Iterable[str]) -> tuple[Step, ...]:
    """Steps as people write them."""
    return tuple(_step(text.strip()) for text in texts)


def _declared(spec: InputSpec, text: str, known: Mapping[str, ArraySpec]) -> InputBinding:
    name, *steps = (part.strip() for part in str(text).split("|"))
    if name not in known:
        raise UnknownName("array", name, known, f"It is bound to input '{spec.name}'.")
    return InputBinding(input=spec.name, array=name, domain=known[name].domain, steps=parse_steps(steps))


def _step(text: str) -> Step:
    if text in ("channels first", "mask"):
        return Step(kind=text)  # type: ignore[arg-type]
    if match := re.fullmatch(r"resize (\d+)x(\d+)", text):
        return _above_zero(text, Step(kind="resize", values=(float(match[1]), float(match[2]))))
    if match := re.fullmatch(r"stack (\d+)", text):
        return _above_zero(text, Step(kind="stack", values=(float(match[1]),)))
    if match := re.fullmatch(r"divide (\d+(?:\.\d*)?(?:e[+-]?\d+)?)", text):
        return _above_zero(text, Step(kind="divide", values=(float(match[1]),)))
    raise UnknownName("step", text, STEP_KINDS, _GRAMMAR)


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
    return (
        f"{problem} Say which one feeds it: inputs={{'{spec.name}': '{example}'}}, with steps where it has another "
        f"size: '{example} | resize 64x64'. {_GRAMMAR}"
    )


def _listed(arrays: Iterable[ArraySpec]) -> str:
    return ", ".join(f"{array.name} ({_size(array)})" for array in arrays) or "none"
