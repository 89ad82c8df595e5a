"""A study that is made to be hard to draw: episodes of different lengths, gaps, damage, one row, many rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import innerview as iv
from innerview.lenses.look import look
from innerview.schema import ArraySpec, Column, Ordering, RecordingInfo, Scene

ACTIONS = ("left", "right", "forward", "wait")
LENGTHS = (40, 25, 1, 130, 33, 28, 31, 27, 30, 36)
IMAGE = ("height", "width", "channel")
MANY = (70_000, 1_000, 49_000)
LACKING = 0.85
"""What the probabilities of `damaged` add up to: a tool wrote only some of them."""
OUTCOMES = ("died", "time limit", "goal", "died", "fell")


def make(folder: Path) -> iv.Study:
    """All of it, with what lenses said of the recording `mixed`."""
    study = iv.Study.create(folder, "drawn")
    for name, lengths in (("mixed", LENGTHS), ("damaged", LENGTHS[:5]), ("one", (1,))):
        _episodes(study, name, lengths)
    _many(study)
    look(study, "pca", recording="mixed", progress=False)
    look(study, "flags", recording="mixed", progress=False)
    look(study, "strategy", recording="mixed", states=3, progress=False)
    _influence(study)
    _table(study)
    (folder / "recordings/damaged/rows/00000002.parquet").write_bytes(b"broken")
    return study


def _columns() -> tuple[Column, ...]:
    return (
        Column(name="episode", type="int", kind="index"),
        Column(name="step", type="int", kind="index"),
        Column(name="action", type="int", kind="action", categories=ACTIONS),
        Column(name="reward", type="float", kind="reward"),
        Column(name="value", type="float", kind="value"),
        Column(name="entropy", type="float", kind="decision"),
        Column(name="x", type="float", pose="x", unit="m"),
        Column(name="y", type="float", pose="y", unit="m"),
        Column(name="angle", type="float", pose="angle", unit="deg"),
        Column(name="health", type="float", unit="points", label="its health"),
        Column(name="tiny", type="float", unit="s"),
        Column(name="large", type="int"),
        Column(name="hit", type="bool", kind="event"),
        Column(name="mood", type="text", kind="category"),
        Column(name="objects", type="objects", kind="objects"),
    )


def _arrays() -> tuple[ArraySpec, ...]:
    return (
        ArraySpec(name="observation", shape=(8, 8, 3), dtype="uint8", role="observation", axes=IMAGE),
        ArraySpec(name="memory", shape=(5,), dtype="float32", role="memory", axes=("element",)),
        ArraySpec(name="probabilities", shape=(4,), dtype="float32", role="probabilities", elements=ACTIONS),
    )


def _group_columns() -> tuple[Column, ...]:
    return (
        *(Column(name=n, type="int", kind="index") for n in ("episode", "seed", "start", "stop", "length")),
        Column(name="return", type="float", kind="reward"),
        Column(name="outcome", type="text", kind="category"),
        Column(name="cut", type="bool"),
        Column(name="scene", type="text"),
    )


def _episodes(study: iv.Study, name: str, lengths: tuple[int, ...]) -> None:
    info = RecordingInfo(
        name=name, ordering=Ordering(), columns=_columns(), arrays=_arrays(), group_columns=_group_columns()
    )
    random = np.random.default_rng(7)
    with study.writer(info, block_rows=32) as writer:
        start = 0
        for episode, length in enumerate(lengths):
            rows, arrays = _episode(random, episode, length)
            if name == "damaged":
                arrays["memory"][6 : 6 + length // 30] = np.nan
                arrays["probabilities"] *= np.float32(LACKING)
            scene = writer.add_scene(_scene(episode))
            for first in range(0, length, 17):
                part = slice(first, first + 17)
                writer.append({k: v[part] for k, v in rows.items()}, {k: v[part] for k, v in arrays.items()})
            writer.end_group(
                {
                    "episode": episode,
                    "seed": 100 + episode,
                    "start": start,
                    "stop": start + length,
                    "length": length,
                    "return": sum(rows["reward"]),
                    "outcome": OUTCOMES[episode % 5],
                    "cut": OUTCOMES[episode % 5] == "time limit",
                    "scene": scene,
                }
            )
            start += length


def _episode(random: np.random.Generator, episode: int, length: int) -> tuple[dict[str, list], dict[str, np.ndarray]]:
    steps = np.arange(length)
    chances = random.dirichlet(np.ones(4), length).astype(np.float32)
    health = (90.0 - steps / 3 + episode).tolist()
    value = (0.3 * np.sin(steps / 5 + episode) + 0.1 * episode).tolist()
    for gap in range(4, length, 11):
        health[gap] = None
        value[gap] = None
    rows = {
        "episode": [episode] * length,
        "step": steps.tolist(),
        "action": [int(random.choice(4, p=chance / chance.sum())) for chance in chances.astype(float)],
        "reward": random.choice([0.0, 0.0, 1.0, -0.25], length).tolist(),
        "value": value,
        "entropy": (-(chances * np.log(chances)).sum(axis=1) / np.log(4)).astype(float).tolist(),
        "x": (2 + np.cos(steps / 9 + episode) + 0.3 * episode).tolist(),
        "y": (1 + 0.8 * np.sin(steps / 9 + episode)).tolist(),
        "angle": ((37.0 * steps) % 360).tolist(),
        "health": health,
        "tiny": (2.5e-5 * (1 + steps % 7)).tolist(),
        "large": (12_345 + 1_000 * steps).tolist(),
        "hit": [None if step % 13 == 5 else bool(step % 9 == 3) for step in steps],
        "mood": [None if step % 17 == 2 else ("calm", "wary", "bold")[(step // 4 + episode) % 3] for step in steps],
        "objects": [_objects(int(step)) for step in steps],
    }
    memory = (0.03 * np.sin(steps[:, None] / (2.0 + np.arange(5)) + np.arange(5))).astype(np.float32)
    calm = np.array([word == "calm" for word in rows["mood"]])
    memory[:, 4] = np.where(calm, 0.03, -0.03) + 0.004 * np.sin(steps)
    frames = random.integers(0, 256, (length, 8, 8, 3), dtype=np.uint8)
    return rows, {"observation": frames, "memory": memory, "probabilities": chances}


def _objects(step: int) -> list[dict]:
    far = {"name": "door", "x_px": 5.0, "y_px": 1.0, "width_px": 2.0, "height_px": 3.0, "distance": 3.5, "x": 3.0}
    close = {"name": "coin", "x_px": 0.0, "y_px": 2.0, "width_px": 1.0, "height_px": 1.0, "distance": 0.75, "x": 1.0}
    return [{**far, "y": 1.5}, {**close, "y": 1.0}] if step % 3 else []


def _scene(episode: int) -> Scene:
    wide = 5.0 + episode
    walls = ((0.0, -1.0, wide, -1.0), (wide, -1.0, wide, 3.0), (wide, 3.0, 0.0, 3.0), (0.0, 3.0, 0.0, -1.0))
    return Scene(walls=walls, unit="m", objects=(("coin", 1.0, 1.0),))


def _many(study: iv.Study) -> None:
    """So many rows that they are drawn as means: three episodes, the first longer than a grid of tiles of its own."""
    rows = sum(MANY)
    random = np.random.default_rng(3)
    step = np.concatenate([np.arange(length) for length in MANY])
    chances = np.stack([0.5 + 0.4 * np.sin(step / 900), 0.5 - 0.4 * np.sin(step / 900)], axis=1)
    iv.write_rows(
        study,
        "many",
        ordering=Ordering(),
        columns={
            "episode": np.repeat(np.arange(len(MANY)), MANY),
            "step": step,
            "action": (random.random(rows) < chances[:, 1]).astype(int),
            "health": 100 - step / 1000,
        },
        arrays={
            "memory": np.sin(step[:, None] / (3000.0 + 500 * np.arange(4))).astype(np.float32),
            "probabilities": chances.astype(np.float32),
        },
        specs=[
            Column(name="action", type="int", kind="action", categories=("left", "right")),
            Column(name="health", type="float", unit="points"),
            ArraySpec(name="memory", shape=(4,), dtype="float32", role="memory", axes=("element",)),
            ArraySpec(
                name="probabilities", shape=(2,), dtype="float32", role="probabilities", elements=("left", "right")
            ),
        ],
    )


def _influence(study: iv.Study) -> None:
    """As the lens says it of the episode in the middle, from three steps back to now."""
    start = sum(LENGTHS[:3])
    values = np.random.default_rng(5).standard_normal((LENGTHS[3], 4, 5)).astype(np.float32)
    study.save_result(
        "influence",
        recording="mixed",
        arguments={"rows": [[start, start + LENGTHS[3]]], "parameters": {"lags": 4}},
        value={"array": "memory", "lags": [0, 1, 2, 3]},
        arrays={"influence": values},
        type="chart",
    )


def _table(study: iv.Study) -> None:
    """A table of reductions: full memory, and two elements left."""
    lines = []
    for name, kept, mean in (("full", 5, 41.25), ("two left", 2, 17.5)):
        share = {"mean": mean / 100, "low": 0.1, "high": 0.5, "count": 3}
        measures = {"length": {"mean": mean, "low": mean - 4.5, "high": mean + 4.5}}
        lines.append(
            {"name": name, "note": "", "kept": kept, "episodes": 12, "measures": measures, "outcomes": {"died": share}}
        )
    study.save_result(
        "table",
        recording="mixed",
        arguments={"seeds": [1, 2]},
        value={"rows": lines, "elements": 5, "note": ""},
        type="table",
    )
