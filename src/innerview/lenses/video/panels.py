"""What each panel of a video shows: pictures, and a map of one frame over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from innerview.errors import LensError, UnknownName
from innerview.lenses.methods import heat_methods
from innerview.lenses.video.job import VideoMap
from innerview.schema import ArraySpec, Parameter, Result
from innerview.store import Recording, Study, image_array, in_colour

CHUNK = 64


@dataclass(frozen=True)
class Pictures:
    """Pictures of a recording, of the newest frame or of one before it."""

    recording: Recording
    spec: ArraySpec
    back: int = 0
    """Frames before the newest."""
    stacked: int = 1
    """Frames that the subject was given of pictures of one frame each."""

    @property
    def frames(self) -> int:
        """How many a row has, or a subject sees in it."""
        return self.stacked if self.stacked > 1 else frames_in(self.spec)

    def read(self, rows: np.ndarray) -> np.ndarray:
        """uint8 [row, height, width, 3]."""
        if self.stacked > 1:
            rows = np.maximum(rows - self.back, self.recording.group_starts(rows))
        values = self.recording.array_rows(self.spec.name, rows)
        inside = frames_in(self.spec)
        if self.back and self.stacked == 1:
            each = values.shape[-1] // inside
            last = values.shape[-1] - self.back * each
            values = values[..., last - each : last] if each > 1 else values[..., last - 1]
            return np.stack([in_colour(value) for value in values])
        return np.stack([in_colour(self.spec.as_shown(value)) for value in values])


def frames_in(spec: ArraySpec) -> int:
    """How many frames are stacked in one row of pictures: 1 unless its channels are frames."""
    if len(spec.shape) != 3:
        return 1
    count, shown = spec.shape[2], spec.as_shown(np.empty(spec.shape, np.uint8))
    if shown.ndim == 2:
        return count
    names = tuple(name.lower() for name in spec.elements)
    return count // 3 if count % 3 == 0 and names == names[:3] * (count // 3) and names else 1


@dataclass(frozen=True)
class MapPanel:
    """A stored map over its picture."""

    study: Study
    result: Result
    input: str
    pictures: Pictures
    asked: VideoMap
    signed: bool
    unit: str
    title: str
    about: str
    """The target or head, the layer and the frame, in words."""
    rows: np.ndarray = field(repr=False)
    """Of the whole result, ascending."""

    def read(self, rows: np.ndarray) -> np.ndarray:
        """The map of each of these rows, ascending, [row, height, width]."""
        first, last = np.searchsorted(self.rows, (rows[0], rows[-1]))
        values = self.study.result_array(self.result.id, f"heat.{self.input}", int(first), int(last) + 1)
        some: np.ndarray = values[np.searchsorted(self.rows[first : last + 1], rows)]
        return strongest(some[:, self._channels(some.shape[1])])

    def inverted(self, rows: np.ndarray) -> np.ndarray:
        """Whether the map of each row speaks against its target nearly everywhere."""
        if "inverted" not in self.result.arrays:
            return np.zeros(len(rows), bool)
        return np.asarray(self.study.result_array(self.result.id, "inverted")[np.searchsorted(self.rows, rows)], bool)

    def strongest(self, rows: np.ndarray) -> float:
        """The size of the strongest pixel of these rows."""
        pieces = (rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK))
        return max((float(np.abs(self.read(piece)).max(initial=0.0)) for piece in pieces), default=0.0)

    def _channels(self, count: int) -> slice:
        steps = len(self.result.shown.get("steps") or ())
        frames = steps or (self.pictures.frames if count % self.pictures.frames == 0 else 1)
        if self.asked.frame < 0 or frames == 1:
            return slice(None)
        each, back = count // frames, self.asked.frame
        return slice(count - (back + 1) * each, count - back * each)


def strongest(values: np.ndarray) -> np.ndarray:
    """Of [row, channel, height, width] the value of the largest size at each pixel, with its sign."""
    largest = np.abs(values).argmax(axis=1)[:, None]
    found: np.ndarray = np.take_along_axis(values, largest, axis=1)[:, 0]
    return found


def map_panel(study: Study, recording: Recording, asked: VideoMap, id: str, *, whose: str) -> MapPanel:
    """The panel of a stored result; `whose` is the subject that need not be named."""
    result = study.result(id)
    name = _input(result, asked.input)
    channels = result.arrays[f"heat.{name}"].shape[1]
    spec = image_array(recording, (result.shown.get("arrays") or {}).get(name))
    steps = len(result.shown.get("steps") or ())
    stacked = steps or _stacked(result.arguments, name)
    frames = stacked if stacked > 1 else frames_in(spec)
    if asked.frame >= max(frames, 1):
        raise LensError(
            f"There is no frame {asked.frame} steps back in maps of '{result.kind}': "
            + (f"frames go from 0 to {frames - 1}." if frames > 1 else "each is of one picture.")
        )
    alike = frames > 1 and channels >= frames and channels % frames == 0
    pictures = Pictures(recording, spec, back=max(asked.frame, 0) if alike else 0, stacked=stacked)
    title, about = _words(result, whose, frame=asked.frame if alike else None)
    signed, unit = bool(result.shown.get("signed", True)), str(result.shown.get("unit", ""))
    rows = study.result_array(id, "rows")
    return MapPanel(study, result, name, pictures, asked, signed, unit, title, about, rows)


def _input(result: Result, wanted: str) -> str:
    """The input that is drawn: a picture."""
    known, vectors = result.shown["inputs"], result.shown.get("vectors") or ()
    if wanted and wanted not in known:
        raise UnknownName(f"input of the maps by '{result.kind}'", wanted, known)
    pictures = [name for name in ([wanted] if wanted else known) if name not in vectors]
    if not pictures:
        raise LensError(f"Result '{result.id}' ({result.kind}) is of vectors: there is no picture to draw it over.")
    return str(pictures[0])


def _stacked(arguments: Mapping[str, Any], name: str) -> int:
    """How many rows a subject was given together, by the binding of what was asked."""
    for item in (arguments.get("binding") or {}).get("inputs", ()):
        for step in item.get("steps", ()) if item.get("input") == name else ():
            if step.get("kind") == "stack":
                return int(step["values"][0])
    return 1


def _words(result: Result, whose: str, *, frame: int | None) -> tuple[str, str]:
    """The method's name, and what it was asked, as far as it is not as always."""
    given = dict(result.arguments.get("parameters") or {})
    named = [each for each in heat_methods().values() if each.looking.lens.name == result.kind]
    fitting = [each for each in named if each.settings and all(given.get(k) == v for k, v in each.settings.items())]
    method = (fitting or named)[0] if named else None
    title = method.name if method else result.kind
    known: Mapping[str, Parameter] = {each.name: each for each in method.looking.lens.parameters} if method else {}
    told = []
    for name, value in given.items():
        kind = known[name].type if name in known else ""
        if kind == "target":
            told.append("what it does" if value == "action" else str(value))
        elif kind == "layer":
            told.append(str((result.value or {}).get("layer") or value))
        elif method and value not in (method.usual.get(name), ""):
            told.append(f"{name} {value}")
    if frame is not None:
        told.append("strongest frame" if frame < 0 else "frame t" + (f"−{frame}" if frame else ""))
    subject = result.arguments.get("subject")
    if subject and subject != whose:
        told.append(f"by {subject}")
    if result.arguments.get("other"):
        told.append("not as recorded")
    return title, " · ".join(word for word in told if word)
