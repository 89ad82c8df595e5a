"""What a live page may ask of subjects that are in memory: run one row again, or look at it through a lens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from innerview.capture.step import fewer_threads
from innerview.errors import RequestError, UnknownName
from innerview.jobs.context import Context
from innerview.jobs.recorded import check_recorded
from innerview.lenses.discovery import all_lenses
from innerview.lenses.look import complete_parameters, given_rows, look_at, shown_of
from innerview.lenses.needs import check_needs
from innerview.lenses.rows.inputs import RowInputs
from innerview.lenses.rows.recorded import recorded_rows
from innerview.rollouts.calls import ForwardCall, LensCall
from innerview.schema import Heat
from innerview.store import Recording
from innerview.subjects import Subject

_RUNNING: set[object] = set()
"""Calls that run a subject now."""


def forward(context: Context, call: ForwardCall) -> dict[str, Any]:
    """Every head's output for a recorded row."""
    recording, subject, other = _row(context, call)
    with _sharing_threads():
        heads = RowInputs(subject, recording, call.inputs, differs=other).run(np.array([call.row])).heads
    return {"heads": {name: value[0].tolist() for name, value in heads.items()}, "other": list(other)}


def lens(context: Context, call: LensCall) -> tuple[dict[str, Any], np.ndarray]:
    """A lens on a recorded row, by the function that also runs as a job.

    Raw heat [channel, height, width] of an input, or the row's values.
    """
    looking = all_lenses().get(call.lens)
    if looking.lens.over != "row":
        raise RequestError(f"'{looking.lens.name}' looks at many rows together; run it as a job.")
    recording, subject, other = _row(context, call)
    check_needs(looking.lens, recording.info, subject.info)
    parameters = complete_parameters(context.study, looking, recording, call.parameters)
    given = given_rows(looking.lens, recording, subject, call.inputs, differs=other)
    rows = recorded_rows(context.study, recording, np.array([call.row]), given)
    with _sharing_threads():
        output = look_at(looking, rows, given, parameters)
    said = {"lens": looking.lens.name, "subject": subject.info.name, "type": output.type, "other": list(other)}
    said |= shown_of(output, given)
    if isinstance(output, Heat):
        name = call.input or next(iter(output.heat))
        if name not in output.heat:
            raise UnknownName("input", name, output.heat)
        beside = {title: values[0].tolist() for title, values in output.arrays.items() if values.ndim < 3}
        return {**said, "input": name, "beside": beside}, np.asarray(output.heat[name][0], np.float32)
    return said, np.asarray(output.stored()["values"][0])


def _row(context: Context, call: ForwardCall) -> tuple[Recording, Subject, tuple[str, ...]]:
    """The recording, which has that row, the subject, and how it differs from the one that recorded."""
    recording, row = context.recording(call.recording), call.row
    if not 0 <= row < recording.rows:
        raise RequestError(f"row is a whole number from 0 to {recording.rows - 1}, not {row}.")
    subject = context.subject(call.subject, recording)
    return recording, subject, check_recorded(recording, subject=subject, other=call.other)


@contextmanager
def _sharing_threads() -> Iterator[None]:
    """Calls that run at the same time share torch's threads."""
    own = object()
    _RUNNING.add(own)
    try:
        with fewer_threads(len(_RUNNING)):
            yield
    finally:
        _RUNNING.discard(own)
