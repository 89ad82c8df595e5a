"""Atari agents as subjects: heads, memory, a recording through the public API, and errors that teach."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from innerview_zoo.models.atari import adapt, game_of, load_agent, weights_of
from innerview_zoo.models.atari.checkpoints import Folder
from innerview_zoo.models.atari.plans import PLANS, plan_of
from innerview_zoo.models.atari.score import choice_of, report, score
from innerview_zoo.report import mean_figure

import innerview as iv
from innerview.errors import InnerviewError

pytest.importorskip("ale_py")


@pytest.mark.parametrize("name", list(PLANS))
def test_heads_and_memory_are_what_the_network_has(name: str) -> None:
    info = adapt(plan_of(name)).info
    kinds = {head.kind for head in info.heads}
    assert kinds == ({"q", "value", "advantage"} if plan_of(name).learns_q else {"policy", "value"})
    assert [site.kind for site in info.memory] == (["lstm hidden", "lstm cell"] if name == "seaquest_lstm" else [])
    assert next(head for head in info.heads if head.kind in ("q", "policy")).names[:2] == ("noop", "fire")


def test_q_is_value_plus_advantage_over_the_average() -> None:
    torch.manual_seed(0)
    said = plan_of("breakout_dqn").network()(torch.rand(3, 4, 84, 84))
    assert torch.allclose(said["q"].mean(1, keepdim=True), said["value"], atol=1e-6)
    best = said["q"].argmax(1, keepdim=True)
    lead = said["q"].gather(1, best) - said["q"]
    assert torch.allclose(lead, said["advantage"].gather(1, best) - said["advantage"], atol=1e-6)


@pytest.mark.parametrize("name", ["breakout_dqn", "seaquest_lstm"])
def test_an_episode_is_recorded(name: str, tmp_path: Path) -> None:
    plan = plan_of(name)
    recording = iv.record(tmp_path / "a.study", adapt(plan), game_of(plan), episodes=1, max_steps=6, progress=False)
    rows = recording.columns()
    assert rows["step"].to_list() == list(range(6))
    assert recording.array("observation", 0, 6).shape == (6, 84, 84, plan.frames)
    assert recording.array("picture", 0, 6).shape == (6, 210, 160, 3)
    wanted = {"value.q", "value.value"} if plan.learns_q else {"value"}
    assert wanted <= set(rows.columns)


def test_three_ages_stand_side_by_side(tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "a.study")
    ages = [load_agent("breakout_ac", age)[0] for age in ("early", "middle", "final")]
    assert len({age.info.name for age in ages}) == len({age.identity() for age in ages}) == 3
    played = game_of(plan_of("breakout_ac"))
    recorded = iv.record(study, ages[-1], played, episodes=1, max_steps=12, name="grown", progress=False)
    said = [iv.predict(study, age, "grown", progress=False) for age in ages]
    assert {p.subject for p in study.predictions("grown")} == {age.info.name for age in ages}
    chances = [p.array("probabilities", 0, p.rows) for p in said]
    np.testing.assert_allclose(chances[-1], recorded.array("probabilities", 0, recorded.rows), atol=1e-5)
    assert not np.allclose(chances[0], chances[-1], atol=1e-2) and not np.allclose(chances[1], chances[-1], atol=1e-2)


def test_an_age_of_the_zoo_is_saved_as_a_snapshot_and_loaded_like_another(tmp_path: Path) -> None:
    early, _ = load_agent("breakout_ac", "early")
    iv.snapshot(tmp_path / "a.study", early, step=8, run="breakout_ac")
    again = iv.load_snapshot(tmp_path / "a.study", "breakout_ac", 8, like=load_agent("breakout_ac")[0])
    assert again.identity() == early.identity() and again.info.name == "breakout_ac @ 8 steps"


def test_random_play_scores_as_published() -> None:
    plan = plan_of("breakout_ac")
    figure = score(plan, adapt(plan), name="mean score", count=4, noise=1.0)
    assert figure.count == 4 and 0 <= figure.value < 8
    table = report("breakout_ac", [figure, mean_figure([1.0, 3.0], name="mean score, random play")])
    assert [row[0] for row in table.rows[:2]] == ["the agent", "random play"]
    assert table.rows[1][2] == "2.0"


def test_a_q_network_plays_its_best_and_a_policy_is_drawn_from() -> None:
    assert {name for name, plan in PLANS.items() if choice_of(plan) == "greedy"} == {
        "breakout_dqn",
        "seaquest_dqn",
        "seaquest_split",
    }


@pytest.mark.parametrize("name", list(PLANS))
def test_every_age_of_an_agent_loads_and_thinks_differently(name: str) -> None:
    ages = [*plan_of(name).ages, "final"]
    agents = [load_agent(name, age)[0] for age in ages]
    assert len({agent.info.identity for agent in agents}) == len(ages)
    assert all(bool(torch.isfinite(weight).all()) for agent in agents for weight in agent.module.parameters())


def test_an_unknown_snapshot_and_cut_weights_are_reported(tmp_path: Path) -> None:
    with pytest.raises(InnerviewError, match="early"):
        weights_of("breakout_dqn", "erly")
    with pytest.raises(InnerviewError, match="seaquest_dqn"):
        load_agent("seaquest_dq")
    plan = plan_of("breakout_ac")
    Folder(tmp_path).save_weights(plan.network())
    path = tmp_path / "weights.safetensors"
    adapt(plan).load_weights(path)
    path.write_bytes(path.read_bytes()[:100_000])
    with pytest.raises(InnerviewError):
        adapt(plan).load_weights(path)
