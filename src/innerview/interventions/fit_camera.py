"""Recovers from real pictures the camera that took them: a world renders what others would have seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from innerview.errors import RequestError, UnknownName
from innerview.interventions.jobs import FitCameraJob
from innerview.jobs.context import Context
from innerview.jobs.engine import Progress
from innerview.jobs.work import Found, StoredWork, run_job
from innerview.lenses.rows.selection import ChosenRows, chosen_rows, row_ranges
from innerview.schema import (
    ArraySpec,
    Axis,
    Camera,
    Result,
    Table,
    Watch,
    domains_of,
    pose_of,
    to_json,
    units_per,
)
from innerview.schema.binding import colour_and_depth
from innerview.store import Study
from innerview.transfer.camera import smaller, view_differences
from innerview.transfer.interval import estimate, resampled
from innerview.transfer.search import Point, Range, best_of, next_points
from innerview.worlds import Renderer, World

NUMBERS = ("height_m", "pitch_deg", "fov_deg")
SPREAD, SMALLEST = 24, 1 / 1024
USUAL = (1.2, 0.0, 75.0)
"""Where the search begins where the recording does not say what its camera is."""


@dataclass(frozen=True, kw_only=True)
class Shot:
    """One camera; tests are on rows that were not searched on."""

    point: Point
    test: bool = False


@dataclass(frozen=True, kw_only=True)
class Compared:
    """How far its pictures are from the real ones, row by row."""

    shot: Shot
    differences: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Over rows."""
        return sum(self.differences) / len(self.differences)


class FitCameraWork(StoredWork):
    """A search, checked. Its parts are cameras; what was tried says what is tried next."""

    job: FitCameraJob
    grows = True

    def __init__(self, job: FitCameraJob, context: Context) -> None:
        super().__init__(job, context)
        self.recording = context.study.recording(job.recording)
        world = context.world(job.world, self.recording if job.world else None)
        if not isinstance(world, Renderer):
            raise RequestError(
                f"World '{world.info.name}' does not render views: it needs render(poses, camera), as "
                "innerview.worlds.Renderer says. The zoo's office does: office:tour."
            )
        self.world, self._info = world, cast(World, world).info
        self.domain = _domain(self.recording.info.arrays, job.domain)
        self._colour, self._depth = _pictures(self.recording.info.arrays, self.domain)
        self._poses = _poses(self)
        numbers = chosen_rows(self.recording.rows, job.rows)
        known = numbers[np.isfinite(self._poses[numbers]).all(axis=1)]
        if len(known) < 4:
            raise RequestError(f"{len(known)} rows have a true pose; 4 are needed at least, half of them to test.")
        half = min(job.count, len(known) // 2)
        spread = known[np.unique(np.linspace(0, len(known) - 1, 2 * half).round().astype(int))]
        self.searched, self.tested = spread[::2], spread[1::2]
        self.start = self._start()
        self.ranges = [
            Range(low=low, high=high, start=min(max(at, low), high))
            for (low, high), at in zip((job.height_m, job.pitch_deg, job.fov_deg), self.start, strict=True)
        ]
        if any(each.low >= each.high for each in self.ranges) or job.height_m[0] <= 0:
            raise RequestError("Each range goes from a smaller to a larger number, and heights are above zero.")

    @property
    def title(self) -> str:
        """What is done, in words."""
        return f"camera of {self.recording.name}, {self.domain}"

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that the result depends on, beside the recording."""
        job = self.job
        asked = {name: to_json(getattr(job, name)) for name in (*NUMBERS, "budget", "width")}
        rows = {"searched": to_json(row_ranges(self.searched)), "tested": to_json(row_ranges(self.tested))}
        return {"world": to_json(self._info.identity), "domain": self.domain, **rows, **asked}

    def parts(self, given: Sequence[Compared]) -> Sequence[Shot]:
        """The next cameras; at last the first and the best one on other rows."""
        tried = _tried(given)
        points = next_points(tried, self.ranges, spread=SPREAD, budget=self.job.budget, last=SMALLEST, slanted=True)
        if points:
            return [Shot(point=point) for point in points]
        if any(each.shot.test for each in given):
            return ()
        begun: Point = tuple(each.start for each in self.ranges)
        return [Shot(point=point, test=True) for point in (begun, best_of(tried))]

    def run(self, part: Shot, watch: Watch) -> Compared:
        """Render with one camera and compare."""
        height, pitch, fov = part.point
        watch(self.job.budget if part.test else 0, self.job.budget, f"{height:.2f} m, {pitch:.1f}°, {fov:.1f}° across")
        colours, depth_m = self._real[part.test]
        rows = self.tested if part.test else self.searched
        seen, measured = self.world.render(self._poses[rows], self._camera(part.point))
        found = view_differences(colours, depth_m, seen, measured if depth_m is not None else None)
        return Compared(shot=part, differences=tuple(map(float, found)))

    def merge(self, given: Sequence[Compared]) -> Found:
        """The camera that explains the pictures best, and how much better than the one it began with."""
        tried = _tried(given)
        best = best_of(tried)
        tests = [np.array(each.differences) for each in given if each.shot.test]
        tested = None
        if len(tests) == 2:
            both = np.stack(tests)
            drawn, means = resampled(both, np.mean), both.mean(axis=1)
            tested = {
                "rows": both.shape[1],
                "before": to_json(estimate(means[0], drawn[:, 0])),
                "after": to_json(estimate(means[1], drawn[:, 1])),
                "difference": to_json(estimate(means[1] - means[0], drawn[:, 1] - drawn[:, 0])),
            }
        begun = [each.start for each in self.ranges]
        value = {
            "world": self._info.name,
            "domain": self.domain,
            "depth": self._depth is not None,
            "camera": dict(zip(NUMBERS, best, strict=True)),
            "begun": dict(zip(NUMBERS, begun, strict=True)),
            "searched": {"rows": len(self.searched), "before": tried.get(tuple(begun)), "after": tried[best]},
            "tested": tested,
            "sentence": _sentence(tested, best) if tested else "",
            "tried": [{"numbers": list(point), "difference": each} for point, each in tried.items()],
        }
        units = ("m", "deg", "deg")
        columns = (
            Axis(name="camera"),
            *(Axis(name=n.partition("_")[0], unit=u) for n, u in zip(NUMBERS, units, strict=True)),
        )
        table = Table(columns=columns, lines=[("begun with", *begun), ("explains the pictures best", *best)])
        return Found(value=value, type=table.type, shown=table.shown())

    @cached_property
    def _real(self) -> tuple[tuple[np.ndarray, np.ndarray | None], tuple[np.ndarray, np.ndarray | None]]:
        """Pictures that are searched on, and those to test, as small as they are compared."""
        searched, tested = (self._small(rows) for rows in (self.searched, self.tested))
        return searched, tested

    def _small(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        colours, depth_m = self.recording.array_rows(self._colour.name, rows), None
        if self._depth is not None:
            measured = self.recording.array_rows(self._depth.name, rows)
            metres = units_per(self._depth.unit, "m")
            assert metres is not None, "depth has a unit of length"
            depth_m = (measured[..., 0] if measured.ndim == 4 else measured).astype(np.float64) * metres
        return smaller(colours, depth_m, self._by)

    @cached_property
    def _by(self) -> int:
        """Pixels to one."""
        return max(1, round(self._colour.shape[1] / self.job.width))

    def _camera(self, point: Point) -> Camera:
        height, pitch, fov = point
        lines, columns = (side // self._by for side in self._colour.shape[:2])
        # What is cut off at the border does not widen the view.
        focal = self._colour.shape[1] / self._by / 2 / math.tan(math.radians(fov) / 2)
        return Camera(
            width_px=columns,
            height_px=lines,
            focal_px=(focal, focal),
            centre_px=(self._colour.shape[1] / self._by / 2, self._colour.shape[0] / self._by / 2),
            height_m=height,
            pitch_deg=pitch,
        )

    def _start(self) -> tuple[float, float, float]:
        key = self.recording.info.scene
        camera = self.recording.scene(key).camera if key else None
        if camera is None:
            return USUAL
        fov = math.degrees(2 * math.atan(camera.width_px / 2 / camera.focal_px[0]))
        height = USUAL[0] if camera.height_m is None else camera.height_m
        return round(height, 4), round(camera.pitch_deg or 0.0, 4), round(fov, 4)


def _domain(arrays: Sequence[ArraySpec], asked: str) -> str:
    there = domains_of(arrays)
    if asked and asked not in there:
        raise UnknownName("domain", asked, there)
    if not asked and len(there) != 2:
        named = ", ".join(map(repr, there)) or "none"
        raise RequestError(f"Say which domain's pictures are to be explained: domain=…; there are {named}.")
    return asked or there[1]


def _pictures(arrays: Sequence[ArraySpec], domain: str) -> tuple[ArraySpec, ArraySpec | None]:
    own = [array for array in arrays if array.domain == domain]
    both = colour_and_depth(own)
    if both is not None:
        return both
    seen = [array for array in own if array.is_image and array.shape[2:] == (3,)]
    if len(seen) != 1:
        raise RequestError(f"'{domain}' has {len(seen)} arrays of pictures in colour; the camera is fitted to one.")
    return seen[0], None


def _poses(work: FitCameraWork) -> np.ndarray:
    """x, y in metres and the angle in radians [row, 3]."""
    info = work.recording.info
    pose = pose_of(info.columns, (work.domain,))
    metres = units_per(pose.unit, "m")
    if not pose.placed or metres is None or not pose.directed or pose.angle_deg is None:
        raise RequestError(
            f"A view is rendered from a known pose: '{info.name}' needs columns x and y in metres and an angle in deg "
            "or rad that are parts of the pose."
        )
    table = work.recording.columns([pose.x, pose.y, pose.angle])
    x, y, angle = (table[name].cast(float).to_numpy() for name in (pose.x, pose.y, pose.angle))
    return np.stack([x * metres, y * metres, np.radians(angle * pose.angle_deg)], axis=1).astype(np.float32)


def _tried(given: Sequence[Compared]) -> dict[Point, float]:
    return {each.shot.point: each.mean for each in given if not each.shot.test}


def _sentence(tested: dict[str, Any], best: Point) -> str:
    height, pitch, fov = best
    camera = f"A camera at {height:.2f} m, {abs(pitch):.1f}° {'down' if pitch < 0 else 'up'}, {fov:.1f}° across"
    low, high = tested["difference"]["low"], tested["difference"]["high"]
    if high < 0:
        less = 1 - tested["after"]["value"] / tested["before"]["value"]
        return (
            f"{camera} explains the pictures better: {100 * less:.0f} % less difference on rows it was not fitted to."
        )
    return f"{camera} explains other rows no better than the one it began with ({low:+.3f} to {high:+.3f})."


def fit_camera(
    study: Study | str | Path,
    world: World,
    recording: str,
    *,
    domain: str = "",
    count: int = FitCameraJob.count,
    budget: int = FitCameraJob.budget,
    width: int = FitCameraJob.width,
    height_m: tuple[float, float] = FitCameraJob.height_m,
    pitch_deg: tuple[float, float] = FitCameraJob.pitch_deg,
    fov_deg: tuple[float, float] = FitCameraJob.fov_deg,
    rows: ChosenRows | None = None,
    again: bool = False,
    progress: Progress | bool = True,
) -> Result:
    """Recover height, pitch and field of view of the camera that took the real pictures, by rendering what others see.

    The world renders views (`innerview.worlds.Renderer`), as the zoo's office does; poses of the pictures are known.

        found = iv.fit_camera(study, iv.world("office:tour"), "pairs")
        print(found.value["camera"], found.value["sentence"])
    """
    opened = study if isinstance(study, Study) else Study.open(study)
    source = opened.recording(recording)
    job = FitCameraJob(
        recording=recording,
        world=world.info.name,
        domain=domain,
        count=count,
        budget=budget,
        width=width,
        height_m=height_m,
        pitch_deg=pitch_deg,
        fov_deg=fov_deg,
        rows=None if rows is None else row_ranges(chosen_rows(source.rows, rows)),
    )
    result: Result = run_job(
        job, Context(study=opened, worlds={world.info.name: world}), progress=progress, again=again
    )
    return result
