"""Small studies, made the way a person would make them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

import innerview as iv
from innerview.lenses.look import look
from innerview.schema import ArraySpec, Column, Ordering, Origin, RecordingInfo, RowKind, Scene
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent
from tests.store.samples import forge

EPISODES = 6
ACTIONS = 18
SCRIPT = "<img src=x onerror=\"document.title='owned'\">"
"""Runs if a page takes it for HTML; as text it is only ugly."""
IMAGE = ("height", "width", "channel")


def walks(folder: Path) -> iv.Study:
    """Two recordings of an agent with memory that walks and collects coins, in small blocks."""
    study = iv.Study.create(folder, "walks")
    for name, seed in (("first", 0), ("second", 40)):
        world = CountingWorld()
        iv.record(study, recurrent(), world, episodes=EPISODES, seeds=seed, name=name, block_rows=64, progress=False)
    return study


def pairs(folder: Path, count: int = 60) -> iv.Study:
    """Simulated and real pictures of the same place, with a pose each: no episode, no time."""
    study = iv.Study.create(folder, "pairs")
    random = np.random.default_rng(0)
    real = random.integers(0, 256, (count, 12, 16, 3), dtype=np.uint8)
    iv.write_rows(
        study,
        "rooms",
        row=RowKind(one="pair", many="pairs"),
        origin=Origin(kind="generated", by="a test", source="random numbers"),
        columns={
            "x": random.uniform(-4, 4, count),
            "y": random.uniform(0, 3, count),
            "angle": random.uniform(0, 360, count),
            "room": random.choice(["hall", "kitchen", "stairs"], count).tolist(),
        },
        arrays={"real": real, "sim": 255 - real},
        specs=[
            Column(name="x", type="float", pose="x", unit="m"),
            Column(name="y", type="float", pose="y", unit="m"),
            Column(name="angle", type="float", pose="angle", unit="deg"),
            *(ArraySpec(name=d, shape=(12, 16, 3), dtype="uint8", axes=IMAGE, domain=d) for d in ("real", "sim")),
        ],
    )
    return study


def consoles(folder: Path, episodes: int = 4, length: int = 90) -> iv.Study:
    """Two recordings with as many actions as a console has, and a memory that is laid out."""
    study = iv.Study.create(folder, "consoles")
    random = np.random.default_rng(1)
    rows = episodes * length
    names = tuple(f"button {number}" for number in range(ACTIONS))
    for name in ("consoles", "others"):
        actions = np.arange(rows) % ACTIONS
        chances = random.dirichlet(np.ones(ACTIONS), rows).astype(np.float32)
        iv.write_rows(
            study,
            name,
            ordering=Ordering(),
            columns={
                "episode": np.repeat(np.arange(episodes), length),
                "step": np.tile(np.arange(length), episodes),
                "action": actions,
                "entropy": -(chances * np.log(chances)).sum(axis=1) / np.log(ACTIONS),
            },
            arrays={"memory": random.standard_normal((rows, 6)).astype(np.float32), "probabilities": chances},
            specs=[
                Column(name="action", type="int", kind="action", categories=names),
                ArraySpec(name="memory", shape=(6,), dtype="float32", role="memory"),
                ArraySpec(
                    name="probabilities", shape=(ACTIONS,), dtype="float32", role="probabilities", elements=names
                ),
            ],
        )
        look(study, "pca", recording=name, progress=False)
    return study


def million(folder: Path, *, episodes: int = 2_000, length: int = 500) -> iv.Study:
    """A million rows with tiny pictures: 2,000 episodes that wander through a plane."""
    study = iv.Study.create(folder, "million")
    rows = episodes * length
    random = np.random.default_rng(0)
    picture = np.zeros((rows, 4, 4, 3), np.uint8)
    picture[:, 0, 0, 0] = np.arange(rows) % 251
    way = random.standard_normal((2, rows), dtype=np.float32).cumsum(axis=1)
    iv.write_rows(
        study,
        "wandering",
        ordering=Ordering(),
        columns=pl.DataFrame(
            {
                "episode": np.repeat(np.arange(episodes), length),
                "step": np.tile(np.arange(length), episodes),
                "action": random.integers(0, 3, rows),
                "reward": random.integers(0, 2, rows).astype(np.float64),
                "value": random.standard_normal(rows),
                "health": 100.0 - np.tile(np.arange(length), episodes) / 5,
                "x": way[0].astype(np.float64),
                "y": way[1].astype(np.float64),
            }
        ),
        arrays={"observation": picture},
        specs=[
            Column(name="action", type="int", kind="action", categories=("left", "right", "forward")),
            Column(name="value", type="float", kind="value"),
            Column(name="health", type="float", unit="points"),
            Column(name="x", type="float", pose="x"),
            Column(name="y", type="float", pose="y"),
            ArraySpec(name="observation", shape=(4, 4, 3), dtype="uint8", role="observation", axes=IMAGE),
        ],
    )
    return study


def hostile(folder: Path) -> iv.Study:
    """Every text of a recording that a person can choose is an attempt to run a script."""
    study = iv.Study.create(folder, "hostile")
    thing = {"name": SCRIPT, "x_px": 1.0, "y_px": 2.0, "width_px": 3.0, "height_px": 3.0, "distance": 5.0}
    thing |= {"x": 1.0, "y": 2.0}
    info = RecordingInfo(
        name="hostile",
        row=RowKind(one=SCRIPT, many=f"many {SCRIPT}"),
        ordering=Ordering(),
        columns=(
            Column(name="episode", type="int", kind="index"),
            Column(name="step", type="int", kind="index"),
            Column(name="action", type="int", kind="action", categories=(f"left {SCRIPT}", f"right {SCRIPT}")),
            Column(name="x", type="float", pose="x", unit=SCRIPT, label=f"x {SCRIPT}", description=SCRIPT),
            Column(name="y", type="float", pose="y", unit=SCRIPT, label=f"y {SCRIPT}", description=SCRIPT),
            Column(name="hit", type="bool", kind="event", label=f"hit {SCRIPT}"),
            Column(name="word", type="text", kind="category", label=f"word {SCRIPT}"),
            Column(name="objects", type="objects", kind="objects", label=SCRIPT),
        ),
        arrays=(
            ArraySpec(name="observation", shape=(8, 8, 3), dtype="uint8", role="observation", axes=IMAGE, label=SCRIPT),
            ArraySpec(name="other", shape=(8, 8, 3), dtype="uint8", role="image", axes=IMAGE, label=SCRIPT),
            ArraySpec(name="probabilities", shape=(2,), dtype="float32", role="probabilities", elements=(SCRIPT, "b")),
        ),
        group_columns=(
            Column(name="episode", type="int", kind="index"),
            *(Column(name=n, type="int", kind="index") for n in ("start", "stop", "length")),
            Column(name="return", type="float"),
            Column(name="outcome", type="text", kind="category"),
            Column(name="scene", type="text"),
        ),
        note=SCRIPT,
    )
    count = 8
    with study.writer(info) as writer:
        scene = writer.add_scene(Scene(walls=((0, 0, 4, 4),), objects=((SCRIPT, 1.0, 2.0),), unit=SCRIPT))
        columns = {
            "episode": [0] * count,
            "step": list(range(count)),
            "action": [i % 2 for i in range(count)],
            "x": [i / 2 for i in range(count)],
            "y": [i / 3 for i in range(count)],
            "hit": [i == 3 for i in range(count)],
            "word": [f"{SCRIPT} {i % 3}" for i in range(count)],
            "objects": [[thing]] * count,
        }
        grey = np.full((count, 8, 8, 3), 90, np.uint8)
        even = np.full((count, 2), 0.5, np.float32)
        writer.append(columns, {"observation": grey, "other": grey, "probabilities": even})
        ending = {"episode": 0, "start": 0, "stop": count, "length": count, "return": 1.0, "outcome": f"died {SCRIPT}"}
        writer.end_group({**ending, "scene": scene})
    forge(folder / "study.json", lambda told: told.update(name=f"study {SCRIPT}"))
    return iv.Study.open(folder)


def damaged(folder: Path) -> iv.Study:
    """Four recordings: whole, one with a truncated picture file, one without its first rows, one without a manifest."""
    study = iv.Study.create(folder, "damaged")
    for name in ("whole", "cut", "rowless", "lost"):
        world = CountingWorld()
        iv.record(study, recurrent(), world, episodes=EPISODES, name=name, block_rows=64, progress=False)
    shard = folder / "recordings" / "cut" / "arrays" / "observation" / "c.0.0.0.0"
    shard.write_bytes(shard.read_bytes()[: shard.stat().st_size // 2])
    (folder / "recordings" / "rowless" / "rows" / "00000000.parquet").unlink()
    (folder / "recordings" / "lost" / "manifest.json").write_text("{ not json", encoding="utf-8")
    return study
