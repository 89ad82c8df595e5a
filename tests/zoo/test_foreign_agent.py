"""The page about somebody else's agent works as it is written, with a stand-in of the same shapes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import innerview as iv

pytest.importorskip("vizdoom")
PAGE = (Path(__file__).parents[2] / "docs" / "foreign-agent.md").read_text(encoding="utf-8")
CODE = "\n".join(re.findall(r"```python[^\n]*\n(.*?)```", PAGE, re.DOTALL))
SHAPES = {
    "conv_head.0": (16, 3, 8, 8),
    "conv_head.2": (32, 16, 4, 4),
    "conv_head.4": (16, 32, 3, 3),
    "linear1": (128, 640),
    "dist_linear": (5, 128),
    "critic_linear": (1, 128),
}
LAYOUT = {
    "exterior": [[-480.0, -480.0], [-480.0, 0.0], [0.0, 0.0], [0.0, -480.0]],
    "walls": [[-320.0, -320.0, -320.0, -160.0]],
    "items": [[-80.0, -400.0, "r"], [-400.0, -400.0, "g"]],
    "spawn": [-240.0, -400.0],
}


def weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    found = {f"{name}.weight": rng.normal(0, 0.05, shape) for name, shape in SHAPES.items()}
    found |= {f"{name}.bias": np.zeros(shape[0]) for name, shape in SHAPES.items()}
    found |= {f"gru.weight_{side}": rng.normal(0, 0.1, (384, 128)) for side in ("ih", "hh")}
    found |= {f"gru.bias_{side}": np.zeros(384) for side in ("ih", "hh")}
    return {name: value.astype(np.float32) for name, value in found.items()}


def test_the_page_runs_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("weights.npz", **weights())
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "one.json").write_text(json.dumps(LAYOUT))
    shorter = CODE.replace("episodes=64", "episodes=2, max_steps=5")
    assert shorter != CODE
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(shorter, "foreign-agent.md", "exec"), names)
    recording = iv.Study.open("foreign.study").recording("foreign agent")
    assert (recording.rows, recording.group_count) == (10, 2)
    assert recording.array("memory", 0, 10).shape == (10, 128)
    assert {"gathered", "objects", "layout"} <= {column.name for column in recording.info.columns}
    assert {head.name: head.kind for head in names["subject"].info.heads} == {"policy": "policy", "value": "value"}


def test_it_takes_at_most_fifteen_lines() -> None:
    lines = [line for line in CODE.splitlines() if line.strip() and not line.startswith(("import ", "from "))]
    assert len(lines) <= 15
