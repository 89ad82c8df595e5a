"""How one Gymnasium environment is read: its spaces, its moments and what it says of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from innerview.errors import WorldError
from innerview.schema import ArraySpec, Moment, WorldInfo
from innerview.worlds.gym.facts import FactsOf, GymFacts, find_facts
from innerview.worlds.gym.masks import MASK, GymMasks, MasksOf, find_masks
from innerview.worlds.gym.spaces import Actions, Observed, actions, coloured, observed, read_all

PICTURE = "picture"
"""What the environment renders, where its observations are not pictures themselves."""


@dataclass(frozen=True, kw_only=True)
class GymSettings:
    """Everything a person can set about a Gymnasium world; more goes to gymnasium.make where an id was given."""

    actions: Sequence[str] | None = None
    """Names of the actions."""
    facts: FactsOf | None = None
    """A function (env, info) -> facts by name, asked at every moment."""
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

    def moment(
        self,
        env: Any,
        observation: Any,
        info: Mapping[str, Any],
        *,
        reward: float = 0.0,
        ended: str = "",
        cut: bool = False,
    ) -> Moment:
        """What the environment said, in our words."""
        seen = dict(read_all(self.parts, observation))
        if self.picture is not None:
            seen[PICTURE] = np.array(env.render(), np.uint8)
        if self.masks is not None:
            seen[MASK] = self.masks.read(env, info)
        return Moment(observation=seen, facts=self.facts.read(env, info), reward=reward, ended=ended, cut=cut)

    @property
    def arrays(self) -> tuple[ArraySpec, ...]:
        """Every array a moment carries."""
        more = (self.picture, self.masks.spec if self.masks else None)
        return (*(part.spec for part in self.parts), *(spec for spec in more if spec is not None))


def read_spaces(env: Any, settings: GymSettings) -> Reader:
    """Look at the spaces, at a first reset and a first step: what there is to see, to do and to tell."""
    parts = observed(env.observation_space)
    if getattr(env, "stacks_colours", False):
        parts = tuple(coloured(part) for part in parts)
    chosen = actions(env.action_space, settings.actions, _meanings(env))
    _, info = env.reset(seed=0)
    asked = settings.masks
    masks = find_masks(env, info, asked, [part.spec for part in parts]) if asked is not None else None
    told = find_facts(env, info, settings.facts)
    facts = told.with_more(env.step(chosen.convert(_first_action(chosen)))[-1])
    return Reader(parts, chosen, facts, _picture(env, parts, settings.render), masks)


def _first_action(chosen: Actions) -> Any:
    return 0 if chosen.space.kind == "discrete" else np.zeros(len(chosen.space.names), np.float32)


def describe(env: Any, reader: Reader, settings: GymSettings, arguments: Mapping[str, Any]) -> WorldInfo:
    """What the world says of itself."""
    spec = getattr(env, "spec", None)
    plain = {k: v for k, v in arguments.items() if isinstance(v, str | int | float | bool | None)}
    return WorldInfo(
        name=settings.name or (spec.id if spec is not None else type(env.unwrapped).__name__),
        family="gymnasium",
        observations=reader.arrays,
        actions=reader.actions.space,
        facts=reader.facts.columns,
        settings={**plain, **({"picture": True} if reader.picture else {})},
    )


def import_gymnasium() -> Any:
    """Gymnasium, or an error that says how to get it."""
    try:
        import gymnasium
        import gymnasium.vector
    except ImportError as error:
        raise WorldError("Gymnasium worlds need Gymnasium: pip install 'innerview[gym]'.") from error
    return gymnasium


def _meanings(env: Any) -> Sequence[str] | None:
    tell = getattr(env.unwrapped, "get_action_meanings", None)
    return tuple(str(meaning) for meaning in tell()) if callable(tell) else None


def _picture(env: Any, parts: tuple[Observed, ...], asked: bool | None) -> ArraySpec | None:
    can = env.render_mode == "rgb_array"
    if asked and not can:
        raise WorldError(
            f"render=True needs an environment made with render_mode='rgb_array', not {env.render_mode!r}."
        )
    if asked is False or not can or (asked is None and any(part.spec.is_image for part in parts)):
        return None
    shape = np.asarray(env.render()).shape
    return ArraySpec(name=PICTURE, shape=shape, dtype="uint8", role="image", axes=("height", "width", "channel"))
