"""A small study of made-up steps and paired pictures, served for real on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from innerview.schema import ArraySpec, Column, Ordering, RecordingInfo, RowKind, Scene
from innerview.serve import Handle, serve
from innerview.store import Study

from .wirework import WAIT_S

ROWS, BLOCK = 20, 8
SCRIPT = "<script>alert(1)</script>"


def steps_info(name: str = "steps") -> RecordingInfo:
    image = ("height", "width", "channel")
    return RecordingInfo(
        name=name,
        ordering=Ordering(),
        columns=(
            Column(name="episode", type="int", kind="index"),
            Column(name="step", type="int", kind="index"),
            Column(name="action", type="int", kind="action", categories=("left", "right")),
            Column(name="reward", type="float", kind="reward"),
            Column(name="clock", type="float", unit="s"),
            Column(name="hit", type="bool", kind="event"),
            Column(name="word", type="text", label=SCRIPT),
            Column(name="objects", type="objects", kind="objects"),
        ),
        arrays=(
            ArraySpec(name="observation", shape=(4, 6, 3), dtype="uint8", role="observation", axes=image),
            ArraySpec(name="depth", shape=(4, 6), dtype="float32", role="image", axes=("height", "width")),
            ArraySpec(name="stack", shape=(4, 6, 4), dtype="uint8", role="observation", axes=image),
            ArraySpec(name="memory", shape=(5,), dtype="float32", role="memory", axes=("unit",)),
        ),
        group_columns=(
            Column(name="episode", type="int", kind="index"),
            Column(name="return", type="float"),
            Column(name="outcome", type="text", kind="category"),
            Column(name="scene", type="text"),
        ),
        note=SCRIPT,
    )


def steps_arrays() -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    return {
        "observation": random.integers(0, 256, (ROWS, 4, 6, 3), dtype=np.uint8),
        "depth": random.random((ROWS, 4, 6), dtype=np.float32) * 50,
        "stack": random.integers(0, 256, (ROWS, 4, 6, 4), dtype=np.uint8),
        "memory": random.standard_normal((ROWS, 5), dtype=np.float32),
    }


def steps_rows() -> dict[str, list[object]]:
    thing = {"name": "medikit", "x_px": 1.0, "y_px": 2.0, "width_px": 3.0, "height_px": 4.0, "distance": 5.0}
    return {
        "episode": [i // 10 for i in range(ROWS)],
        "step": [i % 10 for i in range(ROWS)],
        "action": [i % 2 for i in range(ROWS)],
        "reward": [None if i == 3 else i / 4 for i in range(ROWS)],
        "clock": [1.8e9 + i / 100 for i in range(ROWS)],
        "hit": [i == 7 for i in range(ROWS)],
        "word": [SCRIPT if i % 2 else "plain" for i in range(ROWS)],
        "objects": [[{**thing, "x": 6.0, "y": 7.0}] if i % 3 == 0 else [] for i in range(ROWS)],
    }


def fill(study: Study, name: str = "steps") -> None:
    rows, arrays = steps_rows(), steps_arrays()
    with study.writer(steps_info(name), block_rows=BLOCK) as writer:
        key = writer.add_scene(Scene(walls=((0.0, 0.0, 1.0, 1.0),), objects=(("medikit", 1.0, 2.0),)))
        for episode in range(2):
            part = slice(episode * 10, episode * 10 + 10)
            writer.append({k: v[part] for k, v in rows.items()}, {k: v[part] for k, v in arrays.items()})
            writer.end_group({"episode": episode, "return": 1.5, "outcome": "died", "scene": key})
        writer.finish()


def fill_pairs(study: Study) -> None:
    """Paired images with a pose each: no episode, no time."""
    axes = ("height", "width", "channel")
    info = RecordingInfo(
        name="pairs",
        row=RowKind(one="pair", many="pairs"),
        columns=(Column(name="x_m", type="float", unit="m"),),
        arrays=tuple(ArraySpec(name=d, shape=(4, 6, 3), dtype="uint8", axes=axes, domain=d) for d in ("sim", "real")),
    )
    images = steps_arrays()["observation"]
    with study.writer(info, block_rows=BLOCK) as writer:
        writer.append({"x_m": [i / 10 for i in range(ROWS)]}, {"sim": images, "real": 255 - images})
        writer.finish()


@pytest.fixture(scope="session")
def saved_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that tests read and leave as it is."""
    study = Study.create(tmp_path_factory.mktemp("studies") / "demo", "demo")
    fill(study)
    fill_pairs(study)
    return study.path


@pytest.fixture(scope="module")
def served(saved_study: Path) -> Iterator[Handle]:
    with serve(saved_study) as handle:
        yield handle


@pytest.fixture(scope="module")
def client(served: Handle) -> Iterator[httpx.Client]:
    """A client that shows the token."""
    with httpx.Client(
        base_url=served.address, headers={"Authorization": f"Bearer {served.token}"}, timeout=WAIT_S
    ) as client:
        yield client


@pytest.fixture(scope="module")
def stranger(served: Handle) -> Iterator[httpx.Client]:
    """A client without the token."""
    with httpx.Client(base_url=served.address, timeout=WAIT_S) as client:
        yield client
