"""Exports an episode as a video, with maps of several methods side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from innerview.errors import LensError, UnknownName
from innerview.jobs.context import Context
from innerview.jobs.engine import Progress
from innerview.jobs.work import run_job
from innerview.lenses.rows.recorded import named_recording
from innerview.lenses.rows.selection import ChosenRows, chosen_rows, row_ranges
from innerview.lenses.video.job import VideoJob
from innerview.lenses.video.maps import as_video_maps
from innerview.lenses.video.work import FILE
from innerview.schema import Result
from innerview.store import VIDEOS, Recording, Study, export_file
from innerview.store import export_video as export_pictures

if TYPE_CHECKING:
    from innerview.subjects import Subject


def export_video(
    study: Study | str | Path,
    path: Path | str,
    recording: str | None = None,
    *,
    maps: Sequence[Any] = (),
    episode: int | str | None = None,
    rows: ChosenRows | None = None,
    subject: Subject | Sequence[Subject] | None = None,
    inputs: Mapping[str, str] | None = None,
    other: bool = False,
    array: str = VideoJob.array,
    normalise: Literal["episode", "frame"] = VideoJob.normalise,
    signs: Literal["blue and orange", "green and red"] = VideoJob.signs,
    gain: float = VideoJob.gain,
    opacity: float = VideoJob.opacity,
    columns: int = VideoJob.columns,
    scale: int = VideoJob.scale,
    frames_per_s: float = VideoJob.frames_per_s,
    again: bool = False,
    progress: Progress | bool = True,
) -> Path:
    """One episode, or any rows, as .mp4 or .gif: what was seen, and beside it `maps`, a panel each.

    A map is a method's name ("guided", "gradcam", "g2gradcam"), an `iv.VideoMap` with its parameters and its frame of a
    stack, or the result of `iv.look`. Maps that are stored are drawn from the study; others are made first and kept.
    Full colour is the strongest pixel of all rows that are shown, or of each `frame` (`normalise=`); `gain` brings out
    faint maps; `signs` chooses the colours of what is below and above 0; a picture is `opacity` opaque below its map.
    """
    opened = study if isinstance(study, Study) else Study.open(study)
    source = named_recording(opened, recording)
    target = Path(path)
    if target.suffix.lower() not in VIDEOS:
        raise UnknownName("file ending", target.suffix or target.name, VIDEOS)
    if not maps:
        if rows is not None:
            raise LensError("Rows are chosen for maps: say which maps, or an episode.")
        drawn: dict[str, Any] = {"array": array or None, "scale": scale or None, "frames_per_s": frames_per_s or None}
        return export_pictures(source, target, group=episode, **drawn)
    live = _subjects(subject)
    job = VideoJob(
        recording=source.name,
        maps=as_video_maps(maps),
        rows=_ranges(source, episode, rows),
        format=target.suffix.lower()[1:],  # type: ignore[arg-type]
        subject=next(iter(live)) if len(live) == 1 else None,
        inputs=dict(inputs or {}),
        other=other,
        array=array,
        normalise=normalise,
        signs=signs,
        gain=gain,
        opacity=opacity,
        columns=columns,
        scale=scale,
        frames_per_s=frames_per_s,
    )
    result: Result = run_job(job, Context(study=opened, subjects=live), progress=progress, again=again)
    return export_file(target, opened.result_array(result.id, FILE).tobytes())


def _subjects(given: Subject | Sequence[Subject] | None) -> dict[str, Subject]:
    """By name."""
    several = given if isinstance(given, Sequence) else [] if given is None else [given]
    return {each.info.name: each for each in several}


def _ranges(
    recording: Recording, episode: int | str | None, rows: ChosenRows | None
) -> tuple[tuple[int, int], ...] | None:
    if episode is not None and rows is not None:
        raise LensError("Choose an episode or rows, not both.")
    wanted = rows if episode is None else recording.group_rows(episode)
    return None if wanted is None else row_ranges(chosen_rows(recording.rows, wanted))
