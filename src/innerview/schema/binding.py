"""Which arrays of a recording feed which inputs of a subject, and what is done to them on the way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
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
    """Bind inputs to arrays as declared, else by name, else by shape and role, else an error with the choices."""
    wanted = wanted or {}
    for name in wanted:
        if name not in {spec.name for spec in inputs}:
            raise UnknownName("input", name, [spec.name for spec in inputs], "inputs= names inputs of the subject.")
    known = {spec.name: spec for spec in arrays}
    found = {spec.name: _declared(spec, wanted[spec.name], known) for spec in inputs if spec.name in wanted}
    for spec in inputs:
        if spec.name in found:
            continue
        array = _by_name(spec, inputs, known) or _by_shape(spec, known, {item.array for item in found.values()})
        if array is None:
            raise RequestError(_no_array(spec, known, where))
        found[spec.name] = InputBinding(input=spec.name, array=array.name, domain=array.domain)
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
        return Step(kind="resize", values=(float(match[1]), float(match[2])))
    if match := re.fullmatch(r"stack (\d+)", text):
        return Step(kind="stack", values=(float(match[1]),))
    if (match := re.fullmatch(r"divide ([0-9.e+-]+)", text)) and float(match[1]):
        return Step(kind="divide", values=(float(match[1]),))
    raise UnknownName("step", text, STEP_KINDS, _GRAMMAR)


def _by_name(spec: InputSpec, inputs: Sequence[InputSpec], known: Mapping[str, ArraySpec]) -> ArraySpec | None:
    for name in (spec.name, f"observation.{spec.name}"):
        if name in known and (fits(spec, known[name]) or known[name].role == "observation"):
            return known[name]
    seen = [array for array in known.values() if array.role == "observation"]
    # What a subject was recorded with is what it takes, whatever a single input is called.
    return seen[0] if len(inputs) == 1 and len(seen) == 1 else None


def _by_shape(spec: InputSpec, known: Mapping[str, ArraySpec], taken: set[str]) -> ArraySpec | None:
    fitting = [a for a in known.values() if a.name not in taken and a.role in _FEEDING and fits(spec, a)]
    for role in _FEEDING:
        these = [array for array in fitting if array.role == role]
        if these:
            return these[0] if len(these) == 1 else None
    return None


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


def _no_array(spec: InputSpec, known: Mapping[str, ArraySpec], where: str) -> str:
    size = " × ".join(map(str, spec.shape))
    choices = ", ".join(f"{a.name} ({_size(a)})" for a in known.values())
    example = next(iter(known), "ARRAY")
    return (
        f"Input '{spec.name}' ({spec.kind} {size}) fits no array of '{where}' by name, or by shape alone. Arrays: "
        f"{choices or 'none'}. Say which one feeds it: inputs={{'{spec.name}': '{example}'}}, with steps where it has "
        f"another size: '{example} | resize 64x64'. {_GRAMMAR}"
    )
