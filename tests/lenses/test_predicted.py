"""Poses that are predicted, beside those that were recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.lenses.columns.predicted import PredictedColumns, predicted_columns
from innerview.schema import POSE, ArraySpec, Column, Head, Polygon, PosePart, RecordingInfo, Scene
from innerview.store import save_thresholds
from innerview.store.recordings.scenes import scene_key

X, Y, ANGLE = [1.0, 2.0, 3.0], [0.0, 1.0, -1.0], [10.0, 350.0, 180.0]


class Given(nn.Module):
    """Says what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"pose": x * self.scale}


def predicted(folder: Path, head: Head, said: np.ndarray, units: dict[str, str]) -> PredictedColumns:
    study = iv.Study.create(folder / "poses.study")
    columns = {"x": X, "y": Y, "angle": ANGLE}
    specs = [
        Column(name=name, type="float", unit=unit, pose=part)
        for (name, unit), part in zip(units.items(), POSE, strict=True)
    ]
    iv.write_rows(study, "rows", columns=columns, arrays={"said": said.astype(np.float32)}, specs=specs)
    subject = iv.subject(Given(), name="given", example={"x": torch.zeros(1, 3)}, heads={"pose": head})
    made = iv.predict(study, subject, "rows", inputs={"x": "said"}, progress=False)
    return PredictedColumns(made, study.recording("rows"))


def pose(*units: str) -> Head:
    return Head(name="pose", kind="pose", size=3, names=("x", "y", "angle"), units=units)


def test_errors_are_in_recorded_units_and_headings_in_degrees(tmp_path: Path) -> None:
    said = np.array([[1.3, 0.4, 10], [2.0, 1.0, 8], [3.0, 1.0, -180]])
    found = predicted(tmp_path, pose(), said, {"x": "m", "y": "m", "angle": "deg"})
    (each,) = found.poses
    table = found.columns([each.position_error, each.heading_error], 0, 3)
    np.testing.assert_allclose(table[each.position_error], [0.5, 0.0, 2.0], atol=1e-6)
    np.testing.assert_allclose(table[each.heading_error], [0.0, 18.0, 0.0], atol=1e-5)
    units = {column.name: column.unit for column in found.specs}
    assert (units[each.position_error], units[each.heading_error]) == ("m", "deg")


def test_a_head_with_units_of_its_own_is_converted(tmp_path: Path) -> None:
    said = np.array([[100.0, 0.0, np.radians(-350)], [200.0, 130.0, 0.0], [300.0, -100.0, np.pi / 2]])
    found = predicted(tmp_path, pose("cm", "cm", "rad"), said, {"x": "m", "y": "m", "angle": "deg"})
    (each,) = found.poses
    table = found.columns([each.predicted_y, each.position_error, each.heading_error], 0, 3)
    np.testing.assert_allclose(table[each.predicted_y], [0.0, 1.3, -1.0], atol=1e-6)
    np.testing.assert_allclose(table[each.position_error], [0.0, 0.3, 0.0], atol=1e-6)
    np.testing.assert_allclose(table[each.heading_error], [0.0, 10.0, 90.0], atol=1e-4)


def test_the_pose_is_that_of_the_domain_that_was_seen(tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "sides.study")
    sides = {"sim": 0.0, "real": 10.0}
    columns = {f"{axis} {side}": np.array(X) + by for side, by in sides.items() for axis in ("east", "north")}
    parts: dict[str, PosePart] = {"east": "x", "north": "y"}
    units = {"sim": "m", "real": "cm"}
    told = [
        Column(name=n, type="float", unit=units[side], domain=side, pair=axis, pose=parts[axis])
        for n in columns
        for axis, side in [n.split()]
    ]
    said = np.array([[1.0, 2.0, 0.0]] * 3, np.float32)
    arrays = [ArraySpec(name=side, shape=(3,), dtype="float32", domain=side) for side in sides]
    write = {"columns": {**columns, "angle": ANGLE}, "arrays": dict.fromkeys(sides, said)}
    turned = Column(name="angle", type="float", unit="rad", pose="angle")
    iv.write_rows(study, "rows", **write, specs=[*told, *arrays, turned])
    subject = iv.subject(Given(), name="given", example={"x": torch.zeros(1, 3)}, heads={"pose": pose("m", "m", "deg")})

    def joined(side: str) -> PredictedColumns:
        made = iv.predict(study, subject, "rows", inputs={"x": side}, progress=False)
        return PredictedColumns(made, study.recording("rows"))

    for side, factor in (("sim", 1), ("real", 100)):
        found = joined(side)
        (each,) = found.poses
        assert (each.x, each.y, each.heading_error) == (f"east {side}", f"north {side}", "pose_heading_error")
        errors = found.columns([each.position_error], 0, 3)[each.position_error].to_numpy()
        expected = np.hypot(columns[each.x] - factor * 1, columns[each.y] - factor * 2)
        np.testing.assert_allclose(errors, expected, rtol=1e-6)


def test_a_pose_of_another_domain_than_the_one_seen_is_not_compared(tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "other.study")
    told = [Column(name=part, type="float", unit="m", domain="real", pose=part) for part in POSE[:2]]
    arrays = [ArraySpec(name=d, shape=(3,), dtype="float32", domain=d) for d in ("sim", "real")]
    values = {d: np.zeros((3, 3), np.float32) for d in ("sim", "real")}
    iv.write_rows(study, "rows", columns={"x": X, "y": Y}, arrays=values, specs=[*told, *arrays])
    subject = iv.subject(Given(), name="given", example={"x": torch.zeros(1, 3)}, heads={"pose": pose("m", "m", "rad")})
    for domain, poses in (("sim", 0), ("real", 1)):
        made = iv.predict(study, subject, "rows", inputs={"x": domain}, progress=False)
        assert len(PredictedColumns(made, study.recording("rows")).poses) == poses


@pytest.mark.parametrize(("units", "poses", "headings"), [(("rad", "rad", "rad"), 0, 0), (("m", "m", "turns"), 1, 0)])
def test_what_cannot_be_compared_is_left_out(tmp_path: Path, units: tuple[str, ...], poses: int, headings: int) -> None:
    found = predicted(tmp_path, pose(*units), np.zeros((3, 3)), {"x": "m", "y": "m", "angle": "deg"})
    assert len(found.poses) == poses
    assert sum(bool(each.heading_error) for each in found.poses) == headings
    assert found.columns(["row"], 0, 3)["row"].to_list() == [0, 1, 2]


ROOMS = (
    Polygon(name="hall", points=((0, 0), (10, 0), (10, 2), (0, 2))),
    # A room with a corner cut out, so that its hull is not the room.
    Polygon(name="lab", points=((0, 2), (10, 2), (10, 10), (6, 10), (6, 4), (0, 4))),
)
PLACES = [(1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (8.0, 8.0)]
SIM = [(1.5, 1.0), (1.0, 1.0), (9.0, 1.0), (3.0, 8.0), (2.0, 3.0)]
REAL = [(1.0, 1.5), (9.0, 1.0), (1.0, 1.0), (3.0, 8.5), (8.0, 1.0)]


def paired(folder: Path, *, rooms: bool = True) -> tuple[iv.Study, dict[str, PredictedColumns]]:
    """Predictions of both domains by one subject; of the second, the first row is left out where it has no rooms."""
    study = iv.Study.create(folder / "paired.study")
    flat = {side: np.array([(*place, 0) for place in said], np.float32) for side, said in {"a": SIM, "b": REAL}.items()}
    specs: list[Any] = [
        Column(name="x", type="float", unit="m", pose="x"),
        Column(name="y", type="float", unit="m", pose="y"),
        Column(name="angle", type="float", unit="deg", pose="angle"),
        *(ArraySpec(name=side, shape=(3,), dtype="float32", domain={"a": "sim", "b": "real"}[side]) for side in flat),
    ]
    x, y = (list(axis) for axis in zip(*PLACES, strict=True))
    scene = Scene(polygons=ROOMS, unit="m")
    info = RecordingInfo(
        name="rows", columns=tuple(specs[:3]), arrays=tuple(specs[3:]), scene=scene_key(scene) if rooms else ""
    )
    with study.writer(info) as writer:
        writer.add_scene(scene)
        writer.append({"x": x, "y": y, "angle": [350.0] * 5}, flat)
    subject = iv.subject(Given(), name="given", example={"x": torch.zeros(1, 3)}, heads={"pose": pose("m", "m", "deg")})
    iv.predict(study, subject, "rows", inputs={"x": "a"}, progress=False)
    iv.predict(study, subject, "rows", inputs={"x": "b"}, rows=None if rooms else (1, 5), progress=False)
    return study, {each.domain: each for each in predicted_columns(study, study.recording("rows"))}


def test_kinds_of_error_are_rooms_and_a_gap_is_where_domains_differ(tmp_path: Path) -> None:
    _, sides = paired(tmp_path)
    kinds = {side: found.columns(["pose_error_kind"], 0, 5).to_series().to_list() for side, found in sides.items()}
    assert kinds == {
        "sim": ["right", "right", "same room", "unreachable place", "same room"],
        "real": ["right", "same room", "right", "unreachable place", "other room"],
    }
    for side, found in sides.items():
        table = found.columns(["pose_gap", "pose_gap_kind", "pose_predicted_heading"], 0, 5)
        np.testing.assert_allclose(table["pose_gap"], np.linalg.norm(np.subtract(SIM, REAL), axis=1), rtol=1e-6)
        # Both are wrong by metres in the fourth row, at the same place: no gap.
        assert table["pose_gap_kind"].to_list() == [
            "no gap",
            "worse in real",
            "worse in sim",
            "no gap",
            "wrong in both, apart",
        ], side
        assert table["pose_predicted_heading"].to_list() == [0.0] * 5


def test_a_tolerance_is_kept_with_the_study(tmp_path: Path) -> None:
    study, _ = paired(tmp_path)
    save_thresholds(study, {"pose tolerance": 20.0})
    for found in predicted_columns(study, study.recording("rows")):
        assert set(found.columns(["pose_error_kind"], 0, 5).to_series()) == {"right"}
        assert set(found.columns(["pose_gap_kind"], 0, 5).to_series()) == {"no gap"}


def test_what_is_predicted_of_one_domain_alone_has_no_gap_there(tmp_path: Path) -> None:
    _, sides = paired(tmp_path, rooms=False)
    gaps = sides["sim"].columns(["pose_gap", "pose_gap_kind", "pose_error_kind"], 0, 5)
    assert np.isnan(gaps["pose_gap"][0]) and gaps["pose_gap_kind"][0] is None
    assert gaps["pose_gap_kind"].to_list()[1:] == ["worse in real", "worse in sim", "no gap", "wrong in both, apart"]
    # No areas are known here: it is wrong, and that is all that can be said.
    assert gaps["pose_error_kind"].to_list() == ["right", "right", "wrong place", "wrong place", "wrong place"]
    assert sides["real"].columns(["row", "pose_gap"], 0, 4)["row"].to_list() == [1, 2, 3, 4]


def test_kinds_are_counted_in_words(tmp_path: Path) -> None:
    _, sides = paired(tmp_path)
    errors, gaps = sides["real"].sentences
    assert errors.startswith("Errors of 'pose' in real: right 2, ")
    assert all(kind in errors for kind in ("same room 1", "other room 1", "unreachable place 1"))
    assert gaps.startswith("Gaps of 'pose' in real: no gap 2, ") and "worse in sim 1" in gaps


class Brightest(nn.Module):
    """Believes to be where the mean of a picture says."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"pose": x.flatten(1).mean(1, keepdim=True) * self.scale}


def test_pictures_behind_a_filter_are_compared_with_such_or_else_with_plain_ones(tmp_path: Path) -> None:
    study, sides = iv.Study.create(tmp_path / "filters.study"), ("sim", "real")
    axes = ("height", "width", "channel")
    specs = [
        *(Column(name=name, type="float", unit=unit, pose=name) for name, unit in (("x", "m"), ("y", "m"))),  # type: ignore[arg-type]
        *(ArraySpec(name=f"{s}.rgb", shape=(8, 8, 3), dtype="uint8", axes=axes, domain=s, pair="rgb") for s in sides),
    ]
    pictures = {f"{s}.rgb": np.full((3, 8, 8, 3), 40 + 20 * n, np.uint8) for n, s in enumerate(sides)}
    iv.write_rows(study, "rows", columns={"x": X, "y": Y}, arrays=pictures, specs=specs)
    subject = iv.subject(Brightest(), name="mean", example=torch.zeros(1, 3, 8, 8), heads={"pose": pose("m", "m", "")})

    def predict(text: str) -> str:
        return iv.predict(study, subject, "rows", inputs={"x": text}, progress=False).id

    dark, bright = "brightness 0.5", "brightness 1.5"
    sim, real, dark_real = predict("sim.rgb"), predict("real.rgb"), predict(f"real.rgb | {dark}")
    bright_sim, bright_real = predict(f"sim.rgb | {bright}"), predict(f"real.rgb | {bright}")
    found = {each.prediction.id: each for each in predicted_columns(study, study.recording("rows"))}
    twins = {id: each.twin.prediction.id if each.twin else "" for id, each in found.items()}
    assert twins == {sim: real, real: sim, dark_real: sim, bright_sim: bright_real, bright_real: bright_sim}
    assert {each.prediction.binding.filters for each in found.values()} == {"", dark, bright}
    means = {id: each.columns(["pose_gap"], 0, 1)["pose_gap"][0] for id, each in found.items()}
    assert means[real] == pytest.approx(np.sqrt(2) * 20 / 255, rel=1e-5)
    assert means[dark_real] == pytest.approx(np.sqrt(2) * 10 / 255, rel=1e-5)  # 30 beside the plain 40
