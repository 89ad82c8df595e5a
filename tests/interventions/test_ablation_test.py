"""A proof: the same levels for the original, the blinded one, random directions and invisible things."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import innerview as iv
from innerview.errors import EditError, RequestError, UnknownName
from innerview.interventions.ablation_test import ask_proof, prove
from innerview.interventions.ablation_test_task import prove_task
from innerview.interventions.edited import rename
from innerview.jobs.runner import Jobs
from innerview.rollouts import evaluation as proof_play
from innerview.rollouts.live import Live
from innerview.store import load_edited
from innerview.testing.crossing import FRESH, Crossing, meets, walker
from innerview.testing.crossing_study import RECORDING, crossing_study

RED = sum(meets(seed, "red") for seed in range(27))


class Stop(Exception):
    """Somebody pulled the plug."""


@pytest.fixture
def study(tmp_path: Path) -> iv.Study:
    made = crossing_study(tmp_path / "a.study")
    (found,) = (made.result(line.id) for line in made.results("factors"))
    iv.blind(made, walker(), found, factors=[0], name="no red")
    return made


def counts(value: Any) -> dict[str, dict[str, int]]:
    return {arm["name"]: {each["cause"]: each["count"] for each in arm["causes"]} for arm in value["arms"]}


def test_blind_to_red_falls_over_red_and_over_nothing_else(study: iv.Study) -> None:
    result = iv.prove(study, "no red", walker(), Crossing(), levels=27, seed=0, invisible="red", progress=False)
    value = result.value
    assert result.kind == "proof" and not result.provisional and result.recording == RECORDING
    assert [arm["kind"] for arm in value["arms"]] == ["original", "blind", "control", "invisible"]
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
    agent, edited = walker(), load_edited(study, "no red")
    fresh = ask_proof(study, study.recording(RECORDING), edited, agent, Crossing(), levels=5)
    assert fresh.match.seeds == tuple(range(FRESH, FRESH + 5))
    iv.record(study, agent, Crossing(), episodes=2, seeds=FRESH + 3, name="there", progress=False)
    beyond = ask_proof(study, study.recording("there"), edited, agent, Crossing(), levels=5)
    assert beyond.match.seeds[0] == FRESH + 5


def test_a_proof_that_was_stopped_goes_on_where_it_was(study: iv.Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof_play, "PREVIEW_EVERY_S", 0.0)
    world, seen = Crossing(), []

    def impatient(done: int, total: int | None, message: str = "") -> None:
        seen.append(done)
        if done >= 15:
            raise Stop

    ask: dict[str, Any] = {"levels": 12, "seed": 0, "controls": 0, "lanes": 1}
    with pytest.raises(Stop):
        prove(study, "no red", walker(), world, progress=impatient, **ask)
    (half,) = (study.result(line.id) for line in study.results("proof"))
    assert half.provisional and 0 < half.value["done"] < 12
    before = len(world.begun)
    whole = prove(study, "no red", walker(), world, progress=False, **ask)
    assert whole.id == half.id and whole.value["done"] == 12 and not whole.provisional
    ended = max(seen)
    assert len(world.begun) - before == 24 - ended
    again = len(world.begun)
    more = prove(study, "no red", walker(), world, progress=False, **{**ask, "levels": 14})
    assert len(world.begun) - again == 4 and more.id != whole.id


def test_a_proof_of_before_is_told_its_levels_without_playing_again(study: iv.Study) -> None:
    world, ask = Crossing(), {"levels": 9, "seed": 0, "controls": 0}
    now = prove(study, "no red", walker(), world, progress=False, **ask)  # type: ignore[arg-type]
    old = {**now.value, "arms": [{**arm, "causes": [_untold(c) for c in arm["causes"]]} for arm in now.value["arms"]]}
    study.keep_result("proof", recording=RECORDING, arguments=now.arguments, value=old, title=now.title, result=now.id)
    before = len(world.begun)
    assert prove(study, "no red", walker(), world, progress=False, **ask).value == now.value  # type: ignore[arg-type]
    assert len(world.begun) == before


def _untold(cause: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in cause.items() if name != "seeds"}


def test_a_control_repeats_every_edit_of_the_history_at_random(study: iv.Study) -> None:
    agent = walker()
    (found,) = (study.result(line.id) for line in study.results("factors"))
    once = iv.blind(study, agent, found, factors=[0], name="once")
    iv.blind(study, once, found, factors=[1], name="twice")
    question = ask_proof(
        study, study.recording(RECORDING), load_edited(study, "twice"), agent, Crossing(), levels=2, controls=3
    )
    controls = [player for player in question.match.players if player.kind == "control"]
    assert len({player.name for player in controls}) == 3
    silent = [{int(c) for c in range(4) if not p.subject.module.tell.weight[:, c].any()} for p in controls]
    assert all(channels >= {2, 3} for channels in silent)  # the ground and the silent one were never read
    assert question.match.players[0].subject is agent and agent.module.tell.weight.any()


@pytest.mark.parametrize("name", ["blind", "red"])
def test_renaming_leaves_words_that_happen_to_be_the_same(study: iv.Study, name: str) -> None:
    agent = walker()
    (found,) = (study.result(line.id) for line in study.results("factors"))
    iv.blind(study, agent, found, factors=[0], name=name)
    asked: dict[str, Any] = {"levels": 3, "seed": 12, "controls": 1, "progress": False}
    before = iv.prove(study, name, agent, Crossing(), **asked).value
    rename(study, name, "it")
    (kept,) = (study.result(line.id) for line in study.results("proof"))
    assert kept.id == iv.prove(study, "it", agent, Crossing(), **asked).id and kept.title == "it put to the proof"
    assert [(arm["name"], arm["kind"]) for arm in kept.value["arms"]][1] == ("it", "blind")
    assert kept.value["causes"] == before["causes"]
    assert [arm["causes"] for arm in kept.value["arms"]] == [arm["causes"] for arm in before["arms"]]
    assert [line["arm"] for line in kept.value["compared"][:3]] == ["it"] * 3


def test_over_the_wire_it_is_a_job_with_a_promise(study: iv.Study) -> None:
    live = Live(study, {"walker": walker()}, {"crossing": Crossing()})
    asked = {"recording": RECORDING, "edited": "no red", "levels": 9, "seed": 0, "controls": 0}
    task = prove_task(live, asked)
    jobs = Jobs()
    try:
        job = jobs.submit("prove", task.title, task.work, unit=task.unit, promise=task.promise)
        done = jobs.wait(job.id, 60)
    finally:
        jobs.close()
    assert done.state == "done" and done.result == task.promise and done.done == done.total == 18
    assert study.result(done.result["result"]).value["done"] == 9
    for wrong, said in (
        ({"levels": 0}, "levels must be a number from 1"),
        ({"levels": "many"}, "levels must be"),
        ({"controls": 99}, "controls must be"),
        ({"invisible": 3}, "invisible is a class"),
    ):
        with pytest.raises(RequestError, match=said):
            prove_task(live, asked | wrong)
    with pytest.raises(UnknownName, match="Did you mean 'red'"):
        prove_task(live, asked | {"invisible": "rad"})
    with pytest.raises(UnknownName, match="Did you mean 'no red'"):
        prove_task(live, asked | {"edited": "no rd"})
    with pytest.raises(RequestError, match="'no red' was made of 'walker', which is not live"):
        prove_task(Live(study, {"x": walker("x")}, {"crossing": Crossing()}), asked)


def test_bad_questions_teach(study: iv.Study) -> None:
    agent, edited, recording = walker(), load_edited(study, "no red"), study.recording(RECORDING)
    with pytest.raises(RequestError, match="from 1 to 1,000,000, not 0"):
        ask_proof(study, recording, edited, agent, Crossing(), levels=0)
    with pytest.raises(RequestError, match="from 0 to 20, not 21"):
        ask_proof(study, recording, edited, agent, Crossing(), controls=21)
    with pytest.raises(EditError, match="made of 'walker', not of 'stranger'"):
        ask_proof(study, recording, edited, walker("stranger"), Crossing())
    rename(study, "no red", "original")
    with pytest.raises(EditError, match="Another line of the proof is called 'original', too"):
        iv.prove(study, "original", agent, Crossing())
    with pytest.raises(UnknownName, match="edited subject 'walker'"):
        iv.prove(study, "walker", agent, Crossing())
