"""Gymnasium worlds: from an id, an environment, a function that makes one, or a vector environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from innerview.errors import UnknownName, WorldError
from innerview.registry import load_plugins, plugins
from innerview.schema import Moment
from innerview.worlds.gym.calls import act, begin
from innerview.worlds.gym.facts import why_ended
from innerview.worlds.gym.reader import GymSettings, Reader, describe, import_gymnasium, read_spaces
from innerview.worlds.gym.sb3 import OneGame, as_single, games_of, is_vec_env
from innerview.worlds.gym.vector import GymVectorWorld, makers_of
from innerview.worlds.lanes import ThreadedLanes
from innerview.worlds.protocols import Lanes, World

EXAMPLES = ("doom:basic", "atari:breakout")
"""Worlds that are no Gymnasium ids, offered where a name was mistyped."""


def gym_world(thing: Any, **given: Any) -> World:
    """The world of an id, an environment, a vector environment or a function that makes an environment."""
    gymnasium = import_gymnasium()
    ours = {name: given.pop(name) for name in tuple(given) if name in GymSettings.__dataclass_fields__}
    settings = GymSettings(**ours)
    if given and not isinstance(thing, str):
        raise UnknownName("setting of a Gymnasium world", next(iter(given)), GymSettings.__dataclass_fields__)
    if isinstance(thing, gymnasium.vector.VectorEnv):
        makers = makers_of(thing)
        return GymWorld(makers, settings, {}) if makers else GymVectorWorld(thing, settings)
    if is_vec_env(thing) and thing.num_envs > 1:
        return GymGamesWorld(games_of(thing), settings)
    if isinstance(thing, gymnasium.Env) or is_vec_env(thing):
        return GymEnvWorld(as_single(thing), settings)
    if isinstance(thing, str):
        if settings.render and "render_mode" not in given:
            given["render_mode"] = "rgb_array"
        return GymWorld([lambda: make_by_id(thing, given)], replace(settings, name=settings.name or thing), given)
    if callable(thing):
        return GymWorld([thing], settings, {})
    raise WorldError(f"{thing!r} is not a Gymnasium environment: it must be a gymnasium.Env or a VectorEnv.")


class GymWorld:
    """Environments made afresh for each lane; of several functions that make one, each lane has its own."""

    def __init__(
        self, makers: Sequence[Callable[[], Any]], settings: GymSettings, arguments: Mapping[str, Any]
    ) -> None:
        self._makers = makers
        if len(makers) > 1:
            self.default_lanes = len(makers)
        env = self._made(0)
        try:
            self._reader = read_spaces(env, settings)
            self.info = describe(env, self._reader, settings, arguments)
        finally:
            env.close()

    def open(self, lanes: int) -> Lanes:
        """Make that many environments."""
        return ThreadedLanes(lambda lane: GymGame(self._made(lane), self._reader), lanes)

    def _made(self, lane: int) -> Any:
        env = as_single(self._makers[lane % len(self._makers)]())
        if not isinstance(env, import_gymnasium().Env | OneGame):
            raise WorldError(f"The function given to world() made {env!r}, which is not a gymnasium.Env.")
        return env


class GymGamesWorld:
    """Games of the user's side by side, each a lane. They stay open: whoever made them closes them."""

    def __init__(self, games: Sequence[Any], settings: GymSettings) -> None:
        self._games, self.default_lanes = games, len(games)
        self._reader = read_spaces(games[0], settings)
        self.info = describe(games[0], self._reader, settings, {})

    def open(self, lanes: int) -> Lanes:
        """Use that many of the games."""
        if not 1 <= lanes <= len(self._games):
            raise WorldError(f"The vector environment has {len(self._games)} games; {lanes} lanes were asked for.")
        return ThreadedLanes(lambda lane: GymGame(self._games[lane], self._reader, borrowed=True), lanes)


class GymEnvWorld:
    """One environment of the user's. It plays the first lane and stays open: whoever made it closes it."""

    default_lanes = 1  # a copy made from the spec may lack what the user did to this one

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
        self._facts: Mapping[str, Any] = {}

    def reset(self, seed: int) -> Moment:
        """Begin an episode with that seed."""
        observation, info = begin(self._env, seed)
        moment = self._reader.moment(self._env, observation, info)
        self._facts = moment.facts
        return moment

    def step(self, action: Any) -> Moment:
        """Act once."""
        taken = self._reader.actions.convert(action)
        observation, reward, terminated, truncated, info = act(self._env, taken)
        ended = why_ended(terminated=terminated, truncated=truncated, info=info)
        cut = bool(truncated) and not terminated
        before = self._facts
        moment = self._reader.moment(self._env, observation, info, reward=reward, ended=ended, cut=cut, before=before)
        self._facts = moment.facts
        return moment

    def close(self) -> None:
        """Close the environment, unless it is the user's own."""
        if not self._borrowed:
            self._env.close()


def make_by_id(name: str, arguments: Mapping[str, Any]) -> Any:
    """gymnasium.make, after the package that brings the id was imported."""
    gymnasium = import_gymnasium()
    _register(name)
    try:
        return gymnasium.make(name, **arguments)
    except gymnasium.error.UnregisteredEnv as error:
        known = (*plugins("worlds"), *EXAMPLES, *sorted(gymnasium.registry))
        hint = "Import the package that registers it first, where it is a Gymnasium environment."
        raise UnknownName("world", name, known, hint) from error
    except gymnasium.error.DependencyNotInstalled as error:
        raise WorldError(f"'{name}' needs a package that is not installed: {error}") from error
    except TypeError as error:
        raise WorldError(f"'{name}' cannot be made with {dict(arguments)}: {error}") from error


def _register(name: str) -> None:
    if name.startswith("ALE/"):
        try:
            import ale_py
        except ImportError as error:
            raise WorldError(f"'{name}' needs Atari: pip install 'innerview[atari]'.") from error
        import_gymnasium().register_envs(ale_py)
    elif name.startswith("Vizdoom"):
        from innerview.worlds.doom.settings import import_vizdoom

        import_vizdoom()
        from vizdoom import gymnasium_wrapper  # noqa: F401 importing registers the ids
    elif name not in import_gymnasium().registry:
        load_plugins("worlds")  # packages register their ids when they are imported
