"""Which columns and arrays a subject in a world gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from innerview.errors import CaptureError
from innerview.schema import ArraySpec, Column, EpisodeSummary, Head, Ordering, RowKind, SubjectInfo, WorldInfo
from innerview.subjects import Output, Subject

GROUP_COLUMNS = (
    Column(name="episode", type="int", kind="index"),
    Column(name="seed", type="int", kind="index"),
    Column(name="start", type="int", kind="index", description="First row."),
    Column(name="stop", type="int", kind="index", description="The row after the last."),
    Column(name="length", type="int", unit="steps"),
    Column(name="return", type="float", kind="reward", description="Sum of the rewards."),
    Column(name="outcome", type="text", kind="category", description="Why the episode ended."),
    Column(name="scene", type="text", kind="index", description="Key of the map it was played on."),
)
BESIDE = ("image", "mask")
"""What a world shows beside what the subject is given."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What each row of a recording of this subject in this world holds."""

    columns: tuple[Column, ...]
    arrays: tuple[ArraySpec, ...]
    ordering: Ordering
    observations: Mapping[str, str]
    """Name of the array by the world's name of the observation."""
    fed: tuple[str, ...]
    """The observations that the subject is given."""
    memory: Mapping[str, str]
    """Name of the array by the name of the memory site."""
    activations: Mapping[str, str]
    """Name of the array by the name of the layer."""
    value_heads: Mapping[str, Head]
    """Value and q heads by the name of their column."""
    estimates: Mapping[str, tuple[str, ...]]
    """Columns of what a head says about the world (a pose), by the name of the head."""
    group_columns: tuple[Column, ...] = GROUP_COLUMNS
    row: RowKind = field(default_factory=RowKind)

    @property
    def row_bytes(self) -> int:
        """What the arrays of one row take in memory."""
        return sum(prod(spec.shape) * np.dtype(spec.dtype).itemsize for spec in self.arrays) or 1


def group_line(episode: int, start: int, summary: EpisodeSummary, *, scene: str) -> dict[str, Any]:
    """An episode's line in the table of groups: it begins at row `start`, on the map of that key."""
    return {
        "episode": episode,
        "seed": summary.seed,
        "start": start,
        "stop": start + summary.length,
        "length": summary.length,
        "return": summary.total_reward,
        "outcome": summary.outcome,
        "scene": scene,
    }


def layout(subject: Subject, world: WorldInfo, *, keep: Sequence[str] = ()) -> Layout:
    """Bring a subject and a world together, or say why they do not fit."""
    fed = tuple(spec.name for spec in world.observations if spec.role not in BESIDE)
    _check_actions(subject, world)
    output = _try_out(subject, world, fed, keep)
    values = _value_heads(subject.info)
    seen = {spec.name: _array_name("observation", spec, fed) for spec in world.observations}
    memory = subject.info.memory_arrays
    activations = {name: f"activation.{name}" for name in keep}
    return Layout(
        columns=_columns(subject, world, values),
        arrays=(
            *_observed(world, seen),
            *_remembered(subject.info, memory),
            *_decided(subject, output, world),
            *_activated(output, activations),
        ),
        ordering=Ordering(seconds_per_step=world.settings.get("seconds_per_step")),
        observations=seen,
        fed=fed,
        memory=memory,
        activations=activations,
        value_heads=values,
        estimates={head.name: head.columns for head in _estimating(subject.info)},
    )


def _check_actions(subject: Subject, world: WorldInfo) -> None:
    head, space = subject.acting_head, world.actions
    if head is None and space.kind == "discrete" and space.size == 1:
        return  # nothing to decide: the world goes its own way
    if head is None:
        raise CaptureError(
            f"Subject '{subject.info.name}' has no head that acts; it has "
            f"{', '.join(f'{h.name} ({h.kind})' for h in subject.info.heads)}. "
            "Declare a head of kind policy, q or gaussian. A subject that does not act can only be recorded in a world "
            f"that goes its own way, with one action ('office:tour'); '{world.name}' has {space.size}."
        )
    kind = "continuous" if head.kind == "gaussian" else "discrete"
    if kind != space.kind:
        raise CaptureError(f"Head '{head.name}' gives {kind} actions; world '{world.name}' takes {space.kind} ones.")
    if head.size != space.size:
        raise CaptureError(
            f"Head '{head.name}' knows {head.size} actions; world '{world.name}' has {space.size}: "
            f"{', '.join(space.names)}. Give the world the actions that the subject was trained with."
        )


def _try_out(subject: Subject, world: WorldInfo, fed: Sequence[str], keep: Sequence[str]) -> Output:
    """One run on blank observations: wrong shapes and unknown layers are found before anything is opened."""
    blank = {s.name: np.zeros((1, *s.shape), s.dtype) for s in world.observations if s.name in fed}
    return subject.run(subject.inputs(blank), keep=keep)


def _value_heads(info: SubjectInfo) -> dict[str, Head]:
    heads = [h for h in info.heads if h.kind in ("value", "q") and (h.kind == "q" or h.size == 1)]
    return {("value" if len(heads) == 1 else f"value.{h.name}"): h for h in heads}


def _columns(subject: Subject, world: WorldInfo, values: Mapping[str, Head]) -> tuple[Column, ...]:
    discrete = world.actions.kind == "discrete"
    standard = [
        Column(name="episode", type="int", kind="index"),
        Column(name="step", type="int", kind="index"),
        *_action_columns(subject, world),
        Column(name="reward", type="float", kind="reward", description="What the action earned."),
        *(Column(name=n, type="float", kind="value", description=_value_words(h)) for n, h in values.items()),
    ]
    if discrete and subject.acting_head is not None:
        words = "Entropy of the action probabilities: 0 is certain, 1 is a coin toss among all actions."
        standard.append(Column(name="entropy", type="float", kind="decision", description=words))
    standard += _estimate_columns(subject.info)
    taken = {column.name for column in standard}
    clash = [fact.name for fact in world.facts if fact.name in taken]
    if clash:
        raise CaptureError(
            f"World '{world.name}' tells a fact named '{clash[0]}', which is the name of a column that every "
            "recording has. Give the fact another name."
        )
    return (*standard, *world.facts)


def _action_columns(subject: Subject, world: WorldInfo) -> list[Column]:
    if world.actions.kind == "discrete":
        return [Column(name="action", type="int", kind="action", categories=_action_names(subject, world))]
    return [
        Column(name=f"action_{name.removeprefix('action ')}", type="float", kind="action", label=name)
        for name in world.actions.names
    ]


def _action_names(subject: Subject, world: WorldInfo) -> tuple[str, ...]:
    """The world's names, or the subject's where the world only counts its actions."""
    head, names = subject.acting_head, world.actions.names
    counted = tuple(f"action {number}" for number in range(len(names)))
    return head.names if head is not None and len(head.names) == len(names) and names == counted else names


def _value_words(head: Head) -> str:
    return "The best of the Q values." if head.kind == "q" else "What the subject expects to earn from here on."


def _estimating(info: SubjectInfo) -> tuple[Head, ...]:
    return tuple(head for head in info.heads if head.kind == "pose")


def estimate_columns(head: Head, words: str) -> list[Column]:
    """Columns of what a head says about the world."""
    names = head.columns
    units = head.units or ("",) * len(names)
    return [
        Column(name=name, type="float", kind="decision", unit=unit, description=words)
        for name, unit in zip(names, units, strict=True)
    ]


def _estimate_columns(info: SubjectInfo) -> list[Column]:
    return [column for head in _estimating(info) for column in estimate_columns(head, "What the subject believes.")]


def _array_name(prefix: str, spec: ArraySpec, fed: Sequence[str]) -> str:
    return spec.name if spec.name == prefix or spec.name not in fed else f"{prefix}.{spec.name}"


def _observed(world: WorldInfo, names: Mapping[str, str]) -> list[ArraySpec]:
    return [
        replace(spec, name=names[spec.name], role=spec.role if spec.role in BESIDE else "observation")
        for spec in world.observations
    ]


def _remembered(info: SubjectInfo, names: Mapping[str, str]) -> list[ArraySpec]:
    return [
        ArraySpec(
            name=names[site.name],
            shape=site.shape,
            dtype="float32",
            role="memory",
            axes=("element",) if len(site.shape) == 1 else ("layer", "element"),
            label=site.name,
        )
        for site in info.memory
    ]


def _decided(subject: Subject, output: Output, world: WorldInfo) -> list[ArraySpec]:
    if subject.probabilities(output) is None:
        return []
    names = _action_names(subject, world)
    chances = ArraySpec(
        name="probabilities",
        shape=(len(names),),
        dtype="float32",
        role="probabilities",
        axes=("action",),
        elements=names,
    )
    is_q = subject.acting_head is not None and subject.acting_head.kind == "q"
    return [chances, replace(chances, name="q", role="other")] if is_q else [chances]


def _activated(output: Output, names: Mapping[str, str]) -> list[ArraySpec]:
    return [
        ArraySpec(
            name=names[layer],
            shape=tuple(value.shape[1:]),
            dtype="float32",
            role="activation",
            axes=("channel", "height", "width") if value.ndim == 4 else ("unit",) * (value.ndim - 1),
            label=layer,
        )
        for layer, value in output.sites.items()
    ]
