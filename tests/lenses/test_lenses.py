"""Every lens there is, alone and as a job over a recording."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import innerview as iv
from innerview.errors import LensError, NotAsRecorded, RequestError, UnknownName
from innerview.jobs.context import Context
from innerview.jobs.engine import Cancelled, perform
from innerview.jobs.runner import Jobs
from innerview.jobs.work import Work, prepare
from innerview.lenses.discovery import LoadedLens, all_lenses
from innerview.lenses.job import LensJob
from innerview.lenses.look import LensWork, look, run_lens
from innerview.schema import Axis, Lens, Parameter, PerRow, Rows, Table, Watch, unwatched
from innerview.store import Study
from innerview.testing.lenses import check_lens
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent

WAIT_S = 120


@pytest.mark.parametrize("looking", [looking for _, looking in all_lenses()], ids=lambda looking: looking.lens.name)
def test_every_lens_keeps_what_lenses_promise(looking: LoadedLens) -> None:
    check_lens(looking)


def test_a_lens_that_breaks_its_promises_is_reported() -> None:
    good = Lens(name="odd", question="Is it odd?", paper="nobody", yields="table", needs=("memory",))

    def works(rows: Any, subject: Any = None, *, max_rows: int = 3, watch: Any = None) -> Table:
        return Table(columns=(Axis(name="odd"),), lines=[[1]])

    def broken(lens: Lens, look: Any) -> str:
        with pytest.raises(LensError) as problem:
            check_lens(LoadedLens(lens, look))
        return str(problem.value)

    assert "question mark" in broken(Lens(name="odd", question="Odd"), works)
    max_rows = Parameter(name="max_rows", type="int", default=4, description="How many.")
    assert "says 4 for 'max_rows', does 3" in broken(replace(good, parameters=(max_rows,)), works)
    assert "cannot be cancelled" in broken(good, works)
    assert "yields 'chart', and gave 'table'" in broken(replace(good, yields="chart"), works)
    nan = Table(columns=(Axis(name="odd"),), lines=[], value=float("nan"))
    assert "not JSON" in broken(good, lambda rows, subject, **_: nan)
    uneven = Table(columns=(Axis(name="odd"),), lines=[[1, 2]])
    assert "2 cells; it has 1 titles" in broken(good, lambda rows, subject, **_: uneven)
    assert "`rows` and `subject`" in broken(good, lambda rows, **_: nan)


def first_memory(rows: Any) -> Any:
    """The only memory there is, or so its author thinks."""
    (states,) = rows.memory.values()
    return states


def as_a_layer(rows: Any, subject: Any) -> Any:
    """The memory as a layer puts it out, or so its author thinks."""
    return rows.activations(subject.info.memory[0].layer, np.arange(rows.count))


@pytest.mark.parametrize(
    ("needs", "read", "wrong_on"),
    [
        (("memory",), lambda rows, subject: first_memory(rows), "lstm"),
        (("memory", "subject"), as_a_layer, "declared memory of numbers"),
        (("memory", "subject"), lambda rows, subject: subject.module.core.weight_hh, "lstm of numbers"),
    ],
)
def test_a_lens_that_is_wrong_on_one_kind_of_memory_is_reported(needs: Any, read: Any, wrong_on: str) -> None:
    def look(rows: Any, subject: Any = None, *, watch: Any) -> Table:
        watch(0, 1)
        read(rows, subject)
        return Table(columns=(), lines=[])

    lens = Lens(name="narrow", question="What is in there?", paper="nobody", yields="table", needs=needs)
    with pytest.raises(LensError, match=f"On the subject '{wrong_on}'"):
        check_lens(LoadedLens(lens, look))


def test_a_lens_of_memories_is_run_on_every_kind_of_them() -> None:
    assert set(check_lens("pca")) == {
        "planted memory",
        "lstm",
        "lstm of numbers",
        "gru of numbers",
        "rnn cell of numbers",
        "stacked lstm of numbers",
        "gru inside, time first of numbers",
        "lstm cell with two arguments of numbers",
        "lstm cell with a dict of states of numbers",
        "gru cell with its state as an attribute of numbers",
        "gru cell with a learned start of numbers",
        "declared memory of numbers",
    }


def test_what_is_left_on_a_model_is_reported() -> None:
    lens = Lens(name="sticky", question="What sticks?", paper="nobody", yields="table", needs=("subject",))

    def look(rows: Any, subject: Any, *, watch: Any) -> Table:
        watch(0, 1)
        subject.module.register_forward_hook(lambda *_: None)
        return Table(columns=(), lines=[])

    with pytest.raises(LensError, match="leaves something behind on the subject 'lstm'"):
        check_lens(LoadedLens(lens, look))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    path = tmp_path_factory.mktemp("lenses") / "a.study"
    iv.record(path, recurrent(), CountingWorld(), episodes=10, name="x", progress=False)
    return Study.open(path)


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    jobs = Jobs()
    yield jobs
    jobs.close()


def ask(study: Study, lens: str, recording: str, subjects: Mapping[str, iv.Subject] | None = None, **more: Any) -> Work:
    return prepare(LensJob(lens=lens, recording=recording, **more), Context(study=study, subjects=subjects or {}))


OF_PAIRS = {"domains", "pose", "depth"}
"""Lenses with such needs are run on paired recordings, by tests of their own."""
OF_MANY_ROWS = [n for n, one in all_lenses() if one.lens.over != "row" and not one.lens.settings]


@pytest.mark.parametrize("name", [n for n in OF_MANY_ROWS if not OF_PAIRS & set(all_lenses().get(n).lens.needs)])
def test_every_lens_runs_as_a_job_on_a_recording(study: Study, jobs: Jobs, name: str) -> None:
    frames = name in ("factors", "visualise")
    asked = LensJob(lens=name, recording="x", parameters={"count": 2} if frames else {})
    begun = jobs.start(asked, Context(study=study, subjects={"tiny": recurrent()}))
    job = jobs.wait(begun.id, WAIT_S)
    assert job.state == "done", job.error
    assert begun.title == f"{name} of x" and job.result == begun.result
    result = study.result(job.result.result)
    assert (result.kind, result.recording, result.provisional) == (name, "x", False)
    assert "memory" not in all_lenses().get(name).lens.needs or result.value["array"] == "memory"
    assert result.type == all_lenses().get(name).lens.yields


def test_a_lens_over_single_rows_runs_over_any_selection(study: Study) -> None:
    chosen = np.array([3, 4, 9, 70])
    made = look(study, "gradient", "x", rows=chosen, subject=recurrent(), target="value", progress=False)
    heat = study.result_array(made.id, "heat.x")
    assert study.result_array(made.id, "rows").tolist() == chosen.tolist() and heat.shape == (4, 3, 8, 8)
    assert made.arguments["rows"] == [[3, 5], [9, 10], [70, 71]]
    alone = look(study, "gradient", "x", rows=(9, 10), subject=recurrent(), target="value", progress=False)
    assert np.allclose(study.result_array(alone.id, "heat.x")[0], heat[2], atol=1e-6)
    assert np.array_equal(study.result_array(made.id, "heat.x", 2, 3), heat[2:3]), "one row is read alone"


def test_influence_of_an_episode_goes_on_from_its_own_memory(study: Study) -> None:
    """The middle of an episode alone says the same as the whole episode says there."""
    recording = study.recording("x")
    start, stop = recording.group_rows(3)
    whole = look(study, "influence", rows=(start, stop), subject=recurrent(), lags=3, progress=False)
    part = look(study, "influence", rows=(start + 8, stop), subject=recurrent(), lags=3, progress=False)
    assert whole.value["rows"] == [start, stop]
    all_of_it, later = (study.result_array(made.id, "influence") for made in (whole, part))
    assert np.allclose(all_of_it[8 + 3 :], later[3:], atol=1e-5)
    assert np.allclose(all_of_it[8, 0], later[0, 0], atol=1e-5) and not later[0, 1:].any()


def test_a_lens_that_needs_a_model_says_so(study: Study) -> None:
    with pytest.raises(LensError, match=r"no model is loaded.*subject=….*--subject zoo:NAME"):
        ask(study, "influence", "x")
    with pytest.raises(UnknownName, match="live subject"):
        ask(study, "influence", "x", subject="other", subjects={"tiny": recurrent()})
    with pytest.raises(LensError, match="reach over 10 episodes"):
        ask(study, "influence", "x", rows=((0, study.recording("x").rows),), subjects={"tiny": recurrent()})
    changed = recurrent()
    with torch.no_grad():
        changed.module.value.bias.add_(1)  # type: ignore[union-attr, operator]
    for named in (None, "tiny"):
        with pytest.raises(NotAsRecorded, match="weights of 'tiny' changed"):
            ask(study, "influence", "x", subject=named, subjects={"tiny": changed})
    work = ask(study, "influence", "x", other=True, subjects={"tiny": changed})
    assert isinstance(work, LensWork) and work.identity["identity"] == changed.identity()
    assert work.identity["other"] == ["The weights of 'tiny' changed since this was recorded."]


def test_what_is_asked_must_fit_the_recording(study: Study) -> None:
    for rows in ([0], "all", [5, 5], [-1, 4], [0, 10**9], [0.0, 3.0], [True, 3]):
        with pytest.raises(RequestError, match="start, stop"):
            look(study, "pca", "x", rows=rows)  # type: ignore[arg-type]
    study_without = Study.open(study.path)
    iv.write_rows(study_without, "plain", columns={"x_m": [1.0, 2.0]})
    with pytest.raises(LensError, match="has no memory"):
        ask(study, "flags", "plain")


def test_the_same_question_is_answered_once_and_metrics_are_part_of_it(study: Study) -> None:
    first = look(study, "strategy", "x", progress=False)
    again = look(study, "strategy", "x", seed=0, progress=False)
    assert first.id == again.id and first.created_at == again.created_at
    anew = look(study, "strategy", "x", again=True, progress=False)
    assert anew.id == first.id and anew.created_at > first.created_at and anew.value == first.value
    assert look(study, "strategy", "x", seed=1, progress=False).id != first.id


def test_a_cancelled_layout_leaves_its_last_state_and_can_be_begun_again(study: Study, jobs: Jobs) -> None:
    context, asked = Context(study=study), LensJob(lens="tsne", recording="x", parameters={"iterations": 5000})
    reached = threading.Event()
    stop = jobs.watch(lambda job: reached.set() if job.done >= 50 else None)
    job = jobs.start(asked, context)
    promised = job.result.result
    assert promised, "known before it ends, so that it can be drawn"
    assert reached.wait(WAIT_S)
    jobs.cancel(job.id)
    assert jobs.wait(job.id, WAIT_S).state == "cancelled"
    stop()
    left = study.result(promised)
    assert left.provisional and left.value["provisional"]
    places = study.result_array(left.id, "places")
    assert places.shape == (study.recording("x").rows, 2) and np.isfinite(places).all()
    with pytest.raises(Cancelled):
        perform(prepare(asked, context), _never)
    assert study.result(left.id).provisional, "a provisional result is no answer"


def _never(done: int, total: int | None, message: str = "") -> None:
    raise Cancelled


def test_facts_of_lenses_hold_derived_and_episode_columns(study: Study) -> None:
    made = look(study, "flags", "x", progress=False, swaps=100)
    told = {fact["column"]: fact["kind"] for fact in made.value["facts"]}
    assert told["picked_up"] == "so far" and told["outcome"] == "word" and told["angle to coin"] == "threshold"


def row_lens(yields: str = "per row") -> LoadedLens:
    lens = Lens(name="parts", question="?", yields=yields, over="row")  # type: ignore[arg-type]

    def look(rows: Rows, subject: object, *, how: str = "", watch: Watch = unwatched) -> PerRow:
        values = rows.numbers[:, None].astype(np.float32)
        beside = {"same": np.zeros(3)} if how == "fixed" else {"twice": 2.0 * rows.numbers}
        said = {"first": int(rows.numbers[0])} if how == "depends" else {}
        return PerRow(values=values, rows=rows.numbers, columns=(Axis(name="n"),), value=said, arrays=beside)

    return LoadedLens(lens, look)


def test_what_a_lens_over_single_rows_says_beside_them_is_joined_or_refused() -> None:
    rows = Rows(numbers=np.arange(200))
    found = run_lens(row_lens(), rows, None, {})
    assert isinstance(found, PerRow) and found.arrays["twice"].tolist() == list(range(0, 400, 2))
    for how in ("depends", "fixed"):
        with pytest.raises(LensError, match="the same whichever rows it is given"):
            run_lens(row_lens(), rows, None, {"how": how})


def test_a_lens_is_described_with_what_there_is() -> None:
    with pytest.raises(LensError, match="looks at single rows and yields 'gallery'"):
        row_lens("gallery")
    with pytest.raises(UnknownName, match="Did you mean 'masks'"):
        Lens(name="x", question="?", needs=("mask",))  # type: ignore[arg-type]
