"""Which workspaces a study can feed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from innerview.schema import RecordingInfo


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """A place in the left rail; `missing` says what a study lacks, or nothing where it can feed it."""

    name: str
    title: str
    missing: Callable[[Sequence[RecordingInfo]], str]


def _lacks_recording(infos: Sequence[RecordingInfo]) -> str:
    return "" if infos else "needs a recording: make one with iv.record(…) or `innerview record`"


def _lacks_memory(infos: Sequence[RecordingInfo]) -> str:
    if any(array.role == "memory" for info in infos if info.ordering for array in info.arrays):
        return ""
    return "needs a subject with memory: record one whose state is carried from step to step"


def _lacks_pictures(infos: Sequence[RecordingInfo]) -> str:
    seen = [array for info in infos if info.ordering and info.subject for array in info.arrays]
    if any(array.role == "observation" and array.is_image for array in seen):
        return ""
    return "needs a subject that sees: record one that is given pictures"


WORKSPACES = (
    Workspace(name="episodes", title="Episodes", missing=_lacks_recording),
    Workspace(name="memory", title="Memory", missing=_lacks_memory),
    Workspace(name="vision", title="Vision", missing=_lacks_pictures),
)
