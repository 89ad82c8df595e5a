"""Pixels on the map: against places worked out by hand, and through a study as a person would ask."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from math import pi
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.console import Console

import innerview as iv
from innerview.cli.outputs import print_output
from innerview.errors import LensError
from innerview.schema import ArraySpec, Camera, Column, Heat, Origin, RecordingInfo, RowArray, RowKind, Rows, Scene
from innerview.testing.lenses import check_lens
from innerview.transfer import back_projection
from innerview.transfer.ground import Gathering, Grid, grid_of, rays_of

CAMERA = Camera(width_px=3, height_px=1, focal_px=(1.0, 1.0), centre_px=(1.5, 0.5))
"""Three pixels: 45° to the left, ahead, 45° to the right."""
ROOM = Scene(unit="m", walls=((0.0, 0.0, 10.0, 6.0),), camera=CAMERA)
POSES = {"x": [5.0, 5.0, 1.0], "y": [3.0, 3.0, 1.0], "angle": [0.0, pi / 2, 0.0]}
DEPTH = np.array([[[2000, 1000, 0]], [[1000, 2000, 2000]], [[500, 30000, 500]]], np.uint16)


def rows_of(depth: np.ndarray = DEPTH, scene: Scene = ROOM, **poses: list[float]) -> Rows:
    columns = {part: np.array(values) for part, values in {**POSES, **poses}.items()}
    spec = ArraySpec(
        name="real.depth", shape=depth.shape[1:], dtype="uint16", axes=("height", "width"), unit="mm", domain="real",
        pair="depth",
    )  # fmt: skip
    return Rows(
        numbers=np.array([4, 7, 9]),
        columns=columns,
        specs={
            part: Column(name=part, type="float", pose=part, unit="rad" if part == "angle" else "m") for part in POSES
        },
        arrays={spec.name: RowArray(spec=spec, read=lambda places: depth[places])},
        scene=lambda: scene,
    )


def heat_of(values: np.ndarray, rows: tuple[int, ...] = (4, 7, 9), **more: object) -> Heat:
    return Heat(heat={"rgbd": values[:, None].astype(np.float32)}, rows=np.array(rows), unit="m", **more)  # type: ignore[arg-type]


def cell(found: np.ndarray, x: float, y: float) -> float:
    """What stands at a place of a map of 10 × 6 m in cells of 1 m, the uppermost line first."""
    return float(found[5 - int(y), int(x)])


def test_it_keeps_what_lenses_promise() -> None:
    assert check_lens("back-projection") == ("pairs",)


def test_pixels_fall_where_depth_pose_and_camera_put_them() -> None:
    found = back_projection.look(rows_of(), cell=1.0)
    # Row 4 looks east from (5, 3): left pixel at (7, 5), middle at (6, 3), the right one has no depth.
    # Row 7 looks north: left at (4, 4), middle at (5, 5), right at (7, 5). Row 9: (1.5, 1.5) and (1.5, 0.5).
    wanted = {(7, 5): 2, (6, 3): 1, (4, 4): 1, (5, 5): 1, (1, 1): 1, (1, 0): 1}
    assert {place: cell(found.counts, *place) for place in wanted} == wanted
    assert found.counts.sum() == 7 and np.array_equal(found.values, found.counts)
    assert found.value["outside_px"] == 1 and found.value["without_depth_px"] == 1  # 30 m ahead is beyond the map
    assert (found.origin, found.cell, found.counts.shape) == ((0.0, 0.0), 1.0, (6, 10))


@pytest.mark.parametrize(("combine", "wanted"), [("sum", -2.0), ("mean", -1.0), ("maximum", -5.0)])
def test_heat_of_a_cell_is_what_was_asked_of_its_pixels(combine: str, wanted: float) -> None:
    values = np.array([[[3.0, 7, 9]], [[1, 2, -5]], [[0, 0, 0]]])
    found = back_projection.look(rows_of(), heat=heat_of(values), combine=combine, cell=1.0)  # type: ignore[arg-type]
    assert cell(found.values, 7, 5) == wanted and cell(found.values, 6, 3) == 7
    assert cell(found.values, 0, 5) == 0 == cell(found.counts, 0, 5)
    assert found.unit.endswith(" m") and found.signed


def test_rows_are_matched_by_number_and_those_without_a_pose_are_left_out() -> None:
    rows = rows_of(x=[5.0, float("nan"), 1.0])
    values = np.array([[[1.0, 1, 1]], [[2, 2, 2]]])
    found = back_projection.look(rows, heat=heat_of(values, rows=(7, 9), domain="real"), combine="sum", cell=1.0)
    assert found.value["without_pose"] == [7] and found.arrays["rows"].tolist() == [9]
    assert cell(found.values, 1, 1) == 2 and found.counts.sum() == 2
    with pytest.raises(LensError, match="None of these rows is in that result"):
        back_projection.look(rows, heat=heat_of(values, rows=(1, 2)))
    with pytest.raises(LensError, match="None of these rows has a pose"):
        back_projection.look(rows_of(x=[float("nan")] * 3))


def test_a_pitched_camera_looks_less_far_ahead_above_its_middle() -> None:
    camera = Camera(width_px=2, height_px=2, focal_px=(1.0, 1.0), centre_px=(1.0, 1.0), pitch_deg=30.0)
    ahead, across = rays_of(camera, (2, 2))
    assert np.allclose(ahead, [np.cos(pi / 6) - 0.5 * 0.5, np.cos(pi / 6) + 0.5 * 0.5])
    assert np.allclose(across, [-0.5, 0.5])
    larger, _ = rays_of(camera, (4, 4))
    assert np.allclose(larger.reshape(2, 2).mean(1), ahead)
    with pytest.raises(LensError, match="another proportion"):
        rays_of(camera, (4, 8))


def test_heat_of_another_size_takes_the_depth_at_its_pixels() -> None:
    wide = np.repeat(DEPTH, 2, axis=2).repeat(2, axis=1)
    rows = rows_of(depth=wide)
    values = np.arange(9.0).reshape(3, 1, 3)
    found = back_projection.look(rows, heat=heat_of(values), combine="sum", cell=1.0)
    same = back_projection.look(rows_of(), heat=heat_of(values), combine="sum", cell=1.0)
    assert np.array_equal(found.values, same.values)


def test_frames_may_come_in_any_pieces() -> None:
    rng = np.random.default_rng(0)
    depth, heat = rng.uniform(0.2, 5, (9, 8, 8)).astype(np.float32), rng.normal(size=(9, 8, 8)).astype(np.float32)
    poses = np.stack([rng.uniform(0, 10, 9), rng.uniform(0, 6, 9), rng.uniform(-pi, pi, 9)], 1)
    camera, grid = Camera(width_px=8, height_px=8, focal_px=(6.0, 6.0), centre_px=(4, 4)), grid_of(ROOM, 0.5)
    for combine in ("sum", "mean", "maximum"):
        whole, parts = (Gathering(grid, camera, combine=combine) for _ in range(2))  # type: ignore[arg-type]
        whole.add(depth, poses, heat)
        for some in (slice(0, 2), slice(2, 9)):
            parts.add(depth[some], poses[some], heat[some])
        assert np.allclose(whole.gathered.values, parts.gathered.values)
        assert np.array_equal(whole.gathered.counts, parts.gathered.counts)


def test_what_is_missing_is_named() -> None:
    rows = rows_of()
    with pytest.raises(LensError, match="share no map"):
        back_projection.look(replace(rows, scene=None))
    with pytest.raises(LensError, match="says no camera"):
        back_projection.look(rows_of(scene=replace(ROOM, camera=None)))
    with pytest.raises(LensError, match="has none"):
        back_projection.look(replace(rows, arrays={}))
    with pytest.raises(LensError, match=r"'sim'.*real\.depth"):
        back_projection.look(rows, depth="sim")
    with pytest.raises(LensError, match="not known in 'map units'"):
        back_projection.look(rows_of(scene=replace(ROOM, unit="map units")), heat="")
    with pytest.raises(LensError, match="how far it reaches"):
        back_projection.look(rows_of(scene=replace(ROOM, walls=())))
    with pytest.raises(LensError, match="larger cells"):
        Grid.over((0, 0), (1e4, 1e4), 0.01)


@pytest.fixture
def study(tmp_path: Path) -> iv.Study:
    """Rows with depth, a map and a camera, as an import leaves them."""
    from PIL import Image

    folder = tmp_path / "pairs"
    for side, tone in (("sim", 20), ("real", 200)):
        (folder / side / "rgb").mkdir(parents=True)
        (folder / side / "depth").mkdir()
        for row in range(3):
            picture = np.full((4, 4, 3), tone + row, np.uint8)
            Image.fromarray(picture).save(folder / side / "rgb" / f"{row}.png")
            Image.fromarray(np.full((4, 4), 1000 + row, np.uint16)).save(folder / side / "depth" / f"{row}.png")
    pl.DataFrame(
        {"name": ["0", "1", "2"], "x [m]": [1.0, 2.0, 3.0], "y [m]": [1.0, 1.0, 2.0], "angle [rad]": [0.0, 1, 2]}
    ).write_csv(folder / "poses.csv")
    (folder / "pairs.json").write_text(
        '{"units": {"depth": "mm"}, "polygons": {"hall": [[0, 0], [6, 0], [6, 5]]}, "map": {"unit": "m"},'
        ' "camera": {"width_px": 4, "height_px": 4, "focal_px": [3, 3], "centre_px": [2, 2]}}'
    )
    made = iv.Study.create(tmp_path / "map.study")
    from innerview.store.importers.pairs import import_pairs

    import_pairs(made, folder, name="pairs")
    return made


def test_a_map_is_saved_and_read_like_any_result(study: iv.Study) -> None:
    result = iv.look(study, "back-projection", "pairs", cell=0.5, progress=False)
    assert result.type == "map" and result.shown["cell"] == 0.5 and result.value["depth"] == "real.depth"
    values, counts = (study.result_array(result.id, name) for name in ("values", "counts"))
    said = Console(file=StringIO(), width=200)
    print_output(said, study, result)
    assert "12 × 10 of 0.5 m" in said.file.getvalue()  # type: ignore[attr-defined]
    assert counts.sum() == 48 and np.array_equal(values, counts) and counts.shape == (10, 12)
    with pytest.raises(LensError, match="needs"):
        info = RecordingInfo(name="bare", origin=Origin(kind="imported"), row=RowKind(one="image", many="images"))
        from innerview.lenses.discovery import all_lenses
        from innerview.lenses.needs import check_needs

        check_needs(all_lenses().get("back-projection").lens, info, None)
    other = iv.look(study, "back-projection", "pairs", rows=(0, 2), progress=False)
    with pytest.raises(LensError, match="of type 'map'; one of type 'heat'"):
        iv.look(study, "back-projection", "pairs", heat=other.id, progress=False)
