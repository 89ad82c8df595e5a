"""A damaged part says so in its own place; everything else works."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import Handle

from . import studies
from .conftest import Visit
from .workbench import Workbench

CONFLICT = r"status of 409"
"""The service refuses to read a damaged part, and the browser tells the console."""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> iv.Study:
    return studies.damaged(tmp_path_factory.mktemp("damaged") / "damaged.study")


@pytest.fixture(scope="module")
def handle(study: iv.Study) -> Iterator[Handle]:
    with iv.show(study, open_browser=False) as handle:
        yield handle


def opened(visit: Visit, handle: Handle, link: str) -> Workbench:
    bench = visit(handle, link, ready=False)
    bench.watch.expected.append(CONFLICT)
    expect(bench.get("workspace")).to_be_visible()
    return bench


def test_the_study_lists_what_it_has_and_names_what_it_lost(visit: Visit, handle: Handle) -> None:
    bench = opened(visit, handle, "#/episodes/whole")
    banner = bench.get("damage")
    expect(banner).to_contain_text("everything else works")
    banner.locator("summary").click()
    expect(banner).to_contain_text("recordings/lost")
    expect(banner).to_contain_text("manifest.json")
    names = bench.get("recording-picker").locator("option").all_inner_texts()
    assert [name.split(" · ")[0].strip() for name in names] == ["cut", "rowless", "whole"]
    assert [name for name in names if "damaged" in name] == names[:2]
    banner.get_by_role("button").click()
    expect(banner).to_have_count(0)


def test_a_truncated_array_leaves_the_other_pictures_and_views(visit: Visit, handle: Handle, study: iv.Study) -> None:
    bench = opened(visit, handle, "#/episodes/cut")
    expect(bench.get("view-observation-problem")).to_contain_text("c.0.0.0.0")
    expect(bench.get("track").first).to_be_visible()
    bench.condition("health", low=90)
    recording = study.recording("cut")
    bench.selected(recording.columns(["health"]).filter(pl.col("health") >= 90).height)
    bench.get("episode").last.click()
    row = recording.groups()["start"][-1]
    assert np.array_equal(bench.at_row(row), recording.array("observation", row, row + 1)[0])
    bench.page.keyboard.press("ArrowRight")
    bench.at_step(1)


def test_missing_rows_are_left_blank_and_the_others_are_there(visit: Visit, handle: Handle, study: iv.Study) -> None:
    bench = opened(visit, handle, "#/episodes/rowless")
    expect(bench.get("timelines-holes")).to_contain_text("00000000.parquet")
    expect(bench.get("episode")).to_have_count(studies.EPISODES)
    recording = study.recording("rowless")
    assert np.array_equal(bench.at_row(0), recording.array("observation", 0, 1)[0])
    bench.condition("health", low=90)
    known = study.recording("whole").columns(["health"], 64)
    bench.selected(known.filter(pl.col("health") >= 90).height)
    bench.get("episode").last.click()
    expect(bench.get("timelines-holes")).to_have_count(0)
    expect(bench.get("timelines-values")).to_contain_text("100 points")


def test_a_recording_that_is_lost_is_reported_and_another_is_shown(visit: Visit, handle: Handle) -> None:
    bench = opened(visit, handle, "#/episodes/lost")
    expect(bench.get("toasts")).to_contain_text("lost")
    bench.get("recording-picker").select_option("whole")
    bench.settled("#/episodes/whole")
    bench.at_row(0)
