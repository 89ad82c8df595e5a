"""Draws a video of maps as a job: looks through the lenses that are missing, then draws, and saves the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from innerview.errors import LensError
from innerview.jobs.context import Context
from innerview.jobs.engine import perform
from innerview.jobs.work import Found, StoredWork
from innerview.lenses.rows.selection import chosen_rows, row_ranges
from innerview.lenses.video.colours import laid_over
from innerview.lenses.video.job import VideoJob
from innerview.lenses.video.maps import map_source
from innerview.lenses.video.panels import CHUNK, MapPanel, Pictures, map_panel
from innerview.lenses.video.sheet import Layout, Scale, Sheet, laid_out, stretched
from innerview.schema import Watch, to_json
from innerview.store import check_encoder, frames_per_s_of, image_array, write_video

MAX_MAPS = 40
FILE = "file"
"""The array of the result that holds the bytes of the video."""


class VideoWork(StoredWork):
    """A video, its maps and its rows, checked. Its parts are the maps, and the drawing."""

    job: VideoJob

    def __init__(self, job: VideoJob, context: Context) -> None:
        super().__init__(job, context)
        self.recording = context.study.recording(job.recording)
        if not 1 <= len(job.maps) <= MAX_MAPS:
            raise LensError(f"A video shows 1 to {MAX_MAPS} maps, not {len(job.maps)}.")
        image_array(self.recording, job.array or None)
        check_encoder(f".{job.format}")
        self.numbers = chosen_rows(self.recording.rows, job.rows)
        self.maps = [map_source(each, job, context, self.recording, self.numbers) for each in job.maps]

    @property
    def title(self) -> str:
        """What is done, in words."""
        return f"video of {self.recording.name}"

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that the video depends on, beside the recording."""
        drawn = ("array", "format", "normalise", "signs", "gain", "opacity", "columns", "scale", "frames_per_s")
        return {
            "maps": [[each.id, each.asked.frame, each.asked.input] for each in self.maps],
            "rows": to_json(row_ranges(self.numbers)),
            **{name: getattr(self.job, name) for name in drawn},
        }

    def parts(self, given: Sequence[Any]) -> Sequence[int | None]:
        """Maps by their places, then the drawing."""
        places = range(len(given), len(self.maps))
        return [*places] if places else [None] if len(given) == len(self.maps) else []

    def run(self, part: int | None, watch: Watch) -> Any:
        """Look through a lens where its maps are not stored, or draw all of them."""
        count, parts = len(self.numbers), len(self.maps) + 1
        place = len(self.maps) if part is None else part

        def report(done: int, total: int | None, message: str = "", so_far: Any = None) -> None:
            watch(place * count + min(done, count), parts * count, message)

        if part is None:
            return self._drawn(report)
        source = self.maps[part]
        if source.work is not None:
            name = source.asked.method
            perform(source.work, lambda done, total, message="": report(done, total, f"{name}: {message}"))
        return source.id

    def merge(self, given: Sequence[Any]) -> Found:
        """The file, and what is where in it."""
        value, content = given[-1]
        return Found(value=value, arrays={FILE: np.frombuffer(content, np.uint8)})

    def _drawn(self, watch: Watch) -> tuple[dict[str, Any], bytes]:
        film = Film(self)
        speed = self.job.frames_per_s or frames_per_s_of(self.recording)
        with TemporaryDirectory(prefix="innerview-") as folder:
            path = Path(folder) / f"video.{self.job.format}"
            write_video(path, film.frames(watch), speed)
            content = path.read_bytes()
        return {**film.described(), "format": self.job.format, "frames_per_s": speed}, content


class Film:
    """The panels of a video, and their scales, where those are the same in all frames."""

    def __init__(self, work: VideoWork) -> None:
        self.job, self.numbers, self.recording = work.job, work.numbers, work.recording
        made = self.recording.info.subject
        whose = work.job.subject or (made.name if made else "")
        self.panels = [map_panel(work.study, self.recording, each.asked, each.id, whose=whose) for each in work.maps]
        first = self.panels[0].pictures.spec
        self.seen = Pictures(self.recording, image_array(self.recording, work.job.array or first.name))
        self.full = [self._full(panel) for panel in self.panels]
        height, width = self.seen.spec.shape[:2]
        self.layout: Layout = laid_out(
            1 + len(self.panels), (height, width), columns=self.job.columns, scale=self.job.scale
        )
        titles = [(self.seen.spec.label or self.seen.spec.name, self.recording.name)]
        self.sheet = Sheet.of(self.layout, [*titles, *((each.title, each.about) for each in self.panels)])

    def frames(self, watch: Watch) -> Iterator[np.ndarray]:
        """uint8 [height, width, 3] for each row."""
        sheet = self.sheet.scales([None, *map(self._scale, self.panels, self.full)]) if self._steady else self.sheet
        for start in range(0, len(self.numbers), CHUNK):
            watch(start, len(self.numbers), "drawing")
            rows = self.numbers[start : start + CHUNK]
            told, seen = self._told(rows), self.seen.read(rows)
            maps = [panel.read(rows) for panel in self.panels]
            below = [panel.pictures.read(rows) for panel in self.panels]
            inverted = [panel.inverted(rows) for panel in self.panels]
            for n in range(len(rows)):
                full = self.full if self._steady else [self._reach(values[n]) for values in maps]
                pairs = zip(self.panels, below, maps, full, strict=True)
                drawn = [self._laid(panel, under[n], values[n], reach) for panel, under, values, reach in pairs]
                page = sheet if self._steady else sheet.scales([None, *map(self._scale, self.panels, full)])
                warnings = ["", *("inverted" if each[n] else "" for each in inverted)]
                yield page.drawn([seen[n], *drawn], told[n], warnings)

    def described(self) -> dict[str, Any]:
        """Where each panel stands, and what it shows."""
        width, height = self.layout.size
        boxes = [[box.left, box.top, box.width, box.height] for box in self.layout.boxes]
        maps = [
            {
                "title": panel.title,
                "about": panel.about,
                "result": panel.result.id,
                "signed": panel.signed,
                "unit": panel.unit,
                "full": full if self._steady else None,
                "box": box,
            }
            for panel, full, box in zip(self.panels, self.full, boxes[1:], strict=True)
        ]
        return {"width": width, "height": height, "rows": len(self.numbers), "picture": boxes[0], "maps": maps}

    @property
    def _steady(self) -> bool:
        return self.job.normalise == "episode"

    def _full(self, panel: MapPanel) -> float:
        return panel.strongest(self.numbers) / self.job.gain if self._steady else 0.0

    def _reach(self, values: np.ndarray) -> float:
        return float(np.abs(values).max(initial=0.0)) / self.job.gain

    def _scale(self, panel: MapPanel, full: float) -> Scale:
        return Scale(full, self.job.signs if panel.signed else None, panel.unit)

    def _laid(self, panel: MapPanel, picture: np.ndarray, values: np.ndarray, full: float) -> np.ndarray:
        size = max(picture.shape[0], values.shape[0]), max(picture.shape[1], values.shape[1])
        signs = self.job.signs if panel.signed else None
        return laid_over(stretched(picture, size), stretched(values, size), full, signs, self.job.opacity)

    def _told(self, rows: np.ndarray) -> list[str]:
        """Where in the recording each row is."""
        ordering, one = self.recording.info.ordering, self.recording.info.row.one
        if ordering is None:
            return [f"{one} {row}" for row in rows]
        start, stop = int(rows[0]), int(rows[-1]) + 1
        table = self.recording.columns([ordering.group, ordering.time], start, stop)[(rows - start).tolist()]
        return [f"{ordering.group} {group} · {ordering.time} {time}" for group, time in table.iter_rows()]
