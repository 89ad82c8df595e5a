"""The pose networks' training: it learns, it goes on, it says what is missing."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import torch
from innerview_zoo.models.office.data import take
from innerview_zoo.models.office.learn import Learner, Plan
from innerview_zoo.models.office.pose import PoseNet
from innerview_zoo.models.office.recipes import recipe_of
from innerview_zoo.models.office.score import Errors, bootstrap, compare, figures, table
from innerview_zoo.models.office.train import main
from safetensors.torch import load_file

from innerview.errors import SubjectError
from tests.zoo.square_room import SquareRoom

CPU = torch.device("cpu")
SMALL = ["--images", "12", "--test-images", "3", "--pairs", "3", "--batch", "4", "--device", "cpu", "--threads", "1"]


def test_a_few_pictures_are_learnt_by_heart() -> None:
    room = SquareRoom()
    images = take(room, room.anywhere(6, 0), month=0, device=CPU, keep_on=CPU)
    learner = Learner(recipe_of("vanilla"), Plan(device=CPU, batch=6, lr=1e-3), images)
    losses = [float(learner.step(i / 25)) for i in range(25)]
    assert np.mean(losses[-3:]) < np.mean(losses[:3]) / 3


def test_two_models_one_after_the_other_then_going_on(tmp_path: Path) -> None:
    out, on = tmp_path / "run", tmp_path / "on"
    main([*SMALL, "--model", "vanilla", "finetuned", "--out", str(out), "--minutes", "0.02"], SquareRoom())
    for name in ("vanilla", "finetuned"):
        kept = load_file(out / name / "weights.safetensors")
        assert {value.dtype for value in kept.values()} == {torch.float16}
        PoseNet().load_state_dict(kept)
    main([*SMALL, "--out", str(on), "--resume", str(out), "--minutes", "0.02"], SquareRoom())
    before, after = (list(csv.DictReader((f / "vanilla/curve.csv").read_text().splitlines())) for f in (out, on))
    assert after[: len(before)] == before
    assert float(after[-1]["seconds"]) > float(before[-1]["seconds"])
    assert int(after[-1]["images"]) > int(before[-1]["images"])


def test_nothing_to_go_on_from_is_said(tmp_path: Path) -> None:
    with pytest.raises(SubjectError, match="nothing to go on from"):
        main([*SMALL, "--out", str(tmp_path), "--resume", str(tmp_path / "no"), "--minutes", "0.01"], SquareRoom())


def test_a_missing_start_is_said(tmp_path: Path) -> None:
    given = [*SMALL, "--model", "finetuned", "--out", str(tmp_path), "--start", str(tmp_path / "no")]
    with pytest.raises(SubjectError, match="no weights at"):
        main(given, SquareRoom())


def test_errors_are_metres_and_degrees_over_the_seam() -> None:
    pose, truth = torch.tensor([[3.0, 4.0, 3.1]]), torch.tensor([[0.0, 0.0, -3.1]])
    found = compare(pose, truth)
    assert found.place_m[0] == pytest.approx(5.0)
    assert found.heading_deg[0] == pytest.approx(np.degrees(2 * np.pi - 6.2), rel=1e-4)


def test_intervals_hold_the_value_and_narrow_with_more_pictures() -> None:
    rng = np.random.default_rng(1)
    few, many = (bootstrap(rng.exponential(1.0, n), np.median, name="m") for n in (50, 2000))
    assert few.low < few.value < few.high
    assert many.high - many.low < few.high - few.low
    assert many.low < np.log(2) < many.high


def test_near_needs_both_place_and_heading() -> None:
    found = Errors(np.array([0.1, 0.1, 2.0]), np.array([1.0, 50.0, 1.0]))
    assert figures(found, "")[-1].value == pytest.approx(100 / 3)


def test_the_table_has_a_row_for_each_model_and_set() -> None:
    told: list[str] = []
    models = {"one": PoseNet().eval(), "two": PoseNet().eval()}
    report = table(models, SquareRoom(), count=2, progress=lambda done, of, what: told.append(f"{done}/{of}"))
    assert len(report.rows) == 2 * 5 + 1
    assert report.main.name == "position error, median" and report.main.count == 2
    assert told[-1] == "15/15"
