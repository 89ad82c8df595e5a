"""The platformer as a world: a lane is a game, a seed is a level, and everything that is true is told."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from innerview.errors import WorldError
from innerview.schema import ActionSpace, ArraySpec, Column, Moment, ThingInView, WorldInfo
from innerview.worlds.protocols import Lanes
from innerview_zoo.worlds.platformer import names as n
from innerview_zoo.worlds.platformer.changes import changeable, moved, removed
from innerview_zoo.worlds.platformer.crowd import Trials
from innerview_zoo.worlds.platformer.game import Platformer
from innerview_zoo.worlds.platformer.physics import advance
from innerview_zoo.worlds.platformer.pictures.atlas import STEP, VIEW
from innerview_zoo.worlds.platformer.scene import scene_of
from innerview_zoo.worlds.platformer.settings import PlatformerSettings, check_switch
from innerview_zoo.worlds.platformer.state import State
from innerview_zoo.worlds.platformer.things import in_view

NAME = "platformer"
IMAGE = ("height", "width", "channel")
DEAD = ("saw", "enemy moving left", "enemy moving right", "lava")


@dataclass(frozen=True, kw_only=True)
class PlatformerWorldSettings(PlatformerSettings):
    """The game's settings and what is kept of it beside what the subject sees."""

    render: int = 0
    """Width of a picture for people that is kept with each step; 0 keeps none."""
    masks: bool = False
    """Keep which class each pixel shows."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_switch("masks", self.masks)
        if self.render and (not isinstance(self.render, int) or self.render % STEP or not 64 <= self.render <= 2048):
            raise WorldError(
                f"render is the width of a picture: a multiple of {STEP} from 64 to 2048, or 0, not {self.render!r}."
            )


class PlatformerWorld(Trials):
    """Seed s is level first_level + s, or of a limited number of levels the one that s leads round to."""

    def __init__(self, settings: PlatformerWorldSettings | None = None) -> None:
        self.settings = replace(settings or PlatformerWorldSettings(), auto_reset=False)
        self.info = _describe(self.settings)

    def open(self, lanes: int) -> Lanes:
        """Start that many games, stepped together."""
        if lanes < 1:
            raise WorldError(f"A world needs at least one lane, not {lanes}.")
        return PlatformerLanes(lanes, self.settings)


class PlatformerLanes:
    """Games in one batch; those without an action stand still."""

    def __init__(self, count: int, settings: PlatformerWorldSettings) -> None:
        self.count = count
        self._settings = settings
        self._game = Platformer(count, settings=settings)
        self._playing = [False] * count
        self._closed = False

    def reset(self, lane: int, seed: int) -> Moment:
        """Begin in the level of a seed."""
        self._check(lane)
        seeds = self._game.level_seeds.clone()
        seeds[lane] = self._settings.level(seed)
        where = torch.zeros(self.count, dtype=torch.bool)
        where[lane] = True
        self._game.reset(level_seeds=seeds, where=where)
        self._playing[lane] = True
        return replace(self._moments([lane])[lane], scene=scene_of(self._game.state(), lane))

    def step(self, actions: Mapping[int, Any]) -> dict[int, Moment]:
        """Act in the lanes that have an action."""
        chosen = torch.zeros(self.count, dtype=torch.int64)
        where = torch.zeros(self.count, dtype=torch.bool)
        for lane, action in actions.items():
            self._check(lane)
            if not self._playing[lane]:
                raise WorldError(f"Lane {lane} has no running episode. Call reset({lane}, seed) before stepping it.")
            chosen[lane], where[lane] = _action(action), True
        before = self._game.facts()
        turn = self._game.step(chosen, where=where)
        moments = self._moments(list(actions), before)
        for lane in moments:
            ended = n.OUTCOMES[int(turn.outcome[lane])]
            self._playing[lane] = not ended
            moments[lane] = replace(moments[lane], reward=float(turn.reward[lane]), ended=ended)
        return moments

    def state(self, lane: int) -> State:
        """Everything about one game."""
        self._check(lane)
        return self._game.state().at(slice(lane, lane + 1))

    def restore(self, lane: int, state: Any) -> Moment:
        """Go back to a state that this lane, or another one of this world, was in."""
        self._check(lane)
        if not isinstance(state, State) or state.count != 1:
            raise WorldError(f"restore takes what state(lane) gave, not {state!r:.60}.")
        return self._put(lane, state)

    def skip(self, lane: int, actions: Sequence[Any]) -> Moment:
        """Act so many times without painting what is seen on the way; an episode that ends there is an error."""
        state = self.state(lane)
        for done, action in enumerate(actions):
            if int(state.outcome[0]):
                why = n.OUTCOMES[int(state.outcome[0])]
                raise WorldError(f"The episode ended ({why}) after {done} of {len(actions)} actions.")
            chosen = torch.tensor([_action(action)])
            state = advance(state, chosen, self._settings.time_limit, turning=self._settings.turning)
        return self._put(lane, state)

    def things(self, lane: int) -> list[ThingInView]:
        """What is in view and can be moved or taken away."""
        return changeable(self.state(lane), 0)

    def move(self, lane: int, thing: str, by: tuple[float, float]) -> tuple[Moment, str]:
        """Move a thing so many tiles right and up."""
        state, new = moved(self._running(lane), 0, thing, by)
        return self._put(lane, state), new

    def remove(self, lane: int, thing: str) -> Moment:
        """Take a thing away."""
        return self._put(lane, removed(self._running(lane), 0, thing))

    def _running(self, lane: int) -> State:
        state = self.state(lane)
        if not self._playing[lane]:
            raise WorldError(f"The episode in lane {lane} is over: nothing can be changed in it any more.")
        return state

    def _put(self, lane: int, state: State) -> Moment:
        where = torch.zeros(self.count, dtype=torch.bool)
        where[lane] = True
        self._game.restore(state.where(where, self._game.state()))
        ended = n.OUTCOMES[int(state.outcome[0])]
        self._playing[lane] = not ended
        return replace(self._moments([lane])[lane], ended=ended)

    def close(self) -> None:
        """Nothing runs that would have to be stopped."""
        self._closed = True

    def _check(self, lane: int) -> None:
        if self._closed:
            raise WorldError("These lanes are closed. Open the world again.")
        if not 0 <= lane < self.count:
            raise WorldError(f"There is no lane {lane}; there are {self.count}, counted from 0.")

    def _moments(self, lanes: list[int], before: Mapping[str, torch.Tensor] | None = None) -> dict[int, Moment]:
        game, state, told = self._game, self._game.state().at(torch.tensor(lanes)), self._game.facts()
        frames = _pictures(game.frames()[lanes])
        pictures = _pictures(game.render(self._settings.render, games=lanes)) if self._settings.render else None
        masks = game.masks()[lanes].numpy() if self._settings.masks else None
        moments = {}
        for i, lane in enumerate(lanes):
            observation = {"observation": frames[i]}
            if pictures is not None:
                observation["picture"] = pictures[i]
            if masks is not None:
                observation["mask"] = masks[i]
            facts = {
                **_facts(told, lane, None if before is None else before),
                "steps_left": self._settings.time_limit - int(told["step"][lane]),
                "objects": in_view(state, i),
            }
            moments[lane] = Moment(observation=observation, facts=facts)
        return moments


def _pictures(frames: torch.Tensor) -> np.ndarray:
    """[games, height, width, colour]; copied colour by colour, which is several times as quick as all at once."""
    pictures = np.empty((len(frames), *frames.shape[2:], frames.shape[1]), np.uint8)
    for colour, part in enumerate(frames.unbind(1)):
        pictures[..., colour] = part.numpy()
    return pictures


def _action(action: Any) -> int:
    try:
        number = operator.index(action)
    except TypeError:
        number = -1
    if not 0 <= number < len(n.ACTIONS):
        raise WorldError(f"An action is a number from 0 ({n.ACTIONS[0]}) to 8 ({n.ACTIONS[-1]}), not {action!r}.")
    return number


def _facts(told: Mapping[str, torch.Tensor], lane: int, before: Mapping[str, torch.Tensor] | None) -> dict[str, Any]:
    outcome = n.OUTCOMES[int(told["outcome"][lane])]
    left_ground = before is not None and bool(before["grounded"][lane]) and not bool(told["grounded"][lane])
    return {
        **{name: round(float(told[name][lane]), 4) for name in ("x", "y", "vx", "vy", "progress", "coin_distance")},
        "level": int(told["level"][lane]),
        "grounded": bool(told["grounded"][lane]),
        "charged": bool(told["charged"][lane]),
        "jumped": left_ground and float(told["vy"][lane]) > 0,
        "reached_coin": outcome == "coin",
        "died": outcome in DEAD,
    }


def _describe(settings: PlatformerWorldSettings) -> WorldInfo:
    seen = [ArraySpec(name="observation", shape=(VIEW, VIEW, 3), dtype="uint8", role="observation", axes=IMAGE)]
    if settings.render:
        size = settings.render
        seen.append(ArraySpec(name="picture", shape=(size, size, 3), dtype="uint8", role="image", axes=IMAGE))
    if settings.masks:
        flat, classes = IMAGE[:2], n.CLASSES
        seen.append(ArraySpec(name="mask", shape=(VIEW, VIEW), dtype="uint8", role="mask", axes=flat, elements=classes))
    told = {
        "size": [VIEW, VIEW],
        "walls": "per episode",
        "levels": settings.levels,
        "first_level": settings.first_level,
        "themes": settings.themes,
        "sprites": settings.sprites,
        "difficulty": settings.difficulty,
        "invisible": list(settings.invisible),
        "time_limit": settings.time_limit,
        "classes": list(n.CLASSES),
    }
    if not settings.turning:
        told["turning"] = False  # said only where it is so: what was recorded before is of the same world as now
    return WorldInfo(
        name=NAME,
        family=NAME,
        observations=tuple(seen),
        actions=ActionSpace(kind="discrete", names=n.ACTIONS),
        facts=_columns(),
        settings=told,
    )


def _columns() -> tuple[Column, ...]:
    return (
        Column(name="x", type="float", unit="tiles", pose="x"),
        Column(name="y", type="float", unit="tiles", pose="y", description="Height of the feet."),
        Column(name="vx", type="float", unit="tiles/step", label="speed right"),
        Column(name="vy", type="float", unit="tiles/step", label="speed up"),
        Column(name="progress", type="float", description="Share of the way from the start to the coin."),
        Column(name="coin_distance", type="float", unit="tiles", label="distance to coin"),
        Column(name="level", type="int", description="The seed that the level is made of."),
        Column(name="grounded", type="bool", label="on ground"),
        Column(name="charged", type="bool", label="about to jump"),
        Column(name="steps_left", type="int", unit="steps", label="steps left"),
        Column(
            name="objects",
            type="objects",
            kind="objects",
            label="in view",
            description="Box in pixels of the observation (x_px, y_px: upper left), place and distance in tiles.",
        ),
        Column(name="jumped", type="bool", kind="event"),
        Column(name="reached_coin", type="bool", kind="event", label="reached coin"),
        Column(name="died", type="bool", kind="event", description="By a saw, an enemy or lava."),
    )
