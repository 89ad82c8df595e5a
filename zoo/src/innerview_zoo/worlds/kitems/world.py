"""The k-items task as a world: each seed is a maze, and its facts say what a mind would have to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_args

from innerview.errors import UnknownName, WorldError
from innerview.schema import ActionSpace, ArraySpec, Column, Moment, Scene, WorldInfo
from innerview.worlds.contents import digest_of_text
from innerview.worlds.doom.engines import sweep
from innerview.worlds.doom.facts import look_at_labels
from innerview.worlds.doom.settings import TICS_PER_SECOND, find_screen
from innerview.worlds.frames import ResizeMethod, resize_frame
from innerview.worlds.lanes import ThreadedLanes
from innerview.worlds.protocols import Lanes
from innerview_zoo.worlds.kitems.game import ACTIONS, FRAME_SKIP, SCREEN_WH, TIME_LIMIT, WRONG_ITEM, KItemsGame, Played
from innerview_zoo.worlds.kitems.layouts import read_layouts
from innerview_zoo.worlds.kitems.mazes import ITEMS, Maze, actor_name, centre, make_maze, walls

NAME = "kitems"
_NAMES = {actor_name(item): item for item in ITEMS}


@dataclass(frozen=True, kw_only=True)
class KItemsSettings:
    """Everything a person can set about the k-items world."""

    cells: int = 5
    """Cells along a side of the maze."""
    items: int = 4
    size: tuple[int, int] = (112, 64)
    """Width and height of the observation."""
    resolution: str = "{}x{}".format(*SCREEN_WH)
    """Of the screen the engine draws."""
    resize: ResizeMethod = "smooth"
    layouts: str | Path | Sequence[str | Path] | None = None
    """A folder of JSON layouts, or files, to play instead of mazes of our own; they take turns by seed."""

    @classmethod
    def of(cls, **settings: Any) -> KItemsSettings:
        """Settings by name; an unknown name gets an error with the nearest one."""
        known = [f.name for f in fields(cls)]
        for name in settings:
            if name not in known:
                raise UnknownName("setting of the k-items world", name, known)
        return cls(**settings)

    def __post_init__(self) -> None:
        make_maze(0, size=self.cells, items=self.items)  # says what is possible
        if not isinstance(self.size, tuple | list) or len(self.size) != 2 or min(self.size) < 1:
            raise WorldError(f"size is (width, height) in pixels, such as (112, 64), not {self.size!r}.")
        if self.resize not in get_args(ResizeMethod):
            raise UnknownName("resize method", str(self.resize), get_args(ResizeMethod))


@dataclass(frozen=True, kw_only=True)
class _Setup:
    """Settings that were checked, with the layouts read."""

    settings: KItemsSettings
    screen: tuple[int, int]
    layouts: Mapping[str, Maze] = field(default_factory=dict)

    @property
    def items(self) -> int:
        """How many items there are to gather at most."""
        return max((len(maze.items) for maze in self.layouts.values()), default=self.settings.items)


class KItemsWorld:
    """Gather items in the right order in a maze never seen before: a maze for each seed."""

    def __init__(self, settings: KItemsSettings | None = None) -> None:
        chosen = settings or KItemsSettings()
        layouts = {} if chosen.layouts is None else read_layouts(chosen.layouts)
        self._setup = _Setup(settings=chosen, screen=find_screen(chosen.resolution), layouts=layouts)
        self.info = _describe(self._setup)

    def open(self, lanes: int) -> Lanes:
        """Start that many engines."""
        sweep()
        return ThreadedLanes(lambda lane: KItemsLane(self._setup), lanes)


class KItemsLane:
    """One engine that plays one episode after the other and tells what is true."""

    def __init__(self, setup: _Setup) -> None:
        self._setup, settings = setup, setup.settings
        self._scale = settings.size[0] / setup.screen[0], settings.size[1] / setup.screen[1]
        self._game = KItemsGame(size=settings.cells, items=settings.items, screen_wh=setup.screen, labels=True)
        self._layout = ""
        if setup.layouts:
            self._game.load(list(setup.layouts.values()))

    def reset(self, seed: int) -> Moment:
        """Begin in the maze of a seed, or in the layout whose turn it is."""
        if self._setup.layouts:
            index = seed % len(self._setup.layouts)
            self._layout = list(self._setup.layouts)[index]
            frame_hwc = self._game.play(index, seed=seed)
        else:
            frame_hwc = self._game.reset(seed)
        return Moment(observation=self._observed(frame_hwc), facts=self._facts(None, 0), scene=_scene(self._game.maze))

    def step(self, action: Any) -> Moment:
        """Hold the buttons of an action for four tics."""
        before = self._game.gathered
        played = self._game.step(int(action))
        return Moment(
            observation=self._observed(played.frame_hwc),
            facts=self._facts(played, before),
            reward=played.reward,
            ended=played.outcome,
        )

    def close(self) -> None:
        """End the engine's process."""
        self._game.close()

    def _observed(self, frame_hwc: Any) -> dict[str, Any]:
        settings = self._setup.settings
        same = settings.size == self._setup.screen
        return {"observation": frame_hwc.copy() if same else resize_frame(frame_hwc, settings.size, settings.resize)}

    def _facts(self, played: Played | None, before: int) -> dict[str, Any]:
        game = self._game
        left = game.gathered < len(game.maze.items)
        facts: dict[str, Any] = {
            "x": game.x,
            "y": game.y,
            "angle": game.angle_deg,
            "gathered": game.gathered,
            "next_item": ITEMS[game.gathered] if left else "",
            "way_to_next_item": round(game.distance(game.gathered), 3) if left else None,
            "steps_left": TIME_LIMIT - game.steps,
            "objects": self._in_view(),
            "picked_up": played is not None and played.picked_up is not None,
            "wrong_item": played is not None and played.outcome == WRONG_ITEM,
        }
        facts.update((_gathered(i), before <= i < game.gathered) for i in range(self._setup.items))
        return {**facts, "layout": self._layout} if self._layout else facts

    def _in_view(self) -> list[dict[str, Any]]:
        game = self._game
        seen = look_at_labels(game.seen, x=game.x, y=game.y, scale=self._scale)
        return [{**thing, "name": _NAMES.get(str(thing["name"]), thing["name"])} for thing in seen]


def _gathered(item: int) -> str:
    return f"gathered_{ITEMS[item]}".replace(" ", "_")


def _scene(maze: Maze) -> Scene:
    return Scene(
        walls=tuple(walls(maze)),
        objects=tuple((ITEMS[i], *centre(cell)) for i, cell in enumerate(maze.items)),
    )


def _describe(setup: _Setup) -> WorldInfo:
    settings = setup.settings
    width, height = settings.size
    told: dict[str, Any] = {
        "size": [width, height],
        "screen": list(setup.screen),
        "resize": settings.resize,
        "frame_skip": FRAME_SKIP,
        "seconds_per_step": FRAME_SKIP / TICS_PER_SECOND,
        "cells": settings.cells,
        "walls": "per episode",
        "items": setup.items,
    }
    name = NAME
    if setup.layouts:
        del told["cells"]
        name = f"{NAME} {_title(settings.layouts)}"
    picture = ArraySpec(
        name="observation",
        shape=(height, width, 3),
        dtype="uint8",
        role="observation",
        axes=("height", "width", "channel"),
    )
    return WorldInfo(
        name=name,
        family="doom",
        observations=(picture,),
        actions=ActionSpace(kind="discrete", names=tuple(ACTIONS)),
        facts=_columns(setup),
        settings=told,
        files={f"layout {name}": _digest(maze) for name, maze in setup.layouts.items()},
    )


def _title(layouts: str | Path | Sequence[str | Path] | None) -> str:
    """What to call layouts from a folder, so that two worlds are told apart by their names."""
    return Path(layouts).stem if isinstance(layouts, str | Path) else "layouts"


def _digest(maze: Maze) -> str:
    return digest_of_text(repr((walls(maze), maze.items, maze.spawn, maze.angle_deg)))


def _columns(setup: _Setup) -> tuple[Column, ...]:
    several = [Column(name="layout", type="text", kind="category")] if setup.layouts else []
    return (
        Column(name="x", type="float", unit="map units", pose="x"),
        Column(name="y", type="float", unit="map units", pose="y"),
        Column(name="angle", type="float", unit="deg", pose="angle"),
        Column(name="gathered", type="int", unit="items", description="Items gathered in the right order so far."),
        Column(
            name="next_item", type="text", kind="category", label="next item", description="The one to be gathered."
        ),
        Column(
            name="way_to_next_item",
            type="float",
            unit="cells",
            label="way to next item",
            description="How far it is to walk, round the items that come later where that can be.",
        ),
        Column(name="steps_left", type="int", unit="steps", label="steps left"),
        Column(
            name="objects",
            type="objects",
            kind="objects",
            label="in view",
            description="Box in pixels of the observation (x_px, y_px: upper left), place and distance in map units.",
        ),
        Column(name="picked_up", type="bool", kind="event", label="picked up", description="Any item, right or wrong."),
        Column(name="wrong_item", type="bool", kind="event", label="wrong item", description="It ends the episode."),
        *(
            Column(name=_gathered(i), type="bool", kind="event", label=f"gathered {ITEMS[i]}")
            for i in range(setup.items)
        ),
        *several,
    )
