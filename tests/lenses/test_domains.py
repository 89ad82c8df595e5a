"""Rows as two domains show them: through a recording, as lenses are given them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import innerview as iv
from innerview.errors import LensError, RequestError
from innerview.lenses.rows.inputs import RowInputs, channels_of
from innerview.lenses.rows.recorded import recorded_rows
from innerview.schema import ArraySpec, Rows
from tests.paired import ROWS, SIZE, painted, paired_study

EVERY = np.arange(ROWS)


@pytest.fixture
def study(tmp_path: Path) -> iv.Study:
    return paired_study(tmp_path, dim=0.5)


def rows_of(study: iv.Study, bound: str) -> Rows:
    recording = study.recording("pairs")
    return recorded_rows(study, recording, EVERY, RowInputs(painted(), recording, {"rgb": bound}))


def test_each_domain_gives_its_own_pictures_whichever_is_bound(study: iv.Study) -> None:
    for bound in ("sim", "real", "real.rgb"):
        rows = rows_of(study, bound)
        assert set(rows.domains) == {"sim", "real"} and rows.channels == {"rgb": ("colour",) * 3}
        sim, real = (rows.in_domain(side).inputs(EVERY)["rgb"] for side in ("sim", "real"))
        assert torch.allclose(real, sim / 2, atol=1e-6) and not torch.equal(real, sim)
        assert torch.equal(rows.inputs(EVERY)["rgb"], sim if bound == "sim" else real)
        part = rows.part(np.array([3, 5])).in_domain("sim").inputs(np.array([1]))["rgb"]
        assert torch.equal(part[0], sim[5])
    with pytest.raises(LensError, match=r"domain 'dream'.* 'sim', 'real'"):
        rows.in_domain("dream")
    assert np.array_equal(
        rows.arrays["sim.rgb"].part(np.array([2])).read(np.array([0])), study.recording("pairs").array("sim.rgb", 2, 3)
    )


def test_a_filter_stays_on_the_domain_it_was_put_on(study: iv.Study) -> None:
    rows, plain = rows_of(study, "real.rgb | brightness 1.2"), rows_of(study, "real")
    assert torch.equal(rows.in_domain("sim").inputs(EVERY)["rgb"], plain.in_domain("sim").inputs(EVERY)["rgb"])
    brighter = rows.in_domain("real").inputs(EVERY)["rgb"] / plain.in_domain("real").inputs(EVERY)["rgb"]
    assert torch.allclose(brighter, torch.tensor(1.2), atol=0.05)


def test_a_counterpart_of_another_size_is_resized(tmp_path: Path) -> None:
    small = ArraySpec(
        name="sim.rgb", shape=(4, 4, 3), dtype="uint8", axes=("height", "width", "channel"), domain="sim", pair="rgb"
    )
    large = ArraySpec(name="real.rgb", shape=(SIZE, SIZE, 3), dtype="uint8", axes=small.axes, domain="real", pair="rgb")
    made = iv.Study.create(tmp_path / "sizes.study")
    arrays = {"sim.rgb": np.full((2, 4, 4, 3), 7, np.uint8), "real.rgb": np.zeros((2, SIZE, SIZE, 3), np.uint8)}
    iv.write_rows(made, "pairs", columns={"x": np.zeros(2)}, arrays=arrays, specs=[small, large])
    side = RowInputs(painted(), made.recording("pairs"), {"rgb": "real"}).domains["sim"]
    assert str(side.binding) == f"rgb ← sim.rgb | resize {SIZE}x{SIZE}"
    assert torch.allclose(side.inputs(np.arange(2))["rgb"], torch.tensor(7 / 255))


def test_a_lens_of_two_domains_needs_no_binding_and_says_what_it_lies_over(study: iv.Study) -> None:
    asked = {"subject": painted(), "other": True, "progress": False}
    found = iv.look(study, "domain-occlusion", "pairs", patch=4, measure="x", rows=(0, 3), **asked)
    assert found.shown["arrays"] == {"rgb": "real.rgb"} and found.shown["domain"] == "real"
    heat, errors = (study.result_array(found.id, name) for name in ("heat.rgb", "errors"))
    x = study.recording("pairs").columns(["x"], 0, 3)["x"].to_numpy()
    # Half the light is half of x; one of four patches brings back a quarter of what is missing.
    assert np.allclose(errors, np.stack([x / 2, x * 0], 1), atol=0.03)
    assert np.allclose(heat[:, 0].mean((1, 2)), x / 8, atol=0.03)
    over_sim = iv.look(study, "domain-occlusion", "pairs", patch=4, measure="x", rows=(0, 3), domain="sim", **asked)
    assert over_sim.shown["arrays"] == {"rgb": "sim.rgb"}
    assert (study.result_array(over_sim.id, "heat.rgb") < 0).all()  # REAL's patches lead away from the truth
    with pytest.raises((LensError, RequestError), match=r"fits no array|could be fed"):
        iv.look(study, "gradient", "pairs", **asked)


def test_channels_are_colour_or_depth_by_their_names_and_units() -> None:
    axes = ("height", "width", "channel")
    rgbd = ArraySpec(name="a", shape=(4, 4, 4), dtype="uint8", axes=axes, elements=("red", "green", "blue", "depth"))
    far = ArraySpec(name="b", shape=(4, 4), dtype="uint16", axes=axes[:2], unit="mm")
    assert channels_of(rgbd) == ("colour", "colour", "colour", "depth") and channels_of(far) == ("depth",)
    assert channels_of(ArraySpec(name="c", shape=(7,), dtype="float32")) == ()
