"""The gap of models over a paired recording whose errors are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import innerview as iv
from innerview.errors import InnerviewError, RequestError, UnknownName
from innerview.lenses.columns.predicted import PredictedColumns, predicted_columns
from innerview.schema import ArraySpec, Column, Head
from tests.paired import SIZE, Painted, blind, painted, paired_study, poses


def test_errors_gaps_and_what_is_closed_are_those_of_hand(tmp_path: Path) -> None:
    study = paired_study(tmp_path)  # real pictures are half as bright: half the place, half the heading
    found = iv.gap(study, [painted("plain"), painted("doubled", 2.0)], "pairs", progress=False)
    plain, doubled = found.value["models"]
    place = np.hypot(*poses()[:, :2].T)
    assert found.value["baseline"] == "plain"
    assert plain["place"]["mean"]["reference"]["value"] == pytest.approx(0, abs=1e-5)
    assert plain["place"]["mean"]["other"]["value"] == pytest.approx(float(place.mean()) / 2, rel=1e-5)
    assert plain["place"]["median"]["gap"]["value"] == pytest.approx(float(np.median(place)) / 2, rel=1e-5)
    heading = np.degrees(poses()[:, 2]) / 2
    assert plain["heading"]["mean"]["gap"]["value"] == pytest.approx(float(heading.mean()), rel=1e-4)
    # What doubles is right on the real ones and as far off as their place on the simulated ones: its gap is negative.
    assert doubled["place"]["mean"]["gap"]["value"] == pytest.approx(-float(place.mean()), rel=1e-5)
    assert doubled["place"]["mean"]["closed"]["value"] == pytest.approx(3, rel=1e-4)
    errors = study.result_array(found.id, "place_m")
    np.testing.assert_allclose(errors[0, 1], place / 2, atol=1e-5)


def test_a_filter_is_one_more_model_and_its_predictions_are_kept_beside_the_others(tmp_path: Path) -> None:
    study = paired_study(tmp_path)
    study.save_filter(iv.SavedFilter(name="day", steps="brightness 2"))
    found = iv.gap(study, painted(), "pairs", filters=("brightness 0.5", "day"), progress=False)
    plain, darker, day = found.value["models"]
    assert day["place"]["mean"]["other"]["value"] == pytest.approx(0, abs=1e-5)
    assert day["place"]["mean"]["closed"]["value"] == pytest.approx(1, abs=1e-5)
    assert darker["place"]["mean"]["other"]["value"] > plain["place"]["mean"]["other"]["value"]
    assert day["inputs"] == [{"rgb": "sim.rgb"}, {"rgb": "real.rgb | brightness 2"}]
    kept = {each.id: str(each.binding) for each in study.predictions()}
    assert sorted(kept.values()) == [
        "rgb ← real.rgb",
        "rgb ← real.rgb | brightness 0.5",
        "rgb ← real.rgb | brightness 2",
        "rgb ← sim.rgb",
    ]
    # The figures of the table are those of the columns that views show of the same predictions.
    shown = PredictedColumns(study.prediction(darker["predictions"][1]), study.recording("pairs"))
    (pose,) = shown.poses
    columns = shown.columns([pose.position_error, pose.heading_error], 0, 12)
    assert darker["place"]["mean"]["other"]["value"] == pytest.approx(columns[pose.position_error].mean())
    assert darker["heading"]["median"]["other"]["value"] == pytest.approx(columns[pose.heading_error].median())


def test_the_same_question_is_answered_from_what_is_saved(tmp_path: Path) -> None:
    study = paired_study(tmp_path)
    first = iv.gap(study, painted(), "pairs", progress=False)
    assert iv.gap(study, painted(), "pairs", progress=False).id == first.id
    assert iv.gap(study, painted(scale=2.0), "pairs", progress=False).id != first.id
    assert iv.gap(study, painted(), "pairs", rows=(0, 6), progress=False).value["rows"] == 6


def test_rows_without_a_pose_are_left_out_and_named(tmp_path: Path) -> None:
    study = paired_study(tmp_path, unknown=(3, 7))
    value = iv.gap(study, painted(), "pairs", progress=False).value
    assert value["rows"] == 10
    assert value["left_out"] == {"count": 2, "rows": [3, 7]}
    with pytest.raises(RequestError, match="nothing to compare"):
        iv.gap(study, painted(), "pairs", rows=(3, 4), progress=False)


def test_what_is_asked_wrongly_is_refused_with_what_would_be_right(tmp_path: Path) -> None:
    study = paired_study(tmp_path)
    policy = iv.subject(Painted(), name="acts", inputs={"rgb": (3, SIZE, SIZE)}, heads={"pose": "policy"})
    with pytest.raises(RequestError, match="has no pose head"):
        iv.gap(study, policy, "pairs", progress=False)
    with pytest.raises(UnknownName, match=r"baseline 'paintd'.*'painted'"):
        iv.gap(study, painted(), "pairs", baseline="paintd", progress=False)
    with pytest.raises(UnknownName, match=r"domain 'reel'.*'real'"):
        iv.gap(study, painted(), "pairs", domains=("sim", "reel"), progress=False)
    with pytest.raises(UnknownName, match="filter 'dusk'"):
        iv.gap(study, painted(), "pairs", filters="dusk", progress=False)
    with pytest.raises(RequestError, match="factor goes from 0 to 4, not 7"):
        iv.gap(study, painted(), "pairs", filters="brightness 7", progress=False)


def test_a_unit_that_is_missing_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"unit of the place x, y of 'pairs' is not said.*Column\(unit='m'\)"):
        iv.gap(paired_study(tmp_path, unit=""), painted(), "pairs", progress=False)


def test_places_in_other_units_are_metres_in_the_table(tmp_path: Path) -> None:
    study = paired_study(tmp_path, unit="cm")
    found = iv.gap(study, painted(), "pairs", progress=False).value["models"][0]
    off = np.hypot(*(poses()[:, :2] * (1 - 0.01)).T)
    assert found["place"]["mean"]["reference"]["value"] == pytest.approx(float(off.mean()), rel=1e-4)


def test_one_side_alone_has_no_gap(tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "one.study")
    seen = ArraySpec(
        name="real.rgb",
        shape=(8, 8, 3),
        dtype="uint8",
        role="image",
        axes=("height", "width", "channel"),
        domain="real",
    )
    place = [Column(name=name, type="float", unit="m", pose=name) for name in ("x", "y")]  # type: ignore[arg-type]
    arrays = {"real.rgb": np.zeros((3, 8, 8, 3), np.uint8)}
    iv.write_rows(study, "one", columns={"x": [0.0] * 3, "y": [0.0] * 3}, arrays=arrays, specs=[*place, seen])
    with pytest.raises(InnerviewError, match="lies between two domains, and 'one' has pictures of 'real'"):
        iv.gap(study, painted(), "one", progress=False)


def test_a_head_whose_unit_is_no_length_is_refused(tmp_path: Path) -> None:
    head = Head(name="pose", kind="pose", size=3, names=("x", "y", "angle"), units=("rad", "rad", "rad"))
    odd = iv.subject(Painted(), name="odd", inputs={"rgb": (3, SIZE, SIZE)}, heads={"pose": head})
    with pytest.raises(RequestError, match="says its number 0 in 'rad', which cannot be compared with 'm'"):
        iv.gap(paired_study(tmp_path), odd, "pairs", progress=False)


def test_a_subject_that_sees_nothing_has_no_gap_to_close(tmp_path: Path) -> None:
    found = iv.gap(paired_study(tmp_path), [blind(), painted()], "pairs", progress=False).value["models"]
    assert found[0]["place"]["mean"]["gap"] == {"value": 0.0, "low": 0.0, "high": 0.0}
    assert found[1]["place"]["mean"]["closed"] is None


def test_what_is_said_through_a_filter_is_told_from_what_is_said_of_the_pictures_as_they_are(tmp_path: Path) -> None:
    study = paired_study(tmp_path)
    value = iv.gap(study, painted(), "pairs", filters=("brightness 2",), progress=False).value
    (sim, real), (_, filtered) = (model["predictions"] for model in value["models"])
    twins = {each.prediction.id: each.twin for each in predicted_columns(study, study.recording("pairs"))}
    assert {id: twin.prediction.id for id, twin in twins.items() if twin} == {sim: real, real: sim, filtered: sim}
    assert study.prediction(filtered).binding.filters == "brightness 2"
