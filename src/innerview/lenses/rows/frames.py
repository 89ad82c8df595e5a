"""What a lens over what a subject was given reads: inputs and memory before, for any rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from innerview.errors import LensError
from innerview.lenses.rows.recorded import episodes
from innerview.schema import ArraySpec, Frames
from innerview.store import Recording
from innerview.subjects import Subject


def frames_of(subject: Subject, recording: Recording, start: int, stop: int) -> Frames:
    """Rows start to stop of a recording as the subject takes them, with the world's masks where it told them."""
    seen = {s.name: s.name.removeprefix("observation.") for s in recording.info.arrays if s.role == "observation"}
    if not seen:
        raise LensError(f"Recording '{recording.name}' keeps no observations to run a subject on.")
    mask = next((spec for spec in recording.info.arrays if spec.role == "mask"), None)

    def read(places: np.ndarray) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        rows = np.asarray(places) + start
        observed = {given: recording.array_rows(name, rows) for name, given in seen.items()}
        return subject.inputs(observed), memories_before(subject, recording, rows)

    return Frames(
        rows=stop - start,
        read=read,
        masks=_masks(recording, mask, start) if mask else None,
        classes=mask.elements if mask else (),
        groups=_groups(recording, start, stop),
        first=start,
        ends=_ends(subject, recording, seen),
    )


def _ends(subject: Subject, recording: Recording, seen: Mapping[str, str]) -> dict[str, tuple[Any, Any]]:
    """Black and white by name of the input, where every picture is recorded as bytes."""
    specs = [spec for spec in recording.info.arrays if spec.name in seen]
    pictures = {spec.name for spec in subject.info.inputs if spec.kind == "image"}
    if any(spec.is_image and spec.dtype != "uint8" for spec in specs):
        return {}
    black, white = (
        subject.inputs({seen[s.name]: np.full((1, *s.shape), end, s.dtype) for s in specs}) for end in (0, 255)
    )
    return {name: (black[name][0], white[name][0]) for name in pictures}


def memories_before(subject: Subject, recording: Recording, rows: np.ndarray) -> dict[str, torch.Tensor]:
    """What the subject remembered when it came to each of these rows."""
    fresh = subject.initial_memory(len(rows))
    ordering = recording.info.ordering
    if not fresh or ordering is None:
        return fresh
    low, high = int(rows.min()), int(rows.max()) + 1
    steps = recording.columns([ordering.time], low, high)[ordering.time].to_numpy()[rows - low]
    names = {spec.name for spec in recording.info.arrays if spec.role == "memory"}
    begun = torch.as_tensor(steps > 0)
    for site, state in fresh.items():
        before = recording.array_rows("memory" if "memory" in names else f"memory.{site}", np.maximum(rows - 1, 0))
        shown = begun.view(-1, *[1] * (state.ndim - 1)).to(state.device)
        fresh[site] = torch.where(shown, torch.from_numpy(np.array(before)).to(state), state)
    return fresh


def _groups(recording: Recording, start: int, stop: int) -> np.ndarray | None:
    found = episodes(recording, start, stop)
    return np.repeat(np.arange(len(found)), [last - first for first, last in found]) if found else None


def _masks(recording: Recording, spec: ArraySpec, start: int) -> Any:
    return lambda places: recording.array_rows(spec.name, np.asarray(places) + start)
