"""Brings snapshots of a training into a study that were saved elsewhere: a folder of files of weights."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from innerview.errors import StoreError, SubjectError
from innerview.jobs.engine import Progress
from innerview.jobs.terminal import bar
from innerview.rollouts.learning.curve import SCORE, Curve, checked_curve, read_curve
from innerview.store import Snapshot, Study
from innerview.subjects import Subject, first_difference, read_weights

_FILES = (".safetensors", ".pt", ".pth")
_STEP = re.compile(r"(\d+)$")
CURVE = "curve.csv"


def import_snapshots(
    study: Study | str | Path,
    folder: str | Path,
    like: Subject,
    *,
    run: str | None = None,
    curve: str | Path | Sequence[tuple[float, float]] | None = None,
    progress: Progress | bool = True,
) -> list[Snapshot]:
    """Save every file of weights in a folder whose name ends in its step, `step-250000.safetensors`, as a snapshot.

    `like` is a subject built the same way. The scores of a `curve` (a CSV file or (step, score); the folder's own
    curve.csv where there is one) are kept with the snapshots.
    """
    opened = study if isinstance(study, Study) else Study.open_or_create(study)
    source, run = Path(folder), run or Path(folder).resolve().name
    files = snapshot_files(source)
    points = _curve_of(source, curve)
    made = []
    with bar(progress, f"Import snapshots of {run}", "snapshots") as report:
        for done, (step, path) in enumerate(files):
            report(done, len(files), path.name)
            weights = read_weights(path)
            if other := first_difference(like.module, weights):
                raise SubjectError(
                    f"'{path.name}' is of another architecture than '{like.info.name}': {other}. Say with which model "
                    "it was made, trained or not."
                )
            facts = {SCORE: float(np.interp(step, *np.array(points).T))} if points and step <= points[-1][0] else {}
            taken = Snapshot(run=run, step=step, facts=facts)
            opened.save_snapshot(taken, weights)
            made.append(taken)
    return made


def snapshot_files(folder: Path) -> list[tuple[int, Path]]:
    """Files of weights whose names end in a step, by step; an error where there are none, or two of one step."""
    if not folder.is_dir():
        raise StoreError(f"There is no folder {folder}.")
    found: dict[int, Path] = {}
    for path in sorted(folder.iterdir()):
        step = _STEP.search(path.stem)
        if path.suffix not in _FILES or step is None:
            continue
        number = int(step[1])
        if number in found:
            raise StoreError(f"'{found[number].name}' and '{path.name}' are both of step {number:,}.")
        found[number] = path
    if not found:
        raise StoreError(
            f"There are no snapshots in {folder}: files of weights ({', '.join(_FILES)}) whose names end in the step, "
            "as in step-250000.safetensors."
        )
    return sorted(found.items())


def _curve_of(folder: Path, given: str | Path | Sequence[tuple[float, float]] | None) -> Curve:
    if given is None:
        return read_curve(folder / CURVE) if (folder / CURVE).is_file() else ()
    return read_curve(Path(given)) if isinstance(given, str | Path) else checked_curve(given)
