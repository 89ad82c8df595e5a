"""Ablation to factors that were found: names, history, and what is live afterwards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import innerview as iv
from innerview.errors import EditError, RequestError, StoreError, UnknownName
from innerview.interventions.ablation import Choice, choose, find_factors, make_ablated
from innerview.interventions.edited import WithEdited, rebuilt
from innerview.schema import NamedFactor
from innerview.store import edited_subjects, load_edited, save_names, subjects
from innerview.testing.crossing import SIZE, Crossing, walker
from innerview.testing.crossing_study import RECORDING, crossing_study, save_factors

RED = torch.zeros(1, 3, SIZE, SIZE).index_fill_(1, torch.tensor([0]), 1.0)


@pytest.fixture
def study(tmp_path: Path) -> iv.Study:
    return crossing_study(tmp_path / "a.study")


def factors(study: iv.Study) -> Any:
    (found,) = (study.result(line.id) for line in study.results("factors"))
    return found


def jumps(agent: iv.Subject) -> bool:
    return bool(agent.run({"x": RED}).heads["policy"].argmax() == 1)


def test_a_few_lines_make_a_subject_that_does_not_see_red_and_save_it(study: iv.Study) -> None:
    agent = walker()
    ablated = iv.ablate(study, agent, factors(study), factors=[0])
    assert jumps(agent) and not jumps(ablated)
    (kept,) = edited_subjects(study)
    assert kept.name == ablated.info.name == "walker without red" and kept.info.identity == ablated.identity()
    line = kept.last
    assert (line.op, line.of, line.layer, line.after, line.result) == (
        "project out",
        "walker",
        "see",
        "tell",
        factors(study).id,
    )
    assert line.factors == (NamedFactor(index=0, name="red"),) and line.directions == ((1.0, 0.0, 0.0, 0.0),)
    assert line.made.startswith("20") and len(kept.history) == 1


def test_the_same_edit_is_found_again_and_another_gets_a_name_of_its_own(study: iv.Study) -> None:
    agent, found = walker(), factors(study)
    first = make_ablated(study, agent, choose(study, found.id, [0]))
    assert make_ablated(study, agent, choose(study, found.id, [0])) == first
    save_names(study, found.id, {"1": "red", "2": "grass/moss"})
    assert make_ablated(study, agent, choose(study, found.id, [1])).name == "walker without red no 2"
    assert make_ablated(study, agent, choose(study, found.id, [2, 2])).name == "walker without grass-moss"
    with pytest.raises(StoreError, match="'walker without red' is saved already and is another"):
        make_ablated(study, agent, choose(study, found.id, [1]), name="walker without red")
    unnamed = save_factors(study, names=("", "", "", ""))
    assert make_ablated(study, agent, choose(study, unnamed.id, [3, 1])).name == "walker without factor 4 + 2"


def test_directions_from_elsewhere_will_do(study: iv.Study) -> None:
    made = make_ablated(study, walker(), Choice(layer="see", directions=((2.0, 0, 0, 0),)))
    assert made.name == "walker without 1 direction of see" and made.last.result == "" and made.last.factors == ()
    assert not jumps(rebuilt(study, made, walker()))


def test_ablating_twice_adds_to_the_history(study: iv.Study) -> None:
    agent, found = walker(), factors(study)
    once = iv.ablate(study, agent, found, factors=[0], name="no red")
    iv.ablate(study, once, found, factors=[1], name="no colour")
    kept = load_edited(study, "no colour")
    assert [line.of for line in kept.history] == ["walker", "no red"] and kept.root == "walker"
    live = WithEdited(study, {"walker": agent})
    assert list(live) == ["walker", "no red", "no colour"] and len(live) == 3
    assert not live["no colour"].module.tell.weight.any() and live["no colour"] is live["no colour"]


def test_edited_subjects_are_live_with_their_original_alone(study: iv.Study) -> None:
    agent = walker()
    iv.ablate(study, agent, factors(study), factors=[0], name="no red")
    assert "no red" not in WithEdited(study, {"other": agent}) and not WithEdited(study, {})
    live = WithEdited(study, {"walker": agent})
    with pytest.raises(KeyError):
        live["nobody"]
    made = iv.record(study, live["no red"], Crossing(), episodes=1, seeds=13, name="ablated walks", progress=False)
    assert made.groups()["outcome"].to_list() == ["red"]
    assert made.info.subject and made.info.subject.identity == live["no red"].identity()


def test_what_cannot_be_rebuilt_says_so(study: iv.Study) -> None:
    agent = walker()
    iv.ablate(study, agent, factors(study), factors=[0], name="no red")
    kept = load_edited(study, "no red")
    wrong = replace(kept, info=replace(kept.info, identity="0" * 64))
    with pytest.raises(EditError, match="'no red' cannot be rebuilt from 'walker'"):
        rebuilt(study, wrong, agent)


def test_bad_choices_teach(study: iv.Study) -> None:
    found, agent = factors(study), walker()
    with pytest.raises(UnknownName, match="result"):
        choose(study, "f" * 16, [0])
    table = study.save_result("table", recording=RECORDING, arguments={}, value={})
    with pytest.raises(RequestError, match=r"is of 'table'\. Ablation takes directions of 'factors'"):
        choose(study, table.id, [0])
    for bad in ([3], [-1], [True], ["0"]):
        with pytest.raises(RequestError, match="numbers from 0 to 2, not"):
            choose(study, found.id, bad)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match=r"a list of numbers from 0 to 2, as in \[2\], not 1"):
        choose(study, found.id, 1)  # type: ignore[arg-type]
    assert choose(study, found.id, np.array([1, 1])) == choose(study, found.id, [1])  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="at least one factor"):
        choose(study, found.id, [])
    late = save_factors(study, layer="policy")
    with pytest.raises(EditError, match="No convolution or dense layer after 'policy'"):
        make_ablated(study, agent, choose(study, late.id, [0]))
    assert subjects(study) == []


def test_factors_of_a_class_are_found_or_the_nearest_are_shown(study: iv.Study) -> None:
    found = factors(study)
    assert find_factors(found, "red") == [0]
    with pytest.raises(UnknownName, match="Did you mean 'green'"):
        find_factors(found, "gren")
    nothing = save_factors(study, names=("", "green"))
    with pytest.raises(EditError, match=r"No factor at layer 'see' clearly means 'red'.*factor 1 \(\+0\.10\)"):
        find_factors(nothing, "red")
    blank = replace(found, value={"layer": "see", "factors": [{"meaning": None}]})
    with pytest.raises(EditError, match="provides no masks"):
        find_factors(blank, "red")
