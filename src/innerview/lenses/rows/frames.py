"""What a lens over what a subject was given reads: inputs and memory before, for any rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from innerview.lenses.rows.inputs import RowInputs
from innerview.lenses.rows.recorded import episodes
from innerview.schema import ArraySpec, Frames
from innerview.store import Recording
from innerview.subjects import Subject


def frames_of(subject: Subject, recording: Recording, start: int, stop: int) -> Frames:
    """Rows start to stop of a recording as the subject takes them, with the world's masks where it told them."""
    given = RowInputs(subject, recording)
    mask = next((spec for spec in recording.info.arrays if spec.role == "mask"), None)

    def read(places: np.ndarray) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        return given.read(np.asarray(places) + start)

    return Frames(
        rows=stop - start,
        read=read,
        masks=_masks(recording, mask, start) if mask else None,
        classes=mask.elements if mask else (),
        groups=_groups(recording, start, stop),
        first=start,
        ends=given.extremes(),
    )


def _groups(recording: Recording, start: int, stop: int) -> np.ndarray | None:
    found = episodes(recording, start, stop)
    return np.repeat(np.arange(len(found)), [last - first for first, last in found]) if found else None


def _masks(recording: Recording, spec: ArraySpec, start: int) -> Any:
    return lambda places: recording.array_rows(spec.name, np.asarray(places) + start)
