"""What a video of maps shows; importable without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from innerview.jobs.kinds import bounded, job_kind
from innerview.schema import Setting


@dataclass(frozen=True, kw_only=True)
class VideoMap:
    """One of the maps: a method and what it is asked, or a result that is stored."""

    method: str = ""
    """A method of attribution by name: "guided", "gradcam", "g2gradcam"."""
    parameters: Mapping[str, Setting] = field(default_factory=dict)
    """As its lens describes them, by name; the default of each where left out."""
    frame: int = 0
    """Of a stack: 0 is the newest frame, 1 the one before; -1 takes the strongest of all at each pixel."""
    input: str = ""
    """Which of the inputs the map is of; the first that is a picture where left out."""
    subject: str | None = None
    """Whose map it is; that of the whole video where left out."""
    result: str = ""
    """The id of a result, in place of a method."""


@job_kind("video", work="innerview.lenses.video.work:VideoWork", unit="rows", stored=True)
@dataclass(frozen=True, kw_only=True)
class VideoJob:
    """Draw what was seen, and maps of it side by side, as a video."""

    recording: str
    maps: tuple[VideoMap, ...]
    rows: tuple[tuple[int, int], ...] | None = None
    """(start, stop) of each range; all where left out."""
    array: str = ""
    """The pictures that stand first; those that the first map is of where left out."""
    format: Literal["mp4", "gif"] = "mp4"
    normalise: Literal["episode", "frame"] = "episode"
    """Full colour is the strongest pixel of all rows that are shown, or of each frame."""
    signs: Literal["blue and orange", "green and red"] = "blue and orange"
    """The colours of a sign: the workbench's, or those of papers, green for and red against."""
    gain: float = bounded(1.0, 1.0, 32.0)
    """How many times fainter heat has full colour."""
    opacity: float = bounded(0.5, 0.0, 1.0)
    """Of the picture below a map."""
    columns: int = bounded(0, 0, 16)
    """Panels side by side; as fits where 0."""
    scale: int = bounded(0, 0, 64)
    """Pixels that each pixel of the picture is drawn wide and high; as fits where 0."""
    frames_per_s: float = bounded(0.0, 0.0, 120.0)
    """As fast as it was played where 0."""
    subject: str | None = None
    """The live subject to use; the one that recorded where left out."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """The array that feeds an input, with steps where needed: "real.rgb | resize 64x64"."""
    other: bool = False
    """Go on where the subject is another than the one that recorded, or its weights changed since."""
