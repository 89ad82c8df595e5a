"""Robots that are drawn together: one batch for all lanes that act."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from innerview.errors import WorldError
from innerview.schema import Moment
from innerview_zoo.worlds.office.floors.ways import check_seed
from innerview_zoo.worlds.office.view import View, place_facts


class Robot(Protocol):
    """One robot in one episode."""

    @property
    def pose(self) -> np.ndarray:
        """x, y in metres and angle in radians."""

    def reset(self, seed: int) -> None:
        """Begin an episode."""

    def act(self, action: int) -> None:
        """Do what an action says, before anything is drawn."""

    def report(self, objects: list[dict[str, Any]]) -> tuple[dict[str, Any], float, str]:
        """Facts beside place and things in view, the reward, and why the episode is over."""


class OfficeLanes:
    """Robots on one floor; those without an action stand still."""

    def __init__(self, view: View, robots: Sequence[Robot], actions: tuple[str, ...]) -> None:
        if not robots:
            raise WorldError("A world needs at least one lane, not 0.")
        self.count = len(robots)
        self._view, self._robots, self._actions = view, robots, actions
        self._playing = [False] * self.count
        self._closed = False

    def reset(self, lane: int, seed: int) -> Moment:
        """Begin an episode in one lane."""
        self._check(lane)
        check_seed(seed)
        self._robots[lane].reset(int(seed))
        self._playing[lane] = True
        return replace(self._moments([lane])[lane], reward=0.0, scene=self._view.scene)

    def step(self, actions: Mapping[int, Any]) -> dict[int, Moment]:
        """Act in the lanes that have an action."""
        for lane, action in actions.items():
            self._check(lane)
            if not self._playing[lane]:
                raise WorldError(f"Lane {lane} has no running episode. Call reset({lane}, seed) before stepping it.")
            self._robots[lane].act(self._number(action))
        moments = self._moments(list(actions))
        for lane, moment in moments.items():
            self._playing[lane] = not moment.ended
        return moments

    def close(self) -> None:
        """Nothing runs that would have to be stopped."""
        self._closed = True

    def _moments(self, lanes: list[int]) -> dict[int, Moment]:
        if not lanes:
            return {}
        poses = np.stack([self._robots[lane].pose for lane in lanes]).astype(np.float32)
        arrays, things = self._view.look(poses)
        moments = {}
        for lane, pose, seen, objects in zip(lanes, poses, arrays, things, strict=True):
            facts, reward, ended = self._robots[lane].report(objects)
            place = place_facts(self._view, pose, objects)
            moments[lane] = Moment(observation=seen, facts={**place, **facts}, reward=reward, ended=ended)
        return moments

    def _number(self, action: Any) -> int:
        try:
            number = operator.index(action)
        except TypeError:
            number = -1
        if not 0 <= number < len(self._actions):
            named = ", ".join(f"{i} ({name})" for i, name in enumerate(self._actions))
            raise WorldError(f"An action is one of {named}, not {action!r}.")
        return number

    def _check(self, lane: int) -> None:
        if self._closed:
            raise WorldError("These lanes are closed. Open the world again.")
        if not 0 <= lane < self.count:
            raise WorldError(f"There is no lane {lane}; there are {self.count}, counted from 0.")
