"""What comparing checksums costs: opening a study of a million rows, and reading the frames of an episode in order.

Each is done with the comparisons and without them, turn by turn in one process, with everything opened afresh. It
is the processor's time that is measured, which other work on the machine changes little.
Run: python benchmarks/checksums.py [--rows N] [--turns N]
"""

# ruff: noqa: T201 - a benchmark speaks
from __future__ import annotations

import argparse
import gc
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
from starlette.testclient import TestClient

import innerview as iv
from innerview.schema import ArraySpec, Ordering
from innerview.serve.app import create_app

EPISODE, FRAMES = 500, 2_000
HEIGHT, WIDTH = 64, 112
IMAGE = ("height", "width", "channel")
OPENED = ("study", "vocabulary", "recordings/wandering", "recordings/wandering/groups")


class Equal(bytes):
    """A checksum that every other one is equal to."""

    def __ne__(self, other: object) -> bool:
        return False


@contextmanager
def unchecked() -> Iterator[None]:
    """Nothing is compared, everything else is done."""
    store = "innerview.store"
    always = {
        f"{store}.files.broken_seal": lambda *_, **__: "",
        f"{store}.recordings.manifest.broken_seal": lambda *_, **__: "",
        f"{store}.recordings.blocks.Blocks.verify": lambda *_: True,
        f"{store}.recordings.arrays.shards.checksum": lambda _: Equal(),
        f"{store}.recordings.arrays.codecs.checksum": lambda _: Equal(),
        f"{store}.results.derived.checksum": lambda _: Equal(),
    }
    patches = [patch(name, instead) for name, instead in always.items()]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()


def write_study(folder: Path, rows: int) -> iv.Study:
    """A recording of many rows with tiny pictures, and one of frames as a game has them."""
    study = iv.Study.create(folder / "million.study")
    numbers = np.random.default_rng(0)
    way = numbers.standard_normal((4, rows)).cumsum(axis=1)
    number = np.arange(rows)
    columns = {"episode": number // EPISODE, "step": number % EPISODE, "action": numbers.integers(0, 3, rows)}
    floats = dict(zip(("x", "y", "health", "value"), way, strict=True)) | {"reward": numbers.standard_normal(rows)}
    picture = np.zeros((rows, 4, 4, 3), np.uint8)
    picture[:, 0, 0, 0] = number % 251
    image = ArraySpec(name="observation", shape=(4, 4, 3), dtype="uint8", role="observation", axes=IMAGE)
    table = pl.DataFrame(columns | floats)
    iv.write_rows(
        study, "wandering", columns=table, arrays={"observation": picture}, specs=[image], ordering=Ordering()
    )
    ground = (
        numbers.integers(0, 40, (HEIGHT, WIDTH * 4, 3), np.uint8)
        + np.linspace(0, 200, WIDTH * 4, dtype=np.uint8)[:, None]
    )
    frames = np.stack([np.roll(ground, -n, axis=1)[:, :WIDTH] for n in range(FRAMES)])
    iv.write_rows(study, "frames", columns={"n": np.arange(FRAMES)}, arrays={"observation": frames})
    return study


def opening(study: iv.Study) -> None:
    """What the page asks for when it opens the study."""
    app = create_app(iv.Study.open(study.path), token="t", port=80)
    client = TestClient(app, "http://127.0.0.1", headers={"Authorization": "Bearer t"})
    for address in (*OPENED, "recordings/wandering/columns?columns=episode,step,action,reward,value,health,x,y"):
        assert client.get(f"/api/{address}").status_code == 200, address


def playback(study: iv.Study) -> None:
    """Every frame, one after the other."""
    recording = iv.Study.open(study.path).recording("frames")
    for row in range(recording.rows):
        recording.array("observation", row, row + 1)


def compare(title: str, act: Callable[[iv.Study], None], study: iv.Study, turns: int) -> None:
    """Print the median of both, and of the ratio of neighbours."""
    act(study)
    with_them, without = [], []
    for _ in range(turns):
        for times, checked in random.sample([(with_them, True), (without, False)], 2):
            gc.collect()
            begin = time.process_time()
            if checked:
                act(study)
            else:
                with unchecked():
                    act(study)
            times.append(time.process_time() - begin)
    cost = min(with_them) / min(without) - 1
    pairs = statistics.median(a / b for a, b in zip(with_them, without, strict=True)) - 1
    print(
        f"{title:34s} with {min(with_them) * 1e3:8.1f} ms, without {min(without) * 1e3:8.1f} ms: "
        f"{cost:+.1%} (best of {turns}), {pairs:+.1%} (median of pairs)"
    )


def main() -> None:
    """Write the study and measure both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=15)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = write_study(Path(folder), args.rows)
        assert all(study.recording(name).signed for name in study.recordings())
        compare(f"opening {args.rows:,} rows", opening, study, args.turns)
        compare(f"reading {FRAMES:,} frames in order", playback, study, args.turns)


if __name__ == "__main__":
    main()
