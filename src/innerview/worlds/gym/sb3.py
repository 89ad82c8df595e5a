"""Vector environments of stable-baselines3, as a single environment that does not reset by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from innerview.errors import WorldError

_FAMILY = "stable_baselines3."
_OWN_WORDS = ("TimeLimit.truncated", "terminal_observation")
"""What a VecEnv adds to the info of the environment inside."""
_NOT_NEEDED = ("VecMonitor", "VecTransposeImage", "VecCheckNan")
"""Wrappers without which a game is the same: they count, check, or change the order of axes, which is found."""


def is_vec_env(thing: Any) -> bool:
    """Whether this is a VecEnv, found out without importing stable-baselines3."""
    classes = type(thing).__mro__
    return any(cls.__name__ == "VecEnv" and cls.__module__.startswith(_FAMILY) for cls in classes)


def as_single(thing: Any) -> Any:
    """A VecEnv as one environment; anything else as it is."""
    return OneGame(thing) if is_vec_env(thing) else thing


class _Inside:
    """A game of a VecEnv as one environment."""

    spec = None

    def __init__(self, games: Any, place: int) -> None:
        self._games, self._place = games, place
        inside = getattr(games.unwrapped, "envs", None)
        self.env = inside[place] if inside else None
        """The environment itself, where it lives in this process."""
        self.observation_space, self.action_space = games.observation_space, games.action_space
        self.render_mode = games.render_mode
        self.stacks_colours = False
        spec = games.get_attr("spec", [place])[0]
        self.title = spec.id if spec is not None else ""
        """The registered id of the environment inside."""

    @property
    def unwrapped(self) -> Any:
        """The innermost environment, where it lives in this process."""
        return self if self.env is None else self.env.unwrapped

    def close(self) -> None:
        """Close the games."""
        self._games.close()


class GameAt(_Inside):
    """One of several games, played by itself: the VecEnv neither resets it nor steps the others."""

    def reset(self, *, seed: int | None = None) -> Any:
        """Begin an episode."""
        return self._asked("reset", seed=seed)

    def step(self, action: Any) -> Any:
        """Act once."""
        return self._asked("step", action)

    def render(self) -> Any:
        """A picture, where it renders one."""
        return self._asked("render")

    def _asked(self, method: str, *given: Any, **named: Any) -> Any:
        return self._games.env_method(method, *given, indices=[self._place], **named)[0]


def games_of(thing: Any) -> list[GameAt]:
    """Every game of a VecEnv of several; only without wrappers that remember, which know all games together."""
    _refuse_normalised(thing)
    games = thing
    while type(games).__name__ in _NOT_NEEDED:
        games = games.venv
    if hasattr(games, "venv"):
        raise WorldError(
            f"The vector environment of stable-baselines3 plays {games.num_envs} games within {type(games).__name__}, "
            "and each of them must be begun with a seed of its own. Make it with one game: "
            "world(lambda: make_vec_env(…, n_envs=1)), with the same wrappers as in training; a function that makes it "
            "plays in any number of lanes."
        )
    return [GameAt(games, place) for place in range(games.num_envs)]


class OneGame(_Inside):
    """The one game of a VecEnv, wrappers such as VecFrameStack included."""

    def __init__(self, games: Any) -> None:
        _refuse_normalised(games)
        if games.num_envs != 1:
            raise WorldError(
                f"The function given to world() made a vector environment of {games.num_envs} games, and each lane "
                "plays one. Let it make one game: world(lambda: make_vec_env(…, n_envs=1))."
            )
        super().__init__(games, 0)
        self.stacks_colours = _stacks_colours(games)

    def reset(self, *, seed: int | None = None) -> tuple[Any, Mapping[str, Any]]:
        """Begin an episode."""
        self._games.seed(seed)
        return _first(self._games.reset()), self._games.reset_infos[0]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Mapping[str, Any]]:
        """Act once. A VecEnv has begun the next episode when one ends, and keeps what was last seen in its info."""
        seen, rewards, over, infos = self._games.step(np.asarray(action)[None])
        info, ended = infos[0], bool(over[0])
        cut = ended and bool(info.get("TimeLimit.truncated", False))
        last = info["terminal_observation"] if ended else _first(seen)
        told = {key: value for key, value in info.items() if key not in _OWN_WORDS}
        return last, float(rewards[0]), ended and not cut, cut, told

    def render(self) -> Any:
        """A picture, where it renders one."""
        return self._games.render()


def _first(seen: Any) -> Any:
    return {name: part[0] for name, part in seen.items()} if isinstance(seen, Mapping) else seen[0]


def _stacks_colours(games: Any) -> bool:
    """Whether pictures are stacks of frames with three channels each."""
    while hasattr(games, "venv"):
        if type(games).__name__ == "VecFrameStack":
            shape: tuple[int, ...] | None = games.venv.observation_space.shape
            return shape is not None and len(shape) == 3 and 3 in (shape[0], shape[2])
        games = games.venv
    return False


def _refuse_normalised(games: Any) -> None:
    """Observations would be normalised twice, since from_sb3 takes the statistics over from the model."""
    while games is not None:
        if type(games).__name__ == "VecNormalize":
            raise WorldError(
                "VecNormalize belongs to the model here: load it with PPO.load(path, env=VecNormalize.load(…)), and "
                "from_sb3 takes its statistics over. Give world() the environment below it, which shows what is there."
            )
        games = getattr(games, "venv", None)
