"""A model whose weights changed since it recorded: the page refuses it, goes on when told to, and shows it."""

from __future__ import annotations

from pathlib import Path

import torch
from playwright.sync_api import expect

import innerview as iv
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent

from .conftest import Show, Visit

CHANGED = "The weights of 'tiny' changed since this was recorded."


def test_other_weights_are_refused_and_looked_at_all_the_same(tmp_path: Path, visit: Visit, show: Show) -> None:
    study = iv.Study.create(tmp_path / "live.study", "live")
    iv.record(study, recurrent(), CountingWorld(), episodes=1, max_steps=20, name="walk", progress=False)
    trained = recurrent()
    with torch.no_grad():
        trained.module.get_parameter("policy.bias").add_(1)
    bench = visit(show(study, subject=trained, world=CountingWorld()), "#/results/walk")
    bench.watch.expected.append(r"409 \(Conflict\).*/api/jobs")
    bench.get("run-influence").click()
    bench.get("run-influence-start").click()
    expect(bench.get("lens-progress-influence-failed")).to_contain_text(CHANGED)
    assert study.results("influence") == []
    bench.get("lens-progress-influence-anyway").click()
    expect(bench.get("lens-progress-influence-other")).to_contain_text(f"Not as recorded: {CHANGED}")
    (found,) = study.results("influence")
    assert found.arguments["other"] == [CHANGED]
    iv.rerun(
        study,
        "walk",
        iv.EditSet(name="half", edits=(iv.SiteEdit(elements=(0,)),)),
        trained,
        CountingWorld(),
        other=True,
        progress=False,
    )
    again = visit(show(study), "#/episodes/walk%20-%20half")
    again.get("recording-details").click()
    expect(again.get("recording-other")).to_have_text(CHANGED)


def test_re_runs_tables_and_sweeps_go_on_when_told_to_and_say_so(tmp_path: Path, visit: Visit, show: Show) -> None:
    study, world = iv.Study.create(tmp_path / "live.study", "live"), CountingWorld(length=6)
    iv.record(study, recurrent(), world, episodes=2, name="walk", progress=False)
    trained = recurrent()
    with torch.no_grad():
        trained.module.get_parameter("policy.bias").add_(1)
    bench = visit(show(study, subject=trained, world=world), "#/memory/walk?middle=reductions&side=edits")
    bench.watch.expected.append(r"409 \(Conflict\).*/api/jobs")
    bench.get("edit-top-count").fill("2")
    bench.get("edit-top").click()
    for kind, start in (("table", "table-start"), ("sweep", "sweep-start")):
        bench.get("reductions-kind").locator(f"[data-value={kind}]").click()
        bench.get(start).click()
        expect(bench.get("reductions-progress-failed")).to_contain_text(CHANGED)
        assert study.results(kind) == []
        bench.get("reductions-progress-anyway").click()
        expect(bench.get("reductions-progress-other")).to_have_text(f"Not as recorded: {CHANGED}")
        (found,) = study.results(kind)
        assert found.arguments["other"] == [CHANGED]
    bench.get("edit-rerun").click()
    expect(bench.get("rerun-progress-failed")).to_contain_text(CHANGED)
    assert study.recordings() == ["walk"]
    bench.get("rerun-progress-anyway").click()
    bench.get("edit-open").click()
    bench.get("recording-details").click()
    expect(bench.get("recording-other")).to_have_text(CHANGED)
