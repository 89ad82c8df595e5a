"""An ablation test: the same levels for the original, the ablated one, random directions and invisible things."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import innerview as iv
from innerview.errors import EditError, RequestError, UnknownName
from innerview.interventions.ablation_test import AblationTestWork, ablation_test
from innerview.interventions.edited import rename
from innerview.interventions.jobs import AblationTestJob
from innerview.jobs.context import Context
from innerview.jobs.runner import Jobs
from innerview.rollouts import episodes
from innerview.testing.crossing import FRESH, Crossing, meets, walker
from innerview.testing.crossing_study import RECORDING, crossing_study

RED = sum(meets(seed, "red") for seed in range(27))


class Stop(Exception):
    """Somebody pulled the plug."""


@pytest.fixture
def study(tmp_path: Path) -> iv.Study:
    made = crossing_study(tmp_path / "a.study")
    (found,) = (made.result(line.id) for line in made.results("factors"))
    iv.ablate(made, walker(), found, factors=[0], name="no red")
    return made


def counts(value: Any) -> dict[str, dict[str, int]]:
    return {arm["name"]: {each["cause"]: each["count"] for each in arm["causes"]} for arm in value["arms"]}


def test_without_red_falls_over_red_and_over_nothing_else(study: iv.Study) -> None:
    result = iv.ablation_test(study, "no red", walker(), Crossing(), levels=27, seed=0, invisible="red", progress=False)
    value = result.value
    assert result.kind == "ablation_test" and not result.provisional and result.recording == RECORDING
    assert [arm["kind"] for arm in value["arms"]] == ["original", "ablated", "control", "invisible"]
    assert (value["levels"], value["done"], value["seed"]) == (27, 27, 0)
    assert value["causes"] == ["through", "red", "green"]
    told = counts(value)
    assert told["original"] == {"through": 27, "red": 0, "green": 0}
    assert told["no red"] == told["red invisible"] == {"through": 27 - RED, "red": RED, "green": 0}
    assert told["random directions"]["red"] == 0
    red = next(line for line in value["compared"] if line["arm"] == "no red" and line["cause"] == "red")
    assert red["apart"] and red["times"] is None and red["low"] > 2
    assert all(not line["apart"] for line in value["compared"] if line["arm"] == "random directions")


def test_levels_are_such_as_nobody_trained_on_and_as_no_factor_was_found_in(study: iv.Study) -> None:
    agent = walker()
    fresh = work(study, agent, recording=RECORDING, levels=5)
    assert fresh.match.seeds == tuple(range(FRESH, FRESH + 5))
    iv.record(study, agent, Crossing(), episodes=2, seeds=FRESH + 3, name="there", progress=False)
    beyond = work(study, agent, recording="there", levels=5)
    assert beyond.match.seeds[0] == FRESH + 5


def test_an_ablation_test_that_was_stopped_goes_on_where_it_was(
    study: iv.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(episodes, "PREVIEW_EVERY_S", 0.0)
    world, seen = Crossing(), []

    def impatient(done: int, total: int | None, message: str = "") -> None:
        seen.append(done)
        if done >= 15:
            raise Stop

    ask: dict[str, Any] = {"levels": 12, "seed": 0, "controls": 0, "lanes": 1}
    with pytest.raises(Stop):
        ablation_test(study, "no red", walker(), world, progress=impatient, **ask)
    (half,) = (study.result(line.id) for line in study.results("ablation_test"))
    assert half.provisional and 0 < half.value["done"] < 12
    before = len(world.begun)
    whole = ablation_test(study, "no red", walker(), world, progress=False, **ask)
    assert whole.id == half.id and whole.value["done"] == 12 and not whole.provisional
    ended = max(seen)
    assert len(world.begun) - before == 24 - ended
    again = len(world.begun)
    more = ablation_test(study, "no red", walker(), world, progress=False, **{**ask, "levels": 14})
    assert len(world.begun) - again == 4 and more.id != whole.id


def work(study: iv.Study, agent: iv.Subject, edited: str = "no red", **asked: Any) -> AblationTestWork:
    context = Context(study=study, subjects={agent.info.name: agent}, worlds={"crossing": Crossing()})
    return AblationTestWork(AblationTestJob(edited=edited, **asked), context)


def test_a_damaged_table_is_made_anew_without_playing_again(study: iv.Study, caplog: pytest.LogCaptureFixture) -> None:
    world, ask = Crossing(), {"levels": 9, "seed": 0, "controls": 0}
    now = ablation_test(study, "no red", walker(), world, progress=False, **ask)  # type: ignore[arg-type]
    next((study.path / "results" / now.id).glob("value.*.json")).write_bytes(b"{}")
    before = len(world.begun)
    assert ablation_test(study, "no red", walker(), world, progress=False, **ask).value == now.value  # type: ignore[arg-type]
    assert len(world.begun) == before and "is damaged and is computed anew" in caplog.text


def test_a_control_repeats_every_edit_of_the_history_at_random(study: iv.Study) -> None:
    agent = walker()
    (found,) = (study.result(line.id) for line in study.results("factors"))
    once = iv.ablate(study, agent, found, factors=[0], name="once")
    iv.ablate(study, once, found, factors=[1], name="twice")
    players = work(study, agent, "twice", levels=2, controls=3).players
    controls = [player for player in players if player.kind == "control"]
    assert len({player.name for player in controls}) == 3
    silent = [{int(c) for c in range(4) if not p.subject.module.tell.weight[:, c].any()} for p in controls]
    assert all(channels >= {2, 3} for channels in silent)  # the ground and the silent one were never read
    assert players[0].subject is agent and agent.module.tell.weight.any()


@pytest.mark.parametrize("name", ["ablated", "red"])
def test_renaming_leaves_words_that_happen_to_be_the_same(study: iv.Study, name: str) -> None:
    agent = walker()
    (found,) = (study.result(line.id) for line in study.results("factors"))
    iv.ablate(study, agent, found, factors=[0], name=name)
    asked: dict[str, Any] = {"levels": 3, "seed": 12, "controls": 1, "progress": False}
    before = iv.ablation_test(study, name, agent, Crossing(), **asked).value
    forged = study.save_result("ablation_test", recording=RECORDING, arguments={"edited": name}, value={"arms": 7})
    rename(study, name, "it")
    study.drop_result(forged.id)
    (kept,) = (study.result(line.id) for line in study.results("ablation_test"))
    assert (
        kept.id == iv.ablation_test(study, "it", agent, Crossing(), **asked).id and kept.title == "ablation test of it"
    )
    assert [(arm["name"], arm["kind"]) for arm in kept.value["arms"]][1] == ("it", "ablated")
    assert kept.value["causes"] == before["causes"]
    assert [arm["causes"] for arm in kept.value["arms"]] == [arm["causes"] for arm in before["arms"]]
    assert [line["arm"] for line in kept.value["compared"][:3]] == ["it"] * 3


def test_it_is_a_job_whose_result_is_known_before(study: iv.Study) -> None:
    context = Context(study=study, subjects={"walker": walker()}, worlds={"crossing": Crossing()})
    jobs = Jobs()
    try:
        job = jobs.start(AblationTestJob(edited="no red", levels=9, seed=0, controls=0), context)
        done = jobs.wait(job.id, 60)
    finally:
        jobs.close()
    assert done.state == "done" and done.result == job.result and done.done == done.total == 18
    assert study.result(done.result.result).value["done"] == 9


def test_bad_questions_teach(study: iv.Study) -> None:
    agent, ask = walker(), {"study": study, "edited": "no red", "subject": walker(), "world": Crossing()}
    with pytest.raises(RequestError, match="levels is a whole number from 1 to 1,000,000, not 0"):
        ablation_test(**ask, levels=0)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="controls is a whole number from 0 to 20, not 21"):
        ablation_test(**ask, controls=21)  # type: ignore[arg-type]
    with pytest.raises(EditError, match=r"made of 'walker', which is not live here\. Live: stranger"):
        ablation_test(study, "no red", walker("stranger"), Crossing())
    with pytest.raises(UnknownName, match="Did you mean 'red'"):
        work(study, agent, invisible="rad")
    with pytest.raises(UnknownName, match="Did you mean 'no red'"):
        work(study, agent, "no rd")
    rename(study, "no red", "original")
    with pytest.raises(EditError, match="Another line of the test is called 'original', too"):
        iv.ablation_test(study, "original", agent, Crossing())
    with pytest.raises(UnknownName, match="edited subject 'walker'"):
        iv.ablation_test(study, "walker", agent, Crossing())
