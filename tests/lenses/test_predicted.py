"""Poses that are predicted, beside those that were recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.lenses.columns.predicted import PredictedColumns
from innerview.schema import POSE, ArraySpec, Column, Head, PosePart

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
