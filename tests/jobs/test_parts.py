"""The work of every kind of job can be run part by part, by whoever makes it again from the job: parts are data."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import innerview as iv
from innerview.interventions import ablation_test, reductions, sweep
from innerview.interventions.jobs import AblationTestJob, SmallestMemoryJob, SweepJob, TableJob
from innerview.jobs import Context, Jobs, PartedWork, Report, Work, run_job
from innerview.jobs.work import prepare
from innerview.lenses import look
from innerview.lenses.job import LensJob
from innerview.rollouts.jobs import LearningJob, PredictJob, RecordJob, RerunJob, WhatIfJob
from innerview.schema import EditSet, Move, SiteEdit, unwatched
from innerview.store import Recording
from innerview.testing.crossing import Crossing, walker
from innerview.testing.crossing_study import crossing_study
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent

HALF = EditSet(name="half", edits=(SiteEdit(elements=(0, 1, 2)),))
MOVES = (Move(do="act", action=1), Move(do="agent"))
JOBS: dict[str, tuple[Any, int]] = {
    "record": (RecordJob(like="x", episodes=2, seed=7, recording="y"), 1),
    "rerun": (RerunJob(recording="x", reduction=HALF), 1),
    "predict": (PredictJob(recording="x"), 1),
    "what_if": (WhatIfJob(recording="x", row=3, moves=MOVES, name="y"), 1),
    "table": (TableJob(recording="x", reductions=(HALF,), episodes=5), 3),
    "single": (SweepJob(recording="x"), 3),
    "pairs": (SweepJob(recording="x", over="pairs", elements=(0, 2, 5)), 4),
    "by episodes": (SweepJob(recording="x", by="episodes", episodes=2), 3),
    "smallest_memory": (SmallestMemoryJob(recording="x", keep=0.5, episodes=2, rows=30), 4),
    "lens over single rows": (LensJob(recording="x", lens="gradient"), 4),
    "lens over all rows": (LensJob(recording="x", lens="pca"), 1),
    "learning": (LearningJob(recording="x", run="training", lens="gradient", count=8), 3),
    "ablation_test": (AblationTestJob(edited="no red", levels=7, seed=0, invisible="red"), 3),
}


def here(study: iv.Study) -> Context:
    """A context as a process has it that loaded the same subjects and worlds."""
    subjects = {"tiny": recurrent(), "walker": walker()}
    return Context(study=study, subjects=subjects, worlds={"counting": CountingWorld(), "crossing": Crossing()})


class Elsewhere:
    """An engine whose parts of one round are run last first, each by work of its own; all that travels is pickled."""

    def __init__(self, study: iv.Study) -> None:
        self.study, self.ran = study, 0

    def submit(self, work: PartedWork, report: Report) -> None:
        assert isinstance(work, Work) and report.started()
        given: list[Any] = []
        while parts := work.parts(given):
            asked = [pickle.dumps((work.job, part)) for part in parts]
            given += [pickle.loads(found) for found in reversed([self.run(each) for each in reversed(asked)])]
        report.finished(work.finish(given))

    def run(self, asked: bytes) -> bytes:
        job, part = pickle.loads(asked)
        self.ran += 1
        return pickle.dumps(prepare(job, here(iv.Study.open(self.study.path))).run(part, unwatched))

    def close(self) -> None: ...


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("studies") / "a.study"
    study = crossing_study(path)
    iv.record(path, recurrent(), CountingWorld(), episodes=2, name="x", progress=False)
    for step in range(3):
        weights = {name: value + 0.1 * step for name, value in recurrent().module.state_dict().items()}
        iv.snapshot(path, recurrent().copied(weights, name="tiny"), step=step)
    (found,) = (study.result(line.id) for line in study.results("factors"))
    iv.ablate(study, walker(), found, factors=[0], name="no red")
    return path


@pytest.mark.parametrize("name", JOBS)
def test_parts_that_are_run_elsewhere_give_the_same(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for module, what, size in (
        (reductions, "SEEDS_A_PART", 2),
        (sweep, "GROUPS_A_PART", 2),
        (ablation_test, "LEVELS_A_PART", 3),
        (look, "ROWS_A_PART", 12),
    ):
        monkeypatch.setattr(module, what, size)
    job, parts = JOBS[name]
    one, other = (iv.Study.open(shutil.copytree(saved, tmp_path / each)) for each in ("one", "other"))
    run_job(job, here(one), progress=False)
    engine = Elsewhere(other)
    made = Jobs(engine).start(job, here(other))
    assert made.state == "done" and engine.ran >= parts
    product = made.result
    if product.result:
        assert told(one, product.result) == told(other, product.result)
    elif product.recording:
        same_rows(one.recording(product.recording), other.recording(product.recording))
    else:
        same_rows(one.prediction(product.predictions), other.prediction(product.predictions))


def told(study: iv.Study, id: str) -> tuple[Any, Sequence[bytes]]:
    """Everything that a result says."""
    result = study.result(id)
    assert not result.provisional
    return result.value, [np.ascontiguousarray(study.result_array(id, name)).tobytes() for name in result.arrays]


def same_rows(one: Recording, other: Recording) -> None:
    assert one.complete and other.complete and one.columns().equals(other.columns(), null_equal=True)
    for spec in one.info.arrays:
        assert np.array_equal(one.array(spec.name, 0, one.rows), other.array(spec.name, 0, other.rows)), spec.name
