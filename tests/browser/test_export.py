"""What is drawn can be saved: tables as CSV, pictures at their own pixels, drawings as SVG."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

import innerview as iv
from innerview.serve import Handle
from innerview.testing.worlds import episode_length

from .conftest import Visit
from .workbench import Workbench


def saved(bench: Workbench, view: str, form: str, folder: Path) -> Path:
    """Save a view and give the file."""
    bench.get(f"{view}-export").click()
    with bench.page.expect_download() as download:
        bench.page.get_by_role("button", name=form).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    bench.page.keyboard.press("Escape")
    return path


def test_views_are_saved_as_table_picture_and_drawing(
    visit: Visit, shown_walks: Handle, walks: iv.Study, tmp_path: Path
) -> None:
    bench = visit(shown_walks, "#/episodes/first?episode=2&step=4&boxes=off")
    recording = walks.recording("first")
    episodes = pl.read_csv(saved(bench, "view-episodes", "CSV", tmp_path))
    assert episodes["steps"].to_list() == recording.groups()["length"].to_list()
    assert episodes["outcome"].to_list() == recording.groups()["outcome"].to_list()

    times = pl.read_csv(saved(bench, "view-timelines", "CSV", tmp_path))
    assert times.height == episode_length(2)
    assert times["health (points)"].to_list() == [100 - step for step in range(times.height)]

    row = recording.groups()["start"][2] + 4
    bench.at_row(row)
    picture = np.asarray(Image.open(saved(bench, "view-observation", "PNG", tmp_path)).convert("RGB"))
    assert np.array_equal(picture, recording.array("observation", row, row + 1)[0])

    drawing = saved(bench, "view-map", "SVG", tmp_path).read_text("utf-8")
    assert drawing.startswith("<svg") and "<path" in drawing
