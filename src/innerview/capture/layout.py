"""Which columns and arrays a subject in a world gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from innerview.capture.heads import HeadLayout, Values, recorded_heads
from innerview.capture.sites import SiteLayout, as_array, memory_specs, site_layout
from innerview.errors import CaptureError
from innerview.schema import BESIDE, ArraySpec, Column, EpisodeSummary, Moment, Ordering, RowKind, WorldInfo, of_kind
from innerview.subjects import Output, Subject

GROUP_COLUMNS = (
    Column(name="episode", type="int", kind="index"),
    Column(name="seed", type="int", kind="index"),
    Column(name="start", type="int", kind="index", description="First row."),
    Column(name="stop", type="int", kind="index", description="The row after the last."),
    Column(name="length", type="int", unit="steps"),
    Column(name="return", type="float", kind="reward", description="Sum of the rewards."),
    Column(name="outcome", type="text", kind="category", description="Why the episode ended."),
    Column(name="cut", type="bool", description="Cut short (time limit, step limit, error) rather than over."),
    Column(name="scene", type="text", kind="index", description="Key of the map it was played on."),
)
REWARD = "reward"


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
    heads: HeadLayout
    sites: SiteLayout
    group_columns: tuple[Column, ...] = GROUP_COLUMNS
    row: RowKind = field(default_factory=RowKind)

    @property
    def row_bytes(self) -> int:
        """What the arrays of one row take in memory."""
        return sum(prod(spec.shape) * np.dtype(spec.dtype).itemsize for spec in self.arrays) or 1

    def said(self, output: Output) -> Values:
        """Columns and arrays of what the subject said and remembers, of a batch."""
        columns, arrays = self.heads.values(output)
        arrays |= {array: as_array(output.memory[site]) for site, array in self.memory.items()}
        return columns, arrays | self.sites.values(output)

    def values_of(
        self, now: Moment, then: Moment, action: Any, *, said: Mapping[str, Any], episode: int, step: int
    ) -> dict[str, Any]:
        """Columns of one step: what was true, what the subject said and did, and what that caused."""
        acts = [column.name for column in of_kind(self.columns, "action")]
        place = {self.ordering.group: episode, self.ordering.time: step}
        acted = dict(zip(acts, np.atleast_1d(action).tolist(), strict=True))
        return {**self.facts_of(now.facts, then.facts), **said, **place, REWARD: then.reward, **acted}

    def facts_of(self, now: Mapping[str, Any], then: Mapping[str, Any]) -> dict[str, Any]:
        """What was true at a step, and what happened on the way to the next one."""
        return {**now, **{event.name: _happened(event, then) for event in of_kind(self.columns, "event")}}


def _happened(event: Column, caused: Mapping[str, Any]) -> bool | str:
    """What an action brought about, from the facts after it: yes or no, or the word of an event that has one."""
    value = caused.get(event.name)
    return str(value or "") if event.type == "text" else bool(value)


def group_line(episode: int, start: int, summary: EpisodeSummary, *, cut: bool, scene: str) -> dict[str, Any]:
    """An episode's line in the table of groups: it begins at row `start`, on the map of that key."""
    return {
        "episode": episode,
        "seed": summary.seed,
        "start": start,
        "stop": start + summary.length,
        "length": summary.length,
        "return": summary.total_reward,
        "outcome": summary.outcome,
        "cut": cut,
        "scene": scene,
    }


def layout(subject: Subject, world: WorldInfo, *, keep: Sequence[str] = ()) -> Layout:
    """Bring a subject and a world together, or say why they do not fit."""
    fed = tuple(spec.name for spec in world.observations if spec.role not in BESIDE)
    _check_actions(subject, world)
    output = _try_out(subject, world, fed, keep)
    heads = recorded_heads(subject.info, subject.acting_head, _action_names(subject, world))
    # What a recording holds of the memory anyway is not saved again.
    addresses = {memory.address for memory in subject.info.memory}
    sites = site_layout(subject.info, [address for address in keep if address not in addresses], output)
    columns, seen = world_columns(world, heads.columns, names=_action_names(subject, world))
    return Layout(
        columns=columns,
        arrays=(
            *_observed(world, seen),
            *memory_specs(subject.info),
            *heads.arrays,
            *sites.arrays,
        ),
        ordering=Ordering(seconds_per_step=world.settings.get("seconds_per_step")),
        observations=seen,
        fed=fed,
        memory=subject.info.memory_arrays,
        heads=heads,
        sites=sites,
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


def world_columns(
    world: WorldInfo, said: Sequence[Column], *, names: Sequence[str] = ()
) -> tuple[tuple[Column, ...], dict[str, str]]:
    """Every column of a row, with those of what was `said`, and the array that holds each observation.

    `names` are those of the actions, where they are others than the world's.
    """
    standard = [
        Column(name="episode", type="int", kind="index"),
        Column(name="step", type="int", kind="index"),
        *_action_columns(world, tuple(names) or world.actions.names),
        Column(name=REWARD, type="float", kind="reward", description="What the action earned."),
        *said,
    ]
    taken = {column.name for column in standard}
    clash = [fact.name for fact in world.facts if fact.name in taken]
    if clash:
        raise CaptureError(
            f"World '{world.name}' provides a fact named '{clash[0]}', which is the name of a column that every "
            "recording has. Give the fact another name."
        )
    fed = [spec.name for spec in world.observations if spec.role not in BESIDE]
    seen = {spec.name: _array_name("observation", spec, fed) for spec in world.observations}
    return (*standard, *world.facts), seen


def _action_columns(world: WorldInfo, names: tuple[str, ...]) -> list[Column]:
    if world.actions.kind == "discrete":
        return [Column(name="action", type="int", kind="action", categories=names)]
    return [
        Column(name=f"action_{name.removeprefix('action ')}", type="float", kind="action", label=name)
        for name in world.actions.names
    ]


def _action_names(subject: Subject, world: WorldInfo) -> tuple[str, ...]:
    """The world's names, or the subject's where the world only counts its actions."""
    head, names = subject.acting_head, world.actions.names
    counted = tuple(f"action {number}" for number in range(len(names)))
    return head.names if head is not None and len(head.names) == len(names) and names == counted else names


def _array_name(prefix: str, spec: ArraySpec, fed: Sequence[str]) -> str:
    return spec.name if spec.name == prefix or spec.name not in fed else f"{prefix}.{spec.name}"


def _observed(world: WorldInfo, names: Mapping[str, str]) -> list[ArraySpec]:
    return [
        replace(spec, name=names[spec.name], role=spec.role if spec.role in BESIDE else "observation")
        for spec in world.observations
    ]
