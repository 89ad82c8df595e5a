"""Sweeps and the smallest memory on a subject whose memory is known: elements 1 and 2 say the same, 4 decides alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.errors import EditError, NotAsRecorded, RequestError, UnknownName
from innerview.interventions.jobs import SmallestMemoryJob, SweepJob
from innerview.interventions.smallest_memory import SmallestMemoryWork, smallest_memory
from innerview.interventions.sweep import SweepWork, sweep
from innerview.jobs.context import Context
from innerview.jobs.engine import Cancelled
from innerview.jobs.runner import Jobs
from innerview.schema import SiteEdit
from innerview.testing.worlds import ContinuousWorld, CountingWorld
from tests.rollouts.players import recurrent

SIZE = 8


class Known(nn.Module):
    """Goes forward while (1 or 2) and 4 are set, which they are from the first step on; else turns."""

    def __init__(self) -> None:
        super().__init__()
        self.eye = nn.Conv2d(3, 1, 8)
        self.cell = nn.RNNCell(1, SIZE)
        self.deep = nn.Linear(SIZE, 2)
        self.policy = nn.Linear(2, 3)
        with torch.no_grad():
            for weight in self.parameters():
                weight.zero_()
            self.cell.bias_ih.copy_(torch.tensor([0.3, 9.0, 9.0, 0.4, 9.0, 0.2, 0.0, 0.1]))
            self.deep.weight[0, [1, 2]] = 8.0  # one of the two is enough: saturated below
            self.deep.weight[1, 4] = 8.0
            self.deep.bias.fill_(-4.0)
            self.policy.weight[2] = 20.0
            self.policy.bias.copy_(torch.tensor([30.0, 0.0, 0.0]))

    def forward(self, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        h = self.cell(self.eye(x).flatten(1), h)
        return self.policy(torch.sigmoid(self.deep(h))), h


@pytest.fixture(scope="module")
def known() -> iv.Subject:
    return iv.subject(Known(), name="known", example=torch.zeros(1, 3, 8, 8))


@pytest.fixture
def study(known: iv.Subject, tmp_path: Path) -> iv.Study:
    iv.record(tmp_path / "a.study", known, CountingWorld(), episodes=3, name="x", progress=False)
    return iv.Study.open(tmp_path / "a.study")


@pytest.mark.parametrize("by", ["decisions", "episodes"])
def test_the_element_that_decides_alone_comes_first(study: iv.Study, known: iv.Subject, by: str) -> None:
    found = sweep(study, "x", known, CountingWorld(), by=by, episodes=3, progress=False)
    ranked = found.value["ranked"]
    assert ranked[0]["elements"] == [4] and len(ranked) == SIZE
    assert ranked[0]["effect"] > 1 and all(abs(each["effect"]) < 0.1 for each in ranked[1:])
    effect = study.result_array(found.id, "effect")
    assert study.result_array(found.id, "elements")[effect.argmax()].tolist() == [4]
    assert by == "episodes" or ranked[0]["switched"] == 1


def test_a_pair_reports_what_neither_element_reports_alone(study: iv.Study, known: iv.Subject) -> None:
    found = sweep(study, "x", known, CountingWorld(), over="pairs", elements=[0, 1, 2, 3], progress=False)
    first, *rest = found.value["ranked"]
    assert first["elements"] == [1, 2] and first["together"] > 1
    assert max(first["alone"]) < 0.1 and all(each["effect"] < 0.1 for each in rest)


def test_freezing_and_setting_can_be_swept_too(study: iv.Study, known: iv.Subject) -> None:
    frozen = sweep(study, "x", known, CountingWorld(), op="freeze", progress=False).value["ranked"]
    assert frozen[0]["elements"] == [4], "frozen at the initial state it never gets set"
    at_one = sweep(study, "x", known, CountingWorld(), op="set", value=1.0, progress=False).value["ranked"]
    assert all(each["effect"] < 0.1 for each in at_one), "they are at 1 anyway"


def test_a_cancelled_sweep_goes_on(study: iv.Study, known: iv.Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("innerview.interventions.decisions.SIDE_BY_SIDE", 3)

    def cancelling(done: int, total: int | None, message: str = "") -> None:
        if done >= 6:
            raise Cancelled

    with pytest.raises(Cancelled):
        sweep(study, "x", known, CountingWorld(), progress=cancelling)
    again: list[int] = []
    sweep(study, "x", known, CountingWorld(), progress=lambda done, *_: again.append(done))
    assert again == [6, 8]


def test_the_smallest_memory_is_found_with_its_path_and_checked_on_fresh_seeds(
    study: iv.Study, known: iv.Subject
) -> None:
    found = smallest_memory(study, "x", known, CountingWorld(), measure="return", episodes=4, progress=False)
    value = found.value
    assert 4 in value["kept"] and len(value["kept"]) == 2 and set(value["kept"]) & {1, 2}
    assert value["fresh"]["ratio"]["mean"] == pytest.approx(1) and value["fresh"]["episodes"] == 4
    assert [step["kept"] for step in value["path"] if step["went_well"]][-1] == 2
    assert any(not step["went_well"] for step in value["path"]), "what was tried in vain is told too"
    assert len(value["reduction"]["edits"][0]["elements"]) == SIZE - 2
    assert not set(found.arguments["seeds"]) & set(found.arguments["fresh_seeds"])


def test_a_search_for_what_every_episode_keeps_anyway_ends_with_nothing(study: iv.Study, known: iv.Subject) -> None:
    value = smallest_memory(study, "x", known, CountingWorld(), measure="length", episodes=2, progress=False).value
    assert value["kept"] == [], "episodes last as long whatever it does"
    outcome = smallest_memory(study, "x", known, CountingWorld(), measure="outcome", episodes=2, progress=False).value
    assert outcome["kept"] == []


def test_a_cancelled_search_goes_on_where_it_was(study: iv.Study, known: iv.Subject) -> None:
    def cancelling(done: int, total: int | None, message: str = "") -> None:
        if done >= 3:
            raise Cancelled

    def ask(progress: Any) -> Any:
        return smallest_memory(study, "x", known, CountingWorld(), measure="return", episodes=3, progress=progress)

    with pytest.raises(Cancelled):
        ask(cancelling)
    (so_far,) = (study.result(line.id) for line in study.results("smallest_memory"))
    assert so_far.provisional and len(so_far.value["path"]) == 3
    found = ask(False)
    assert not found.provisional and found.id == so_far.id
    assert found.value["path"][:3] == so_far.value["path"]


def test_what_cannot_be_swept(study: iv.Study, known: iv.Subject, tmp_path: Path) -> None:
    world = CountingWorld()
    with pytest.raises(UnknownName, match="Did you mean 'pairs'"):
        sweep(study, "x", known, world, over="pair", progress=False)
    with pytest.raises(EditError, match="elements 0 to 7"):
        sweep(study, "x", known, world, elements=[8], progress=False)
    with pytest.raises(UnknownName, match=r"Unknown memory site 'gru'\. Known: cell/h"):
        sweep(study, "x", known, world, site="gru", progress=False)
    with pytest.raises(UnknownName, match="measure"):
        sweep(study, "x", known, world, by="episodes", measure="retrun", elements=[1], episodes=1, progress=False)
    with pytest.raises(NotAsRecorded, match="recorded by 'known', and this is 'tiny'"):
        sweep(study, "x", recurrent(), world, progress=False)
    with pytest.raises(RequestError, match=r"from 0\.001 to 1"):
        smallest_memory(study, "x", known, world, keep=1.5, progress=False)
    iv.record(study, known, world, episodes=1, name="edited", edits=SiteEdit(elements=(0,)), progress=False)
    with pytest.raises(EditError, match="recorded with edits"):
        sweep(study, "edited", known, world, progress=False)


class Steering(nn.Module):
    """A continuous action from a memory."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.mean = nn.GRUCell(2, 4), nn.Linear(4, 1)
        self.log_std = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        h = self.cell(x, h)
        return self.mean(h), h


def test_continuous_actions_are_swept_by_episodes(tmp_path: Path) -> None:
    subject = iv.subject(Steering(), example=torch.zeros(1, 2), heads={"0": "gaussian"})
    iv.record(tmp_path / "a.study", subject, ContinuousWorld(), episodes=1, name="x", progress=False)
    with pytest.raises(EditError, match="by episodes instead"):
        sweep(tmp_path / "a.study", "x", subject, ContinuousWorld(), progress=False)
    found = sweep(tmp_path / "a.study", "x", subject, ContinuousWorld(), by="episodes", episodes=1, progress=False)
    assert len(found.value["ranked"]) == 4


def test_jobs_of_the_page(study: iv.Study, known: iv.Subject) -> None:
    context, jobs = Context(study=study, subjects={"known": known}, worlds={"counting": CountingWorld()}), Jobs()
    for asked in (SweepJob(recording="x"), SmallestMemoryJob(recording="x", measure="return", episodes=2)):
        begun = jobs.start(asked, context)
        job = jobs.wait(begun.id, 60)
        assert job.result == begun.result, job.error
        assert study.result(job.result.result).kind == job.kind
    with pytest.raises(RequestError, match=r"keep is a number from 0\.001 to 1, not 1\.5"):
        jobs.start(SmallestMemoryJob(recording="x", keep=1.5), context)


def test_pairs_come_in_a_second_round_and_the_search_goes_on_where_it_was(study: iv.Study, known: iv.Subject) -> None:
    context = Context(study=study, subjects={"known": known}, worlds={"counting": CountingWorld()})
    work = SweepWork(SweepJob(recording="x", over="pairs", elements=(1, 2, 4)), context)
    (alone,) = work.parts([])
    assert list(alone) == [(1,), (2,), (4,)]
    found = work.run(alone, lambda *_, **__: None)
    (together,) = work.parts([found])
    assert list(together) == [(1, 2), (1, 4), (2, 4)]
    assert work.parts([found, work.run(together, lambda *_, **__: None)]) == []
    search = SmallestMemoryWork(SmallestMemoryJob(recording="x", measure="return", episodes=2), context)
    given: list[Any] = []
    while parts := search.parts(given):
        assert len(parts) == 1 and search.parts(given) == parts, "what was given says what is next"
        given.append(search.run(parts[0], lambda *_, **__: None))
    assert (
        search.merge(given).value
        == smallest_memory(study, "x", known, CountingWorld(), measure="return", episodes=2, progress=False).value
    )
