"""Columns, groups, arrays and pictures arrive as they were recorded."""

from __future__ import annotations

import io
from pathlib import Path

import httpx
import numpy as np
import polars as pl
import pytest
from PIL import Image

from innerview.schema import ArraySpec, Origin
from innerview.serve import serve
from innerview.serve.encoding.pictures import encode
from innerview.store import Study, write_rows

from .conftest import ROWS, SCRIPT, steps_arrays, steps_rows
from .wirework import WAIT_S

STEPS = "/api/recordings/steps"


def read(response: httpx.Response) -> pl.DataFrame:
    assert response.status_code == 200, response.text
    return pl.read_ipc_stream(io.BytesIO(response.content))


def test_study_lists_what_there_is(client: httpx.Client) -> None:
    study = client.get("/api/study").json()
    assert study["name"] == "demo"
    assert [(r["name"], r["rows"], r["groups"], r["complete"]) for r in study["recordings"]] == [
        ("pairs", ROWS, 0, True),
        ("steps", ROWS, 2, True),
    ]
    assert study["recordings"][0]["row"] == {"one": "pair", "many": "pairs"}
    assert [r["capabilities"]["ordered"] for r in study["recordings"]] == [False, True]
    assert client.get(STEPS).json()["capabilities"] == study["recordings"][1]["capabilities"]
    assert study["damage"] == []


def test_recording_describes_columns_and_arrays(client: httpx.Client) -> None:
    steps = client.get(STEPS).json()
    assert [a["name"] for a in steps["arrays"] if a["is_image"]] == ["observation", "depth", "stack"]
    assert steps["columns"][2]["categories"] == ["left", "right"]
    assert steps["ordering"]["group"] == "episode"
    assert client.get("/api/recordings/pairs").json()["ordering"] is None


def test_arrays_that_are_shared_or_of_varying_length_say_so(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "q.study")
    write_rows(
        study,
        "questions",
        columns={"image": ["a", "a", "b"]},
        arrays={"tokens": [[4, 5], [], [6]], "boxes": {"a": np.zeros((2, 4)), "b": np.ones((3, 4))}},
        origin=Origin(kind="logged", by="people"),
    )
    with serve(study.path) as handle, httpx.Client(base_url=handle.address, timeout=WAIT_S) as client:
        client.headers["Authorization"] = f"Bearer {handle.token}"
        questions = client.get("/api/recordings/questions").json()
        assert questions["origin"] == {"kind": "logged", "by": "people", "source": ""}
        assert client.get("/api/study").json()["recordings"][0]["origin"] == questions["origin"]
        assert {(a["name"], a["kind"], a["key"]) for a in questions["arrays"]} == {
            ("tokens", "ragged", ""),
            ("boxes", "ragged", "image"),
        }
        reply = client.get("/api/recordings/questions/arrays/boxes")
        assert reply.headers["X-Innerview-Shape"] == "3,3,4"
        for array, expected in (("boxes", [2, 2, 3]), ("tokens", [2, 0, 1])):
            told = client.get(f"/api/recordings/questions/arrays/{array}/lengths")
            assert np.frombuffer(told.content, told.headers["X-Innerview-Dtype"]).tolist() == expected


def test_lengths_of_equal_rows_are_refused(client: httpx.Client) -> None:
    reply = client.get(f"{STEPS}/arrays/memory/lengths")
    assert reply.status_code == 400
    assert "'memory' is not ragged" in reply.text


def test_the_vocabulary_lists_the_names_of_all_recordings(client: httpx.Client) -> None:
    names = client.get("/api/vocabulary").json()
    assert names["action"] == ["left", "right"]
    assert names["object"] == ["medikit"]
    assert names["outcome"] == ["died"]
    assert names["words of word"] == sorted([SCRIPT, "plain"])
    assert {"x_m", "clock", "hit"} <= set(names["fact"])


def test_columns_have_plain_types(client: httpx.Client) -> None:
    frame = read(client.get(f"{STEPS}/columns"))
    assert frame.height == ROWS
    assert frame.schema["episode"] == pl.Int32
    assert frame.schema["reward"] == pl.Float32
    assert frame.schema["hit"] == pl.Boolean
    assert isinstance(frame.schema["word"], pl.Enum)
    assert frame["word"].to_list()[1] == SCRIPT
    assert np.isnan(frame["reward"][3]), "an unknown number is NaN"
    assert frame["objects"].to_list()[0][0]["name"] == "medikit"
    assert frame["hit"].to_list() == steps_rows()["hit"]


def test_clock_times_keep_their_precision(client: httpx.Client) -> None:
    assert read(client.get(f"{STEPS}/columns?names=clock"))["clock"].to_list() == steps_rows()["clock"]


def test_columns_by_name_and_range(client: httpx.Client) -> None:
    frame = read(client.get(f"{STEPS}/columns", params={"names": "step,reward", "start": 4, "stop": 9}))
    assert frame.columns == ["step", "reward"]
    assert frame["step"].to_list() == [4, 5, 6, 7, 8]
    assert read(client.get(f"{STEPS}/columns?names=step&start=18&stop=999")).height == 2
    assert read(client.get(f"{STEPS}/columns?names=word&start=5&stop=5")).height == 0


def test_groups(client: httpx.Client) -> None:
    frame = read(client.get(f"{STEPS}/groups"))
    assert frame["outcome"].to_list() == ["died", "died"]
    scene = client.get(f"{STEPS}/scenes/{frame['scene'][0]}").json()
    assert scene["walls"] == [[0.0, 0.0, 1.0, 1.0]]
    assert scene["objects"] == [["medikit", 1.0, 2.0]]


@pytest.mark.parametrize("name", ["observation", "memory", "depth"])
def test_array_slices_are_exact(client: httpx.Client, name: str) -> None:
    response = client.get(f"{STEPS}/arrays/{name}?start=3&stop=17&step=2")
    shape = [int(n) for n in response.headers["x-innerview-shape"].split(",")]
    values = np.frombuffer(response.content, response.headers["x-innerview-dtype"]).reshape(shape)
    np.testing.assert_array_equal(values, steps_arrays()[name][3:17:2])


@pytest.mark.parametrize("format", ["png", "webp"])
def test_pictures_decode_to_the_exact_array(client: httpx.Client, format: str) -> None:
    response = client.get(f"{STEPS}/images/observation/11?format={format}")
    assert response.headers["content-type"] == f"image/{format}"
    np.testing.assert_array_equal(
        np.asarray(Image.open(io.BytesIO(response.content))), steps_arrays()["observation"][11]
    )


def test_a_stack_of_frames_shows_its_newest_in_grey(client: httpx.Client) -> None:
    newest = client.get(f"{STEPS}/images/stack/2").content
    oldest = client.get(f"{STEPS}/images/stack/2?channel=0").content
    stack = steps_arrays()["stack"][2]
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(newest))), stack[:, :, 3])
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(oldest))), stack[:, :, 0])
    assert client.get(f"{STEPS}/images/stack/2?channel=4").status_code == 400


def test_float_pictures_report_their_range(client: httpx.Client) -> None:
    response = client.get(f"{STEPS}/images/depth/5")
    low, high = (float(v) for v in response.headers["x-innerview-range"].split(","))
    depth = steps_arrays()["depth"][5]
    assert (low, high) == pytest.approx((depth.min(), depth.max()))
    shown = np.asarray(Image.open(io.BytesIO(response.content))).astype(float)
    np.testing.assert_allclose(low + shown / 255 * (high - low), depth, atol=(high - low) / 255)
    fixed = client.get(f"{STEPS}/images/depth/5?low=0&high=50")
    assert fixed.headers["x-innerview-range"] == "0,50"


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/api/recordings/stepz", 404, "Did you mean 'steps'?"),
        (f"{STEPS}/columns?names=rewart", 404, "Did you mean 'reward'?"),
        (f"{STEPS}/arrays/memry", 404, "Did you mean 'memory'?"),
        (f"{STEPS}/images/memory/0", 400, "holds no pictures"),
        (f"{STEPS}/images/observation/20", 400, "rows 0 to 19"),
        (f"{STEPS}/images/observation/-1", 400, "rows 0 to 19"),
        (f"{STEPS}/arrays/memory?start=9&stop=3", 400, "no range"),
        (f"{STEPS}/arrays/memory?start=-1", 422, "start"),
        (f"{STEPS}/arrays/memory?step=0", 422, "step"),
        (f"{STEPS}/images/observation/1?format=gif", 422, "format"),
        ("/api/nothing", 404, "/api/nothing"),
    ],
)
def test_mistakes_are_reported(client: httpx.Client, path: str, status: int, words: str) -> None:
    response = client.get(path)
    assert response.status_code == status
    assert words in response.json()["error"]["message"]
    assert response.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("part", ["columns", "groups", "arrays/memory", "images/observation/0"])
def test_the_browser_may_keep_what_cannot_change(client: httpx.Client, part: str) -> None:
    etag = client.get(STEPS).json()["etag"]
    asked = client.get(f"{STEPS}/{part}")
    assert asked.headers["etag"] == f'"{etag}"'
    assert "no-cache" in asked.headers["cache-control"]
    assert client.get(f"{STEPS}/{part}", headers={"If-None-Match": f'"{etag}"'}).status_code == 304
    assert "immutable" in client.get(f"{STEPS}/{part}?v={etag}").headers["cache-control"]
    assert "immutable" not in client.get(f"{STEPS}/{part}?v=older").headers["cache-control"]


def test_one_reply_carries_a_bounded_part_of_an_array(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("innerview.serve.routes.recordings.ARRAY_LIMIT", 100)
    response = client.get(f"{STEPS}/arrays/memory")
    assert response.status_code == 413
    assert "at most 5 rows" in response.json()["error"]["message"]
    assert client.get(f"{STEPS}/arrays/memory?stop=5").status_code == 200


def test_colour_beside_depth_is_shown_as_colour() -> None:
    rgbd = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)
    names = ("red", "green", "blue", "depth")
    spec = ArraySpec(name="rgbd", shape=rgbd.shape, dtype="uint8", elements=names)
    shown = Image.open(io.BytesIO(encode(spec.as_shown(rgbd)).content))
    np.testing.assert_array_equal(np.asarray(shown), rgbd[:, :, :3])
    depth = Image.open(io.BytesIO(encode(spec.as_shown(rgbd, 3)).content))
    np.testing.assert_array_equal(np.asarray(depth), rgbd[:, :, 3])
    clear = ArraySpec(name="clear", shape=rgbd.shape, dtype="uint8", kind="encoded")
    np.testing.assert_array_equal(clear.as_shown(rgbd), rgbd, err_msg="a PNG with opacity")


def test_a_stack_of_frames_in_colour_shows_its_newest_in_colour() -> None:
    frames = np.random.default_rng(1).integers(0, 256, (6, 7, 12), dtype=np.uint8)
    spec = ArraySpec(name="frames", shape=frames.shape, dtype="uint8", elements=("red", "green", "blue") * 4)
    shown = Image.open(io.BytesIO(encode(spec.as_shown(frames)).content))
    np.testing.assert_array_equal(np.asarray(shown), frames[:, :, 9:])
