"""The k-items task: gather items in the right order in a maze never seen before.

Green armour, red armour, health pack, soul sphere. The right one gives 0.5, a wrong one takes 0.25 and ends the
episode, each step takes 0.0001, and after 525 steps time is up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from innerview.errors import UnknownName, WorldError
from innerview.worlds.doom.engines import Engine
from innerview_zoo.worlds.kitems.mazes import CELL, Maze, cell_at, centre, make_maze, map_name, write_wad

FRAME_SKIP = 4
TIME_LIMIT = 525
RIGHT, WRONG, STEP = 0.5, -0.25, -0.0001
# Buttons: turn left, turn right, move forward.
ACTIONS = {
    "left": [1, 0, 0],
    "right": [0, 1, 0],
    "forward": [0, 0, 1],
    "forward+left": [1, 0, 1],
    "forward+right": [0, 1, 1],
}
_PRESSES = tuple(ACTIONS.values())
ALL_ITEMS, WRONG_ITEM, TIME_UP = "all items", "wrong item", "time limit"
SCREEN_WH = (200, 125)
BLOCK = 64
"""Mazes of neighbouring seeds share a WAD; another WAD means another start of the engine."""


@dataclass(frozen=True)
class Played:
    """What one step brought."""

    frame_hwc: np.ndarray
    reward: float
    done: bool
    outcome: str = ""
    picked_up: int | None = None
    """Which item, by its place in the order."""


class KItemsGame:
    """One Doom engine that plays the task."""

    def __init__(
        self, *, size: int = 5, items: int = 4, screen_wh: tuple[int, int] = SCREEN_WH, labels: bool = False
    ) -> None:
        self.size, self.items, self.screen_wh, self.labels = size, items, screen_wh, labels
        self.seen: Sequence[Any] = ()  # the engine's labels of what is in view, where they were asked for
        self.mazes: Sequence[Maze] = ()
        self.maze = make_maze(0, size=size, items=items)
        self.gathered = self.steps = 0
        self.x = self.y = self.angle_deg = 0.0
        self._block: int | None = None
        self._engine: Engine | None = None

    def reset(self, seed: int) -> np.ndarray:
        """Begin an episode in the maze of a seed."""
        block, index = divmod(seed, BLOCK)
        if self._block != block:
            seeds = range(block * BLOCK, (block + 1) * BLOCK)
            self.load([make_maze(s, size=self.size, items=self.items) for s in seeds])
            self._block = block
        return self.play(index, seed=seed)

    def load(self, mazes: Sequence[Maze], wad: Path | None = None) -> None:
        """Start the engine with these mazes, written to a file or already there."""
        self.close()
        self.mazes, self._block = mazes, None
        self._game = self._configured()
        engine = Engine(self._game, Path(_vizdoom().__file__).with_name("vizdoom"))
        if wad is None:
            wad = engine.folder / "mazes.wad"
            wad.write_bytes(write_wad(mazes))
        self._game.set_doom_scenario_path(str(wad))
        try:
            engine.start()
        except Exception as error:
            engine.close()
            raise WorldError(f"Doom could not be started with {len(mazes)} mazes: {error}") from error
        self._engine = engine

    def play(self, index: int, *, seed: int = 0) -> np.ndarray:
        """Begin an episode in one of the loaded mazes."""
        self.maze = self.mazes[index]
        self._game.set_doom_map(map_name(index))
        self._game.set_seed(seed % 2**32)
        self._game.new_episode()
        self.gathered = self.steps = self._counted = 0
        self._left = list(range(len(self.maze.items)))
        return self._look()

    def step(self, action: int) -> Played:
        """Hold the buttons of an action for four tics."""
        if not 0 <= action < len(_PRESSES):
            raise UnknownName("action", str(action), [str(i) for i in range(len(_PRESSES))])
        before = self._counted
        self._game.make_action(_PRESSES[action], FRAME_SKIP)
        self.steps += 1
        frame_hwc = self._look()
        reward, outcome, item = STEP, "", None
        for _ in range(self._counted - before):
            item = self._nearest_item()
            self._left.remove(item)
            if item != self.gathered:
                return Played(frame_hwc, reward + WRONG, True, WRONG_ITEM, item)
            self.gathered += 1
            reward += RIGHT
        if not self._left:
            outcome = ALL_ITEMS
        elif self.steps >= TIME_LIMIT:
            outcome = TIME_UP
        return Played(frame_hwc, reward, bool(outcome), outcome, item)

    def distance(self, item: int) -> float:
        """How far it is to walk to an item, in cells."""
        return self.way(item)[0]

    def way(self, item: int) -> tuple[float, float]:
        """How far it is to walk to an item, in cells, and how far to turn left for the next stretch, in radians."""
        cell, maze = cell_at(self.x, self.y, self.maze.size), self.maze
        if cell == maze.items[item]:
            best, to = 0.0, cell
        else:
            steps = maze.distances(item)
            to = min(maze.neighbours(cell), key=lambda c: steps[c])
            best = float(steps[to])
        x, y = centre(to)
        turn = math.atan2(y - self.y, x - self.x) - math.radians(self.angle_deg)
        return best + math.hypot(x - self.x, y - self.y) / CELL, math.remainder(turn, math.tau)

    def close(self) -> None:
        """End the engine's process."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _look(self) -> np.ndarray:
        state = self._game.get_state()
        if state is None:
            raise WorldError("Doom ended the episode by itself, which this task never asks for.")
        counted, self.x, self.y, self.angle_deg = state.game_variables.tolist()
        self._counted = int(counted)
        if self.labels:
            self.seen = state.labels
        frame_hwc: np.ndarray = state.screen_buffer
        return frame_hwc

    def _nearest_item(self) -> int:
        def away(item: int) -> float:
            x, y = centre(self.maze.items[item])
            return math.hypot(x - self.x, y - self.y)

        return min(self._left, key=away)

    def _configured(self) -> Any:
        vzd = _vizdoom()
        game = vzd.DoomGame()
        game.set_mode(vzd.Mode.PLAYER)
        game.set_window_visible(False)
        game.set_console_enabled(False)
        game.set_sound_enabled(False)
        game.set_screen_format(vzd.ScreenFormat.RGB24)
        width, height = self.screen_wh
        game.set_screen_resolution(vzd.ScreenResolution.__members__[f"RES_{width}X{height}"])
        game.set_render_hud(False)
        game.set_render_weapon(False)
        game.set_render_crosshair(False)
        game.set_render_decals(False)
        game.set_render_particles(False)
        game.set_labels_buffer_enabled(self.labels)
        game.set_available_buttons([vzd.Button.TURN_LEFT, vzd.Button.TURN_RIGHT, vzd.Button.MOVE_FORWARD])
        told = vzd.GameVariable
        game.set_available_game_variables([told.ITEMCOUNT, told.POSITION_X, told.POSITION_Y, told.ANGLE])
        game.set_doom_map(map_name(0))
        game.set_episode_timeout(0)
        return game


def _vizdoom() -> Any:
    try:
        import vizdoom
    except ImportError as error:
        raise WorldError("Doom worlds need ViZDoom: pip install 'innerview[doom]'.") from error
    return vizdoom
