"""Finding the way through the office: turn, go forward, and reach a room or a kind of thing."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from innerview.errors import UnknownName, WorldError
from innerview.schema import ActionSpace, Camera, Column, WorldInfo
from innerview.worlds.protocols import Lanes
from innerview_zoo.worlds.office.floors.floor import Floor
from innerview_zoo.worlds.office.floors.freespace import CELL_M, free_space, gap_at
from innerview_zoo.worlds.office.floors.ways import ROBOT_RADIUS_M, sample_poses
from innerview_zoo.worlds.office.lanes import OfficeLanes
from innerview_zoo.worlds.office.view import View, ViewSettings, place_columns

ACTIONS = ("turn left", "turn right", "forward")
REACH_M = 0.9
"""A thing is reached when it is in view and its edge is this near."""
GOAL_REWARD = 10.0
_STEP = 2  # cells of the free space to a cell of the map of ways


@dataclass(frozen=True, kw_only=True)
class NavigationSettings(ViewSettings):
    """The goal, and how the robot moves."""

    goal: str = "kitchen"
    """A room by name, a kind of room, or a kind of object."""
    turn_deg: float = 15.0
    step_m: float = 0.25
    time_limit: int = 500
    nearer_reward: float = 1.0
    """Reward for each metre that the way to the goal got shorter; beside it 10 for reaching the goal."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.turn_deg <= 180:
            raise WorldError(f"turn_deg goes from 0 to 180 degrees, not {self.turn_deg!r}.")
        if not 0 < self.step_m <= 2:
            raise WorldError(f"step_m is how far a step goes, at most 2 m, not {self.step_m!r}.")
        if isinstance(self.time_limit, bool) or not isinstance(self.time_limit, int) or self.time_limit < 1:
            raise WorldError(f"time_limit is a number of steps from 1 on, not {self.time_limit!r}.")


class OfficeWorld:
    """A robot that starts anywhere by seed and looks for its goal."""

    def __init__(self, settings: NavigationSettings | None = None) -> None:
        self.settings = settings or NavigationSettings()
        self._view = View(self.settings)
        self._ground = Ground(self._view.floor, self.settings.goal)
        told = {**self.settings.summary(), "goal": self.settings.goal, "turn_deg": self.settings.turn_deg}
        self.info = WorldInfo(
            name=f"office to {self.settings.goal}",
            family="office",
            observations=self._view.specs(),
            actions=ActionSpace(kind="discrete", names=ACTIONS),
            facts=_columns(),
            settings={**told, "step_m": self.settings.step_m, "time_limit": self.settings.time_limit},
        )

    def open(self, lanes: int) -> Lanes:
        """Start that many robots."""
        if lanes < 1:
            raise WorldError(f"A world needs at least one lane, not {lanes}.")
        return OfficeLanes(self._view, [_Walker(self._ground, self.settings) for _ in range(lanes)], ACTIONS)

    def render(self, poses: np.ndarray, camera: Camera) -> tuple[np.ndarray, np.ndarray]:
        """What a camera sees from poses [n, 3]: colours, and depth in metres."""
        return self._view.render(poses, camera)


class Ground:
    """The floor as a robot drives on it, with the length of the way to the goal from everywhere."""

    def __init__(self, floor: Floor, goal: str) -> None:
        self.floor, self.goal = floor, goal
        self.rooms = {i + 1 for i, room in enumerate(floor.rooms) if goal in (room.name, room.kind)}
        self.things = [thing for thing in floor.things if thing.kind == goal]
        if not self.rooms and not self.things:
            names = [room.name for room in floor.rooms]
            raise UnknownName("goal", goal, [*names, *sorted({thing.kind for thing in floor.things})])
        self._way = self._ways()

    def at_goal(self, x: float, y: float, objects: list[dict[str, Any]]) -> bool:
        """Whether the goal is reached."""
        if self.rooms:
            return int(free_space(self.floor).room[self._cell(x, y, 1)]) in self.rooms
        seen = {thing["id"] for thing in objects}
        return any(
            thing.id in seen and self._edge(thing.x, thing.y, thing.size, x, y) < REACH_M for thing in self.things
        )

    def way_m(self, x: float, y: float) -> float:
        """Metres to drive from a place to the goal; infinite where it cannot be reached."""
        row, column = self._cell(x, y, _STEP)
        around = self._way[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
        return float(around.min())

    def moved(self, x: float, y: float, angle: float, step_m: float) -> tuple[float, float, bool]:
        """Where a step forward ends, and whether it was stopped by something."""
        parts = max(2, math.ceil(step_m / 0.05))
        for _ in range(parts):
            next_x, next_y = x + math.cos(angle) * step_m / parts, y + math.sin(angle) * step_m / parts
            if gap_at(self.floor, next_x, next_y) < ROBOT_RADIUS_M:
                return x, y, True
            x, y = next_x, next_y
        return x, y, False

    def _cell(self, x: float, y: float, step: int) -> tuple[int, int]:
        rows, columns = (size // step for size in free_space(self.floor).room.shape)
        size = CELL_M * step
        return min(max(int(y / size), 0), rows - 1), min(max(int(x / size), 0), columns - 1)

    @staticmethod
    def _edge(tx: float, ty: float, size: tuple[float, float, float], x: float, y: float) -> float:
        return math.hypot(x - tx, y - ty) - max(size[:2]) / 2

    def _ways(self) -> np.ndarray:
        """Length of the shortest way to the goal from every cell of 10 cm."""
        space = free_space(self.floor)
        free = space.free(ROBOT_RADIUS_M)[::_STEP, ::_STEP]
        rooms = space.room[::_STEP, ::_STEP]
        y, x = (np.indices(free.shape) + 0.25) * CELL_M * _STEP
        goal = np.isin(rooms, list(self.rooms))
        for thing in [] if self.rooms else self.things:
            goal |= np.hypot(x - thing.x, y - thing.y) - max(thing.size[:2]) / 2 < REACH_M
        return _spread(free, goal & free)


def _spread(free: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """Shortest ways over free cells, eight neighbours each."""
    way = np.where(goal, 0.0, np.inf)
    queue = [(0.0, int(r), int(c)) for r, c in np.argwhere(goal)]
    moves = [(r, c, math.hypot(r, c) * CELL_M * _STEP) for r in (-1, 0, 1) for c in (-1, 0, 1) if r or c]
    rows, columns = free.shape
    while queue:
        length, row, column = heapq.heappop(queue)
        if length > way[row, column]:
            continue
        for dr, dc, step in moves:
            r, c = row + dr, column + dc
            if 0 <= r < rows and 0 <= c < columns and free[r, c] and length + step < way[r, c]:
                way[r, c] = length + step
                heapq.heappush(queue, (length + step, r, c))
    return way


class _Walker:
    """A robot that obeys."""

    def __init__(self, ground: Ground, settings: NavigationSettings) -> None:
        self._ground, self._settings = ground, settings
        self.pose = np.zeros(3)
        self._steps, self._hit, self._way = 0, False, 0.0

    def reset(self, seed: int) -> None:
        """Begin somewhere from which the goal can be reached and has not been."""
        drawn = sample_poses(self._ground.floor, 64, seed=seed).numpy().astype(np.float64)
        for pose in drawn:
            if 0.5 < self._ground.way_m(pose[0], pose[1]) < math.inf:
                break
        else:
            raise WorldError(f"From nowhere near can the goal '{self._ground.goal}' be reached; is its door closed?")
        self.pose, self._steps, self._hit = pose, 0, False
        self._way = self._ground.way_m(pose[0], pose[1])

    def act(self, action: int) -> None:
        """Turn on the spot, or go forward until something is in the way."""
        x, y, angle = (float(v) for v in self.pose)
        self._hit = False
        if action == 2:
            x, y, self._hit = self._ground.moved(x, y, angle, self._settings.step_m)
        else:
            angle += math.radians(self._settings.turn_deg) * (1 if action == 0 else -1)
        self.pose = np.array([x, y, (angle + math.pi) % (2 * math.pi) - math.pi])
        self._steps += 1

    def report(self, objects: list[dict[str, Any]]) -> tuple[dict[str, Any], float, str]:
        """How far it is to the goal, and what happened."""
        x, y, _ = self.pose
        way = self._ground.way_m(x, y)
        reached = self._steps > 0 and self._ground.at_goal(x, y, objects)
        nearer = self._way - way if math.isfinite(way) and math.isfinite(self._way) else 0.0
        reward = self._settings.nearer_reward * nearer + GOAL_REWARD * reached
        self._way = way
        left = self._settings.time_limit - self._steps
        facts = {
            "goal": self._ground.goal,
            "way_to_goal": round(way, 3) if math.isfinite(way) else None,
            "steps_left": left,
            "hit": self._hit,
            "reached": reached,
        }
        return facts, reward if self._steps else 0.0, "goal" if reached else "time limit" if left <= 0 else ""


def _columns() -> tuple[Column, ...]:
    return (
        *place_columns(),
        Column(name="goal", type="text", kind="category"),
        Column(name="way_to_goal", type="float", unit="m", label="way to goal", description="How far it is to drive."),
        Column(name="steps_left", type="int", unit="steps", label="steps left"),
        Column(name="hit", type="bool", kind="event", description="A step was stopped by a wall, a door or a thing."),
        Column(name="reached", type="bool", kind="event", description="The goal was reached; it ends the episode."),
    )
