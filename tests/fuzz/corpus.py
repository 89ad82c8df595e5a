"""A study with a file of every kind, and a file for each importer: small, and the same each time."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import polars as pl

import innerview as iv
from innerview.lenses.look import look
from innerview.schema import ArraySpec, Column, Ordering, RecordingInfo
from innerview.serve import Handle, serve
from innerview.serve.routes.memory import tiles
from innerview.store import Study, import_pairs
from innerview.testing.crossing import Crossing, walker
from innerview.testing.crossing_study import RECORDING, crossing_study
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent
from tests.serve.conftest import fill, fill_pairs
from tests.store.test_importers_agents import drlviz, memred
from tests.store.test_kinds import INFO, append
from tests.store.test_pairs import make_pairs

HALF = {"name": "half", "edits": [{"kind": "site", "elements": [0, 1, 2], "op": "set", "value": 2.0, "start": 4}]}
WAIT_S = 120.0


def make_study(folder: Path) -> None:
    """Recordings of every kind of column and array, and everything that can stand beside them."""
    study = crossing_study(folder)
    iv.record(study, recurrent(), CountingWorld(), episodes=3, name="memory", block_rows=64, progress=False)
    iv.predict(study, walker(), recording=RECORDING, progress=False)
    fill(study)
    fill_pairs(study)
    with study.writer(INFO, block_rows=8) as writer:
        for start in range(0, 12, 4):
            append(writer, start, start + 4)
        writer.finish()
    _long(study)
    make_pairs(folder.with_name("ground"), count=4)
    import_pairs(study, folder.with_name("ground"), name="ground")
    look(study, "pca", recording="memory", progress=False)
    look(study, "strategy", recording="memory", states=3, progress=False)
    iv.snapshot(study, walker(), step=100, run="training")
    with serving(folder) as handle:
        _annotate(study, handle)


def serving(folder: Path) -> Handle:
    """Serve it with its subjects and worlds live."""
    tiles.DIRECT_VALUES = 10_000  # so that a small study has a pyramid
    subject, world = recurrent(), CountingWorld()
    return serve(
        folder,
        subjects={"walker": walker(), "tiny": subject},
        worlds={"crossing": Crossing(), world.info.name: world},
    )


def make_imports(folder: Path) -> None:
    """A file for each importer."""
    folder.mkdir(parents=True)
    (folder / "episode.json").write_text(json.dumps(drlviz()))
    (folder / "reduced.json").write_text(json.dumps(memred()))
    steps = np.arange(6)
    np.savez(folder / "rollouts.npz", episode=steps // 3, step=steps % 3, pose=np.ones((6, 2), np.float32))
    rows = pl.DataFrame({"episode": steps // 3, "step": steps % 3, "x [m]": steps / 2, "word": list("abcdef")})
    rows.write_csv(folder / "table.csv")
    rows.write_parquet(folder / "table.parquet")
    make_pairs(folder / "pairs", count=3)
    named = {"sim_file": [f"pairs/sim/rgb/{row:04}.jpg" for row in range(3)], "x": [0.0, 1.0, 2.0]}
    pl.DataFrame(named).write_csv(folder / "named.csv")


def _long(study: Study) -> None:
    """Rows enough for a pyramid."""
    rows = 6_000
    info = RecordingInfo(
        name="long",
        ordering=Ordering(),
        columns=tuple(Column(name=name, type="int", kind="index") for name in ("episode", "step")),
        arrays=(ArraySpec(name="memory", shape=(6,), dtype="float32", role="memory"),),
        group_columns=(Column(name="episode", type="int", kind="index"),),
    )
    memory = np.random.default_rng(0).standard_normal((rows, 6)).astype(np.float32)
    with study.writer(info, block_rows=300) as writer:
        writer.append({"episode": [0] * rows, "step": list(range(rows))}, {"memory": memory})
        writer.end_group({"episode": 0})
        writer.finish()


def _annotate(study: Study, handle: Handle) -> None:
    """What people and jobs add from the page."""
    headers = {"Authorization": f"Bearer {handle.token}"}
    with httpx.Client(base_url=f"{handle.address}api", headers=headers, timeout=WAIT_S) as api:

        def done(method: str, path: str, body: Any) -> Any:
            return api.request(method, path, json=body).raise_for_status().json()

        (factors,) = study.results("factors")
        done("PATCH", f"/names/{factors.id}", {"0": "lava", "2": "saw"})
        done("PUT", "/selections", {"name": "hits", "recording": "steps", "expression": "hit ∩ ¬died"})
        done("PUT", "/reductions", HALF)
        done("PUT", "/filters", {"name": "dusk", "steps": "brightness 0.5 | blur 1"})
        done("PUT", "/metrics", {"name": "late", "expression": "step > 3 and reward >= 1", "recording": "steps"})
        done("POST", "/edited", {"recording": RECORDING, "result": factors.id, "factors": [0]})
        for job in (
            {"kind": "table", "recording": "memory", "reductions": [HALF], "episodes": 1},
            {"kind": "sweep", "recording": "memory", "over": "single", "by": "decisions"},
        ):
            _wait(api, done("POST", "/jobs", job)["id"])
        while (
            "x-innerview-building" in api.get("/recordings/long/tiles/memory", params={"level": 5, "tile": 0}).headers
        ):
            time.sleep(0.05)


def _wait(api: httpx.Client, job: str) -> None:
    ends = time.monotonic() + WAIT_S
    while time.monotonic() < ends:
        state = api.get(f"/jobs/{job}").json()
        if state["state"] not in ("queued", "running"):
            assert state["state"] == "done", state
            return
        time.sleep(0.02)
    raise TimeoutError(job)
