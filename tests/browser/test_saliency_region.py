"""A region of a map over time: what is drawn is what the lens gives by hand, and its line selects rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import Handle
from innerview.testing.worlds import CountingWorld

from .conftest import Show, Visit
from .drawn.reading import check_column, shows, table
from .drawn.stored import result_of
from .test_saliency import STEPS, at_row, opened, seer
from .workbench import Workbench, box_of


@pytest.fixture
def shown(show: Show, tmp_path: Path) -> tuple[iv.Study, Handle, iv.Subject]:
    study, subject = iv.Study.create(tmp_path / "a.study", "saliency"), seer("grown", 1)
    iv.record(study, subject, CountingWorld(length=STEPS), episodes=2, name="x", lanes=2, progress=False)
    return study, show(study, subject=subject), subject


def drag_over_the_upper_left_quarter(bench: Workbench) -> None:
    """The picture is a square in the middle of its room."""
    brush = bench.get("saliency-brush")
    box = box_of(brush)
    side = min(box["width"], box["height"])
    left, top = (box["width"] - side) / 2, (box["height"] - side) / 2
    bench.drag(brush, (left + 2, top + 2), (left + side / 2 - 2, top + side / 2 - 2))


def test_a_region_over_time_selects_rows(visit: Visit, shown: tuple[iv.Study, Handle, iv.Subject]) -> None:
    study, handle, subject = shown
    bench = opened(visit, handle, "&methods=guided,occlusion&targets=value")
    at_row(bench, 3, 2)
    bench.page.locator('[data-place="value | guided"]').click()
    expect(bench.get("saliency-back")).to_be_visible()
    drag_over_the_upper_left_quarter(bench)
    bench.settled(r"region=0(,|%2C)0(,|%2C)0\.5(,|%2C)0\.5")
    expect(bench.get("view-region")).to_be_visible()
    bench.get("saliency-back").click()
    known = bench.page.locator('[data-testid="region-line"][data-known="yes"]')
    expect(known).to_have_count(2)
    expect(bench.get("saliency-region")).to_have_count(2)
    for place, method in enumerate(("guided", "occlusion")):
        made = iv.look(study, method, "x", rows=np.array([3]), subject=subject, target="value", progress=False)
        size = np.abs(study.result_array(made.id, f"heat.{made.shown['inputs'][0]}")[0]).max(0)
        wanted = 100 * size[:4, :4].sum() / size.sum()
        said = bench.get("region-reading").nth(place).inner_text().removesuffix(" %")
        assert np.isclose(float(said), wanted, rtol=0.01), (method, said, wanted)
    bench.brush_steps("region-overlay", 2, 5, of=STEPS)
    bench.selected(4)
    saved = [line for line in study.results() if line.kind == "region"]
    assert len(saved) == 2, "measured once for each map, and kept"


@pytest.fixture
def long(show: Show, tmp_path: Path) -> tuple[iv.Study, Handle]:
    """Long enough that something can be told of its coins."""
    study, subject = iv.Study.create(tmp_path / "a.study", "saliency"), seer("grown", 1)
    iv.record(study, subject, CountingWorld(length=30), episodes=8, name="x", lanes=4, progress=False)
    return study, show(study, subject=subject)


def measured(bench: Workbench, study: iv.Study, lens: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Press the button of a view, and read what is stored afterwards from its files."""
    bench.get(f"{lens}-run").click()
    expect(bench.get(f"{lens}-run")).to_have_count(0)
    return result_of(Path(study.path), lens)


def test_attention_per_class_is_drawn_as_it_is_stored(visit: Visit, long: tuple[iv.Study, Handle]) -> None:
    study, handle = long
    link = "&methods=guided&targets=value&over=classes&scope=recording"
    bench = opened(visit, handle, link)
    value, arrays = measured(bench, study, "classes")
    assert value["classes"] == ["background", "coin"]
    bench.get("classes-line").first.wait_for()
    lines = table(bench, "view-classes")
    assert [int(line["row"]) for line in lines] == arrays["rows"].tolist() == list(range(240))
    for column, name in enumerate(("background", "coin")):
        check_column(lines, f"{name} (of the map)", arrays["values"][:, column].astype(float).tolist(), "classes.csv")
        check_column(lines, f"{name} (of the picture)", arrays["values"][:, 2 + column].tolist(), "classes.csv")
    shown = bench.get("classes-reading").first.inner_text().split(" %")[0]
    assert shows(shown, 100 * float(arrays["values"][3, 1])), "the coin at the step that is shown"
    bench.brush_steps("classes-overlay", 30, 59, of=240)
    bench.selected(30)
    bench.get("onsets-run").click()
    expect(bench.get("onsets-run")).to_have_count(0)
    told, behind = result_of(Path(study.path), "onsets")
    assert [each.inner_text() for each in bench.get("classes-sentence").all()] == told["sentences"]
    assert told["sentences"] or told["why"] in bench.get("classes-sentences").inner_text()
    assert len(behind["began"]) == len(behind["happened"])


def test_places_and_effects_are_drawn_as_they_are_stored(visit: Visit, long: tuple[iv.Study, Handle]) -> None:
    study, handle = long
    bench = opened(visit, handle, "&methods=guided&targets=value&over=memorised")
    value, arrays = measured(bench, study, "memorised")
    expect(bench.get("memorised-words")).to_have_text(value["words"])
    (coin,) = [one for one in value["classes"] if one["sightings"]]
    card = bench.page.locator('[data-testid="memorised-class"][data-class="coin"]')
    assert card.get_attribute("data-verdict") == coin["verdict"]
    drawn = table(bench, "view-memorised")
    check_column(drawn, "times there", arrays["often"][0].ravel().tolist(), "memorised.csv")
    check_column(drawn, "response", arrays["response"][0].astype(float).ravel().tolist(), "memorised.csv")
    bench.get("tab-ignored").click()
    value, _ = measured(bench, study, "ignored")
    expect(bench.get("ignored-words")).to_have_text(value["words"])
    (coin,) = value["classes"]
    for what in ("attention", "change"):
        assert shows(bench.get(f"ignored-{what}").inner_text().split(" ")[0], coin[what]["value"]), what
    assert bench.get("ignored-verdict").inner_text() == coin["verdict"]


def test_where_methods_disagree_and_the_scale_of_the_episode(visit: Visit, long: tuple[iv.Study, Handle]) -> None:
    study, handle = long
    bench = opened(visit, handle, "&methods=gradient&targets=value&measure=disagree")
    bench.get("start-begin").click()
    bench.get("begin-row").first.wait_for()
    _, arrays = result_of(Path(study.path), "moments")
    disagree = np.where(np.isnan(arrays["values"][:, 0]), -np.inf, arrays["values"][:, 0]).reshape(8, 30)
    best = sorted((-disagree.max(1)[e], e * 30 + int(disagree[e].argmax())) for e in range(8))
    rows = [int(row.get_attribute("data-row") or -1) for row in bench.get("begin-row").all()]
    assert rows == [row for _, row in best]
    bench.get("saliency-whole").click()
    bench.until(lambda: bool(study.results(kind="region")))
    expect(bench.get("saliency-measure")).to_have_count(0)
    _, arrays = result_of(Path(study.path), "region")
    strongest = float(arrays["values"][:, 1].max())
    scale = bench.get("saliency-scale").first
    bench.until(lambda: shows(scale.inner_text().lstrip("±"), strongest))
    assert shows(scale.inner_text().lstrip("±"), strongest), "full colour is the strongest pixel of the episode"
    bench.get("saliency-choose").click()
    bench.get("saliency-signs-green").check()
    bench.settled("signs=green")
