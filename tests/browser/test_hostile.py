"""Script in a recorded name is text, wherever it is shown."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import Handle

from . import studies
from .conftest import Visit
from .studies import SCRIPT


@pytest.fixture(scope="module")
def handle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handle]:
    study = studies.hostile(tmp_path_factory.mktemp("hostile") / "hostile.study")
    with iv.show(study, open_browser=False) as handle:
        yield handle


def test_script_in_recorded_names_is_shown_as_text(visit: Visit, handle: Handle) -> None:
    bench = visit(handle)
    text = bench.page.locator("body")
    expect(text).to_contain_text(f"study {SCRIPT}")
    expect(bench.get("episode").first).to_contain_text(f"died {SCRIPT}")
    expect(bench.get("boxes")).to_contain_text(SCRIPT)
    expect(bench.get("view-map")).to_contain_text(SCRIPT)
    expect(bench.get("view-actions")).to_contain_text(SCRIPT)
    expect(bench.get("view-timelines")).to_contain_text(f"hit {SCRIPT}")
    bench.get("timelines-overlay").hover(position={"x": 60, "y": 30})
    expect(bench.get("timelines-tip")).to_contain_text(SCRIPT)

    bench.get("condition").click()
    bench.get("condition-column").select_option("word")
    bench.get("condition-words").select_option(f"{SCRIPT} 1")
    bench.get("condition-add").click()
    bench.selected(3)
    expect(bench.get("chip-name")).to_contain_text("<img src=x")
    bench.get("chip-name").click()
    bench.page.keyboard.type(SCRIPT)
    bench.page.keyboard.press("Enter")
    expect(bench.get("chip-name")).to_have_text(SCRIPT)
    bench.get("saved").click()
    bench.get("saved-name").fill(SCRIPT)
    bench.get("saved-save").click()
    expect(bench.get("saved-use")).to_have_text(SCRIPT)
    bench.page.keyboard.press("Escape")

    bench.settled("select=")
    bench.page.reload()
    bench.ready()
    expect(bench.get("chip-name")).to_have_text(SCRIPT)
    assert bench.page.locator('img[src="x"]').count() == 0, "the name became an element"
    assert "owned" not in bench.page.title()


def test_script_in_the_address_is_shown_as_text(visit: Visit, handle: Handle) -> None:
    bench = visit(handle, f"#/episodes/{SCRIPT}?select=ur,{SCRIPT},0-2&help={SCRIPT}")
    expect(bench.get("toasts")).to_contain_text(SCRIPT)
    assert bench.page.locator('img[src="x"]').count() == 0
    assert "owned" not in bench.page.title()
