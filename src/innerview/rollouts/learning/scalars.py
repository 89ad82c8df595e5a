"""Figures of a snapshot as scalars for TensorBoard, while the training goes on."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from innerview.errors import LensError, NoRectifier, StoreError
from innerview.lenses.discovery import LoadedLens, all_lenses
from innerview.lenses.look import given_rows, run_lens
from innerview.lenses.rows.recorded import recorded_rows
from innerview.rollouts.jobs import LearningJob
from innerview.rollouts.learning.ages import load_snapshot
from innerview.rollouts.learning.curve import SCORE
from innerview.rollouts.learning.signal import health_figures, objects_in, spread_rows
from innerview.rollouts.learning.tensorboard import check_tensorboard
from innerview.saliency.learning.measures import measured
from innerview.schema import Heat, Rows
from innerview.store import Recording, Snapshot, Study
from innerview.subjects import Subject

_METHODS = ("guided", "gradient")
"""The first that has a meaning for the subject."""
_PREFIX = "innerview"


def write_scalars(
    study: Study, subject: Subject, taken: Snapshot, folder: Path, *, observations: str | None = None
) -> dict[str, float]:
    """Write health, and what maps say beside those of the snapshot before, at its step; and give it."""
    check_tensorboard()
    from torch.utils.tensorboard import SummaryWriter

    figures = scalars(study, subject, taken, observations)
    writer = SummaryWriter(str(folder / taken.run))
    try:
        for name, value in figures.items():
            writer.add_scalar(f"{_PREFIX}/{name}", value, taken.step)
    finally:
        writer.close()
    return figures


def scalars(study: Study, subject: Subject, taken: Snapshot, observations: str | None = None) -> dict[str, float]:
    """Figures of one snapshot by name, over the same observations every time."""
    earlier = [each for each in study.snapshots(taken.run) if each.step < taken.step]
    name = observations or next((each.recording for each in (*earlier, taken) if each.recording), "")
    if not name:
        raise StoreError(
            "There are no observations to make maps of. Give snapshots a world, so that the first one has a recording, "
            "or name one: observations='…'."
        )
    recording = study.recording(name)
    looking, rows, maps = _maps(study, recording, subject, _METHODS)
    before = maps
    if earlier:
        last = load_snapshot(study, taken.run, earlier[-1].step, like=subject)
        before = _maps(study, recording, last, (looking.lens.name,))[2]
    found = measured(_first(maps), _first(before), objects_in(rows, _first(maps)), signed=maps.signed)
    figures = {f"maps/{name}": float(np.nanmean(values)) for name, values in found.items() if np.isfinite(values).any()}
    agreement = figures.pop("maps/agreement", None)
    if earlier and agreement is not None:  # else with itself
        figures["maps/agreement with the snapshot before"] = agreement
    health = health_figures(rows, subject)
    figures |= {"health/units always 0, %": health["dead"], "health/gradient energy": health["gradient"]}
    figures["health/warnings"] = float(len(health["warnings"]))
    if SCORE in taken.facts:
        figures[SCORE] = float(taken.facts[SCORE])
    return figures


def _maps(
    study: Study, recording: Recording, subject: Subject, methods: tuple[str, ...]
) -> tuple[LoadedLens, Rows, Heat]:
    """The first method that has a meaning for the subject, the rows and their maps."""
    numbers = spread_rows(recording.rows, LearningJob(recording=recording.name, run=""))
    for name in methods:
        looking = all_lenses().get(name)
        rows = recorded_rows(study, recording, numbers, given_rows(looking.lens, recording, subject, {}))
        defaults = {parameter.name: parameter.default for parameter in looking.lens.parameters}
        try:
            output = run_lens(looking, rows, subject, defaults)
        except NoRectifier:
            continue
        assert isinstance(output, Heat)
        return looking, rows, output
    raise LensError(f"No map can be made of '{subject.info.name}' by {' or '.join(methods)}.")


def _first(maps: Heat) -> np.ndarray:
    return next(iter(maps.heat.values()))
