"""Whether a subject says of its own recording what was recorded: capture's drivers must agree about every step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from innerview.capture.predictions import site_array_name
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
    for name, was, now in _pairs(subject, recording, predicted):
        worst = float((np.abs(now - was) / np.maximum(np.abs(was), 1.0)).max())
        if not worst <= TOLERANCE:
            raise SubjectError(
                f"'{subject.info.name}' predicts another '{name}' over its own recording: they differ by {worst:.2g}."
            )
        compared.append(name)
    return tuple(compared)


def _pairs(
    subject: Subject, recording: Recording, predicted: Predictions
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """What was recorded and what is predicted, by its name in the recording."""
    rows, head = recording.rows, subject.acting_head
    arrays = {spec.name for spec in recording.info.arrays}
    if head is not None and head.kind == "policy":
        yield (
            "probabilities",
            recording.array("probabilities", 0, rows),
            predicted.array(f"probabilities.{head.name}", 0, rows),
        )
    if head is not None and "q" in arrays:
        yield "q", recording.array("q", 0, rows), predicted.array(f"head.{head.name}", 0, rows)
    columns = {column.name for column in recording.info.columns}
    for value in (each for each in subject.info.heads if each.kind == "value"):
        name = "value" if "value" in columns else f"value.{value.name}"
        yield (
            name,
            recording.columns([name])[name].to_numpy(),
            predicted.array(f"head.{value.name}", 0, rows).max(axis=1),
        )
    for site in subject.info.memory:
        array = subject.info.memory_arrays[site.name]
        yield array, recording.array(array, 0, rows), predicted.array(site_array_name(site.address), 0, rows)
