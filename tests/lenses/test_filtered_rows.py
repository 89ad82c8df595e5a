"""Filters on the way from a recording to a subject: what arrives is what they say, and lenses see it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import innerview as iv
from innerview.errors import RequestError
from innerview.lenses.rows.inputs import RowInputs
from innerview.schema import ArraySpec, Column
from tests.paired import SIZE, painted, paired_study

PICTURE, PLANE = ("height", "width", "channel"), ("height", "width")


def test_inputs_are_filtered_before_anything_else(tmp_path: Path) -> None:
    study = paired_study(tmp_path)
    rows = np.arange(5, 9)
    plain = RowInputs(painted(), study.recording("pairs"), {"rgb": "sim.rgb"}).inputs(rows)["rgb"]
    dark = RowInputs(painted(), study.recording("pairs"), {"rgb": "sim.rgb | brightness 0.5"}).inputs(rows)["rgb"]
    assert torch.equal(dark, plain / 2)


def test_a_lens_looks_at_what_the_subject_saw(tmp_path: Path) -> None:
    study = paired_study(tmp_path)
    heat = {}
    for steps in ("", " | brightness 2"):
        fed = {"rgb": f"real.rgb{steps}"}
        found = iv.look(
            study, "integrated-input", "pairs", subject=painted(), inputs=fed, target="x of pose", progress=False
        )
        heat[steps] = study.result_array(found.id, "heat.rgb")
    assert heat[""].any()
    np.testing.assert_allclose(heat[" | brightness 2"], 2 * heat[""], rtol=1e-4)


def test_depth_keeps_its_type_and_holes(tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "deep.study")
    depth = np.full((2, SIZE, SIZE), 3000, np.uint16)
    depth[:, 0], depth[:, 1] = 200, 0
    seen = ArraySpec(name="depth", shape=(SIZE, SIZE), dtype="uint16", role="image", axes=PLANE, unit="mm")
    iv.write_rows(study, "deep", columns={"n": [0, 1]}, arrays={"depth": depth}, specs=[seen])
    subject = iv.subject(torch.nn.Flatten(), name="flat", inputs={"depth": (1, SIZE, SIZE)}, heads="pose")
    given = RowInputs(subject, study.recording("deep"), {"depth": "depth | depth range 0.35 7 | depth 10"})
    values = given.inputs(np.arange(2))["depth"]
    assert values[0, 0, :, 0].tolist() == pytest.approx([0, 0, *[0.3] * 6])


def test_what_has_colours_and_depth_in_one_array_keeps_its_depth(tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "both.study")
    both = np.full((1, SIZE, SIZE, 4), 50, np.uint8)
    names = ("red", "green", "blue", "depth")
    seen = ArraySpec(name="rgbd", shape=both.shape[1:], dtype="uint8", role="image", axes=PICTURE, elements=names)
    iv.write_rows(study, "both", columns={"n": [0]}, arrays={"rgbd": both}, specs=[seen, Column(name="n", type="int")])
    subject = iv.subject(torch.nn.Flatten(), name="flat", inputs={"rgbd": (4, SIZE, SIZE)}, heads="pose")
    values = RowInputs(subject, study.recording("both"), {"rgbd": "rgbd | brightness 2"}).inputs(np.arange(1))["rgbd"]
    assert (values[0, :, 0, 0] * 255).tolist() == pytest.approx([100, 100, 100, 50])
    with pytest.raises(RequestError, match="arrays of their own, depth with its unit"):
        RowInputs(subject, study.recording("both"), {"rgbd": "rgbd | pitch 2"}).inputs(np.arange(1))
