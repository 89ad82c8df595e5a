"""Whether a subject says of its own recording what was recorded: capture's drivers must agree about every step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from innerview.errors import SubjectError
from innerview.rollouts.predict import predict
from innerview.rollouts.record import record
from innerview.store import Predictions, Recording, Study
from innerview.subjects import Subject

TOLERANCE = 1e-6


def check_predictions(study: Study, subject: Subject, world: Any, *, episodes: int = 3) -> tuple[str, ...]:
    """Record a subject and predict over the recording; what was compared, or an error where the two differ.

    Probabilities, values, Q values and memory must be the same to 1e-6, relative to their size where that is above 1.
    """
    recording = record(study, subject, world, episodes=episodes, name="predicted again", progress=False)
    sites = [site.address for site in subject.info.memory]
    predicted = predict(study, subject, recording.name, keep=sites, progress=False)
    compared = []
    for name, was, now in _pairs(recording, predicted):
        worst = float((np.abs(now - was) / np.maximum(np.abs(was), 1.0)).max())
        if not worst <= TOLERANCE:
            raise SubjectError(
                f"'{subject.info.name}' predicts another '{name}' over its own recording: they differ by {worst:.2g}."
            )
        compared.append(name)
    return tuple(compared)


def _pairs(recording: Recording, predicted: Predictions) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """What was recorded and what is predicted under the same name."""
    rows = recording.rows
    arrays = {spec.name for spec in recording.info.arrays}
    for name in (spec.name for spec in predicted.info.arrays if spec.name in arrays):
        yield name, recording.array(name, 0, rows), predicted.array(name, 0, rows)
    columns = {column.name for column in recording.info.columns if column.type == "float"}
    for name in (column.name for column in predicted.info.columns if column.name in columns):
        yield name, recording.columns([name])[name].to_numpy(), predicted.columns([name])[name].to_numpy()
