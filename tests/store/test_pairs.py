"""Folders of image pairs: files as they are, depth in 16 bits, poses with units, a map."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from innerview.errors import StoreError, UnknownName
from innerview.schema import Pose, pose_of
from innerview.store import Study, check, import_pairs
from innerview.store.recordings.arrays.encoded import check_picture

COUNT = 12


def make_pairs(folder: Path, count: int = COUNT, size: tuple[int, int] = (8, 6)) -> None:
    """JPEG in two domains, 16-bit depth in one, poses and a map."""
    random = np.random.default_rng(0)
    for kind in ("sim/rgb", "real/rgb", "sim/depth"):
        (folder / kind).mkdir(parents=True)
    for row in range(count):
        for side in ("sim", "real"):
            colours = random.integers(0, 255, (size[1], size[0], 3)).astype(np.uint8)
            Image.fromarray(colours).save(folder / side / "rgb" / f"{row:04}.jpg")
        Image.fromarray(depth(row, size)).save(folder / "sim/depth" / f"{row:04}.png")
    lines = [f"{row:04}.jpg,{row / 2},{row},{row * 10}" for row in range(count)]
    (folder / "poses.csv").write_text("\n".join(["file,x [m],y [m],angle [deg]", *lines]))
    Image.fromarray(np.full((40, 60), 200, np.uint8)).save(folder / "map.png")
    described = {
        "units": {"depth": "mm"},
        "map": {"origin": [-1.5, 2], "scale": 0.1, "unit": "m"},
        "polygons": {"kitchen": [[0, 0], [4, 0], [4, 3]]},
        "camera": {"width_px": 8, "height_px": 6, "focal_px": [9, 9], "centre_px": [4, 3]},
    }
    (folder / "pairs.json").write_text(json.dumps(described))


def depth(row: int, size: tuple[int, int] = (8, 6)) -> np.ndarray:
    return (np.arange(size[0] * size[1]).reshape(size[1], size[0]) * 1000 % 65536 + row).astype(np.uint16)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study.create(tmp_path / "my.study")


def test_a_folder_of_pairs_becomes_rows(study: Study, tmp_path: Path) -> None:
    make_pairs(tmp_path / "pairs")
    assert import_pairs(study, tmp_path / "pairs") == ("pairs", ())
    recording = study.recording("pairs")
    info = recording.info
    assert (recording.rows, info.row.many, info.ordering, info.origin.kind) == (COUNT, "pairs", None, "imported")
    specs = {spec.name: spec for spec in info.arrays}
    assert {(s.name, s.domain, s.pair) for s in info.arrays} == {
        ("sim.rgb", "sim", "rgb"),
        ("real.rgb", "real", "rgb"),
        ("sim.depth", "sim", ""),
    }
    assert (specs["sim.depth"].dtype, specs["sim.depth"].unit) == ("uint16", "mm")
    np.testing.assert_array_equal(recording.array("sim.depth", 3, 4)[0], depth(3))
    shown = np.asarray(Image.open(tmp_path / "pairs/real/rgb/0005.jpg"))
    np.testing.assert_array_equal(recording.array("real.rgb", 5, 6)[0], shown)
    assert {(c.name, c.unit) for c in info.columns} == {("name", ""), ("x", "m"), ("y", "m"), ("angle", "deg")}
    assert recording.columns(["angle"])["angle"].to_list() == [row * 10 for row in range(COUNT)]
    assert not check(study.path)


def test_the_map_comes_with_its_place_areas_and_camera(study: Study, tmp_path: Path) -> None:
    make_pairs(tmp_path / "pairs")
    import_pairs(study, tmp_path / "pairs")
    recording = study.recording("pairs")
    scene = recording.scene(recording.info.scene)
    assert scene.image is not None
    assert (scene.image.origin, scene.image.scale, scene.unit) == ((-1.5, 2.0), 0.1, "m")
    assert scene.polygons[0].name == "kitchen"
    assert scene.camera is not None
    assert recording.map_image(recording.info.scene) == (tmp_path / "pairs/map.png").read_bytes()
    kept = study.path / "recordings/pairs/scenes" / scene.image.file
    kept.write_bytes(kept.read_bytes()[:-1])
    assert "map image" in check(study.path)[0].problem


# A JPEG file has no checksum: a byte changed inside it may show in the picture alone.
@pytest.mark.parametrize(
    ("file", "broken"),
    [("real/rgb/0004.jpg", broken) for broken in ("cut", "cut inside", "garbled", "no image", "other size")]
    + [("sim/depth/0004.png", broken) for broken in ("cut", "flipped", "no image", "other size")],
)
def test_one_broken_file_is_named_and_the_rest_loads(study: Study, tmp_path: Path, broken: str, file: str) -> None:
    make_pairs(tmp_path / "pairs")
    path = tmp_path / "pairs" / file
    content = bytearray(path.read_bytes())
    if broken == "other size":
        Image.fromarray(depth(4, (9, 9)) if path.suffix == ".png" else np.zeros((9, 9, 3), np.uint8)).save(path)
    elif broken == "cut inside":
        path.write_bytes(content[:-42] + content[-2:])
    elif broken == "garbled":
        path.write_bytes(content[:-40] + b"\xff\xc3" * 10 + content[-20:])
    else:
        content[0 if broken == "no image" else 20] ^= 0x40
        path.write_bytes(content[:-30] if broken == "cut" else content)
    _, remarks = import_pairs(study, tmp_path / "pairs")
    assert len(remarks) == 1
    assert f"row 4, '{file}'" in remarks[0]
    recording = study.recording("pairs")
    assert recording.rows == COUNT - 1
    assert "0004" not in recording.columns(["name"])["name"].to_list()
    np.testing.assert_array_equal(recording.array("sim.depth", 4, 5)[0], depth(5))


@pytest.mark.parametrize(
    "settings", [{"progressive": True}, {"restart_marker_blocks": 2}, {"quality": 5}, {"subsampling": 0}]
)
def test_whole_jpeg_files_of_any_kind_are_taken(settings: dict[str, Any]) -> None:
    random = np.random.default_rng(0)
    for size in ((1, 1), (8, 8), (37, 61), (200, 90)):
        for shape in (size, (*size, 3)):
            out = io.BytesIO()
            Image.fromarray(random.integers(0, 255, shape).astype(np.uint8)).save(out, "JPEG", **settings)
            assert check_picture(out.getvalue()) == (shape, "uint8")


def test_a_folder_of_images_is_a_domain_where_others_show_the_same(study: Study, tmp_path: Path) -> None:
    def folders(*names: str) -> set[tuple[str, str, str]]:
        folder = tmp_path / " ".join(names)
        for name in names:
            (folder / name).mkdir(parents=True)
            pixels = depth(0) if name == "depth" else np.zeros((6, 8, 3), np.uint8)
            Image.fromarray(pixels).save(folder / name / "a.png")
        return {(s.name, s.domain, s.pair) for s in study.recording(import_pairs(study, folder)[0]).info.arrays}

    assert folders("sim", "real") == {("sim", "sim", "image"), ("real", "real", "image")}
    assert folders("rgb", "depth") == {("rgb", "", ""), ("depth", "", "")}
    assert folders("photos") == {("photos", "", "")}


def test_two_files_for_one_row_are_refused(study: Study, tmp_path: Path) -> None:
    make_pairs(tmp_path / "pairs")
    Image.fromarray(np.zeros((6, 8, 3), np.uint8)).save(tmp_path / "pairs/real/rgb/0003.png")
    with pytest.raises(StoreError, match=r"'real/rgb' has two images of the same name: 0003\.jpg and 0003\.png"):
        import_pairs(study, tmp_path / "pairs")
    (tmp_path / "pairs/real/rgb/0003.png").unlink()
    with (tmp_path / "pairs/poses.csv").open("a") as file:
        file.write("\n0005.png,9,9,9")
    _, remarks = import_pairs(study, tmp_path / "pairs")
    assert remarks == ("'poses.csv' has several lines for 0005; the first one counts.",)


def test_images_without_a_partner_are_reported(study: Study, tmp_path: Path) -> None:
    make_pairs(tmp_path / "pairs")
    (tmp_path / "pairs/real/rgb/0007.jpg").unlink()
    _, remarks = import_pairs(study, tmp_path / "pairs")
    assert [remark for remark in remarks if "'sim/rgb' has 1 images without a partner" in remark]
    assert study.recording("pairs").rows == COUNT - 1


def test_what_is_no_folder_of_pairs_is_refused(study: Study, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="There is no folder"):
        import_pairs(study, tmp_path / "gone")
    make_pairs(tmp_path / "pairs")
    (tmp_path / "pairs/poses.csv").write_text("a,b\n1,2")
    with pytest.raises(StoreError, match="needs a column name or file"):
        import_pairs(study, tmp_path / "pairs")


def test_domain_pair_and_unit_are_what_the_folder_says(study: Study, tmp_path: Path) -> None:
    make_pairs(tmp_path / "pairs")
    path = tmp_path / "pairs/pairs.json"
    said = {
        "columns": {"angle": {"unit": "rad", "domain": "real"}, "x": {"pose": "y"}, "y": {"pose": "x"}},
        "arrays": {"sim.depth": {"domain": "", "pair": "range"}},
    }
    path.write_text(json.dumps(json.loads(path.read_text()) | said))
    info = study.recording(import_pairs(study, tmp_path / "pairs")[0]).info
    angle = next(column for column in info.columns if column.name == "angle")
    depth = next(spec for spec in info.arrays if spec.name == "sim.depth")
    assert (angle.unit, angle.domain, depth.domain, depth.pair) == ("rad", "real", "", "range")
    assert pose_of(info.columns, {"real"}) == Pose(x="y", y="x", angle="angle", unit="m", angle_deg=180 / math.pi)
    path.write_text(json.dumps({"columns": {"angle": {"pose": "angel"}}}))
    with pytest.raises(UnknownName, match="Did you mean 'angle'"):
        import_pairs(study, tmp_path / "pairs", name="again")
    path.write_text(json.dumps({"columns": {"angle": {"units": "rad"}}}))
    with pytest.raises(UnknownName, match="Did you mean 'unit'"):
        import_pairs(study, tmp_path / "pairs", name="again")
