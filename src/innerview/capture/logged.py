"""Rows of somebody's own loop, given step by step; what a subject says of them is computed as everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from innerview.capture.heads import HeadLayout
from innerview.capture.lane import Episode, Piece
from innerview.capture.layout import GROUP_COLUMNS, Layout, layout, world_columns
from innerview.capture.sites import SiteLayout
from innerview.capture.step import Stepper
from innerview.errors import CaptureError, SubjectError
from innerview.schema import (
    ActionSpace,
    ArraySpec,
    Column,
    Ordering,
    WorldInfo,
    entropy,
    entropy_column,
)
from innerview.subjects import Subject, replay
from innerview.worlds.gym.facts import columns_of, fitting
from innerview.worlds.gym.spaces import Observed, observed_like, read_all

_ROUGH = 1e-3
_TRIED = 4
"""Steps that are replayed before what is said is believed."""
_PROBABILITIES, _ENTROPY, _VALUE, _MEMORY = "probabilities", "entropy", "value", "memory"


class NotBelieved(CaptureError):
    """The module, called by hand, says something else than was to be recorded."""


@dataclass(frozen=True, kw_only=True)
class LoggedStep:
    """What somebody says of one step."""

    observation: Any
    action: Any
    reward: float = 0.0
    outcome: str = ""
    """Why the episode is over after this step; empty while it goes on."""
    cut: bool = False
    """Whether it would have gone on, as at a time limit."""
    said: Mapping[str, Any] = field(default_factory=dict)
    """What the model said, where no subject is asked: probabilities, value, memory."""
    facts: Mapping[str, Any] = field(default_factory=dict)


class StepLog:
    """Turns steps into rows. What there is to keep is read off the first one."""

    def __init__(
        self, first: LoggedStep, subject: Subject | None, *, actions: Sequence[str] | None, keep: Sequence[str] = ()
    ) -> None:
        self._parts = observed_like(first.observation)
        self.world = _world(first, self._parts, subject, actions)
        self.form = layout(subject, self.world, keep=keep) if subject else _form(first, self.world)
        self.form = replace(self.form, group_columns=tuple(c for c in GROUP_COLUMNS if c.name not in ("seed", "scene")))
        self._subject = subject
        self._stepper = Stepper[Mapping[str, Any]](subject, 1, keep=self.form.sites.keep) if subject else None
        self._tried: list[dict[str, Any]] | None = []
        self._given = {name for name, value in first.said.items() if value is not None}
        self._names = tuple(column.name for column in self.form.columns if column.kind == "action")
        self._episode: Episode | None = None
        self.episodes = 0

    @property
    def where(self) -> str:
        """Episode and step that come next, in words."""
        return f"step {self._episode.length if self._episode else 0} of episode {self.episodes}"

    @property
    def believed(self) -> bool:
        """Whether what the subject says was replayed, or no subject is asked."""
        return self._subject is None or self._tried is None

    def add(self, step: LoggedStep) -> Piece:
        """The row of one step. One that is refused for what was given leaves the memory as it was."""
        seen = dict(read_all(self._parts, step.observation))
        given = self._facts(step.facts) | dict(zip(self._names, self._action(step.action), strict=True))
        values, arrays = self._said(step, seen, begins=self._episode is None)
        episode = self._episode = self._episode or Episode(self.episodes, 0, None, self.form.columns)
        values |= given
        values |= {"episode": episode.number, "step": episode.length, "reward": float(step.reward)}
        arrays |= {array: seen[name] for name, array in self.form.observations.items()}
        episode.add(values, arrays, float(step.reward), step.outcome, cut=step.cut)
        return self._taken()

    def end(self, outcome: str) -> Piece | None:
        """End an episode that somebody left off."""
        self._replay()
        if self._episode is None or not self._episode.length:
            return None
        self._episode.cut_short(outcome)
        return self._taken()

    def _taken(self) -> Piece:
        assert self._episode is not None, "a step was given"
        piece = self._episode.take(self.form.arrays)
        if piece.summary is not None:
            self._episode = None
            self.episodes += 1
        return piece

    def _said(
        self, step: LoggedStep, seen: Mapping[str, np.ndarray], *, begins: bool
    ) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        if self._subject is None or self._stepper is None:
            return self._as_given(step.said)
        if begins:
            self._stepper.begin(np.ones(1, bool))
        inputs = self._subject.inputs({name: seen[name][None] for name in self.form.fed})
        self._replay_first(self._subject, inputs, begins=begins)
        output = self._stepper.step(inputs, steps=[0])
        done = np.array(self._action(step.action))
        output = self._stepper.acted(output, done if done.dtype.kind == "i" else done[None], np.array([step.reward]))
        columns, arrays = self.form.said(output)
        return {name: value[0] for name, value in columns.items()}, {name: value[0] for name, value in arrays.items()}

    def _replay_first(self, subject: Subject, inputs: Mapping[str, Any], *, begins: bool) -> None:
        """What was seen in the first steps is believed when the module says the same, called by hand."""
        if self._tried is None or self._stepper is None:
            return
        if not begins or not self._tried:
            told = {name: self._stepper.memory[name] for name in subject.told_names}
            self._tried.append({**inputs, **told})
        if len(self._tried) == _TRIED or (begins and len(self._tried) > 1):
            self._replay()

    def _replay(self) -> None:
        if self._subject is None or not self._tried:
            return
        steps, self._tried = self._tried, None
        try:
            replay(self._subject, steps)
        except SubjectError as problem:
            raise NotBelieved(f"What '{self._subject.info.name}' says is not recorded. {problem}") from problem

    def _as_given(self, said: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        given = {name: value for name, value in said.items() if value is not None}
        if set(given) != self._given:
            odd = ", ".join(sorted(set(given) ^ self._given))
            raise CaptureError(f"{odd} was given in some steps and not in others. Give it in every step, or in none.")
        columns: dict[str, Any] = {}
        arrays: dict[str, np.ndarray] = {}
        for spec in self.form.arrays:
            if spec.name not in given:
                continue
            arrays[spec.name] = _finite(spec.name, given[spec.name], spec.dtype)
            if arrays[spec.name].shape != spec.shape:
                shape = arrays[spec.name].shape
                raise CaptureError(f"'{spec.name}' has shape {shape}, and had {spec.shape} in the first step.")
        if _PROBABILITIES in arrays:
            _check_shares(arrays[_PROBABILITIES], self.world.actions)
            columns[_ENTROPY] = float(entropy(arrays[_PROBABILITIES][None])[0])
        if _VALUE in given:
            columns[_VALUE] = float(_finite(_VALUE, given[_VALUE], "float64").reshape(()))
        return columns, arrays

    def _facts(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        known = {column.name: column for column in self.world.facts}
        new = [name for name in facts if name not in known]
        if new:
            raise CaptureError(
                f"The fact '{new[0]}' was not given in the first step ({', '.join(known) or 'no facts'}). Give every "
                "fact from the first step on; None stands for unknown, once it has had a value."
            )
        texts = {part.spec.name for part in self._parts if part.text}
        return {name: fitting(known[name], value) for name, value in facts.items() if name not in texts}

    def _action(self, action: Any) -> list[Any]:
        space, array = self.world.actions, _plain(action)
        if space.kind == "discrete":
            number = int(array.reshape(()))
            if not 0 <= number < space.size:
                raise CaptureError(
                    f"There is no action {number}; there are {space.size}: {', '.join(space.names)}. Name them all: "
                    "iv.recorder(…, actions=[…])."
                )
            return [number]
        if array.size != space.size:
            raise CaptureError(f"An action is {space.size} numbers, not {array.size}.")
        return list(array.ravel().tolist())


def _world(
    first: LoggedStep, parts: tuple[Observed, ...], subject: Subject | None, actions: Sequence[str] | None
) -> WorldInfo:
    return WorldInfo(
        name="logged",
        family="logged",
        observations=tuple(part.spec for part in parts),
        actions=_actions(_plain(first.action), first, subject, actions),
        facts=columns_of(first.facts),
    )


def _actions(
    action: np.ndarray, first: LoggedStep, subject: Subject | None, names: Sequence[str] | None
) -> ActionSpace:
    head = subject.acting_head if subject else None
    if action.dtype.kind == "f":
        return ActionSpace(kind="continuous", names=tuple(names or (f"action {n}" for n in range(action.size))))
    chances = first.said.get(_PROBABILITIES)
    count = head.size if head else 0 if chances is None else _plain(chances).size
    if not names and not count:
        raise CaptureError(
            "How many actions are there? Name them, iv.recorder(…, actions=['left', 'right']), or give the "
            "probabilities."
        )
    own = head.names if head is not None and len(head.names) == head.size else ()
    return ActionSpace(kind="discrete", names=tuple(names or own or (f"action {n}" for n in range(count))))


def _form(first: LoggedStep, world: WorldInfo) -> Layout:
    """What is kept where no subject is asked: what was given."""
    given = {name: _plain(value) for name, value in first.said.items() if value is not None}
    columns: list[Column] = []
    arrays: list[ArraySpec] = []
    if _PROBABILITIES in given:
        size, names = given[_PROBABILITIES].size, world.actions.names
        arrays.append(
            ArraySpec(
                name=_PROBABILITIES,
                shape=(size,),
                dtype="float32",
                role="probabilities",
                axes=("action",),
                elements=names if len(names) == size else (),
            )
        )
        columns.append(entropy_column(_ENTROPY))
    if _VALUE in given:
        columns.append(Column(name=_VALUE, type="float", kind="value", description="What the model expects to earn."))
    if _MEMORY in given:
        shape = given[_MEMORY].shape
        axes = ("element",) if len(shape) == 1 else ("layer", "element")
        arrays.append(ArraySpec(name=_MEMORY, shape=shape, dtype="float32", role="memory", axes=axes[: len(shape)]))
    observed, names_of = world_columns(world, columns)
    return Layout(
        columns=observed,
        arrays=(*(replace(spec, name=names_of[spec.name]) for spec in world.observations), *arrays),
        ordering=Ordering(),
        observations=names_of,
        fed=tuple(names_of),
        memory={},
        heads=HeadLayout(forms=()),
        sites=SiteLayout(),
    )


def _finite(name: str, value: Any, dtype: str) -> np.ndarray:
    """Numbers as they are saved, none of which is infinite or unknown."""
    with np.errstate(over="ignore"):
        array = _plain(value).astype(dtype)
    if not np.isfinite(array).all():
        raise CaptureError(f"'{name}' holds a number that {dtype} cannot: NaN, or one that is too large.")
    return array


def _check_shares(shares: np.ndarray, actions: ActionSpace) -> None:
    if actions.kind == "discrete" and shares.size != actions.size:
        raise CaptureError(f"There are {actions.size} actions and {shares.size} probabilities. Give one for each.")
    total = float(shares.sum())
    if shares.min(initial=0.0) < 0 or abs(total - 1.0) > _ROUGH:
        raise CaptureError(
            f"{shares.tolist()} are no probabilities: each is 0 or more, and they add up to 1, not to {total:.3g}. "
            "Logits go through a softmax."
        )


def _plain(value: Any) -> np.ndarray:
    """Numbers of a list, an array or a tensor."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    return np.asarray(value)
