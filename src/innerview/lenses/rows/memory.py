"""What a subject was given at one recorded row, and what it remembered when it came to it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from innerview.edits import Editor
from innerview.errors import RequestError
from innerview.schema import MemoryEdit, from_json
from innerview.store import Recording
from innerview.subjects import Subject


def observations(recording: Recording, row: int) -> dict[str, np.ndarray]:
    """The row's observations by the world's names, with a batch axis."""
    specs = [spec for spec in recording.info.arrays if spec.role == "observation"]
    if not specs:
        raise RequestError(f"Recording '{recording.info.name}' keeps no observations to run a subject on.")
    return {s.name.removeprefix("observation."): recording.array(s.name, row, row + 1) for s in specs}


def as_edited(subject: Subject, recording: Recording, row: int, before: Mapping[str, torch.Tensor]) -> Subject:
    """The subject with its memory changed as it was in that row, where the recording was made with edits."""
    edits = [from_json(MemoryEdit, edit) for edit in recording.info.arguments.get("edits", ())]
    ordering = recording.info.ordering
    if not edits or ordering is None:
        return subject
    step = int(recording.columns([ordering.time], row, row + 1)[ordering.time][0])
    editor = Editor([edits], subject.info.memory, device=subject.device)
    return subject.with_change(editor.changing(before, [step], [0]))


def memory_before(subject: Subject, recording: Recording, row: int) -> dict[str, torch.Tensor]:
    """What the subject remembered when it came to this row: the state after the row before, or a fresh one."""
    fresh = subject.initial_memory(1)
    ordering = recording.info.ordering
    if not fresh or ordering is None:
        return fresh
    if int(recording.columns([ordering.time], row, row + 1)[ordering.time][0]) == 0:
        return fresh
    names = {spec.name for spec in recording.info.arrays if spec.role == "memory"}
    found = {site: "memory" if "memory" in names else f"memory.{site}" for site in fresh}
    return {
        site: torch.from_numpy(np.array(recording.array(name, row - 1, row))).to(fresh[site])
        for site, name in found.items()
    }
