"""Tiles arrive as the page draws them: exact rows up close, means from afar."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from innerview.schema import ArraySpec, Ordering
from innerview.serve import serve
from innerview.serve.routes.memory import tiles
from innerview.store import Study, write_rows

from .wirework import WAIT_S

ROWS, ELEMENTS = 6_000, 4
PATH = "/api/recordings/run/tiles/memory"


@pytest.fixture
def values() -> np.ndarray:
    return np.random.default_rng(1).uniform(-1, 1, (ROWS, ELEMENTS)).astype(np.float32)


@pytest.fixture
def client(tmp_path: Path, values: np.ndarray) -> Iterator[httpx.Client]:
    study = Study.create(tmp_path / "s.study")
    write_rows(
        study,
        "run",
        ordering=Ordering(),
        columns={"episode": np.arange(ROWS) // 1000, "step": np.arange(ROWS) % 1000},
        arrays={"memory": values},
        specs=[ArraySpec(name="memory", shape=(ELEMENTS,), dtype="float32", role="memory")],
    )
    with (
        serve(study) as handle,
        httpx.Client(
            base_url=handle.address, headers={"Authorization": f"Bearer {handle.token}"}, timeout=WAIT_S
        ) as client,
    ):
        yield client


def read(reply: httpx.Response) -> np.ndarray:
    assert reply.status_code == 200, reply.text
    shape = tuple(map(int, reply.headers["x-innerview-shape"].split(",")))
    return np.frombuffer(reply.content, reply.headers["x-innerview-dtype"]).reshape(shape)


def test_up_close_every_value_is_exact(client: httpx.Client, values: np.ndarray) -> None:
    tile = read(client.get(PATH, params={"level": 0, "tile": 2}))
    assert tile.dtype == np.float32
    assert np.array_equal(tile, values[512:768])


def test_an_episode_alone(client: httpx.Client, values: np.ndarray) -> None:
    tile = read(client.get(PATH, params={"level": 2, "tile": 0, "start": 1000, "stop": 1999}))
    assert tile.dtype == np.float16
    assert tile.shape == (250, ELEMENTS)
    np.testing.assert_allclose(tile[-1], values[1996:1999].mean(axis=0), atol=1e-3)


def test_a_long_recording_is_built_in_the_background(
    client: httpx.Client, values: np.ndarray, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tiles, "DIRECT_VALUES", 100)
    asked = {"level": 4, "tile": 1}
    reply = client.get(PATH, params=asked)
    while reply.status_code == 202:
        assert 0 <= float(reply.headers["x-innerview-building"]) <= 1
        assert reply.headers["cache-control"] == "no-store"
        time.sleep(0.02)
        reply = client.get(PATH, params=asked)
    np.testing.assert_allclose(read(reply)[0], values[4096:4112].mean(axis=0), atol=1e-3)
    assert [p.name.startswith("memory-") for p in (tmp_path / "s.study/recordings/run/pyramid").iterdir()] == [True]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"level": 9, "tile": 0}, "levels 0 to 5"),
        ({"level": 1, "tile": 12}, "tiles 0 to 11"),
        ({"level": 0, "tile": 0, "start": 50, "stop": 20}, "no range"),
        ({"level": -1, "tile": 0}, "level"),
    ],
)
def test_what_is_not_there_is_said(client: httpx.Client, asked: dict[str, int], said: str) -> None:
    reply = client.get(PATH, params=asked)
    assert 400 <= reply.status_code < 500
    assert said in reply.json()["error"]["message"]


def test_an_unknown_array(client: httpx.Client) -> None:
    reply = client.get("/api/recordings/run/tiles/memroy", params={"level": 0, "tile": 0})
    assert reply.status_code == 404
    assert "memory" in reply.json()["error"]["message"]
