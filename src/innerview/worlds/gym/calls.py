"""Calls an environment as Gymnasium says, or says in one sentence what it does instead."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from innerview.errors import WorldError
from innerview.worlds.gym.actions import levels

_OLD = "It is written for the Gym of before 2022: return {wanted}, as gymnasium.Env asks for, or wrap it."


def begin(env: Any, seed: int) -> tuple[Any, Mapping[str, Any]]:
    """The first observation of an episode with that seed, and its info."""
    for level in levels(env):
        if "was_real_done" in level.__dict__:
            level.was_real_done = True  # wrappers that end an episode with each life go on with the game otherwise
    try:
        begun = env.reset(seed=seed)
    except TypeError as error:
        if "unexpected keyword argument 'seed'" not in str(error):
            raise
        raise WorldError(
            "reset() takes no seed, so that no episode could be played again. Let it take reset(self, *, seed=None, "
            "options=None), call super().reset(seed=seed) and draw from self.np_random."
        ) from error
    if not (isinstance(begun, tuple) and len(begun) == 2 and isinstance(begun[1], Mapping)):
        raise WorldError(f"reset() gave {_shape_of(begun)}. {_OLD.format(wanted='(observation, info)')}")
    return begun


def act(env: Any, action: Any) -> tuple[Any, float, bool, bool, Mapping[str, Any]]:
    """What an action led to: observation, reward, whether it ended or was cut, and info."""
    after = env.step(action)
    if not isinstance(after, tuple) or len(after) != 5:
        wanted = "(observation, reward, terminated, truncated, info)"
        raise WorldError(f"step() gave {_shape_of(after)}. {_OLD.format(wanted=wanted)}")
    observation, reward, terminated, truncated, info = after
    return observation, checked_reward(reward), bool(terminated), bool(truncated), info


def checked_reward(reward: Any) -> float:
    """A reward as a number."""
    value = float(reward)
    if math.isnan(value):
        raise WorldError("The reward is NaN (not a number).")
    return value


def _shape_of(given: Any) -> str:
    return f"{len(given)} values" if isinstance(given, tuple) else f"a {type(given).__name__} alone"
