"""The table of reductions: played once, side by side, over the same seeds, and told with its doubts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.errors import EditError, RequestError, UnknownName
from innerview.interventions import reductions
from innerview.interventions.jobs import TableJob
from innerview.interventions.reductions import FULL, Table, keep_by, nothing_left, reduce_table
from innerview.jobs.context import Context
from innerview.jobs.engine import Cancelled, perform
from innerview.jobs.runner import Jobs
from innerview.jobs.work import Product, prepare
from innerview.rollouts import episodes
from innerview.rollouts.jobs import RerunJob
from innerview.rollouts.live import ForwardCall, forward
from innerview.rollouts.rerun import pairs_of
from innerview.schema import EditSet, SiteEdit
from innerview.testing.worlds import CountingWorld, episode_length
from tests.rollouts.players import recurrent
from tests.rollouts.test_rerun import DriftingWorld

HALF = EditSet(name="half", edits=(SiteEdit(elements=(0, 1, 2)),))
LATE = EditSet(name="late", edits=(SiteEdit(elements=(1, 4), op="freeze", start=3),))


class Walker(nn.Module):
    """Goes forward as long as element 1 of its memory is set, which it is from the first step on; else turns left."""

    def __init__(self) -> None:
        super().__init__()
        self.eye = nn.Conv2d(3, 1, 8)
        self.cell = nn.RNNCell(1, 4)
        self.policy = nn.Linear(4, 3)
        with torch.no_grad():
            for weight in self.parameters():
                weight.zero_()
            self.cell.bias_ih.copy_(torch.tensor([0.1, 2.0, 0.5, 0.0]))
            self.policy.weight[2, 1] = 50.0
            self.policy.bias.copy_(torch.tensor([20.0, 0.0, 0.0]))

    def forward(self, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        h = self.cell(self.eye(x).flatten(1), h)
        return self.policy(h), h


@pytest.fixture(scope="module")
def walker() -> iv.Subject:
    return iv.subject(Walker(), name="walker", example=torch.zeros(1, 3, 8, 8))


@pytest.fixture
def study(walker: iv.Subject, tmp_path: Path) -> iv.Study:
    iv.record(tmp_path / "a.study", walker, CountingWorld(), episodes=3, name="x", progress=False)
    return iv.Study.open(tmp_path / "a.study")


def without(*elements: int) -> EditSet:
    return EditSet(name=f"without {elements}", edits=(SiteEdit(elements=elements),))


def test_the_table_says_what_must_happen(study: iv.Study, walker: iv.Subject) -> None:
    found = reduce_table(study, "x", [without(0), without(1)], walker, CountingWorld(), episodes=6, progress=False)
    full, kept, lost = found.value["rows"]
    seeds = found.value["seeds"]
    assert seeds == [3, 4, 5, 6, 7, 8], "none of the episodes that were recorded"
    lengths = [episode_length(seed) for seed in seeds]
    for row in (full, kept, lost):
        assert row["measures"]["length"]["mean"] == pytest.approx(np.mean(lengths))
        assert row["measures"]["picked_up"]["mean"] == pytest.approx(np.mean([n // 5 for n in lengths]))
        assert row["measures"]["mean health"]["mean"] == pytest.approx(np.mean([100 - (n - 1) / 2 for n in lengths]))
        assert row["outcomes"]["died"]["count"] == 3
    assert full["measures"]["return"]["mean"] == pytest.approx(np.mean(lengths)), "it always goes forward"
    assert kept["measures"]["return"]["ratio"]["mean"] == pytest.approx(1)
    assert lost["measures"]["return"]["mean"] == 0 and lost["measures"]["return"]["ratio"]["mean"] == 0
    assert lost["measures"]["return"]["difference"]["mean"] == pytest.approx(-np.mean(lengths))
    assert (full["kept"], kept["kept"], found.value["elements"]) == (4, 3, 4)
    assert found.value["repeats"] and found.value["chosen_on"]["seeds_in_both"] == []


def test_keeping_the_most_active_half(study: iv.Study, walker: iv.Subject) -> None:
    site = walker.info.memory[0]
    half = keep_by(study, study.recording("x"), site, by="activation")
    assert half.name == "half by activation" and half.edits[0].elements == (0, 3)
    assert "'x'" in half.note and "2 of 4" in half.note
    assert keep_by(study, study.recording("x"), site, by="activation", count=1).edits[0].elements == (0, 2, 3)
    first, second = (keep_by(study, study.recording("x"), site, by="random") for _ in range(2))
    assert first == second and len(first.edits[0].elements) == 2
    assert nothing_left(site).edits[0].elements == (0, 1, 2, 3)
    with pytest.raises(EditError, match="Between 0 and 4"):
        keep_by(study, study.recording("x"), site, by="change", count=5)


def test_reductions_play_as_they_would_alone(study: iv.Study, tmp_path: Path) -> None:
    """Side by side in lanes or one after the other: the same episodes."""
    subject = recurrent()
    table = Table(study=study, subject=subject, world=CountingWorld(), lanes=3)
    games = table.play([FULL, HALF, LATE], range(10, 16), lambda *_: None)
    for which, edits in enumerate((None, HALF, LATE)):
        alone = iv.record(
            tmp_path / "b.study",
            subject,
            CountingWorld(),
            episodes=6,
            seeds=10,
            name=str(which),
            lanes=1,
            edits=edits,
            progress=False,
        )
        assert [line.total_reward for line in games.lines[which]] == alone.groups()["return"].to_list()


def test_a_cancelled_table_goes_on_and_nothing_is_played_twice(study: iv.Study, walker: iv.Subject) -> None:
    seen: list[int] = []

    def cancelling(done: int, total: int | None, message: str = "") -> None:
        seen.append(done)
        if done >= 5:
            raise Cancelled

    def ask(progress: Any) -> Any:
        return reduce_table(study, "x", [without(1)], walker, CountingWorld(), episodes=6, lanes=2, progress=progress)

    with pytest.raises(Cancelled):
        ask(cancelling)
    again: list[int] = []
    found = ask(lambda done, *_: again.append(done))
    assert again[0] == seen[-1] and again[-1] == 12 and not found.provisional
    asked: list[int] = []
    assert ask(lambda done, *_: asked.append(done)).id == found.id and asked == []


def test_what_there_is_so_far_can_be_looked_at(
    study: iv.Study, walker: iv.Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(episodes, "PREVIEW_EVERY_S", 0.0)
    seen: list[int] = []

    def watching(done: int, total: int | None, message: str = "") -> None:
        whole = [study.result(result.id) for result in study.results("table") if result.provisional]
        seen.extend(len(result.value["seeds"]) for result in whole)

    reduce_table(study, "x", [without(1)], walker, CountingWorld(), episodes=12, lanes=2, progress=watching)
    assert seen and max(seen) < 12 and not study.results("table")[0].provisional


def test_a_world_that_does_not_repeat_itself_is_not_paired(tmp_path: Path) -> None:
    study = tmp_path / "a.study"
    iv.record(study, recurrent(), DriftingWorld(), episodes=1, name="x", progress=False)
    found = reduce_table(study, "x", [HALF], recurrent(), DriftingWorld(), episodes=3, progress=False)
    assert not found.value["repeats"] and "3 of 3 episodes began otherwise" in found.value["note"]
    assert found.value["rows"][1]["began_otherwise"] == 3
    assert "difference" not in found.value["rows"][1]["measures"]["length"]


def test_tables_that_cannot_be(study: iv.Study, walker: iv.Subject) -> None:
    world = CountingWorld()
    with pytest.raises(EditError, match="elements 0 to 3"):
        reduce_table(study, "x", [without(4)], walker, world, progress=False)
    with pytest.raises(EditError, match="called 'without"):
        reduce_table(study, "x", [without(1), without(1)], walker, world, progress=False)
    with pytest.raises(RequestError, match="episodes is a whole number from 1 to"):
        reduce_table(study, "x", [without(1)], walker, world, episodes=0, progress=False)
    plain = iv.subject(nn.Sequential(nn.Flatten(), nn.Linear(192, 3)), example=torch.zeros(1, 3, 8, 8), heads="policy")
    with pytest.raises(EditError, match="no memory"):
        reduce_table(study, "x", [without(0)], plain, world, other=True, progress=False)


def test_jobs_of_the_page(study: iv.Study, walker: iv.Subject) -> None:
    context, jobs = Context(study=study, subjects={"walker": walker}, worlds={"counting": CountingWorld()}), Jobs()
    late = EditSet(name="late", edits=(SiteEdit(elements=(1,), start=3),))
    job = jobs.wait(jobs.start(RerunJob(recording="x", reduction=late, episodes=(2,)), context).id, 60)
    assert job.result == Product(recording="x - late", subject="walker"), job.error
    (pair,) = pairs_of(study, study.recording("x - late"))
    assert (pair.episode, pair.of, pair.seed, pair.alike) == (0, 2, 2, True)
    assert (pair.divergence.decision, pair.divergence.action, pair.divergence.place) == (3, 3, 4)
    study.save_reduction(without(1))
    begun = jobs.start(TableJob(recording="x", reductions=("without (1,)",), episodes=2), context)
    job = jobs.wait(begun.id, 60)
    assert study.result(job.result.result).value["rows"][1]["name"] == "without (1,)", job.error
    assert begun.result == job.result


def test_requests_that_cannot_be(study: iv.Study, walker: iv.Subject) -> None:
    context = Context(study=study, subjects={"walker": walker}, worlds={"counting": CountingWorld()})
    with pytest.raises(UnknownName, match="Unknown reduction 'nope'"):
        prepare(RerunJob(recording="x", reduction="nope"), context)
    with pytest.raises(EditError, match="no edits"):
        prepare(RerunJob(recording="x", reduction=EditSet(name="none", edits=())), context)
    with pytest.raises(EditError, match="one reduction or more"):
        prepare(TableJob(recording="x", reductions=()), context)
    with pytest.raises(RequestError, match="No world is live"):
        prepare(TableJob(recording="x", reductions=(without(1),)), Context(study=study, subjects={"walker": walker}))


def test_seeds_in_several_parts_give_the_same_table(
    study: iv.Study, walker: iv.Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = reduce_table(study, "x", [without(1)], walker, CountingWorld(), episodes=7, progress=False)
    study.drop_result(whole.id)
    monkeypatch.setattr(reductions, "SEEDS_A_PART", 3)
    context = Context(study=study, subjects={"walker": walker}, worlds={"counting": CountingWorld()})
    work = prepare(TableJob(recording="x", reductions=(without(1),), episodes=7), context)
    assert work.parts([]) == [(0, 3), (3, 6), (6, 7)]
    told: list[tuple[int, int | None]] = []
    result = perform(work, lambda done, total, message="": told.append((done, total)))
    assert result.value == whole.value and result.id == whole.id
    assert told == sorted(told) and told[-1] == (14, 14)


def test_a_row_of_an_edited_recording_run_again_says_what_was_recorded(study: iv.Study) -> None:
    subject = recurrent()
    edit = SiteEdit(elements=(0, 3), op="set", value=1.5, start=2)
    made = iv.record(study, subject, CountingWorld(), episodes=1, name="edited", edits=edit, progress=False)
    context = Context(study=study, subjects={"tiny": subject})
    for row in (0, 1, 2, 9):
        logits = torch.tensor(forward(context, ForwardCall(recording="edited", row=row))["heads"]["policy"])
        np.testing.assert_allclose(logits.softmax(0), made.array("probabilities", row, row + 1)[0], atol=1e-6)
