"""Data from other tools come in, and recordings go out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from innerview.errors import StoreError, UnknownName
from innerview.schema import ArraySpec, Column, Ordering, RowKind
from innerview.store import Study, check, export_arrays, export_rows, export_video, import_npz, import_table, write_rows

from .samples import arrays, record, rows


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study.create(tmp_path / "study")


def pictures(folder: Path, count: int, size: tuple[int, int] = (8, 6)) -> list[str]:
    folder.mkdir(exist_ok=True)
    names = []
    for i in range(count):
        Image.new("RGB", size, (i * 20, 10, 30)).save(folder / f"{i}.png")
        names.append(f"{folder.name}/{i}.png")
    return names


def test_paired_images_with_a_pose_each(study: Study) -> None:
    noise = np.random.default_rng(0)
    sim, real = (noise.integers(0, 256, (40, 6, 8, 3), np.uint8) for _ in range(2))
    axes = ("height", "width", "channel")
    write_rows(
        study,
        "pairs",
        columns={"x": np.linspace(0, 1, 40), "angle": np.arange(40.0), "place": ["hall"] * 40},
        arrays={"sim": sim, "real": real},
        row=RowKind(one="pair", many="pairs"),
        specs=[
            ArraySpec(name="sim", shape=(6, 8, 3), dtype="uint8", role="image", axes=axes, domain="sim"),
            ArraySpec(name="real", shape=(6, 8, 3), dtype="uint8", role="image", axes=axes, domain="real"),
            Column(name="angle", type="float", unit="deg"),
        ],
    )
    recording = study.recording("pairs")
    assert (recording.rows, recording.info.ordering, recording.info.row.many) == (40, None, "pairs")
    assert [spec.domain for spec in recording.info.arrays] == ["sim", "real"]
    assert {c.name: c.unit for c in recording.info.columns} == {"x": "", "angle": "deg", "place": ""}
    assert np.array_equal(recording.array("real", 0, 40), real) and recording.groups().height == 0
    assert check(study.path) == []


def test_rows_with_an_ordering_have_groups(study: Study) -> None:
    columns = {"episode": [4, 4, 9, 9, 9], "step": [0, 1, 0, 1, 2], "reward": [1.0, 2.0, 3.0, 4.0, 5.0]}
    write_rows(study, "r", columns=columns, ordering=Ordering())
    groups = study.recording("r").groups().to_dict(as_series=False)
    assert groups == {"episode": [4, 9], "start": [0, 2], "stop": [2, 5], "length": [2, 3], "return": [3.0, 12.0]}
    with pytest.raises(StoreError, match="next to each other"):
        write_rows(study, "s", columns={"episode": [0, 1, 0], "step": [0, 0, 1]}, ordering=Ordering())
    with pytest.raises(StoreError, match="'pose' has 2"):
        write_rows(study, "t", columns={"x": [1.0]}, arrays={"pose": np.zeros((2, 3))})


def test_npz_with_and_without_episodes(study: Study, tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=(6, 3)).astype(">f4")
    np.savez(tmp_path / "plain.npz", score=np.arange(6), name=np.array(list("abcdef")), pose=values)
    assert import_npz(study, tmp_path / "plain.npz") == ("plain", ())
    plain = study.recording("plain")
    assert plain.info.ordering is None and plain.columns()["name"].to_list() == list("abcdef")
    assert np.array_equal(plain.array("pose", 0, 6), values)
    np.savez(tmp_path / "e.npz", episode=[0, 0, 0, 1, 1, 1], step=[0, 1, 2, 0, 1, 2], pose=values)
    import_npz(study, tmp_path / "e.npz", name="episodes")
    assert study.recording("episodes").groups()["length"].to_list() == [3, 3]
    import_npz(study, tmp_path / "e.npz", name="by step", ordering=Ordering(group="episode", time="step"))
    assert study.recording("by step").info.origin.kind == "imported"


def test_nothing_is_invented(study: Study, tmp_path: Path) -> None:
    np.savez(tmp_path / "e.npz", episode=[0, 0, 1, 1], seen=np.arange(4.0))
    pl.DataFrame({"run": [0, 0, 1, 1], "tick": [0, 1, 0, 1], "angle [rad]": [0.0] * 4}).write_csv(tmp_path / "t.csv")
    name, (remark,) = import_npz(study, tmp_path / "e.npz")
    assert "no 'step' that counts" in remark
    recording = study.recording(name)
    assert recording.info.ordering is None
    assert recording.columns().columns == ["episode", "seen"]
    name, _ = import_table(study, tmp_path / "t.csv", ordering=Ordering(group="run", time="tick"))
    info = study.recording(name).info
    assert [(c.name, c.kind, c.unit) for c in info.columns] == [
        ("run", "index", ""),
        ("tick", "index", ""),
        ("angle", "fact", "rad"),
    ]
    assert study.recording(name).groups().columns == ["run", "start", "stop", "length"]
    with pytest.raises(StoreError, match=r"'step' has to count 0, 1, 2, … in every episode"):
        write_rows(study, "gaps", columns={"episode": [7, 7], "step": [0, 4]}, ordering=Ordering())


def test_16_bit_files_of_any_kind_stay_16_bit(study: Study, tmp_path: Path) -> None:
    deep = np.arange(48, dtype=np.uint16).reshape(6, 8) * 1300
    Image.fromarray(deep).save(tmp_path / "a.tif")
    Image.fromarray(deep.astype(np.int32)).save(tmp_path / "b.tif")
    Image.fromarray(deep.astype(np.float32) + 0.5).save(tmp_path / "c.tif")
    table = pl.DataFrame({"depth [mm]": ["a.tif", "b.tif", "c.tif"], "far": [1.5, 2.5, 3.5]})
    table.write_csv(tmp_path / "depths.csv")
    name, (remark,) = import_table(study, tmp_path / "depths.csv", units={"far": "m"})
    assert "row 2, 'c.tif': Its values do not fit into 16 bits" in remark
    kept = study.recording(name).array("depth", 0, 2)
    assert kept.dtype == np.uint16
    assert np.array_equal(kept, [deep, deep])
    info = study.recording(name).info
    assert [spec.unit for spec in info.arrays] == ["mm"]
    assert {column.name: column.unit for column in info.columns} == {"depth file": "", "far": "m"}
    with pytest.raises(UnknownName, match="Did you mean 'depth'"):
        import_table(study, tmp_path / "depths.csv", name="again", units={"dept": "mm"})


def test_npz_that_cannot_be_read(study: Study, tmp_path: Path) -> None:
    np.savez(tmp_path / "pickled.npz", a=np.array([{"run": "me"}], dtype=object))
    with pytest.raises(StoreError, match="without running code"):
        import_npz(study, tmp_path / "pickled.npz")
    np.savez(tmp_path / "uneven.npz", a=np.arange(3), b=np.arange(4))
    with pytest.raises(StoreError, match="a has 3, b has 4"):
        import_npz(study, tmp_path / "uneven.npz")
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(StoreError, match="cannot be read as NPZ"):
        import_npz(study, tmp_path / "text.npz")
    with pytest.raises(StoreError, match="There is no file"):
        import_npz(study, tmp_path / "absent.npz")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_that_names_images(study: Study, tmp_path: Path, suffix: str) -> None:
    table = pl.DataFrame({"photo": pictures(tmp_path / "photos", 5), "x": [0.5, 1.5, 2.5, 3.5, 4.5]})
    path = tmp_path / f"places{suffix}"
    table.write_csv(path) if suffix == ".csv" else table.write_parquet(path)
    import_table(study, path, domains={"photo": "real"})
    recording = study.recording("places")
    (spec,) = recording.info.arrays
    assert (spec.name, spec.shape, spec.domain, spec.pair) == ("photo", (6, 8, 3), "real", "")
    assert spec.is_image
    assert recording.array("photo", 3, 4)[0, 0, 0].tolist() == [60, 10, 30]
    assert recording.columns()["photo file"].to_list() == table["photo"].to_list()


def test_images_of_a_table_are_paired_where_two_domains_show_the_same(study: Study, tmp_path: Path) -> None:
    sides = {"a": "sim", "b": "real", "c": "sim", "d": "real"}
    pl.DataFrame({column: pictures(tmp_path / column, 3) for column in sides}).write_csv(tmp_path / "sides.csv")
    (tmp_path / "b/1.png").write_bytes(b"broken")

    def pairs(name: str, domains: dict[str, str]) -> dict[str, tuple[str, str]]:
        _, (remark,) = import_table(study, tmp_path / "sides.csv", name=name, images=list(domains), domains=domains)
        assert "'b/1.png' (real): It is neither a PNG" in remark
        return {spec.name: (spec.domain, spec.pair) for spec in study.recording(name).info.arrays}

    assert pairs("two", {"a": "sim", "b": "real"}) == {"a": ("sim", "image"), "b": ("real", "image")}
    assert pairs("which", sides) == {column: (side, "") for column, side in sides.items()}
    said = {"a": "sim/rgb", "b": "real/rgb", "c": "sim/ids", "d": "real/other"}
    expected = {"a": ("sim", "rgb"), "b": ("real", "rgb"), "c": ("sim", ""), "d": ("real", "")}
    assert pairs("said", said) == expected


def test_images_that_do_not_fit(study: Study, tmp_path: Path) -> None:
    names = pictures(tmp_path / "a", 2) + pictures(tmp_path / "b", 1, size=(9, 9))
    pl.DataFrame({"photo": names}).write_csv(tmp_path / "sizes.csv")
    name, (remark,) = import_table(study, tmp_path / "sizes.csv")
    assert study.recording(name).rows == 2
    assert "row 2, 'b/0.png': it is 9×9 colour, most images of 'photo' are 8×6 colour" in remark
    outside = tmp_path / "in"
    outside.mkdir()
    for name in ("../a/0.png", str(tmp_path / "a" / "0.png")):
        pl.DataFrame({"photo": [name]}).write_csv(outside / "out.csv")
        with pytest.raises(StoreError, match="leads out of"):
            import_table(study, outside / "out.csv")
    pl.DataFrame({"photo": ["none.png"]}).write_csv(tmp_path / "gone.csv")
    with pytest.raises(StoreError, match=r"none\.png'.*There is no file"):
        import_table(study, tmp_path / "gone.csv")
    with pytest.raises(UnknownName, match="Did you mean 'photo'"):
        import_table(study, tmp_path / "gone.csv", images=["photos"])


def test_rows_as_csv_and_parquet(study: Study, tmp_path: Path) -> None:
    record(study, 50)
    recording = study.recording("run")
    export_rows(recording, tmp_path / "rows.parquet", start=10, stop=20)
    assert pl.read_parquet(tmp_path / "rows.parquet").equals(recording.columns(None, 10, 20))
    export_rows(recording, tmp_path / "rows.csv")
    table = pl.read_csv(tmp_path / "rows.csv")
    assert table["step"].to_list() == rows(0, 50)["step"]
    assert json.loads(table["objects"][1])[0]["name"] == "Medikit"
    with pytest.raises(UnknownName, match=r"\.csv, \.parquet"):
        export_rows(recording, tmp_path / "rows.xlsx")


def test_npz_goes_out_and_comes_back(study: Study, tmp_path: Path) -> None:
    record(study, 50)
    export_arrays(study.recording("run"), tmp_path / "run.npz", start=5, stop=45)
    import_npz(study, tmp_path / "run.npz", name="back")
    back = study.recording("back")
    assert np.array_equal(back.array("observation", 0, 40), arrays(5, 45)["observation"])
    assert back.columns()["room"].to_list() == rows(5, 45)["room"]


@pytest.mark.parametrize("suffix", [".gif", ".mp4"])
def test_an_episode_as_film(study: Study, tmp_path: Path, suffix: str) -> None:
    record(study, 74)
    path = tmp_path / f"film{suffix}"
    export_video(study.recording("run"), path, group=1, scale=3)
    if suffix == ".gif":
        with Image.open(path) as film:
            assert (film.size, film.n_frames) == ((27, 18), 37)
            assert len(set(np.asarray(film.convert("RGB"))[:3, :3].reshape(-1, 3).sum(1).tolist())) == 1
    else:
        import imageio_ffmpeg

        # Not read_frames: it leaves its pipes to the garbage collector, which warns on a slow machine.
        command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
        raw = subprocess.run(command, capture_output=True, check=True).stdout
        assert len(raw) == 37 * 28 * 18 * 3
    assert [p.name for p in tmp_path.glob("*.tmp")] == []


@pytest.mark.parametrize(("elements", "newest"), [((), slice(11, 12)), (("red", "green", "blue") * 4, slice(9, 12))])
def test_a_film_of_stacked_frames_shows_the_newest(
    study: Study, tmp_path: Path, elements: tuple[str, ...], newest: slice
) -> None:
    frames = np.random.default_rng(0).choice([0, 255], (3, 6, 7, 12)).astype(np.uint8)
    axes = ("height", "width", "channel")
    spec = ArraySpec(name="stack", shape=frames.shape[1:], dtype="uint8", axes=axes, elements=elements)
    write_rows(study, "stacked", columns={"n": [0, 1, 2]}, arrays={"stack": frames}, specs=[spec])
    export_video(study.recording("stacked"), tmp_path / "film.gif", scale=1)
    with Image.open(tmp_path / "film.gif") as film:
        for row in range(3):
            film.seek(row)
            shown = np.broadcast_to(frames[row, :, :, newest], (6, 7, 3))
            np.testing.assert_array_equal(np.asarray(film.convert("RGB")), shown)


def test_film_of_what_is_not_there(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(study, 74)
    recording = study.recording("run")
    with pytest.raises(UnknownName, match="Unknown episode '12'"):
        export_video(recording, tmp_path / "a.gif", group=12)
    with pytest.raises(UnknownName, match="Known: observation"):
        export_video(recording, tmp_path / "a.gif", group=0, array="memory")
    with pytest.raises(StoreError, match="whole number"):
        export_video(recording, tmp_path / "a.gif", group=0, scale=0)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(StoreError, match=r"innerview\[video\]"):
        export_video(recording, tmp_path / "a.mp4", group=0)
    assert not (tmp_path / "a.mp4").exists()


def test_npz_takes_any_name_and_pickles_nothing(study: Study, tmp_path: Path) -> None:
    write_rows(study, "named", columns={"file": ["a", "b"], "seen": [True, None], "allow_pickle": [1, 2]})
    made = export_arrays(study.recording("named"), tmp_path / "out.npz")
    back = study.recording(import_npz(study, made, name="back")[0]).columns()
    assert back["file"].to_list() == ["a", "b"] and back["allow_pickle"].to_list() == [1, 2]
    assert back["seen"][0] == 1.0 and np.isnan(back["seen"][1])


def test_a_single_array_in_place_of_an_archive_is_reported(study: Study, tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", np.zeros(3))
    with pytest.raises(StoreError, match=r"single array.*savez"):
        import_npz(study, tmp_path / "one.npy")


def test_an_export_that_cannot_be_written_says_why(study: Study, tmp_path: Path) -> None:
    write_rows(study, "empty", columns={"n": np.zeros(0)}, arrays={"photo": np.zeros((0, 4, 4, 3), np.uint8)})
    with pytest.raises(StoreError, match=r"no folder .*Make it first"):
        export_rows(study.recording("empty"), tmp_path / "nowhere" / "rows.csv")
    with pytest.raises(StoreError, match="no rows to make a video of"):
        export_video(study.recording("empty"), tmp_path / "film.gif")


def test_the_rows_of_a_group_by_number_or_name(study: Study) -> None:
    columns = {"episode": ["day", "day", "night"], "step": [0, 1, 0]}
    write_rows(study, "named", columns=columns, ordering=Ordering())
    recording = study.recording("named")
    assert [recording.group_rows(name) for name in ("day", "night")] == [(0, 2), (2, 3)]
    with pytest.raises(UnknownName, match="Known: day, night"):
        recording.group_rows(0)
    record(study, 50, finish=False)  # the second episode is under way
    assert study.recording("run").group_rows(0) == (0, 32)
    write_rows(study, "timeless", columns={"n": [1, 2]})
    with pytest.raises(StoreError, match="without episodes"):
        study.recording("timeless").group_rows(0)


def test_a_spreadsheet_computes_nothing_that_a_recording_says(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study")
    texts = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "plain", "a=b", None]
    numbers = [-1.5, 2.0, -3.0, 4.0, 5.0, 6.0, 7.0, 8.0, -9.0]
    iv_columns = pl.DataFrame({"text": pl.Series(texts, dtype=pl.String), "=cmd|x": numbers, "reward": numbers})
    write_rows(study, "run", columns=iv_columns)
    out = export_rows(study.recording("run"), tmp_path / "rows.csv")
    got = pl.read_csv(out)
    assert got.columns == ["text", "'=cmd|x", "reward"]
    assert got["text"].to_list() == ["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\tx", "'\rx", "plain", "a=b", None]
    assert got["reward"].to_list() == numbers
    assert export_rows(study.recording("run"), tmp_path / "rows.parquet").exists()
    assert pl.read_parquet(tmp_path / "rows.parquet")["text"].to_list() == texts
