"""Folders in other people's layouts become recordings; what is wrong in them is named, and the rest loads."""

from __future__ import annotations

import json
import math
import re
import struct
import zlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from innerview.errors import InnerviewError, StoreError, UnknownName
from innerview.schema import pose_of
from innerview.store import ImportOptions, Study, check, import_files, import_pairs
from innerview.store.importers.pairs.tum import heading_pitch_roll, nearest

from .layouts import (
    SIZE,
    colours,
    depth_mm,
    looking,
    make_manifest,
    make_sim2realviz,
    make_tum,
    real_name,
    save,
    sim_name,
)

COUNT = 6


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study.create(tmp_path / "my.study")


def near(picture: np.ndarray, wanted: np.ndarray) -> bool:
    return bool(np.abs(picture.astype(int) - wanted).max() < 8)


def test_a_manifest_has_a_row_for_each_pair(study: Study, tmp_path: Path) -> None:
    path = make_manifest(tmp_path / "data")
    made = import_files(study.path, [path])
    recording = study.recording(made.recording)
    info = recording.info
    assert (made.rows, made.remarks, info.origin.by, info.row.many) == (COUNT, (), "manifest", "pairs")
    assert [(s.name, s.domain, s.pair, s.unit) for s in info.arrays] == [
        ("real.rgb", "real", "rgb", ""),
        ("real.depth", "real", "depth", "mm"),
        ("sim.rgb", "sim", "rgb", ""),
        ("sim.depth", "sim", "depth", "mm"),
    ]
    table = recording.columns(["pair", "x", "y", "angle", "room"])
    for row in range(COUNT):
        pair = int(table["pair"][row][1:])
        assert table.row(row)[1:] == (pair / 2, pair, -3 + pair, f"room {pair % 2}")
        assert near(recording.array("sim.rgb", row, row + 1)[0], colours(pair))
        assert near(recording.array("real.rgb", row, row + 1)[0], colours(pair + 100))
        np.testing.assert_array_equal(recording.array("real.depth", row, row + 1)[0], depth_mm(pair))
    camera = recording.scene(info.scene).camera
    assert camera is not None and camera.focal_px == (9, 9)
    assert pose_of(info.columns).angle_deg == pytest.approx(180 / math.pi)
    assert not check(study.path)
    assert import_pairs(study, tmp_path / "data", name="by folder")[1] == ()
    frame = pl.read_csv(path)
    (tmp_path / "data/manifest.csv").unlink()
    frame.write_parquet(tmp_path / "data/manifest.parquet")
    made = import_files(study.path, [tmp_path / "data/manifest.parquet"], ImportOptions(name="parquet"))
    assert study.recording("parquet").columns(["x"]).equals(table.select("x"))


def test_images_of_a_manifest_keep_their_files_bytes(study: Study, tmp_path: Path) -> None:
    make_manifest(tmp_path / "data")
    import_pairs(study, tmp_path / "data")
    recording = study.recording("data")
    file = recording.columns(["sim.rgb file"])["sim.rgb file"][2]
    content = (tmp_path / "data" / file).read_bytes()
    kept = (study.path / "recordings/data/arrays/sim.rgb").glob("c*")
    assert any(content in path.read_bytes() for path in kept if path.is_file())


def test_domains_that_differ_in_their_pose_each_have_their_own(study: Study, tmp_path: Path) -> None:
    path = make_manifest(tmp_path / "data")
    text = path.read_text().replace(
        "images/real_3.jpg,images/real_3_depth.png,1.5,", "images/real_3.jpg,images/real_3_depth.png,1.75,"
    )
    path.write_text(text)
    import_pairs(study, path, name="x")
    columns = study.recording("x").info.columns
    assert pose_of(columns, {"sim"}).placed == ("sim.x", "y") and pose_of(columns, {"real"}).placed == ("real.x", "y")
    table = study.recording("x").columns(["pair", "sim.x", "real.x"]).filter(pl.col("pair") == "p3")
    assert table.row(0) == ("p3", 1.5, 1.75)


def test_a_manifest_names_every_pair_it_leaves_out(study: Study, tmp_path: Path) -> None:
    path = make_manifest(tmp_path / "data")
    lines = path.read_text().splitlines()
    lines = [line for line in lines if not line.startswith("images/real_1.jpg")]
    lines.append(lines[-1])
    path.write_text("\n".join(lines))
    (tmp_path / "data/images/sim_2.jpg").write_bytes((tmp_path / "data/images/sim_2.jpg").read_bytes()[:60])
    (tmp_path / "data/images/real_4_depth.png").unlink()
    _, remarks = import_pairs(study, path, name="x")
    told = "\n".join(remarks)
    assert "Pair 'p1' is left out ('images/sim_1.jpg'): it has no image of real." in told
    assert "has a sim already" in told and "'images/sim_2.jpg'" in told and "'images/real_4_depth.png'" in told
    assert sorted(study.recording("x").columns(["pair"])["pair"]) == ["p0", "p3", "p5"]


@pytest.mark.parametrize(
    ("unit", "said", "told"),
    [
        ("rad", "deg", r"is said to be in deg. It looks like radians"),
        ("deg", "rad", r"is said to be in rad. It looks like degrees"),
        ("deg", "", r"has no unit.*It looks like deg"),
        ("rad", "", r"has no unit.*It looks like rad"),
    ],
)
def test_an_angle_that_looks_like_another_unit_is_named(
    study: Study, tmp_path: Path, unit: str, said: str, told: str
) -> None:
    path = make_manifest(tmp_path / "data", unit=unit)
    path.write_text(
        path.read_text().replace(f"angle [{unit}]", f"angle [{said}]" if said else "angle").replace(",-2,", ",-2.5,")
    )
    _, remarks = import_pairs(study, path, name="x")
    angle = next(column for column in study.recording("x").info.columns if column.name == "angle")
    assert angle.unit == said and angle.warning in remarks
    assert re.search(told, "\n".join(remarks))
    import_pairs(study, path, name="mended", units={"angle": unit})
    mended = next(column for column in study.recording("mended").info.columns if column.name == "angle")
    assert (mended.unit, mended.warning) == (unit, "")


def test_poses_that_are_no_numbers_are_left_out_and_named(study: Study, tmp_path: Path) -> None:
    path = make_manifest(tmp_path / "data")
    text = path.read_text()
    for domain in ("sim", "real"):
        name = f"images/{domain}_3.jpg,images/{domain}_3_depth.png"
        text = text.replace(f"{name},1.5,", f"{name},NaN,")
    path.write_text(text)
    _, remarks = import_pairs(study, path, name="x")
    assert any("_3.jpg'" in remark and "its x is nan" in remark for remark in remarks)
    assert (
        study.recording("x").rows == COUNT - 1 and "p3" not in study.recording("x").columns(["pair"])["pair"].to_list()
    )


def test_depth_that_is_missing_everywhere_is_no_array(study: Study, tmp_path: Path) -> None:
    path = make_manifest(tmp_path / "data")
    frame = pl.read_csv(path).with_columns(
        pl.when(pl.col("domain") == "sim").then(None).otherwise(pl.col("depth [mm]")).alias("depth [mm]")
    )
    frame.write_csv(path)
    _, remarks = import_pairs(study, path, name="x")
    assert not remarks
    assert {spec.name for spec in study.recording("x").info.arrays} == {"sim.rgb", "real.rgb", "real.depth"}


def test_depth_of_an_unlikely_unit_is_named(study: Study, tmp_path: Path) -> None:
    path = make_manifest(tmp_path / "data")
    for unit, told in (("m", "Is its unit really m?"), ("", "has no unit of length")):
        path.write_text(
            path.read_text()
            .replace("depth [mm]", f"depth [{unit}]" if unit else "depth")
            .replace("depth [m]", f"depth [{unit}]" if unit else "depth")
        )
        _, remarks = import_pairs(study, path, name=f"x{unit}")
        assert sum(told in remark for remark in remarks) == 2


def test_files_out_of_the_folder_are_refused_by_name(study: Study, tmp_path: Path) -> None:
    path = make_manifest(tmp_path / "data")
    save(tmp_path / "secret.jpg", colours(1))
    link = tmp_path / "data/images/sim_0.jpg"
    link.unlink()
    link.symlink_to(tmp_path / "secret.jpg")
    inside = tmp_path / "data/images/sim_1.jpg"
    inside.rename(tmp_path / "data/there.jpg")
    inside.symlink_to(tmp_path / "data/there.jpg")
    path.write_text(path.read_text().replace("images/sim_2.jpg", "../secret.jpg"))
    _, remarks = import_pairs(study, path, name="x")
    assert sum("leads out of" in remark for remark in remarks) == 2
    assert any("'images/sim_0.jpg'" in remark for remark in remarks) and any("'../secret.jpg'" in r for r in remarks)
    assert sorted(study.recording("x").columns(["pair"])["pair"]) == ["p1", "p3", "p4", "p5"]


def test_links_in_a_folder_of_pairs_are_named(study: Study, tmp_path: Path) -> None:
    for side in ("sim", "real"):
        for row in range(3):
            save(tmp_path / "pairs" / side / f"{row}.png", colours(row))
    save(tmp_path / "elsewhere/9.png", colours(9))
    (tmp_path / "pairs/sim/1.png").unlink()
    (tmp_path / "pairs/sim/1.png").symlink_to(tmp_path / "elsewhere/9.png")
    (tmp_path / "pairs/other").symlink_to(tmp_path / "elsewhere")
    _, remarks = import_pairs(study, tmp_path / "pairs")
    assert "'other' is a link to a folder; it is left out." in remarks
    assert any("'sim/1.png'" in remark and "leads out of" in remark for remark in remarks)
    assert study.recording("pairs").columns(["name"])["name"].to_list() == ["0", "2"]


def bomb(width: int, height: int) -> bytes:
    """A PNG of some hundred bytes that declares a great many pixels."""

    def part(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(bytes(1000))) + part(b"IEND", b"")


@pytest.mark.parametrize("suffix", [".png", ".tif"])
def test_a_decompression_bomb_is_named_and_not_unpacked(study: Study, tmp_path: Path, suffix: str) -> None:
    for side in ("sim", "real"):
        for row in range(3):
            save(tmp_path / "pairs" / side / f"{row}{suffix}", colours(row))
    (tmp_path / "pairs/sim" / f"1{suffix}").write_bytes(bomb(60_000, 60_000))
    _, remarks = import_pairs(study, tmp_path / "pairs")
    assert (
        len(remarks) == 1
        and f"'sim/1{suffix}'" in remarks[0]
        and "60000" in remarks[0].replace(",", "").replace("3600000000", "60000")
    )
    assert study.recording("pairs").rows == 2


def test_images_called_by_their_pose_are_paired_by_match_csv(study: Study, tmp_path: Path) -> None:
    make_sim2realviz(tmp_path / "traj1")
    made = import_files(study.path, [tmp_path / "traj1"], ImportOptions(units={"depth": "39.2157 mm"}))
    recording = study.recording("traj1")
    assert (made.rows, recording.info.origin.by) == (COUNT, "Sim2RealViz")
    assert len(made.remarks) == 1 and "y is up in the names of the simulated images" in made.remarks[0]
    specs = {spec.name: spec for spec in recording.info.arrays}
    assert set(specs) == {"sim.rgb", "sim.depth", "real.rgb", "real.depth"}
    assert all(specs[f"{side}.depth"].shape == (SIZE[1], SIZE[0]) for side in ("sim", "real"))
    table = recording.columns(["name", "x", "y", "angle", "odometry x", "odometry angle"])
    for row, pair in enumerate(reversed(range(COUNT))):
        # Habitat turns from −z to −x: that is 90° and on, seen from above with y of the floor as −z.
        angle = math.remainder(90 + 30 * pair - 170, 360)
        assert table.row(row) == (
            sim_name(pair),
            pair / 2,
            float(pair),
            pytest.approx(angle),
            float(pair),
            -float(pair),
        )
        assert near(recording.array("real.rgb", row, row + 1)[0], colours(pair + 100))
        far = recording.array("real.depth", row, row + 1)[0][2:, 2:] * 39.2157
        assert np.abs(far - depth_mm(pair)[2:, 2:]).max() < 200
    assert pose_of(recording.info.columns) == pose_of(recording.info.columns, {"real"})


def test_which_coordinate_is_up_may_be_said(study: Study, tmp_path: Path) -> None:
    make_sim2realviz(tmp_path / "traj")
    names = (tmp_path / "traj/sim/match.csv").read_text().splitlines()[1:]
    (tmp_path / "traj/sim/match.csv").write_text("SIM_RGB,REAL_RGB\n" + "\n".join(names))
    import_pairs(study, tmp_path / "traj", name="z")  # the robot's names: z is up
    assert study.recording("z").columns(["x", "y", "angle"]).row(0) == (5.0, 1.25, -5.0)
    for path in list((tmp_path / "traj/sim").glob("*0.500_y0.047*")):
        path.rename(path.with_name(path.name.replace("y0.047", "y2.000")))
    text = "\n".join(["REAL_RGB,SIM_RGB", *names]).replace("x0.500_y0.047", "x0.500_y2.000")
    (tmp_path / "traj/sim/match.csv").write_text(text)
    with pytest.raises(StoreError, match="nothing says which of them is up"):
        import_pairs(study, tmp_path / "traj", name="x")
    (tmp_path / "traj/pairs.json").write_text(json.dumps({"up": "y", "units": {"depth": "39.2157 mm"}}))
    assert len(import_pairs(study, tmp_path / "traj", name="x")[1]) == 1
    (tmp_path / "traj/pairs.json").write_text(json.dumps({"up": "x"}))
    with pytest.raises(UnknownName, match="coordinate"):
        import_pairs(study, tmp_path / "traj", name="again")


def test_what_match_csv_names_wrongly_is_left_out(study: Study, tmp_path: Path) -> None:
    make_sim2realviz(tmp_path / "traj")
    with (tmp_path / "traj/sim/match.csv").open("a") as file:
        file.write(f"{real_name(0)}_rgb.jpeg,front.jpeg\n{real_name(9)}_rgb.jpeg,{sim_name(0)}_rgb.jpeg\n")
    (tmp_path / "traj/real" / f"{real_name(2)}_depth.jpeg").unlink()
    (tmp_path / "traj/sim" / f"{sim_name(4)}_rgb.jpeg").write_bytes(b"\xff\xd8\xff no image")
    _, remarks = import_pairs(study, tmp_path / "traj")
    told = "\n".join(remarks)
    assert "Line 8 of 'match.csv' is left out: 'front.jpeg' does not say a pose" in told
    assert f"'{real_name(9)}_rgb.jpeg' (real): There is no such file." in told
    assert "there is no depth beside it" in told and f"{sim_name(4)}_rgb.jpeg'" in told
    assert study.recording("traj").rows == COUNT - 2


def test_images_called_by_their_pose_need_no_pairs(study: Study, tmp_path: Path) -> None:
    make_sim2realviz(tmp_path / "traj")
    (tmp_path / "traj/sim/match.csv").unlink()
    import_pairs(study, tmp_path / "traj/sim", name="sim")
    recording = study.recording("sim")
    assert recording.rows == COUNT and {spec.name for spec in recording.info.arrays} == {"rgb", "depth"}
    assert sorted(recording.columns(["y"])["y"]) == list(range(COUNT))


def test_tum_folders_are_joined_by_the_nearest_time(study: Study, tmp_path: Path) -> None:
    make_tum(tmp_path / "room")
    made = import_files(study.path, [tmp_path / "room"])
    recording = study.recording("room")
    assert (made.rows, made.remarks, recording.info.origin.by) == (COUNT, (), "TUM RGB-D")
    depth = next(spec for spec in recording.info.arrays if spec.name == "depth")
    assert (depth.unit, depth.dtype) == ("0.2 mm", "uint16")
    table = recording.columns(["x", "y", "z", "angle", "pitch", "roll"])
    for row in range(COUNT):
        tick = 4 * row  # poses come four times as often
        assert table.row(row)[:3] == (pytest.approx(tick / 4), -tick, 1.3)
        turned = math.degrees(math.remainder(tick * 0.1, 2 * math.pi))
        assert table.row(row)[3:] == pytest.approx((turned, 0, 0), abs=1e-3)
        np.testing.assert_array_equal(recording.array("depth", row, row + 1)[0], depth_mm(row) * 5)


def test_several_tum_folders_are_domains(study: Study, tmp_path: Path) -> None:
    make_tum(tmp_path / "both/real", 5)
    make_tum(tmp_path / "both/sim", 6)
    text = (tmp_path / "both/sim/rgb.txt").read_text().splitlines()
    (tmp_path / "both/sim/rgb.txt").write_text("\n".join(line for line in text if "1305031102.166" not in line))
    _, remarks = import_pairs(study, tmp_path / "both")
    recording = study.recording("both")
    assert recording.rows == 4 and len(remarks) == 1 and "'sim' has no image within 0.02 s of it" in remarks[0]
    assert {s.name for s in recording.info.arrays} == {"real.rgb", "real.depth", "sim.rgb", "sim.depth"}
    assert pose_of(recording.info.columns, {"sim"}).placed == ("sim.x", "sim.y")


def test_tum_images_without_depth_or_pose_are_named(study: Study, tmp_path: Path) -> None:
    make_tum(tmp_path / "room")
    lists = {name: (tmp_path / f"room/{name}.txt").read_text().splitlines() for name in ("depth", "groundtruth")}
    (tmp_path / "room/depth.txt").write_text("\n".join(lists["depth"][:-1]))
    late = [line for line in lists["groundtruth"] if line.startswith("#") or float(line.split()[0]) > 1305031102.17]
    (tmp_path / "room/groundtruth.txt").write_text("\n".join(late))
    _, remarks = import_pairs(study, tmp_path / "room")
    assert study.recording("room").rows == 3
    assert sum("no depth is within" in remark for remark in remarks) == 1
    assert sum("no pose is within" in remark for remark in remarks) == 2
    (tmp_path / "room/groundtruth.txt").write_text("1305031102.1 1 2 3\n")
    with pytest.raises(StoreError, match="are 8"):
        import_pairs(study, tmp_path / "room", name="x")
    (tmp_path / "room/rgb.txt").write_text("soon rgb/1.png\n")
    with pytest.raises(StoreError, match=r"'rgb\.txt' cannot be read as a list of TUM RGB-D"):
        import_pairs(study, tmp_path / "room", name="x")


def test_headings_of_quaternions() -> None:
    level = np.array([looking(angle) for angle in (0.0, 1.0, -2.5)])
    heading, pitch, roll = heading_pitch_roll(level * 3)  # of any length
    np.testing.assert_allclose(np.radians(heading), [0, 1, -2.5], atol=1e-9)
    np.testing.assert_allclose([pitch, roll], 0, atol=1e-9)
    # Ahead and up by 30°: a turn about the camera's x axis, which points right.
    x, y, z, w = looking(0.7)
    a, b = math.sin(math.radians(15)), math.cos(math.radians(15))
    up = np.array([[w * a + x * b, y * b + z * a, z * b - y * a, w * b - x * a]])
    heading, pitch, roll = heading_pitch_roll(up)
    assert (heading[0], pitch[0], roll[0]) == pytest.approx((math.degrees(0.7), 30, 0))
    assert not np.isfinite(heading_pitch_roll(np.zeros((1, 4)))[0]).any()


def test_the_nearest_time_is_found_in_any_order() -> None:
    assert nearest(np.array([0.0, 1.0, 5.0]), np.array([1.01, 0.3, -0.01]), 0.02).tolist() == [2, 0, -1]
    assert nearest(np.array([1.0]), np.zeros(0), 1.0).tolist() == [-1]


def test_a_map_without_scale_is_left_out(study: Study, tmp_path: Path) -> None:
    make_manifest(tmp_path / "data")
    save(tmp_path / "data/map.png", colours(1))
    _, remarks = import_pairs(study, tmp_path / "data")
    assert len(remarks) == 1 and "'map.png' is left out" in remarks[0] and '"scale"' in remarks[0]
    assert study.recording("data").scene(study.recording("data").info.scene).image is None
    (tmp_path / "data/pairs.json").write_text('{"map": {"scale": 0}}')
    with pytest.raises(StoreError, match="above 0"):
        import_pairs(study, tmp_path / "data", name="x")


def test_one_camera_may_stand_in_columns(study: Study, tmp_path: Path) -> None:
    path = make_manifest(tmp_path / "data")
    pl.read_csv(path).drop("camera").with_columns(fx=9.0, fy=9.5, cx=6.0, cy=5.0).write_csv(path)
    import_pairs(study, path, name="x")
    camera = study.recording("x").scene(study.recording("x").info.scene).camera
    assert camera is not None and (camera.width_px, camera.focal_px) == (SIZE[0], (9.0, 9.5))


def test_one_corrupt_jpeg_among_many_is_named(study: Study, tmp_path: Path) -> None:
    for row in range(300):
        save(tmp_path / f"pairs/sim/{row:03}.jpg", colours(row, (4, 4)))
        save(tmp_path / f"pairs/real/{row:03}.jpg", colours(row, (4, 4)))
    broken = tmp_path / "pairs/real/123.jpg"
    broken.write_bytes(broken.read_bytes()[:100])
    _, remarks = import_pairs(study, tmp_path / "pairs")
    assert len(remarks) == 1 and "'real/123.jpg'" in remarks[0]
    recording = study.recording("pairs")
    assert recording.rows == 299 and recording.columns(["name"])["name"][123] == "124"


def test_layouts_are_known_by_name(study: Study, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'tum'"):
        import_pairs(study, tmp_path, layout="tom")
    (tmp_path / "empty").mkdir()
    for layout in ("tum", "manifest", "pairs", "sim2realviz"):
        with pytest.raises(InnerviewError):
            import_pairs(study, tmp_path / "empty", layout=layout)


def test_an_image_in_colour_is_no_depth(study: Study, tmp_path: Path) -> None:
    make_sim2realviz(tmp_path / "traj")
    path = tmp_path / "traj/real" / f"{real_name(1)}_depth.jpeg"
    Image.fromarray(np.full((SIZE[1], SIZE[0], 3), (250, 10, 10), np.uint8)).save(path)
    _, remarks = import_pairs(study, tmp_path / "traj")
    assert any("is in colour. Give depth in grey" in remark for remark in remarks)
