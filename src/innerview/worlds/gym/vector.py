"""Gymnasium's vector environments: every lane steps at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from innerview.errors import WorldError
from innerview.schema import Moment
from innerview.worlds.gym.actions import Actions, actions
from innerview.worlds.gym.calls import checked_reward
from innerview.worlds.gym.facts import find_facts, why_ended
from innerview.worlds.gym.reader import GymSettings, Reader, describe, first_moments, import_gymnasium
from innerview.worlds.gym.spaces import Observed, observed
from innerview.worlds.protocols import Lanes

_HOW = (
    "Build it with gymnasium.make_vec(id, num_envs=8, vectorization_mode='sync', "
    "vector_kwargs={'autoreset_mode': gymnasium.vector.AutoresetMode.DISABLED}), or give world() the id and open lanes."
)


def makers_of(env: Any) -> list[Callable[[], Any]]:
    """Functions that make the single games of a vector environment that resets them by itself; none for any other.

    So each can be begun with a seed of its own, and its end is seen.
    """
    gymnasium = import_gymnasium()
    if env.metadata.get("autoreset_mode") == gymnasium.vector.AutoresetMode.DISABLED:
        return []
    while isinstance(env, gymnasium.vector.VectorWrapper) and type(env).__name__ == "RecordEpisodeStatistics":
        env = env.env
    if isinstance(env, gymnasium.vector.SyncVectorEnv | gymnasium.vector.AsyncVectorEnv):
        return list(env.env_fns)
    if isinstance(env, gymnasium.vector.VectorWrapper) or env.spec is None:
        return []
    spec = env.spec
    ours = {name: value for name, value in spec.kwargs.items() if name not in _OF_VECTORS}
    return [lambda: gymnasium.make(spec.id, **ours)] * env.num_envs


_OF_VECTORS = ("num_envs", "vectorization_mode", "vector_kwargs", "wrappers")
"""What make_vec adds to the arguments of an environment."""


class GymVectorWorld:
    """A vector environment of the user's, which stays open: whoever made it closes it."""

    @property
    def default_lanes(self) -> int:
        """All of its games."""
        return int(self._env.num_envs)

    def __init__(self, env: Any, settings: GymSettings) -> None:
        mode = env.metadata.get("autoreset_mode")
        if mode != import_gymnasium().vector.AutoresetMode.DISABLED:
            raise WorldError(
                f"The vector environment resets its games by itself ({mode}), which hides their ends. {_HOW}"
            )
        if settings.render:
            raise WorldError("A vector environment cannot keep pictures; give world() a single environment or an id.")
        if settings.masks is not None:
            raise WorldError("A vector environment cannot provide masks; give world() a single environment or an id.")
        self._env = env
        parts = observed(env.single_observation_space)
        chosen = actions(env.single_action_space, settings.actions)
        _, infos = env.reset(seed=0)
        facts = find_facts(env, lane_info(infos, 0), settings.facts, settings.columns)
        self._reader = Reader(parts, chosen, facts, first=self._first_moments(parts, chosen))
        self.info = describe(env, self._reader, settings, {})

    def open(self, lanes: int) -> Lanes:
        """Use that many of its games."""
        if not 1 <= lanes <= self._env.num_envs:
            raise WorldError(f"The vector environment has {self._env.num_envs} games; {lanes} lanes were asked for.")
        return VectorLanes(self._env, self._reader, lanes)

    def _first_moments(self, parts: tuple[Observed, ...], chosen: Actions) -> str:
        """Digest of the first moments of the first game with seed 0, where they are the same twice."""
        env, found = self._env, []
        for _ in range(2):
            seen, _ = env.reset(seed=[0] * env.num_envs)
            after = env.step(np.stack([chosen.convert(chosen.first)] * env.num_envs))
            found.append(first_moments(parts, _lane_of(seen, 0), [_lane_of(after[0], 0), *(p[0] for p in after[1:4])]))
        return found[0] if found[0] == found[1] else ""


class VectorLanes:
    """Lanes of a vector environment. Games that nobody plays are stepped along and reset when they end."""

    can_wait = False  # its games move together

    def __init__(self, env: Any, reader: Reader, count: int) -> None:
        self.count = count
        self._env, self._reader = env, reader
        self._playing = np.zeros(env.num_envs, bool)
        self._over = np.zeros(env.num_envs, bool)
        self._steps = [0] * env.num_envs
        self._idle_action = env.single_action_space.sample()
        env.reset(seed=[0] * env.num_envs)

    def reset(self, lane: int, seed: int) -> Moment:
        """Begin an episode in one lane; the others stay where they are."""
        if not 0 <= lane < self.count:
            raise WorldError(f"There is no lane {lane}; there are {self.count}, counted from 0.")
        try:
            observations, infos = self._reset_games([lane], seed)
        except Exception as error:
            raise WorldError(
                f"The vector environment failed at reset of lane {lane} with seed {seed}: {error}"
            ) from error
        self._playing[lane], self._steps[lane] = True, 0
        return self._moment(lane, observations, infos)

    def step(self, actions: Mapping[int, Any]) -> dict[int, Moment]:
        """Act in the lanes given. A game that is left out cannot be held still: its episode is given up."""
        playing = set(np.flatnonzero(self._playing).tolist())
        if not playing.issuperset(actions):
            raise WorldError(
                f"Lanes {sorted(set(actions) - playing)} have no running episode; those that do: {sorted(playing)}. "
                "Call reset(lane, seed) before stepping a lane."
            )
        self._playing[:] = False
        self._playing[list(actions)] = True
        if self._over.any():
            self._reset_games(np.flatnonzero(self._over).tolist(), 0)
        taken = [self._action(lane, actions) for lane in range(self._env.num_envs)]
        for lane in actions:
            self._steps[lane] += 1
        try:
            observations, rewards, terminated, truncated, infos = self._env.step(np.stack(taken))
        except Exception as error:
            steps = ", ".join(f"lane {lane} at step {self._steps[lane]}" for lane in sorted(actions))
            raise WorldError(f"The vector environment failed ({steps}): {type(error).__name__}: {error}") from error
        self._over = np.asarray(terminated) | np.asarray(truncated)
        moments = {}
        for lane in actions:
            info = lane_info(infos, lane)
            ended = why_ended(terminated=bool(terminated[lane]), truncated=bool(truncated[lane]), info=info)
            cut = bool(truncated[lane]) and not terminated[lane]
            how = {"reward": rewards[lane], "ended": ended, "cut": cut}
            moments[lane] = self._moment(lane, observations, infos, **how)
        self._playing &= ~self._over
        return moments

    def close(self) -> None:
        """Nothing to free: the environment is the user's."""
        self._playing[:] = False

    def _action(self, lane: int, actions: Mapping[int, Any]) -> Any:
        return self._reader.actions.convert(actions[lane]) if lane in actions else self._idle_action

    def _reset_games(self, games: list[int], seed: int) -> Any:
        mask = np.zeros(self._env.num_envs, bool)
        mask[games] = True
        result = self._env.reset(seed=[seed] * self._env.num_envs, options={"reset_mask": mask})
        self._over[games] = False
        return result

    def _moment(
        self,
        lane: int,
        observations: Any,
        infos: Mapping[str, Any],
        *,
        reward: Any = 0.0,
        ended: str = "",
        cut: bool = False,
    ) -> Moment:
        info, seen = lane_info(infos, lane), _lane_of(observations, lane)
        try:
            return self._reader.moment(self._env, seen, info, reward=checked_reward(reward), ended=ended, cut=cut)
        except WorldError as error:
            raise WorldError(f"The game in lane {lane} failed at step {self._steps[lane]}: {error}") from error


def lane_info(infos: Mapping[str, Any], lane: int) -> dict[str, Any]:
    """One lane's part of a vector environment's infos: `_key` says which lanes told `key`."""
    told = {}
    for key, values in infos.items():
        mask = infos.get(f"_{key}")
        if mask is not None and not isinstance(values, Mapping) and bool(mask[lane]):
            told[key] = values[lane]
    return told


def _lane_of(observations: Any, lane: int) -> Any:
    if isinstance(observations, Mapping):
        return {key: _lane_of(value, lane) for key, value in observations.items()}
    return observations[lane]
