"""Poses that subjects predict, beside those that were recorded."""

from __future__ import annotations

import json

import numpy as np
import polars as pl

from ..workbench import Workbench
from .reading import check_column, number, table
from .stored import Stored


def errors(bench: Workbench, stored: Stored, row: int) -> None:
    """The distance of each predicted place from the recorded one, subject by subject."""
    true = np.stack([stored.numbers(name) for name in ("x", "y")], axis=1)
    lines = table(bench, "view-geo-map")
    check_column(lines, "x", true[:, 0].tolist(), "errors.csv")
    check_column(lines, "y", true[:, 1].tolist(), "errors.csv")
    heads = [head for head in lines[0] if "position error" in head]
    assert len(heads) == 2, f"errors of {heads}"
    medians = bench.get("view-geo-map").inner_text()
    for folder in sorted((stored.study / "predictions").iterdir()):
        told = json.loads((folder / "manifest.json").read_text("utf-8"))["info"]
        name = told["subject"]["name"] if isinstance(told["subject"], dict) else told["subject"]
        said = pl.concat([pl.read_parquet(path) for path in sorted((folder / "rows").glob("*.parquet"))])
        x, y = (next(c for c in said.columns if c.split()[-1] == axis or c.endswith(axis)) for axis in ("x", "y"))
        wrong = np.linalg.norm(said.select(x, y).to_numpy() - true, axis=1)
        (head,) = [head for head in heads if name in head]
        check_column(lines, head, wrong.tolist(), "errors.csv", rtol=1e-5)
        shown = [number(part)[0] for part in medians.split("median")[1:]]
        assert any(abs(value - float(np.median(wrong))) < 0.006 * value + 0.005 for value in shown), f"median of {name}"
