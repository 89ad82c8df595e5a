"""The learning signal of a training: what its maps say at each snapshot, beside the scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import innerview as iv
from innerview.errors import LensError, StoreError, SubjectError, UnknownName
from innerview.jobs.context import Context
from innerview.jobs.runner import Jobs
from innerview.rollouts.jobs import LearningJob
from innerview.rollouts.learning.curve import check_covered, read_curve
from innerview.saliency.learning.measures import agreement, contrast, on_objects
from innerview.testing.crossing import Crossing, walker
from tests.rollouts.players import recurrent

STEPS = (0, 10, 20, 40, 80, 160, 320, 640)
LEARNT = {0: 0.0, 10: 0.0, 20: 0.02, 40: 0.3, 80: 0.6, 160: 0.9, 320: 1.0, 640: 1.0}
"""How far the weights are on the way from chance to those that cross, at each step."""
CURVE = [(step, 0.0 if step < 320 else 9.0) for step in STEPS]


def weights_at(share: float) -> dict[str, torch.Tensor]:
    end = walker().module.state_dict()
    random = torch.Generator().manual_seed(1)
    return {n: (1 - share) * 0.3 * torch.randn(v.shape, generator=random) + share * v for n, v in end.items()}


def folder_of(path: Path) -> Path:
    path.mkdir()
    for step, share in LEARNT.items():
        halves = {name: value.half() for name, value in weights_at(share).items()}
        save_file(halves, path / f"step-{step:06}.safetensors")
    lines = ["minutes,steps,score", *(f"0,{step},{score}" for step, score in CURVE)]
    (path / "curve.csv").write_text("\n".join(lines), encoding="utf-8")
    save_file(weights_at(1), path / "weights.safetensors")
    return path


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> iv.Study:
    home = tmp_path_factory.mktemp("learning")
    path = home / "a.study"
    iv.record(path, walker(), Crossing(), episodes=12, name="x", progress=False)
    iv.import_snapshots(path, folder_of(home / "run"), walker(), progress=False)
    return iv.Study.open(path)


def signal(study: iv.Study, name: str, **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    value = iv.learning_signal(study, walker(), "x", run="run", progress=False, **more).value
    return next(line for line in value["signals"] if line["name"] == name), value


def test_snapshots_of_a_folder_are_those_that_end_in_a_step(study: iv.Study) -> None:
    taken = study.snapshots("run")
    assert [each.step for each in taken] == list(STEPS)
    assert [each.facts["score"] for each in taken] == [score for _, score in CURVE]
    back = iv.load_snapshot(study, "run", 40, like=walker())
    wanted = weights_at(LEARNT[40])["policy.weight"]
    assert torch.allclose(back.module.state_dict()["policy.weight"], wanted, rtol=1e-3)
    assert iv.check(study.path) == []


def test_every_figure_is_that_of_the_maps_by_hand(study: iv.Study) -> None:
    _, value = signal(study, "agreement", lens="gradient", target="value", count=20)
    rows = np.unique(np.linspace(0, study.recording("x").rows - 1, 20).round().astype(int))
    assert value["rows"] == len(rows)
    maps = {}
    for step in STEPS:
        age = iv.load_snapshot(study, "run", step, like=walker())
        made = iv.look(study, "gradient", "x", rows=rows, subject=age, other=True, target="value", progress=False)
        maps[step] = study.result_array(made.id, f"heat.{made.shown['inputs'][0]}")
    objects = study.recording("x").array_rows("mask", rows) > 0
    starts = study.recording("x").group_starts(rows)

    def over_episodes(values: np.ndarray) -> float:
        episodes = (values[starts == start] for start in np.unique(starts))
        return float(np.mean([np.nanmean(some) for some in episodes if np.isfinite(some).any()]))

    wanted = {
        "agreement": [over_episodes(agreement(maps[step], maps[640])) for step in STEPS],
        "on objects": [over_episodes(on_objects(maps[step], objects)) for step in STEPS],
        "contrast": [over_episodes(contrast(maps[step])) for step in STEPS],
    }
    for line in value["signals"]:
        assert np.allclose(line["values"], wanted[line["name"]], atol=1e-5), line["name"]
    assert {line["name"] for line in value["signals"]} <= wanted.keys()
    assert wanted["agreement"][-1] == pytest.approx(1)


def test_maps_that_rise_before_the_score_are_found_with_their_ratio(study: iv.Study) -> None:
    line, value = signal(study, "agreement", lens="gradient", target="value")
    assert value["score"]["rise"]["step"] == 320 and value["score"]["source"] == "as logged with the snapshots"
    assert line["rise"]["step"] in (40, 80)
    ratio = next(each for each in value["ratios"] if each["signal"] == "agreement")
    assert ratio["ratio"] == 320 / line["rise"]["step"]
    assert ratio["low"] == value["score"]["rise"]["low"] / line["rise"]["high"]
    assert "last snapshot rises before the score" in value["words"][0]
    later, _ = signal(study, "agreement", lens="gradient", target="value", share=0.95)
    assert later["rise"]["step"] > line["rise"]["step"]


def test_the_chart_shows_each_as_a_share_of_its_rise(study: iv.Study) -> None:
    made = iv.learning_signal(study, walker(), "x", run="run", lens="gradient", target="value", progress=False)
    series = {line["name"]: line for line in made.shown["series"]}
    assert series["agreement"]["y"][0] == 0 and series["agreement"]["y"][-1] == 1
    assert series["score"]["y"] == [0, 0, 0, 0, 0, 0, 1, 1]
    assert series["25% of the rise"]["y"] == [0.25, 0.25]


def test_health_at_each_age_is_beside_it(study: iv.Study) -> None:
    _, value = signal(study, "agreement", lens="gradient", target="value")
    assert [line["step"] for line in value["health"]] == list(STEPS)
    end = value["health"][-1]
    assert end["dead"] == pytest.approx(iv_dead(study), abs=1e-6)


def iv_dead(study: iv.Study) -> float:
    from innerview.lenses.look import look

    made = look(study, "health", "x", subject=walker(), other=True, progress=False, max_rows=64)
    lines = [line for line in made.shown["lines"] if line[3] is not None]
    return float(np.mean([line[3] for line in lines]))


def test_a_snapshot_that_cannot_be_looked_at_is_named_and_the_others_are_not(tmp_path: Path) -> None:
    path = tmp_path / "a.study"
    iv.record(path, walker(), Crossing(), episodes=6, name="x", progress=False)
    agent = walker()
    for step in (0, 1, 2, 3):
        weights = weights_at(step / 3)
        if step == 1:
            weights["see.weight"][0] = float("nan")
        agent.module.load_state_dict(weights)
        iv.snapshot(path, agent, step=step)
    value = iv.learning_signal(path, walker(), "x", lens="gradient", target="value", progress=False).value
    assert [each["step"] for each in value["problems"]] == [1] and "not a number" in value["problems"][0]["problem"]
    assert value["signals"][0]["steps"] == [0, 2, 3]
    assert value["score"] is None and "no scores" in value["words"][-1]
    agent.module.load_state_dict({n: v * float("nan") for n, v in weights_at(1).items()})
    iv.snapshot(path, agent, step=4)
    with pytest.raises(SubjectError, match="The last snapshot, 'training @ 4 steps', cannot be looked at"):
        iv.learning_signal(path, walker(), "x", lens="gradient", progress=False)


def test_a_run_of_the_page_is_the_same(study: iv.Study) -> None:
    jobs = Jobs()
    job = LearningJob(recording="x", run="run", lens="gradient", parameters={"target": "value"})
    done = jobs.wait(jobs.start(job, Context(study=study, subjects={"walker": walker()})).id, 60)
    jobs.close()
    assert done.state == "done", done.error
    mine = iv.learning_signal(study, walker(), "x", run="run", lens="gradient", target="value", progress=False)
    assert done.result is not None and done.result.result == mine.id


def test_scores_of_recordings_stand_in_for_a_curve(tmp_path: Path) -> None:
    path = tmp_path / "a.study"
    agent = walker()
    for step, share in ((0, 0.0), (10, 0.5), (20, 1.0)):
        agent.module.load_state_dict(weights_at(share))
        iv.snapshot(path, agent, Crossing(), step=step, episodes=3)
    study = iv.Study.open(path)
    last = study.snapshots()[-1].recording
    value = iv.learning_signal(study, walker(), last, lens="gradient", target="value", progress=False).value
    returns = [float(study.recording(s.recording).groups()["return"].mean()) for s in study.snapshots()]  # type: ignore[arg-type]
    assert value["score"]["values"] == returns
    assert "recorded with the snapshots" in value["score"]["source"]


def test_what_cannot_be_compared_is_refused(study: iv.Study, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="training run 'runn'"):
        iv.learning_signal(study, walker(), "x", run="runn", progress=False)
    with pytest.raises(SubjectError, match="another architecture"):
        iv.learning_signal(study, recurrent(), "x", run="run", progress=False, lens="gradient")
    with pytest.raises(LensError, match="no map of a single row"):
        iv.learning_signal(study, walker(), "x", run="run", lens="health", progress=False)
    with pytest.raises(StoreError, match="ends at step 100, and the snapshots go on to 640"):
        iv.learning_signal(study, walker(), "x", run="run", curve=[(0, 0.0), (100, 1.0)], progress=False)
    with pytest.raises(StoreError, match="begins at step 500"):
        check_covered(((500.0, 0.0), (640.0, 1.0)), STEPS)
    one = tmp_path / "one.study"
    iv.record(one, walker(), Crossing(), episodes=4, name="x", progress=False)
    with pytest.raises(UnknownName, match="training run 'training'"):
        iv.learning_signal(one, walker(), "x", progress=False)
    iv.snapshot(one, walker(), step=7)
    with pytest.raises(StoreError, match="one snapshot, of step 7"):
        iv.learning_signal(one, walker(), "x", progress=False)


def test_folders_and_curves_that_are_wrong_are_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(StoreError, match="no snapshots in"):
        iv.import_snapshots(tmp_path / "a.study", tmp_path / "empty", walker(), progress=False)
    save_file({"other": torch.zeros(2)}, tmp_path / "empty" / "step-1.safetensors")
    with pytest.raises(SubjectError, match=r"'step-1.safetensors' is of another architecture than 'walker': .*missing"):
        iv.import_snapshots(tmp_path / "a.study", tmp_path / "empty", walker(), progress=False)
    (tmp_path / "c.csv").write_text("a,b\n1,2\n")
    with pytest.raises(StoreError, match="no column of steps: it has a, b"):
        read_curve(tmp_path / "c.csv")
    (tmp_path / "c.csv").write_text("step,score\n1,2\nx,3\n")
    with pytest.raises(StoreError, match="has 1 point;"):
        read_curve(tmp_path / "c.csv")
    (tmp_path / "c.csv").write_text("time/total_timesteps,rollout/ep_rew_mean\n2,\n1,2\n3,4\n")
    assert read_curve(tmp_path / "c.csv") == ((1, 2), (3, 4))
