"""The best filter is found where it is known, tested on other rows, and said to be useless where it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import innerview as iv
from innerview.errors import RequestError, UnknownName
from innerview.interventions.best_filter import BestFilterWork
from innerview.interventions.jobs import BestFilterJob
from innerview.jobs.context import Context
from innerview.jobs.engine import Cancelled
from innerview.jobs.work import run_job
from innerview.schema import parse_filters
from tests.paired import blind, painted, paired_study, poses


def test_what_was_dimmed_is_brightened_and_helps_on_the_rest(tmp_path: Path) -> None:
    study = paired_study(tmp_path)
    found = iv.best_filter(study, painted(), "pairs", ("brightness",), save="day", progress=False)
    value = found.value
    (step,) = parse_filters(value["filter"])
    assert step.values[0] == pytest.approx(2, abs=0.02)
    tested = value["tested"]
    assert (value["searched"]["rows"], tested["rows"]) == (6, 6)
    off = np.hypot(*poses()[6:, :2].T) / 2
    assert tested["before"]["value"] == pytest.approx(float(off.mean()), rel=1e-5)
    assert tested["after"]["value"] < 0.05
    assert tested["closed"]["value"] == pytest.approx(1, abs=0.02)
    assert value["sentence"].startswith("It helps. On the 6 rows it was not looked for on, the mean error goes down")
    assert [made.steps for made in study.filters()] == [value["filter"]]
    # By hand: predictions of the rest behind that filter.
    steps = iv.gap(study, painted(), "pairs", filters=(value["filter"],), rows=(6, 12), progress=False)
    by_hand = steps.value["models"][1]["place"]["mean"]["other"]["value"]
    assert tested["after"]["value"] == pytest.approx(by_hand, abs=1e-9)


def test_it_says_when_nothing_helps(tmp_path: Path) -> None:
    study = paired_study(tmp_path)
    value = iv.best_filter(study, blind(), "pairs", ("brightness", "blur"), save="none", progress=False).value
    assert value["filter"] == ""
    assert value["sentence"] == "No filter was better than none on the 6 rows it was looked for on."
    assert study.filters() == ()


def test_it_says_when_what_helped_does_not_help_on_the_rest(tmp_path: Path) -> None:
    study = paired_study(tmp_path, rows=24)
    # The first half is dimmed, the rest is as it was: what mends one harms the other.
    whole, again = study.recording("pairs"), iv.Study.create(tmp_path / "half.study")
    real = np.concatenate([whole.array("real.rgb", 0, 12), whole.array("sim.rgb", 12, 24)])
    arrays = {"sim.rgb": whole.array("sim.rgb", 0, 24), "real.rgb": real}
    columns = {name: whole.columns([name])[name].to_numpy() for name in ("x", "y", "angle")}
    iv.write_rows(again, "pairs", columns=columns, arrays=arrays, specs=[*whole.info.columns, *whole.info.arrays])
    value = iv.best_filter(again, painted(), "pairs", ("brightness",), save="overfitted", progress=False).value
    assert value["searched"]["after"] < value["searched"]["before"]
    assert value["sentence"].startswith("It does harm.")
    assert again.filters() == ()


def test_an_interrupted_search_goes_on_with_what_it_tried(tmp_path: Path) -> None:
    study = paired_study(tmp_path)
    job = BestFilterJob(recording="pairs", filters=("brightness",))
    context = Context(study=study, subjects={"painted": painted()})
    told: list[str] = []

    def stop(done: int, total: int | None, message: str = "") -> None:
        told.append(message)
        if len(told) == 10:
            raise Cancelled

    with pytest.raises(Cancelled):
        run_job(job, context, progress=stop)
    (begun,) = study.results("best_filter")
    assert begun.provisional
    assert len(BestFilterWork(job, context).left()) == 9
    resumed: list[str] = []
    found = run_job(job, context, progress=lambda done, total, message="": resumed.append(message))
    assert set(told[:9]).isdisjoint(set(resumed) - {"no filter", resumed[-1]})
    fresh = paired_study(tmp_path / "fresh")
    again = run_job(job, Context(study=fresh, subjects={"painted": painted()}), progress=False)
    assert found.value == again.value


def test_what_is_asked_wrongly_is_refused(tmp_path: Path) -> None:
    study = paired_study(tmp_path)
    with pytest.raises(UnknownName, match="filter 'brightnes'"):
        iv.best_filter(study, painted(), "pairs", ("brightnes",), progress=False)
    with pytest.raises(RequestError, match="no depth feeds an input"):
        iv.best_filter(study, painted(), "pairs", ("depth range",), progress=False)
    with pytest.raises(RequestError, match="each once"):
        iv.best_filter(study, painted(), "pairs", ("blur", "blur"), progress=False)
    with pytest.raises(RequestError, match=r"share is a number from 0\.05 to 0\.95, not 1"):
        iv.best_filter(study, painted(), "pairs", share=1, progress=False)
    with pytest.raises(RequestError, match="at least 2 are needed to search and to test"):
        iv.best_filter(study, painted(), "pairs", rows=(0, 3), progress=False)
