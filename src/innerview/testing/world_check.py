"""Checks any world: for the author of a new one, and for the tests, which run it on every world there is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from innerview.errors import WorldError
from innerview.schema import ActionSpace, Column, Moment, WorldInfo
from innerview.worlds import Lanes, World
from innerview.worlds import world as as_world
from innerview.worlds.crowds import default_lanes

_TYPES: Mapping[str, tuple[type, ...]] = {
    "int": (int, np.integer),
    "float": (float, int, np.floating, np.integer),
    "bool": (bool, np.bool_),
    "text": (str,),
    "objects": (list, tuple),
}


def check_world(thing: Any, *, episodes: int = 2, steps: int = 40) -> WorldInfo:
    """Play some episodes of a world with random actions and hold it to what worlds promise; gives its description.

    Raises WorldError where a moment is not as announced, the same seed and actions give something else, one lane
    depends on another, or closing fails. `thing` is a world or whatever `iv.world` takes.
    """
    played = as_world(thing)
    info = played.info
    _demand(bool(info.name), info, "has no name")
    _demand(bool(info.observations), info, "announces no observation")
    _check_names(info)
    first = _with_lanes(played, 1, lambda lanes: _episodes(lanes, info, range(episodes), steps))
    again = _with_lanes(played, 1, lambda lanes: _episodes(lanes, info, range(episodes), steps))
    for seed, (one, other) in enumerate(zip(first, again, strict=True)):
        _demand_same(info, one, other, f"the same seed ({seed}) and actions give something else")
    if default_lanes(played) == 1:
        return info  # an environment of which there is one
    beside = _with_lanes(played, 2, lambda lanes: _episodes(lanes, info, range(episodes), steps, lane=1))
    for one, other in zip(first, beside, strict=True):
        _demand_same(info, one, other, "a lane beside another one gives something else than one alone")
    return info


def _with_lanes(played: World, count: int, act: Callable[[Lanes], list[list[Moment]]]) -> list[list[Moment]]:
    lanes = played.open(count)
    try:
        _demand(lanes.count == count, played.info, f"opens {lanes.count} lanes, not {count}")
        return act(lanes)
    finally:
        lanes.close()
        lanes.close()  # closing twice does no harm


def _episodes(lanes: Lanes, info: WorldInfo, seeds: range, steps: int, *, lane: int = 0) -> list[list[Moment]]:
    """Moments of each episode; in the other lanes, where there are any, one more is under way."""
    others = [each for each in range(lanes.count) if each != lane]
    found = []
    for seed in seeds:
        random = np.random.default_rng(seed)
        moments = [lanes.reset(lane, seed)]
        _check_moment(info, moments[0])
        running = {other: not lanes.reset(other, seed + 1000).ended for other in others}
        while not moments[-1].ended and len(moments) <= steps:
            actions = {lane: _action(info.actions, random)}
            actions |= {other: actions[lane] for other in others if running[other]}
            after = lanes.step(actions)
            _demand(set(after) == set(actions), info, f"steps lanes {sorted(after)} when asked for {sorted(actions)}")
            running |= {other: not after[other].ended for other in others if other in after}
            moments.append(after[lane])
            _check_moment(info, moments[-1])
        found.append(moments)
    return found


def _action(space: ActionSpace, random: np.random.Generator) -> Any:
    if space.kind == "discrete":
        return int(random.integers(space.size))
    low, high = (np.asarray(bound or [default] * space.size) for bound, default in ((space.low, -1), (space.high, 1)))
    return random.uniform(np.maximum(low, -1e3), np.minimum(high, 1e3)).astype(np.float32)


def _check_names(info: WorldInfo) -> None:
    for what, names in (
        ("observations", [spec.name for spec in info.observations]),
        ("facts", [column.name for column in info.facts]),
        ("actions", list(info.actions.names)),
    ):
        twice = sorted({name for name in names if names.count(name) > 1})
        _demand(not twice, info, f"announces {what} of the same name: {', '.join(twice)}")


def _check_moment(info: WorldInfo, moment: Moment) -> None:
    for spec in info.observations:
        if spec.name not in moment.observation:
            raise WorldError(
                f"World '{info.name}' announces the observation '{spec.name}' and gives "
                f"{', '.join(moment.observation) or 'none'}."
            )
        value = np.asarray(moment.observation[spec.name])
        fits = value.shape == tuple(spec.shape) and value.dtype == np.dtype(spec.dtype)
        wanted, got = f"{list(spec.shape)} {spec.dtype}", f"{list(value.shape)} {value.dtype}"
        _demand(fits, info, f"announces '{spec.name}' as {wanted} and gives {got}")
    known = {column.name: column for column in info.facts}
    for name, value in moment.facts.items():
        _demand(name in known, info, f"gives the fact '{name}', which it does not announce")
        _demand(value is None or _fits(known[name], value), info, f"gives {value!r:.40} for '{name}'")
    _demand(bool(np.isfinite(moment.reward)), info, f"gives the reward {moment.reward}")
    _demand(isinstance(moment.ended, str), info, f"says of the end {moment.ended!r}; give the reason as a word")


def _fits(column: Column, value: Any) -> bool:
    if column.categories and isinstance(value, int | np.integer):
        return 0 <= int(value) < len(column.categories)
    return isinstance(value, _TYPES[column.type]) and (column.type == "bool" or not isinstance(value, bool))


def _demand_same(info: WorldInfo, one: list[Moment], other: list[Moment], problem: str) -> None:
    _demand(len(one) == len(other), info, f"{problem}: {len(one)} moments, then {len(other)}")
    for step, (now, then) in enumerate(zip(one, other, strict=True)):
        same = all(np.array_equal(value, then.observation[name]) for name, value in now.observation.items())
        _demand(same and now.reward == then.reward and now.ended == then.ended, info, f"{problem} at step {step}")


def _demand(holds: bool, info: WorldInfo, problem: str) -> None:
    if not holds:
        raise WorldError(f"World '{info.name}' {problem}.")
