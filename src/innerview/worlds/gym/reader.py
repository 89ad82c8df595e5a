"""How one Gymnasium environment is read: its spaces, its moments and what it says of itself."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from innerview.errors import UnknownName, WorldError
from innerview.schema import ArraySpec, Column, Moment, WorldInfo
from innerview.worlds.gym.actions import Actions, actions, names_of
from innerview.worlds.gym.calls import act, begin
from innerview.worlds.gym.emulator import Emulator, find_emulator
from innerview.worlds.gym.facts import FactsOf, GymFacts, find_facts
from innerview.worlds.gym.masks import MASK, GymMasks, MasksOf, find_masks
from innerview.worlds.gym.spaces import Observed, coloured, observed, read_all

PICTURE = "picture"
"""What the environment renders, where its observations are not pictures themselves."""


@dataclass(frozen=True, kw_only=True)
class GymSettings:
    """Everything a person can set about a Gymnasium world; more goes to gymnasium.make where an id was given."""

    actions: Sequence[str] | None = None
    """Names of the actions."""
    facts: FactsOf | None = None
    """A function (env, info) -> facts by name, asked at every moment."""
    columns: Sequence[Column] = ()
    """What is known of facts, by their names: kind, unit, part of a pose. What is not said is read off first values."""
    masks: MasksOf | None = None
    """A function (env, info) -> where things are, by kind of thing, asked at every moment."""
    render: bool | None = None
    """Keep what the environment renders as "picture"; None: where it renders and observations are no images."""
    name: str | None = None


@dataclass(frozen=True)
class Reader:
    """How to read one environment's moments and write its actions."""

    parts: tuple[Observed, ...]
    actions: Actions
    facts: GymFacts
    picture: ArraySpec | None = None
    masks: GymMasks | None = None
    emulator: Emulator | None = None
    first: str = ""
    """SHA-256 of its first moments with seed 0; empty where they were not the same twice."""

    def moment(
        self,
        env: Any,
        observation: Any,
        info: Mapping[str, Any],
        *,
        reward: float = 0.0,
        ended: str = "",
        cut: bool = False,
        before: Mapping[str, Any] | None = None,
    ) -> Moment:
        """What the environment said, in our words; `before` are the facts of a step ago."""
        seen = dict(read_all(self.parts, observation))
        if self.picture is not None:
            picture = env.render() if self.emulator is None else self.emulator.picture(env)
            seen[PICTURE] = np.array(picture, np.uint8)
        if self.masks is not None:
            seen[MASK] = self.masks.read(env, info)
        facts = {part.spec.name: str(part.found(observation)) for part in self.parts if part.text}
        facts |= self.facts.read(env, info)
        if self.emulator is not None:
            facts |= self.emulator.read(env, before or {}, reward)
        return Moment(observation=seen, facts=facts, reward=reward, ended=ended, cut=cut)

    @property
    def arrays(self) -> tuple[ArraySpec, ...]:
        """Every array a moment carries."""
        more = (self.picture, self.masks.spec if self.masks else None)
        return (*(part.spec for part in self.parts), *(spec for spec in more if spec is not None))

    @property
    def columns(self) -> tuple[Column, ...]:
        """Every fact of a moment, once."""
        texts = (Column(name=part.spec.name, type="text", kind="category") for part in self.parts if part.text)
        told = (*(self.emulator.columns if self.emulator else ()), *self.facts.columns, *texts)
        return tuple({column.name: column for column in reversed(told)}.values())[::-1]


def read_spaces(env: Any, settings: GymSettings) -> Reader:
    """Look at the spaces, at a first reset and a first step: what there is to see, to do and to tell."""
    parts = observed(env.observation_space)
    if getattr(env, "stacks_colours", False):
        parts = tuple(coloured(part) for part in parts)
    chosen = actions(env.action_space, settings.actions, names_of(env))
    seen, info = begin(env, 0)
    asked = settings.masks
    masks = find_masks(env, info, asked, [part.spec for part in parts]) if asked is not None else None
    told = find_facts(env, info, settings.facts, settings.columns)
    emulator = find_emulator(env, [part.spec for part in parts])
    picture = _picture(env, parts, settings.render, emulator)
    after = act(env, chosen.convert(chosen.first))
    reader = Reader(parts, chosen, told.with_more(after[-1]), picture, masks, emulator)
    first = first_moments(parts, seen, after)
    again = first_moments(parts, begin(env, 0)[0], act(env, chosen.convert(chosen.first)))
    return replace(reader, first=first if first == again else "")


def first_moments(parts: Sequence[Observed], seen: Any, after: Sequence[Any]) -> str:
    """Digest of what is seen first and after a step, and of what that earned; machines differ in the last digits.

    Empty where that cannot be read: who plays is told so, with the lane and the step.
    """
    found = hashlib.sha256()
    try:
        arrays = [array for each in (seen, after[0]) for array in read_all(parts, each).values()]
    except WorldError:
        return ""
    for array in arrays:
        found.update((np.round(array, 3) + 0.0 if array.dtype.kind == "f" else array).tobytes())
    found.update(f"{after[1]:.3f} {after[2]} {after[3]}".encode())
    return found.hexdigest()


def describe(env: Any, reader: Reader, settings: GymSettings, arguments: Mapping[str, Any]) -> WorldInfo:
    """What the world says of itself."""
    for column in settings.columns:
        if column.name not in (names := [fact.name for fact in reader.columns]):
            raise UnknownName("fact", column.name, names, "It is described in columns=… of the world.")
    spec = getattr(env, "spec", None)
    plain = {k: v for k, v in arguments.items() if isinstance(v, str | int | float | bool | None)}
    return WorldInfo(
        name=settings.name or getattr(env, "title", "") or (spec.id if spec else type(env.unwrapped).__name__),
        family="gymnasium",
        observations=reader.arrays,
        actions=reader.actions.space,
        facts=reader.columns,
        settings=plain,
        first=reader.first,
        repeats=bool(reader.first),
    )


def import_gymnasium() -> Any:
    """Gymnasium, or an error that says how to get it."""
    try:
        import gymnasium
        import gymnasium.vector
    except ImportError as error:
        raise WorldError("Gymnasium worlds need Gymnasium: pip install 'innerview[gym]'.") from error
    return gymnasium


def _picture(env: Any, parts: tuple[Observed, ...], asked: bool | None, emulator: Emulator | None) -> ArraySpec | None:
    axes = ("height", "width", "channel")
    if emulator is not None:
        shape = (*emulator.screen_hw, 3)
        shown = asked is not False and all(part.spec.shape != shape for part in parts)
        return ArraySpec(name=PICTURE, shape=shape, dtype="uint8", role="image", axes=axes) if shown else None
    can = env.render_mode == "rgb_array"
    if asked and not can:
        raise WorldError(
            f"render=True needs an environment made with render_mode='rgb_array', not {env.render_mode!r}."
        )
    if asked is False or not can or (asked is None and any(part.spec.is_image for part in parts)):
        return None
    shape = np.asarray(env.render()).shape
    return ArraySpec(name=PICTURE, shape=shape, dtype="uint8", role="image", axes=axes)
