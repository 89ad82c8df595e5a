"""Small recordings with known values for the tests of the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from innerview.schema import (
    ActionSpace,
    ArraySpec,
    Column,
    ImportedFrom,
    Ordering,
    Origin,
    PlayedWith,
    RecordingInfo,
    Scene,
    SubjectInfo,
    WorldInfo,
)
from innerview.store import Study
from innerview.store.seal import sealed

IMAGE = (6, 9, 3)
EPISODE = 37


def info(name: str = "run", **changes: Any) -> RecordingInfo:
    """A recording with every kind of column and three arrays."""
    columns = (
        Column(name="episode", type="int", kind="index"),
        Column(name="step", type="int", kind="index"),
        Column(name="reward", type="float", kind="reward"),
        Column(name="hit", type="bool", kind="event"),
        Column(name="room", type="text", kind="category"),
        Column(name="objects", type="objects", kind="objects"),
    )
    arrays = (
        ArraySpec(name="observation", shape=IMAGE, dtype="uint8", axes=("height", "width", "channel")),
        ArraySpec(name="memory", shape=(5,), dtype="float32", role="memory"),
        ArraySpec(name="done", shape=(), dtype="bool"),
    )
    groups = (
        Column(name="episode", type="int", kind="index"),
        Column(name="start", type="int"),
        Column(name="stop", type="int"),
        Column(name="scene", type="text"),
    )
    settings: dict[str, Any] = {
        "columns": columns,
        "arrays": arrays,
        "group_columns": groups,
        "ordering": Ordering(),
        "arguments": ImportedFrom(content="7"),
    }
    return RecordingInfo(name=name, **(settings | changes))


def played_info(seeds: Sequence[int], **changes: Any) -> RecordingInfo:
    """The same, as a subject plays it."""
    return info(
        origin=Origin(kind="played", by="tiny", source="maze"),
        subject=SubjectInfo(name="tiny", family="torch"),
        world=WorldInfo(
            name="maze", family="test", observations=(), actions=ActionSpace(kind="discrete", names=("left", "right"))
        ),
        arguments=PlayedWith(seeds=tuple(seeds), lanes=2),
        **changes,
    )


def rows(start: int, stop: int) -> dict[str, list[Any]]:
    """Values of the columns, the same however they are asked for."""
    seen = {"name": "Medikit", "x_px": 3, "distance": 1.5}
    return {
        "episode": [i // EPISODE for i in range(start, stop)],
        "step": [i % EPISODE for i in range(start, stop)],
        "reward": [None if i % 11 == 0 else i / 7 for i in range(start, stop)],
        "hit": [i % 3 == 0 for i in range(start, stop)],
        "room": [f"room {i % 4}" for i in range(start, stop)],
        "objects": [None if i % 5 == 4 else [seen] * (i % 3) for i in range(start, stop)],
    }


def arrays(start: int, stop: int) -> dict[str, np.ndarray]:
    """Values of the arrays, the same however they are asked for."""
    number = np.arange(start, stop)
    noise = np.random.default_rng(5).integers(0, 256, (4096, *IMAGE), np.uint8)
    return {
        "observation": noise[number % 4096],
        "memory": (np.sin(number[:, None] * np.arange(1, 6)) * 3).astype(np.float32),
        "done": number % EPISODE == EPISODE - 1,
    }


def record(study: Study, total: int, *, block_rows: int = 32, finish: bool = True, name: str = "run") -> None:
    """Record `total` rows, going on after those that are committed."""
    with study.writer(info(name), block_rows=block_rows) as writer:
        at = total if writer.complete else writer.rows_committed
        while at < total:
            stop = min(at - at % EPISODE + EPISODE, total)
            for first in range(at, stop, 5):
                last = min(first + 5, stop)
                writer.append(rows(first, last), arrays(first, last))
            if stop % EPISODE == 0:
                number = stop // EPISODE - 1
                scene = writer.add_scene(Scene(walls=((0.0, 0.0, 1.0, float(number % 3)),)))
                writer.end_group({"episode": number, "start": stop - EPISODE, "stop": stop, "scene": scene})
            at = stop
        if not finish:
            writer.close()


def folder_of(study: Study, name: str = "run") -> Path:
    """The folder of a recording."""
    return study.path / "recordings" / name


def forge(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a JSON file as somebody would who makes its checksums anew."""
    value = json.loads(path.read_bytes())
    del value["seal"]
    change(value)
    path.write_bytes(sealed(json.dumps(value).encode()))


def flip(path: Path, place: int) -> None:
    """Turn over the lowest bit of a byte."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(bytes(content))
