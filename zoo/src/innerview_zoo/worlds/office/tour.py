"""A tour of the office for networks that say where they are: the robot is driven, and the only action is to go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from innerview.errors import UnknownName, WorldError
from innerview.schema import ActionSpace, Camera, Column, WorldInfo
from innerview.worlds.protocols import Lanes
from innerview_zoo.worlds.office.floors.ways import sample_poses, trajectory
from innerview_zoo.worlds.office.lanes import OfficeLanes
from innerview_zoo.worlds.office.view import View, ViewSettings, place_columns

ACTIONS = ("go on",)
POSES = ("trajectory", "random")
HEADING = Column(name="heading", type="float", unit="rad", description="The angle as poses have it, from -π to π.")


@dataclass(frozen=True, kw_only=True)
class TourSettings(ViewSettings):
    """Which way is driven, and in which domain."""

    which: int = 1
    """Trajectory 1 or 2; in the domain "real" it is driven in that month."""
    poses: str = "trajectory"
    """"trajectory" is the same way for every seed; "random" draws poses in free space by seed."""
    count: int = 400
    """Poses of an episode."""
    month: int = 0
    """Another month than the trajectory's own; 0 for its own."""

    def __post_init__(self) -> None:
        if self.which not in (1, 2):
            raise WorldError(f"There are trajectories 1 and 2, not {self.which!r}.")
        if self.poses not in POSES:
            raise UnknownName("kind of poses", str(self.poses), POSES)
        if isinstance(self.count, bool) or not isinstance(self.count, int) or self.count < 2:
            raise WorldError(f"count is how many poses a tour has, at least 2, not {self.count!r}.")
        object.__setattr__(self, "month", self.month or self.which)
        super().__post_init__()


class TourWorld:
    """Sees the floor from one pose after the other."""

    def __init__(self, settings: TourSettings | None = None) -> None:
        self.settings = settings or TourSettings()
        self._view = View(self.settings)
        told = {**self.settings.summary(), "which": self.settings.which, "poses": self.settings.poses}
        self.info = WorldInfo(
            name=f"office tour {self.settings.which} {self.settings.domain}",
            family="office",
            observations=self._view.specs(),
            actions=ActionSpace(kind="discrete", names=ACTIONS),
            facts=(*place_columns(), HEADING),
            settings={**told, "count": self.settings.count},
        )

    def open(self, lanes: int) -> Lanes:
        """Start that many tours."""
        if lanes < 1:
            raise WorldError(f"A world needs at least one lane, not {lanes}.")
        return OfficeLanes(self._view, [_Driven(self._view, self.settings) for _ in range(lanes)], ACTIONS)

    def render(self, poses: np.ndarray, camera: Camera) -> tuple[np.ndarray, np.ndarray]:
        """What a camera sees from poses [n, 3]: colours, and depth in metres."""
        return self._view.render(poses, camera)


class _Driven:
    """A robot that is taken along a list of poses."""

    def __init__(self, view: View, settings: TourSettings) -> None:
        self._view, self._settings = view, settings
        self._way = np.zeros((1, 3), dtype=np.float32)
        self._at = 0

    @property
    def pose(self) -> np.ndarray:
        """Where it is."""
        return np.asarray(self._way[min(self._at, len(self._way) - 1)])

    def reset(self, seed: int) -> None:
        """Begin at the first pose."""
        chosen, floor = self._settings, self._view.scan
        if chosen.poses == "random":
            self._way = sample_poses(floor, chosen.count, seed=seed).numpy()
        else:
            self._way = trajectory(floor, chosen.which, count=chosen.count).numpy()
        self._at = 0

    def act(self, action: int) -> None:
        """Go on to the next pose."""
        self._at += 1

    def report(self, objects: list[dict[str, Any]]) -> tuple[dict[str, Any], float, str]:
        """It ends one step after the last pose was seen, so that there are as many rows as poses."""
        heading = round(float(self.pose[2]), 5)
        return {"heading": heading}, 0.0, "end of the tour" if self._at == len(self._way) else ""
