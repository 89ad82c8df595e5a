"""Recordings that DRLViz and MemRed wrote open in the Memory workspace as our own do."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from innerview.store import ImportOptions, Study, import_files
from tests.store.test_importers_agents import ELEMENTS, STEPS, drlviz, memred

from .conftest import Show, Visit

FORMATS = {"drlviz": {"episode0": drlviz(), "episode1": drlviz()}, "memred": memred()}


@pytest.mark.parametrize("name", FORMATS)
def test_it_opens_in_the_memory_workspace(name: str, tmp_path: Path, show: Show, visit: Visit) -> None:
    value: Any = FORMATS[name]
    (tmp_path / f"{name}.json").write_text(json.dumps(value))
    import_files(tmp_path / "brought.study", [tmp_path / f"{name}.json"], ImportOptions())
    bench = visit(show(Study.open(tmp_path / "brought.study")), f"#/memory/{name}?episode=0&step=4")
    bench.watch.expected.append("GPU stall due to ReadPixels")  # the heat map without a graphics card
    bench.at_step(4)
    picture = bench.at_row(4)
    assert picture.shape == (36, 64, 3) and abs(picture.mean() - 80) < 2, "the JPEG of this step"
    expect(bench.get("memory-canvas")).to_have_attribute("data-complete", "true")
    bench.still()
    shown = Image.open(io.BytesIO(bench.get("memory-canvas").screenshot())).convert("RGB")
    assert len(np.unique(np.asarray(shown).reshape(-1, 3), axis=0)) > STEPS * ELEMENTS / 2, (
        "the state of every element has its colour"
    )
    expect(bench.get("step")).to_contain_text(f"/ {STEPS - 1}")
    expect(bench.get("view-map")).to_be_visible()
