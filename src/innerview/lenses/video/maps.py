"""The maps of a video: those that are stored, and the work that makes the others."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from innerview.errors import FormatVersionError, LensError, NotAsRecorded, StoreError, UnknownName
from innerview.jobs.context import Context
from innerview.jobs.kinds import KINDS
from innerview.lenses.job import LensJob
from innerview.lenses.look import LensWork
from innerview.lenses.methods import HeatMethod, heat_methods
from innerview.lenses.rows.selection import row_ranges
from innerview.lenses.video.job import VideoJob, VideoMap
from innerview.schema import ResultInfo, to_json
from innerview.store import Recording, Study

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class MapSource:
    """One map: the result that holds it, and the work that makes that result where it is not stored."""

    asked: VideoMap
    id: str
    work: LensWork | None = None


def map_source(asked: VideoMap, job: VideoJob, context: Context, recording: Recording, rows: np.ndarray) -> MapSource:
    """Where a map comes from, or an error where there is none."""
    if asked.frame < -1:
        raise LensError(f"frame counts back from the newest, 0, 1, …; -1 is the strongest of all; not {asked.frame}.")
    if asked.result:
        if asked.method:
            raise LensError("A map of a video is a method or a result, not both.")
        return MapSource(asked, _given_result(asked, job, context, recording, rows))
    known = heat_methods()
    if asked.method not in known:
        raise UnknownName("method of attribution", asked.method, known)
    method = known[asked.method]
    name = asked.subject or job.subject
    if method.looking.lens.runs_subject and not context.subjects:
        return MapSource(asked, _stored_alone(method, asked, name, context.study, recording, rows))
    wanted = LensJob(
        lens=method.looking.lens.name,
        recording=recording.name,
        parameters={**method.settings, **asked.parameters},
        rows=row_ranges(rows),
        subject=name,
        inputs=job.inputs,
        other=job.other,
    )
    work = LensWork(wanted, context)
    same = {key: value for key, value in to_json(work.identity).items() if key != "rows"}
    for line in _stored(context.study, work.result_kind, recording, rows):
        if {key: value for key, value in line.arguments.items() if key != "rows"} == same and _whole(context, line):
            return MapSource(asked, line.id)
    return MapSource(asked, work.id, work)


def _stored(study: Study, kind: str, recording: Recording, rows: np.ndarray) -> list[ResultInfo]:
    """Finished results of a lens that hold these rows as they are now, the newest first."""
    lines = reversed(study.results(kind=kind, recording=recording.name))
    return [
        line
        for line in lines
        if not line.provisional and not len(_missing(line, rows)) and _is_of_these_rows(study, line)
    ]


def _stored_alone(
    method: HeatMethod, asked: VideoMap, name: str | None, study: Study, recording: Recording, rows: np.ndarray
) -> str:
    """The stored result that answers, where nobody is there who could answer anew."""
    lens, made = method.looking.lens, recording.info.subject
    wanted = {**method.usual, **method.looking.checked(asked.parameters)}
    whose = name or (made.name if made else None)
    for line in _stored(study, lens.name, recording, rows):
        fits = line.arguments.get("parameters") == wanted and whose in (None, line.arguments.get("subject"))
        own = name is not None or not made or line.arguments.get("identity") in (None, made.identity)
        if fits and own:
            study.check_result(line.id)
            return line.id
    raise LensError(
        f"No stored result of '{method.name}' that was asked this holds rows {_said(rows)} of '{recording.name}', and "
        "no model is loaded to make one. Give one: export_video(…, subject=…), or innerview export … --subject "
        "zoo:NAME (or FILE.py:FUNCTION)."
    )


def _given_result(asked: VideoMap, job: VideoJob, context: Context, recording: Recording, rows: np.ndarray) -> str:
    """The id of a result that somebody named, if it holds what the video shows."""
    study = context.study
    line = study.result_info(asked.result)
    if line.type != "heat":
        raise LensError(f"Result '{line.id}' ({line.kind}) holds no map, but {line.type or 'figures'}.")
    if line.recording != recording.name:
        raise LensError(f"Result '{line.id}' is of '{line.recording}', and the video of '{recording.name}'.")
    if line.provisional:
        raise LensError(f"Result '{line.id}' ({line.kind}) is not finished. Run it again: it goes on.")
    missing = _missing(line, rows)
    if len(missing):
        raise LensError(
            f"Result '{line.id}' ({line.kind}) has no map of rows {_said(missing)} of '{recording.name}'. Export rows "
            "that it holds, or name the method in place of the result."
        )
    if not _is_of_these_rows(study, line):
        raise LensError(
            f"Result '{line.id}' ({line.kind}) was made before '{recording.name}' changed. Name the method in place "
            "of the result, and it is made again."
        )
    _check_whose(line, asked.subject or job.subject, recording, other=job.other)
    study.check_result(line.id)
    return line.id


def _check_whose(line: ResultInfo, name: str | None, recording: Recording, *, other: bool) -> None:
    made = recording.info.subject
    told, wanted = line.arguments.get("subject"), name or (made.name if made else None)
    if other or told in (None, wanted) or wanted is None:
        return
    raise NotAsRecorded(
        f"Result '{line.id}' ({line.kind}) holds maps of '{told}', and this video is of '{wanted}'. Name the subject, "
        "or go on with other=True (--other in the terminal)."
    )


def _missing(line: ResultInfo, rows: np.ndarray) -> np.ndarray:
    """Rows that a result holds nothing of."""
    held = np.zeros(int(rows.max()) + 1, bool)
    for start, stop in line.arguments.get("rows") or ():
        held[int(start) : int(stop)] = True
    missing: np.ndarray = rows[~held[rows]]
    return missing


def _is_of_these_rows(study: Study, line: ResultInfo) -> bool:
    """Whether the recording is as it was when this was found: the id says so."""
    return study.result_id(line.kind, line.recording, line.arguments, version=KINDS.get("lens").version) == line.id


def _whole(context: Context, line: ResultInfo) -> bool:
    """Whether it can be read; what is damaged is computed anew."""
    try:
        context.study.check_result(line.id)
    except (StoreError, FormatVersionError) as error:
        log.warning("The stored maps of '%s' are damaged and are computed anew. %s", line.kind, error)
        return False
    return True


def _said(rows: np.ndarray) -> str:
    shown = [f"{start} to {stop - 1}" if stop - start > 1 else str(start) for start, stop in row_ranges(rows)]
    return ", ".join(shown[:3]) + (", …" if len(shown) > 3 else "")


def as_video_map(given: Any) -> VideoMap:
    """A map as people give it: a method's name, a result, or what a VideoMap takes by name."""
    if isinstance(given, VideoMap):
        return given
    if isinstance(given, ResultInfo):
        return VideoMap(result=given.id)
    if isinstance(given, str):
        return VideoMap(method=given)
    if isinstance(given, Mapping):
        known = tuple(VideoMap.__dataclass_fields__)
        for name in given:
            if name not in known:
                raise UnknownName("field of a map", str(name), known)
        return VideoMap(**given)
    raise LensError(f"A map is a method's name, a result, or an iv.VideoMap, not {given!r:.60}.")


def as_video_maps(given: Sequence[Any]) -> tuple[VideoMap, ...]:
    """Each of them, or an error where there is none."""
    if isinstance(given, str):
        raise LensError(f"maps= takes several: maps=[{given!r}].")
    return tuple(as_video_map(each) for each in given)
