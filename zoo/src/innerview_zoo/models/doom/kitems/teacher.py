"""A scripted explorer that knows only what has been in view so far; it says what it would do in the agent's place.

A cell was seen once its centre stood in the field of view, near enough and with no wall between; of a seen cell it
knows the openings and the item. It walks to the next item if that was seen and to the nearest unseen cell if not, round
the cells of items whose turn has not come.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from innerview_zoo.worlds.kitems.mazes import CELL, ITEMS, Maze, cell_at, centre, walls

LEFT, RIGHT, FORWARD, FORWARD_LEFT, FORWARD_RIGHT = range(5)
REACH = 3.75 * CELL
"""Farther items are only two pixels wide."""
HALF_VIEW = math.radians(43)
TURN_ON_THE_SPOT, TURN_WALKING = math.radians(50), math.radians(9)
TURN_COST = CELL / 2.4
"""What a radian of turning costs, in map units walked in that time."""
TOUCH = 46.0
"""An item is picked up nearer than this, with some room."""
SECTORS = 8
KNOWN = 4 * len(ITEMS) + SECTORS
_GRID = CELL / 4


class Plan:
    """What the teacher must look up in a maze: who sees whom, and where one can step."""

    def __init__(self, maze: Maze) -> None:
        size = self.size = maze.size
        cells = [(x, y) for x in range(size) for y in range(size)]
        self.number = {cell: i for i, cell in enumerate(cells)}
        self.centres = [centre(cell) for cell in cells]
        self.next_to = [[self.number[other] for other in maze.neighbours(cell)] for cell in cells]
        self.items = [self.number[cell] for cell in maze.items]
        self.spawn = self.number[maze.spawn]
        faces = np.array(walls(maze))
        self._upright = faces[faces[:, 0] == faces[:, 2]]
        self._level = faces[faces[:, 1] == faces[:, 3]][:, [1, 0, 3, 2]]
        self._visible: dict[tuple[int, int], list[int]] = {}

    def cell(self, x: float, y: float) -> int:
        """The number of the cell at a place."""
        return self.number[cell_at(x, y, self.size)]

    def visible(self, x: float, y: float) -> list[int]:
        """Cells whose centre can be seen from about there, looking all round."""
        key = int(x // _GRID), int(y // _GRID)
        if key not in self._visible:
            here = np.array([(key[0] + 0.5) * _GRID, (key[1] + 0.5) * _GRID])
            there = np.array(self.centres)
            hidden = _crosses(here, there, self._upright) | _crosses(here[::-1], there[:, ::-1], self._level)
            near = np.hypot(*(there - here).T) <= REACH
            self._visible[key] = [int(i) for i in np.flatnonzero(near & ~hidden)]
        return self._visible[key]


def _crosses(here: np.ndarray, there: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Whether the line to each place meets one of the faces that stand at x from y1 to y2."""
    ahead = there[:, None, 0] - here[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (faces[None, :, 0] - here[0]) / ahead
        y = here[1] + share * (there[:, None, 1] - here[1])
    low, high = np.minimum(faces[:, 1], faces[:, 3]), np.maximum(faces[:, 1], faces[:, 3])
    met: np.ndarray = ((share > 0) & (share < 1) & (y >= low) & (y <= high)).any(1)
    return met


class Teacher:
    """Watches one episode."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.seen = [False] * len(plan.centres)
        self.gathered = 0
        self.x = self.y = self.angle = 0.0
        self._searched: tuple[int, int, int] | None = None

    def watch(self, x: float, y: float, angle_deg: float, gathered: int) -> None:
        """Take in where the agent stands and looks, and how many items it has."""
        self.x, self.y, self.angle, self.gathered = x, y, math.radians(angle_deg), gathered
        self.cell = self.plan.cell(x, y)
        self.seen[self.cell] = True
        for i in self.plan.visible(x, y):
            if not self.seen[i] and abs(self._bearing(*self.plan.centres[i])) <= HALF_VIEW:
                self.seen[i] = True

    def advise(self) -> int:
        """The action that it would take."""
        x, y = self.plan.centres[self._aim()]
        turn = self._bearing(x, y)
        if abs(turn) < TURN_WALKING:
            return FORWARD
        if abs(turn) < TURN_ON_THE_SPOT:
            return FORWARD_LEFT if turn > 0 else FORWARD_RIGHT
        return LEFT if turn > 0 else RIGHT

    def known(self) -> list[float]:
        """For each item whether it was seen and where it is from here, how many are gathered, where all is unseen."""
        cos, sin, told = math.cos(self.angle), math.sin(self.angle), []
        for i in range(len(ITEMS)):
            if i < len(self.plan.items) and i >= self.gathered and self.seen[self.plan.items[i]]:
                dx, dy = self._away(self.plan.items[i])
                told += [1.0, (dx * cos + dy * sin) / (2 * CELL), (dy * cos - dx * sin) / (2 * CELL)]
            else:
                told += [0.0, 0.0, 0.0]
        unseen = [0.0] * SECTORS
        for i, seen in enumerate(self.seen):
            if not seen:
                dx, dy = self._away(i)
                sector = round((math.atan2(dy, dx) - self.angle) / (math.tau / SECTORS)) % SECTORS
                unseen[sector] += min(1.0, CELL / math.hypot(dx, dy)) / 2
        return [*told, *(float(self.gathered == i) for i in range(len(ITEMS))), *unseen]

    def _away(self, cell: int) -> tuple[float, float]:
        x, y = self.plan.centres[cell]
        return x - self.x, y - self.y

    def _bearing(self, x: float, y: float) -> float:
        """How far to turn left to face a place, in radians."""
        return math.remainder(math.atan2(y - self.y, x - self.x) - self.angle, math.tau)

    def _closed(self) -> set[int]:
        """Cells of seen items whose turn has not come."""
        return {i for i in self.plan.items[self.gathered + 1 :] if self.seen[i]}

    def _aim(self) -> int:
        """The neighbouring cell to walk to, or this one."""
        plan, closed = self.plan, self._closed()
        if self.gathered >= len(plan.items):
            return self.cell
        target = plan.items[self.gathered]
        if self.cell == target:
            return target
        if self.cell in closed:
            return self._way_out(closed)
        state = (self.cell, self.gathered, sum(self.seen))
        if self._searched != state:
            self._searched = state
            self._choices = self._search(closed) or self._search(set())
        known = self.seen[target]
        tx, ty = plan.centres[target]

        def cost(choice: tuple[int, int, int]) -> float:
            end, first, steps = choice
            if known and end == target:
                return -1.0
            x, y = plan.centres[end]
            rest = abs(x - tx) + abs(y - ty) if known else 0.0
            return CELL * steps + rest + TURN_COST * abs(self._bearing(*plan.centres[first]))

        return min(self._choices, key=cost)[1] if self._choices else self.cell

    def _search(self, closed: set[int]) -> list[tuple[int, int, int]]:
        """Ends worth walking to, each with the first cell of the way and its length: the item, the edge of the seen."""
        plan = self.plan
        target = plan.items[self.gathered]
        queue = deque([(self.cell, -1, 0)])
        reached, ends = {self.cell}, []
        while queue:
            cell, first, steps = queue.popleft()
            if cell == target or not self.seen[cell]:
                ends.append((cell, first, steps))
                continue
            for other in plan.next_to[cell]:
                if other not in reached and other not in closed:
                    reached.add(other)
                    queue.append((other, other if first < 0 else first, steps + 1))
        return ends

    def _way_out(self, closed: set[int]) -> int:
        """From the cell of an item that must not be touched: to a neighbour, not over the item."""
        x, y = self.plan.centres[self.cell]

        def cost(other: int) -> float:
            ax, ay = self._away(other)
            long = math.hypot(ax, ay)
            ix, iy = x - self.x, y - self.y
            along = max(0.0, min(1.0, (ix * ax + iy * ay) / long**2))
            passes = math.hypot(ix - along * ax, iy - along * ay)
            return long + (1e4 if other in closed else 0.0) + max(0.0, TOUCH - passes) * 50

        return min(self.plan.next_to[self.cell], key=cost)
