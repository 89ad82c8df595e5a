"""Whether maps can be believed, as a job: every method is found, examined, stored and advised on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.errors import LensError, NotAsRecorded, UnknownName
from innerview.lenses.discovery import all_lenses
from innerview.lenses.rows.inputs import RowInputs
from innerview.lenses.rows.recorded import recorded_rows
from innerview.saliency import gradient
from innerview.testing.worlds import CountingWorld
from innerview.trust.maps import rank_correlation, ranks, strength
from innerview.trust.randomisation import cascade
from innerview.trust.spread import RUN_LENGTH, spread_rows

QUICK = ("gradient", "guided", "discriminative", "gradcam", "g1gradcam", "laplacian", "laplacian-2")


class Seer(nn.Module):
    """Two convolutions, a policy and a value."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(6, 8, 3, padding=1, stride=2)
        self.policy, self.value = nn.Linear(8 * 16, 3), nn.Linear(8 * 16, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        seen = torch.relu(self.conv2(torch.relu(self.conv1(x)))).flatten(1)
        return self.policy(seen), self.value(seen)


def seer(name: str = "seer", seed: int = 1) -> iv.Subject:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return iv.subject(Seer(), name=name, example=torch.zeros(1, 3, 8, 8))


@pytest.fixture
def study(tmp_path: Path) -> iv.Study:
    made = iv.Study.create(tmp_path / "a.study")
    iv.record(made, seer(), CountingWorld(length=20), episodes=2, name="x", lanes=2, progress=False)
    return made


def by_name(value: Mapping[str, Any]) -> dict[str, Any]:
    return {each["name"]: each for each in value["methods"]}


def test_every_method_of_a_subject_is_found_and_edge_detectors_fail(study: iv.Study) -> None:
    found = iv.examine(study, seer(), count=4, draws=1, progress=False)
    methods = by_name(found.value)
    heat = {name for name, each in all_lenses() if each.lens.yields == "heat" and each.lens.over == "row"}
    heat -= {name for name, each in all_lenses() if {"domains", "pose"} & set(each.lens.needs)}  # no target is asked
    variants = {name for _, each in all_lenses() for name in each.lens.variants}
    assert {each["lens"] for each in found.value["methods"]} == heat - {"recurrent"}, "all but what needs memory"
    assert {"gradient-times-input", "g1gradcam", "g2gradcam", "laplacian-4"} <= variants <= methods.keys()
    edges = [each for each in methods.values() if each["baseline"]]
    assert len(edges) == 4
    for each in edges:
        assert each["verdict"] == "fails" and each["randomisation"]["remains"]["low"] == pytest.approx(1)
        assert each["actions"] is None
    assert {each["method"] for each in found.value["recommendation"]["methods"]} == methods.keys()
    assert not any("laplacian" in sentence for sentence in found.value["recommendation"]["sentences"])
    assert [line[0] for line in found.shown["lines"]] == [*methods], "the generic view shows the same table"
    assert found.type == "table" and len(found.shown["columns"]) == len(found.shown["lines"][0])


def test_what_is_stored_is_what_the_model_run_by_hand_says(study: iv.Study) -> None:
    subject = seer()
    found = iv.examine(study, subject, methods=("gradient",), count=4, draws=1, seed=7, target="value", progress=False)
    rows = np.array(found.value["rows"])
    given = recorded_rows(study, study.recording("x"), rows, RowInputs(subject, study.recording("x")))
    assert found.value["rows"] == [0, 13, 26, 39]
    before = strength(gradient.look(given, subject, target="value").heat["x"])
    whole = recorded_rows(study, study.recording("x"), None, RowInputs(subject, study.recording("x")))
    (stages,) = cascade(subject, whole, "value", seed=7)
    (stored,) = found.value["methods"]
    assert stored["randomisation"]["stages"] == ["value", "conv2", "conv1"]
    for place, stage in enumerate(stages):
        after = strength(gradient.look(given, stage.subject, target="value").heat["x"])
        wanted = rank_correlation(ranks(before), ranks(after)).mean()
        assert np.isclose(stored["randomisation"]["strength"][place], wanted, atol=1e-6)
    said = subject.run(given.inputs(np.arange(4)), {}).heads["value"].numpy()
    assert np.isclose(stored["curves"]["insertion"][-1], said.mean(), atol=1e-5)
    assert np.isclose(stored["curves"]["deletion"][0], said.mean(), atol=1e-5)


def test_the_same_question_is_answered_once_and_other_weights_are_another(study: iv.Study) -> None:
    asked: dict[str, Any] = {"methods": ("gradient", "laplacian"), "count": 3, "draws": 1, "progress": False}
    first = iv.examine(study, seer(), **asked)
    assert iv.examine(study, seer(), **asked).created_at == first.created_at
    with pytest.raises(NotAsRecorded):
        iv.examine(study, seer(seed=2), **asked)
    other = iv.examine(study, seer(seed=2), other=True, **asked)
    assert other.id != first.id and other.arguments["other"]


def test_discriminative_is_compared_with_guided_row_by_row(study: iv.Study) -> None:
    found = iv.examine(study, seer(), methods=QUICK, count=6, draws=1, progress=False).value
    more, methods = found["discriminative_over_guided"], by_name(found)
    pairs = zip(*(methods[name]["actions"]["by_row"] for name in ("discriminative", "guided")), strict=True)
    assert np.isclose(more["mean"], np.mean([a - b for a, b in pairs])) and more["n"] == 6
    assert found["agreement"]["gradcam"]["gradcam"] == pytest.approx(1)
    assert found["agreement"]["gradcam"]["guided"] == pytest.approx(found["agreement"]["guided"]["gradcam"])
    assert methods["gradcam"]["layer"] == "conv1" and methods["guided"]["layer"] == ""


def test_what_a_method_refuses_is_said_and_the_others_go_on(tmp_path: Path) -> None:
    class Smooth(Seer):
        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            seen = torch.nn.functional.gelu(self.conv2(self.conv1(x))).flatten(1)
            return self.policy(seen), self.value(seen)

    subject = iv.subject(Smooth(), name="smooth", example=torch.zeros(1, 3, 8, 8))
    made = iv.Study.create(tmp_path / "b.study")
    iv.record(made, subject, CountingWorld(length=9), episodes=1, name="x", progress=False)
    found = iv.examine(
        made, subject, methods=("gradient", "guided", "laplacian"), count=3, draws=1, progress=False
    ).value
    methods = by_name(found)
    assert methods["guided"]["verdict"] == "not tested" and "gelu" in methods["guided"]["untested"].lower()
    assert methods["gradient"]["randomisation"] is not None and methods["laplacian"]["verdict"] == "fails"
    assert any(each.startswith("Not tested: guided.") for each in found["recommendation"]["sentences"])
    assert "guided" not in found["agreement"]


def test_gradients_that_are_not_finite_are_a_reason(tmp_path: Path) -> None:
    class Steep(Seer):
        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            seen = torch.relu(self.conv2(torch.relu(self.conv1(x)))).flatten(1)
            return self.policy(seen) + torch.sqrt(x.flatten(1)[:, :1] * 0), self.value(seen)

    subject = iv.subject(Steep(), name="steep", example=torch.zeros(1, 3, 8, 8))
    made = iv.Study.create(tmp_path / "b.study")
    iv.record(made, subject, CountingWorld(length=9), episodes=1, name="x", progress=False)
    found = iv.examine(made, subject, methods=("gradient", "laplacian"), count=3, draws=1, progress=False).value
    assert "not finite" in by_name(found)["gradient"]["untested"]
    assert found["recommendation"]["sentences"][0] == "On 'steep' no method passes without reserve."


def test_bad_questions_are_refused_with_what_would_be_right(study: iv.Study) -> None:
    with pytest.raises(UnknownName, match="gradcam"):
        iv.examine(study, seer(), methods=("gradcamm",), progress=False)
    iv.record(study, seer(), CountingWorld(length=5), episodes=1, name="y", progress=False)
    with pytest.raises(LensError, match="Say which recording"):
        iv.examine(study, seer(), progress=False)
    vector = iv.subject(nn.Linear(4, 2), name="v", example=torch.zeros(1, 4), heads="policy")
    with pytest.raises(LensError, match="no picture"):
        iv.examine(study, vector, "x", other=True, progress=False)


def test_rows_are_spread_and_runs_stay_within_an_episode(study: iv.Study) -> None:
    rows = recorded_rows(study, study.recording("x"))
    places, spread, runs = spread_rows(rows, 5)
    assert places[spread].tolist() == [0, 10, 20, 29, 39] and np.array_equal(places, np.unique(places))
    assert runs
    for start, stop in runs:
        run = places[start:stop]
        assert len(run) == RUN_LENGTH and (np.diff(run) == 1).all()
        assert len({int(place) // 20 for place in run}) == 1, "20 steps an episode"
    assert spread_rows(rows.part(np.arange(0, 40, 2)), 3)[2] == (), "no two steps follow each other"
    few, chosen, short = spread_rows(rows.part(np.arange(18, 23)), 9)
    assert few.tolist() == [0, 1, 2, 3, 4] == chosen.tolist() and short == ((0, 2), (2, 5))
