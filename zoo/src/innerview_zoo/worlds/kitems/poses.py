"""What the k-items agent would see anywhere in a maze: frames on a grid of places, headings and items still there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from innerview.errors import WorldError
from innerview.schema import WorldInfo
from innerview.worlds.frames import resize_frame
from innerview_zoo.worlds.kitems.game import KItemsGame
from innerview_zoo.worlds.kitems.mazes import CELL, Cell, Maze, centre, make_maze, walls
from innerview_zoo.worlds.kitems.world import NAME

RADIUS = 16.0
"""Of the player, in map units: it is a square to walls and items."""
ITEM_WIDTH = 48.0
"""More than any item's picture is wide, in map units."""
HALF_VIEW_DEG = 45.0
_ASLEEP_TICS = 10
"""The engine takes no turn in the first tics of an episode."""
_GONE: Cell = (-400, -400)
"""Outside of the maze, where nothing is ever in sight: an item there is one that was gathered."""


@dataclass(frozen=True, kw_only=True)
class PoseGrid:
    """Places on lines of x and y that a player can stand at, each with the same headings."""

    maze: Maze
    lines: tuple[float, ...]
    """Of x and of y alike, in map units."""
    free: np.ndarray
    """Whether a player can stand where two lines cross [x, y]."""
    headings: int
    """Evenly spread from 0 degrees on."""

    @property
    def places(self) -> np.ndarray:
        """Every place x, y as [places, 2], in the order of `free`."""
        across, down = np.nonzero(self.free)
        lines = np.asarray(self.lines)
        return np.stack([lines[across], lines[down]], axis=1)

    @property
    def states(self) -> int:
        """How many stages there are: none gathered, one, … all but one."""
        return len(self.maze.items)


@dataclass(frozen=True)
class Looked:
    """What is seen from one place in some headings, with some items gathered."""

    gathered: int
    place: int
    headings: np.ndarray
    """Which of the grid's headings."""
    frames: np.ndarray
    """[len(headings), height, width, 3]"""


def can_pose(world: WorldInfo | None) -> bool:
    """Whether a world's games can be looked at from anywhere: our own mazes, which a seed gives back."""
    return world is not None and world.name == NAME and "cells" in world.settings


def pose_grid(world: WorldInfo, seed: int, *, lines_per_cell: int = 8, headings: int = 32) -> PoseGrid:
    """A grid for the maze of a seed. Lines lie where walls stop a player, and evenly between.

    Views change more with a step to the side than with a small turn: rather many lines than many headings.
    """
    if not can_pose(world):
        raise WorldError(f"Players can be placed in '{NAME}' worlds with mazes of our own, not in '{world.name}'.")
    if lines_per_cell < 2 or headings < 4 or 65536 % headings:
        raise WorldError(
            f"A grid has 2 or more lines a cell, not {lines_per_cell}, and 4, 8, 16, … headings, not {headings}."
        )
    maze = make_maze(seed, size=int(world.settings["cells"]), items=int(world.settings["items"]))
    nearest, side = RADIUS + 8.0, maze.size * CELL
    inside = np.linspace(nearest, CELL - nearest, lines_per_cell)
    through = np.linspace(-nearest, nearest, round(2 * nearest / (inside[1] - inside[0])) + 1)[1:-1]
    cells = np.arange(maze.size) * CELL
    middle = np.concatenate([(cells[:, None] + inside).ravel(), (cells[1:, None] + through).ravel()])
    # The outermost walls have no thickness: one can stand nearer to them than to others.
    lines = tuple(float(line) for line in sorted({RADIUS, side - RADIUS, *middle}))
    return PoseGrid(maze=maze, lines=lines, free=_free(maze, lines), headings=headings)


def look_around(world: WorldInfo, grid: PoseGrid) -> Iterator[Looked]:
    """Every pose with nothing gathered; then, item by item, those from which the item that went could be seen."""
    settings = world.settings
    size = (int(settings["size"][0]), int(settings["size"][1]))
    screen = (int(settings["screen"][0]), int(settings["screen"][1]))
    game = _PosedGame(size=grid.maze.size, items=grid.states, screen_wh=screen)
    try:
        game.load([_less(grid.maze, gathered) for gathered in range(grid.states)])
        for gathered in range(grid.states):
            game.begin(gathered)
            sees = sees_change(grid, gathered)
            for place in np.flatnonzero(sees.any(axis=1)):
                headings = np.flatnonzero(sees[place])
                frames = game.turn_round(grid.places[place], headings, grid.headings)
                small = np.stack([resize_frame(frame, size, settings["resize"]) for frame in frames])
                yield Looked(gathered, int(place), headings, small)
    finally:
        game.close()


def sees_change(grid: PoseGrid, gathered: int) -> np.ndarray:
    """[places, headings] Whether a pose sees anything else than with one item less gathered; all do with none."""
    places = grid.places
    if gathered == 0:
        return np.ones((len(places), grid.headings), bool)
    item = np.array(centre(grid.maze.items[gathered - 1]))
    away = item - places
    distance = np.maximum(np.hypot(*away.T), 1e-6)
    aside = np.stack([-away[:, 1], away[:, 0]], axis=1) / distance[:, None]
    near = distance < ITEM_WIDTH
    in_sight = near.copy()
    for shift in np.linspace(-ITEM_WIDTH / 2, ITEM_WIDTH / 2, 9):
        in_sight |= ~_crosses(places, item + shift * aside, walls(grid.maze))
    headings = np.arange(grid.headings) * (360.0 / grid.headings)
    turn = np.degrees(np.arctan2(away[:, 1], away[:, 0]))[:, None] - headings
    wide = HALF_VIEW_DEG + np.degrees(np.arctan2(ITEM_WIDTH / 2, distance))[:, None] + 2.0
    ahead = np.abs((turn + 180.0) % 360.0 - 180.0) <= wide
    return np.asarray(in_sight[:, None] & (ahead | near[:, None]))


class _PosedGame(KItemsGame):
    """A game in which time stands still for items and the player can be put anywhere."""

    def begin(self, gathered: int) -> None:
        self.play(gathered)
        self._game.make_action([0.0], _ASLEEP_TICS)
        self._game.send_game_command("freeze")
        self._game.make_action([0.0], 2)

    def turn_round(self, place: np.ndarray, headings: np.ndarray, of: int) -> list[np.ndarray]:
        """Frames from one place in some of so many headings."""
        x, y = (float(value) for value in place)
        self._game.send_game_command(f"warp {x} {y}")
        self._game.make_action([0.0], 2)  # the eyes are at the feet right after a warp
        frames = []
        for heading in headings:
            turn = (heading - round(self._heading(of))) % of
            if turn:
                self._game.make_action([-360.0 / of * float(turn)], 1)
            frame = self._look()
            off = abs(self._heading(of) - heading)
            if max(abs(self.x - x), abs(self.y - y), min(off, of - off)) > 0.01:
                raise WorldError(
                    f"Doom did not put the player at {x}, {y}, heading {heading} of {of}: it stands at {self.x}, "
                    f"{self.y} and looks {self.angle_deg} degrees."
                )
            frames.append(frame.copy())
        return frames

    def _heading(self, of: int) -> float:
        self._look()
        return self.angle_deg / 360.0 * of

    def _configured(self) -> Any:
        import vizdoom

        game = super()._configured()
        game.add_game_args("+sv_cheats 1")
        game.set_available_buttons([vizdoom.Button.TURN_LEFT_RIGHT_DELTA])
        return game


def _less(maze: Maze, gathered: int) -> Maze:
    return replace(maze, items=(_GONE,) * gathered + maze.items[gathered:], angle_deg=0)


def _free(maze: Maze, lines: tuple[float, ...]) -> np.ndarray:
    at = np.asarray(lines)
    free = np.ones((len(at), len(at)), bool)
    for x1, y1, x2, y2 in walls(maze):
        beside_x = (at + RADIUS <= min(x1, x2)) | (at - RADIUS >= max(x1, x2))
        beside_y = (at + RADIUS <= min(y1, y2)) | (at - RADIUS >= max(y1, y2))
        free &= beside_x[:, None] | beside_y[None, :]
    return free


def _crosses(starts: np.ndarray, stops: np.ndarray, blocking: list[tuple[float, float, float, float]]) -> np.ndarray:
    """[n] Whether the way from start to stop [n, 2] meets a wall; walls run along the axes."""
    crossed = np.zeros(len(starts), bool)
    for x1, y1, x2, y2 in blocking:
        axis, at, low, high = (0, x1, min(y1, y2), max(y1, y2)) if x1 == x2 else (1, y1, min(x1, x2), max(x1, x2))
        before, after = starts[:, axis] - at, stops[:, axis] - at
        meets = before * after < 0
        share = np.where(meets, before / np.where(meets, before - after, 1.0), 0.0)
        other = starts[:, 1 - axis] + share * (stops[:, 1 - axis] - starts[:, 1 - axis])
        crossed |= meets & (other > low) & (other < high)
    return crossed
