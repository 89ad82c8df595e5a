"""Gymnasium worlds: from an id, an environment, a function that makes one, or a vector environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from innerview.errors import UnknownName, WorldError
from innerview.schema import ArraySpec, Moment, WorldInfo
from innerview.worlds.gym_facts import FactsOf, GymFacts, find_facts, why_ended
from innerview.worlds.gym_spaces import Actions, Observed, actions, observed, read_all
from innerview.worlds.lanes import ThreadedLanes
from innerview.worlds.protocols import Lanes, World

PICTURE = "picture"
"""What the environment renders, where its observations are not pictures themselves."""


@dataclass(frozen=True, kw_only=True)
class GymSettings:
    """Everything a person can set about a Gymnasium world; more goes to gymnasium.make where an id was given."""

    actions: Sequence[str] | None = None
    """Names of the actions."""
    facts: FactsOf | None = None
    """A function (env, info) -> facts by name, asked at every moment."""
    render: bool | None = None
    """Keep what the environment renders as "picture"; None: where it renders arrays and observations are no images."""
    name: str | None = None


@dataclass(frozen=True)
class Reader:
    """How to read one environment's moments and write its actions."""

    parts: tuple[Observed, ...]
    actions: Actions
    facts: GymFacts
    picture: ArraySpec | None = None

    def moment(self, env: Any, observation: Any, info: Mapping[str, Any], *, reward: float, ended: str) -> Moment:
        """What the environment said, in our words."""
        seen = dict(read_all(self.parts, observation))
        if self.picture is not None:
            seen[PICTURE] = np.array(env.render(), np.uint8)
        return Moment(observation=seen, facts=self.facts.read(env, info), reward=reward, ended=ended)

    @property
    def arrays(self) -> tuple[ArraySpec, ...]:
        """Every array a moment carries."""
        return tuple(part.spec for part in self.parts) + ((self.picture,) if self.picture else ())


def gym_world(thing: Any, **given: Any) -> World:
    """The world of an id, an environment, a vector environment or a function that makes an environment."""
    gymnasium = import_gymnasium()
    ours = {name: given.pop(name) for name in tuple(given) if name in GymSettings.__dataclass_fields__}
    settings = GymSettings(**ours)
    if given and not isinstance(thing, str):
        raise UnknownName("setting of a Gymnasium world", next(iter(given)), GymSettings.__dataclass_fields__)
    if isinstance(thing, gymnasium.vector.VectorEnv):
        from innerview.worlds.gym_vector import GymVectorWorld

        return GymVectorWorld(thing, settings)
    if isinstance(thing, gymnasium.Env):
        return GymEnvWorld(thing, settings)
    if isinstance(thing, str):
        if settings.render and "render_mode" not in given:
            given["render_mode"] = "rgb_array"
        return GymWorld(lambda: make_by_id(thing, given), replace(settings, name=settings.name or thing), given)
    if callable(thing):
        return GymWorld(thing, settings, {})
    raise WorldError(f"{thing!r} is not a Gymnasium environment: it must be a gymnasium.Env or a VectorEnv.")


class GymWorld:
    """Environments made afresh for each lane."""

    def __init__(self, make: Callable[[], Any], settings: GymSettings, arguments: Mapping[str, Any]) -> None:
        self._make = make
        env = self._made()
        try:
            self._reader = read_spaces(env, settings)
            self.info = describe(env, self._reader, settings, arguments)
        finally:
            env.close()

    def open(self, lanes: int) -> Lanes:
        """Make that many environments."""
        return ThreadedLanes(lambda lane: GymGame(self._made(), self._reader), lanes)

    def _made(self) -> Any:
        env = self._make()
        if not isinstance(env, import_gymnasium().Env):
            raise WorldError(f"The function given to world() made {env!r}, which is not a gymnasium.Env.")
        return env


class GymEnvWorld:
    """One environment of the user's. It plays the first lane and stays open: whoever made it closes it."""

    usual_lanes = 1  # a copy made from the spec may lack what the user did to this one

    def __init__(self, env: Any, settings: GymSettings) -> None:
        self._env = env
        self._reader = read_spaces(env, settings)
        self.info = describe(env, self._reader, settings, {})
        self._borrowed: ThreadedLanes | None = None

    def open(self, lanes: int) -> Lanes:
        """The environment itself; further lanes are made from its spec where it has one."""
        if lanes > 1 and self._env.spec is None:
            raise WorldError(
                f"This environment can play in one lane, not {lanes}: an object cannot be copied. Give world() a "
                "function that makes one (world(lambda: MyEnv())) or a registered id."
            )
        if self._borrowed is not None and not self._borrowed.closed:
            raise WorldError("This environment is playing already. Close the lanes it was opened in first.")
        self._borrowed = ThreadedLanes(self._game, lanes)
        return self._borrowed

    def _game(self, lane: int) -> GymGame:
        if lane == 0:
            return GymGame(self._env, self._reader, borrowed=True)
        return GymGame(import_gymnasium().make(self._env.spec), self._reader)


class GymGame:
    """One environment, played episode after episode."""

    def __init__(self, env: Any, reader: Reader, *, borrowed: bool = False) -> None:
        self._env, self._reader, self._borrowed = env, reader, borrowed

    def reset(self, seed: int) -> Moment:
        """Begin an episode with that seed."""
        observation, info = self._env.reset(seed=seed)
        return self._reader.moment(self._env, observation, info, reward=0.0, ended="")

    def step(self, action: Any) -> Moment:
        """Act once."""
        taken = self._reader.actions.convert(action)
        observation, reward, terminated, truncated, info = self._env.step(taken)
        ended = why_ended(terminated=bool(terminated), truncated=bool(truncated), info=info)
        return self._reader.moment(self._env, observation, info, reward=float(reward), ended=ended)

    def close(self) -> None:
        """Close the environment, unless it is the user's own."""
        if not self._borrowed:
            self._env.close()


def read_spaces(env: Any, settings: GymSettings) -> Reader:
    """Look at the spaces and at a first reset: what there is to see, to do and to tell."""
    parts = observed(env.observation_space)
    chosen = actions(env.action_space, settings.actions, _meanings(env))
    _, info = env.reset(seed=0)
    facts = find_facts(env, info, settings.facts)
    return Reader(parts, chosen, facts, _picture(env, parts, settings.render))


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


def make_by_id(name: str, arguments: Mapping[str, Any]) -> Any:
    """gymnasium.make, after the package that brings the id was imported."""
    gymnasium = import_gymnasium()
    _register(name)
    try:
        return gymnasium.make(name, **arguments)
    except gymnasium.error.UnregisteredEnv as error:
        raise UnknownName(
            "Gymnasium environment", name, sorted(gymnasium.registry), "Import the package that registers it first."
        ) from error
    except gymnasium.error.DependencyNotInstalled as error:
        raise WorldError(f"'{name}' needs a package that is not installed: {error}") from error


def import_gymnasium() -> Any:
    """Gymnasium, or an error that says how to get it."""
    try:
        import gymnasium
        import gymnasium.vector
    except ImportError as error:
        raise WorldError("Gymnasium worlds need Gymnasium: pip install 'innerview[gym]'.") from error
    return gymnasium


def _register(name: str) -> None:
    if name.startswith("ALE/"):
        try:
            import ale_py
        except ImportError as error:
            raise WorldError(f"'{name}' needs Atari: pip install 'innerview[atari]'.") from error
        import_gymnasium().register_envs(ale_py)
    elif name.startswith("Vizdoom"):
        from innerview.worlds.doom_settings import import_vizdoom

        import_vizdoom()
        from vizdoom import gymnasium_wrapper  # noqa: F401 importing registers the ids


def _meanings(env: Any) -> Sequence[str] | None:
    tell = getattr(env.unwrapped, "get_action_meanings", None)
    return tuple(str(meaning) for meaning in tell()) if callable(tell) else None


def _picture(env: Any, parts: tuple[Observed, ...], asked: bool | None) -> ArraySpec | None:
    can = env.render_mode == "rgb_array"
    if asked and not can:
        raise WorldError(
            f"render=True needs an environment made with render_mode='rgb_array', not {env.render_mode!r}."
        )
    if asked is False or not can or any(part.spec.is_image for part in parts):
        return None
    shape = np.asarray(env.render()).shape
    return ArraySpec(name=PICTURE, shape=shape, dtype="uint8", role="image", axes=("height", "width", "channel"))
