"""One Chromium for this folder, pages that are emptied between tests, and studies that are served on loopback."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

import innerview as iv
from innerview.serve import Handle
from tests.copies import copied

from . import memory_study, studies, vision_study
from .pages import PATIENCE_MS, Pages
from .workbench import Workbench

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
Visit = Callable[..., Workbench]
Show = Callable[..., Handle]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder drives a browser."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.browser)


def chromium() -> str:
    """The browser that is asked for, or the first one on the PATH."""
    found = os.environ.get("INNERVIEW_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    assert found, f"No browser was found: install one of {', '.join(NAMES)}, or name it in INNERVIEW_CHROMIUM."
    return found


# Not for the whole session: playwright keeps an event loop running in this thread, and other tests run their own.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    assert (ROOT / "src/innerview/page/index.html").is_file(), "The page is not built: run python scripts/page.py."
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        yield opened
        opened.close()


@pytest.fixture
def show() -> Iterator[Show]:
    """`iv.show` for one test; what it serves outlives the pages that look at it."""
    with contextlib.ExitStack() as serving:
        yield lambda study, **parts: serving.enter_context(iv.show(study, open_browser=False, **parts))


@pytest.fixture(scope="package")
def pages(browser: Browser) -> Pages:
    return Pages(browser)


@pytest.fixture
def visit(pages: Pages, show: Show, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """Opens the address that a service printed, in a page that knows nothing yet, and watches it to the end."""
    failed = request.session.testsfailed

    def go(handle: Handle, link: str = "", *, ready: bool = True, **settings: Any) -> Workbench:
        page, watch = pages.lend(handle.address, **settings)
        page.goto(f"{handle.url}{link}")
        bench = Workbench(page, watch, handle.address)
        if ready:
            bench.ready()
        return bench

    yield go
    for watch in pages.take_back(keep=request.session.testsfailed == failed):
        watch.check()


@pytest.fixture(scope="package")
def walks(tmp_path_factory: pytest.TempPathFactory) -> iv.Study:
    return studies.walks(tmp_path_factory.mktemp("walks") / "walks.study")


@pytest.fixture(scope="package")
def shown_walks(walks: iv.Study) -> Iterator[Handle]:
    with iv.show(walks, open_browser=False) as handle:
        yield handle


@pytest.fixture(scope="package")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> iv.Study:
    return studies.pairs(tmp_path_factory.mktemp("pairs") / "pairs.study")


@pytest.fixture(scope="package")
def shown_pairs(pairs: iv.Study) -> Iterator[Handle]:
    with iv.show(pairs, open_browser=False) as handle:
        yield handle


@pytest.fixture(scope="package")
def recorded_kitems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return memory_study.record(tmp_path_factory.mktemp("kitems") / "kitems.study")


@pytest.fixture
def kitems(recorded_kitems: Path, tmp_path: Path) -> iv.Study:
    """A copy of its own for each test: what a test finds and keeps is not there in the next."""
    return copied(recorded_kitems, tmp_path / "kitems.study")


@pytest.fixture(scope="package")
def still_kitems(recorded_kitems: Path, tmp_path_factory: pytest.TempPathFactory) -> iv.Study:
    """One for all tests that only look."""
    return copied(recorded_kitems, tmp_path_factory.mktemp("still") / "kitems.study")


@pytest.fixture(scope="package")
def shown_kitems(still_kitems: iv.Study) -> Iterator[Handle]:
    with iv.show(still_kitems, open_browser=False) as handle:
        yield handle


@pytest.fixture(scope="package")
def looked_kitems(recorded_kitems: Path, tmp_path_factory: pytest.TempPathFactory) -> iv.Study:
    """The same, with what lenses found; for tests that only look."""
    study = copied(recorded_kitems, tmp_path_factory.mktemp("looked") / "kitems.study")
    memory_study.find(study)
    return study


@pytest.fixture(scope="package")
def shown_looked_kitems(looked_kitems: iv.Study) -> Iterator[Handle]:
    with iv.show(looked_kitems, open_browser=False) as handle:
        yield handle


@pytest.fixture(scope="package")
def recorded_levels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return vision_study.record(tmp_path_factory.mktemp("levels") / "levels.study")


@pytest.fixture(scope="package")
def looked_levels(recorded_levels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with its factors: they take a while to find, so they are found once."""
    study = copied(recorded_levels, tmp_path_factory.mktemp("looked") / "levels.study")
    vision_study.find(study)
    return study.path


@pytest.fixture(scope="package")
def still_levels(looked_levels: Path, tmp_path_factory: pytest.TempPathFactory) -> iv.Study:
    """Levels with factors, one for all tests that only look."""
    return copied(looked_levels, tmp_path_factory.mktemp("still") / "levels.study")


@pytest.fixture(scope="package")
def shown_levels(still_levels: iv.Study) -> Iterator[Handle]:
    with iv.show(still_levels, open_browser=False) as handle:
        yield handle


@pytest.fixture
def levels(looked_levels: Path, tmp_path: Path) -> iv.Study:
    """Levels of the platformer with factors; a copy of its own for each test."""
    return copied(looked_levels, tmp_path / "levels.study")
