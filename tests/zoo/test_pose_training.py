"""The pose network is trained on anybody's images, in every layout and variant, and comes back as a subject."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import innerview_zoo as zoo
import numpy as np
import pytest
import torch
from innerview_zoo import PoseTraining
from innerview_zoo.pairs.poses import PoseRows
from safetensors.torch import load_file
from typer.testing import CliRunner

import innerview as iv
from innerview.cli.app import app
from innerview.cli.make import load_subject
from innerview.errors import InnerviewError, RequestError, SubjectError
from innerview.store import import_pairs
from tests.store.layouts import make_manifest, make_sim2realviz, make_tum
from tests.store.test_pairs import make_pairs

FEW = PoseTraining(steps=1, batch=2, seed=1)
LAYOUTS: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "manifest": (make_manifest, ["--domain", "sim"]),
    "sim2realviz": (make_sim2realviz, ["--domain", "real", "--unit", "depth=39.2157 mm"]),
    "tum": (make_tum, []),
    "pairs": (make_pairs, []),
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> iv.Study:
    folder = tmp_path_factory.mktemp("training")
    make_manifest(folder / "data")
    made = iv.Study.create(folder / "my.study")
    import_pairs(made, folder / "data", name="data")
    return made


@pytest.fixture(scope="module")
def vanilla(study: iv.Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("vanilla") / "run"
    zoo.train_pose(study.recording("data"), out, PoseTraining(domain="sim", steps=1, batch=2))
    return out


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_folder_of_each_layout_can_be_trained_on(tmp_path: Path, layout: str) -> None:
    make, words = LAYOUTS[layout]
    make(tmp_path / "data")
    out = tmp_path / "run"
    told = CliRunner().invoke(
        app, ["train", "pose", str(tmp_path / "data"), "--out", str(out), "--steps", "1", "--batch", "2", *words]
    )
    assert told.exit_code == 0, told.output
    assert "1 step;" in told.output and "position error, median" in told.output
    card = json.loads((out / "card.json").read_text())
    assert (
        card["steps"] == 1 and card["input"]["rgbd"].endswith("| depth 10") and (out / "weights.safetensors").is_file()
    )


def test_it_comes_back_as_a_subject_that_predicts(study: iv.Study, vanilla: Path) -> None:
    subject, _ = load_subject(f"{vanilla / 'model.py'}:make")
    assert [head.kind for head in subject.info.heads] == ["pose"]
    card = json.loads((vanilla / "card.json").read_text())
    made = iv.predict(study, subject, "data", inputs=card["input"], progress=False)
    rows = PoseRows.of(study.recording("data"), "sim")
    rgbd, _ = rows.images(keep_on=torch.device("cpu")).batch(torch.arange(6), torch.device("cpu"))
    with torch.no_grad():
        by_hand = subject.module(rgbd)["pose"].numpy()
    # It learnt from bytes; predictions have depth and colour as fine as they were recorded.
    np.testing.assert_allclose(made.array("head.pose", 0, made.rows)[:, :2], by_hand[:, :2], atol=0.1)


def state(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "weights.safetensors")


def test_the_model_carries_its_own_normalisation(study: iv.Study, vanilla: Path) -> None:
    kept = state(vanilla)
    rows = PoseRows.of(study.recording("data"), "sim")
    card = json.loads((vanilla / "card.json").read_text())
    assert card["images"] == 5  # one of six is held out
    order = np.random.default_rng(0).permutation(6)
    learnt = rows.at(np.sort(order[1:]))
    images = learnt.images(keep_on=torch.device("cpu"))
    seen = images.rgbd.float() / 255
    torch.testing.assert_close(kept["input_mean"], seen.mean((0, 2, 3)), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(kept["centre_m"], learnt.poses[:, :2].mean(0), rtol=1e-4, atol=1e-4)


def test_images_are_what_the_recording_shows_and_poses_in_metres_and_radians(study: iv.Study) -> None:
    recording = study.recording("data")
    rows = PoseRows.of(recording, "real")
    assert rows.binding == "real.rgb | resize 256x256 + real.depth | resize 256x256 | depth 10"
    table = recording.columns(["x", "y", "angle"]).to_numpy()
    np.testing.assert_allclose(rows.poses, table, rtol=1e-6)
    images = rows.images(keep_on=torch.device("cpu"))
    far = recording.array("real.depth", 0, 1)[0]
    # Depth is resized without mixing: every value was there before.
    assert set(np.unique(images.rgbd[0, 3])) == set(np.unique(np.rint(far / 10_000 * 255).astype(np.uint8)))


@pytest.mark.parametrize("variant", ["augmented", "perlin"])
def test_variants_change_what_is_learnt(study: iv.Study, vanilla: Path, tmp_path: Path, variant: str) -> None:
    training = PoseTraining(variant=variant, domain="sim", steps=1, batch=2)
    made = zoo.train_pose(study.recording("data"), tmp_path / "run", training)
    assert made.steps == 1 and set(made.held_out) == {"sim"}
    one, other = (state(path) for path in (vanilla, tmp_path / "run"))
    assert not torch.equal(one["conv1.conv.weight"], other["conv1.conv.weight"])


def test_fine_tuning_goes_on_from_weights_with_a_second_domain(study: iv.Study, vanilla: Path, tmp_path: Path) -> None:
    training = PoseTraining(
        variant="finetuned", domain="sim", tuned_on="real", start=vanilla, steps=1, batch=4, lr=1e-9
    )
    made = zoo.train_pose(study.recording("data"), tmp_path / "run", training)
    assert set(made.held_out) == {"sim", "real"}
    one, other = (state(path) for path in (vanilla, tmp_path / "run"))
    for name, value in one.items():
        torch.testing.assert_close(value, other[name], rtol=1e-4, atol=1e-5)
    with pytest.raises(InnerviewError, match="needs a second domain"):
        PoseTraining(variant="finetuned")


def test_the_loss_falls_and_the_curve_says_so(study: iv.Study, tmp_path: Path) -> None:
    out = tmp_path / "run"
    zoo.train_pose(study.recording("data"), out, PoseTraining(domain="sim", steps=14, batch=5, lr=0.02))
    lines = [line.split(",") for line in (out / "curve.csv").read_text().splitlines()]
    assert lines[0] == ["step", "seconds", "loss"] and [line[0] for line in lines[1:]] == ["1", "11", "14"]
    assert float(lines[-1][2]) < 0.8 * float(lines[1][2])


def test_stopped_in_between_it_saves_what_there_is(study: iv.Study, tmp_path: Path) -> None:
    def stop_at_the_first(done: int, of: int, what: str) -> None:
        if what.startswith("step"):
            raise KeyboardInterrupt

    made = zoo.train_pose(
        study.recording("data"), tmp_path / "run", PoseTraining(domain="sim", batch=2), progress=stop_at_the_first
    )
    assert made.steps == 1 and json.loads((tmp_path / "run/card.json").read_text())["steps"] == 1


def test_what_cannot_be_trained_on_says_why(study: iv.Study, vanilla: Path, tmp_path: Path) -> None:
    recording = study.recording("data")
    with pytest.raises(RequestError, match="Domains that have both: real, sim"):
        zoo.train_pose(recording, tmp_path / "a", FEW)
    with pytest.raises(InnerviewError, match="holds something already"):
        zoo.train_pose(recording, vanilla, FEW)
    with pytest.raises(SubjectError, match="no weights at"):
        zoo.train_pose(recording, tmp_path / "b", PoseTraining(domain="sim", steps=1, start=tmp_path / "gone"))
    with pytest.raises(SubjectError, match="no pose network"):
        zoo.load_pose_network(tmp_path)
    make_manifest(tmp_path / "data")
    path = tmp_path / "data/manifest.csv"
    path.write_text(path.read_text().replace("angle [rad]", "angle"))
    with pytest.raises(RequestError, match="an angle in deg or rad"):
        zoo.train_pose(path, tmp_path / "c", PoseTraining(domain="sim", steps=1))
