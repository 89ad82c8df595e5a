"""The page: its files hold no data and are for everybody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from innerview.serve import Handle, serve
from innerview.serve.page import Page

from .wirework import WAIT_S


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    built = tmp_path / "page"
    (built / "assets").mkdir(parents=True)
    (built / "index.html").write_text("<!doctype html><title>the page</title>")
    (built / "assets" / "main-1a2b.js").write_text("export {};")
    (built / "icon.svg").write_text("<svg/>")
    (built / "notes.secret").write_text("not a kind of file that is served")
    (tmp_path / "outside.js").write_text("outside")
    (built / "assets" / "link.js").symlink_to(tmp_path / "outside.js")
    return built


@pytest.fixture
def handle(saved_study: Path, folder: Path) -> Iterator[Handle]:
    with serve(saved_study, page=Page(folder)) as handle:
        yield handle


@pytest.fixture
def browser(handle: Handle) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=handle.address, timeout=WAIT_S) as client:
        yield client


def test_files_of_the_page_are_public_and_nothing_else(browser: httpx.Client) -> None:
    script = browser.get("/assets/main-1a2b.js")
    assert script.status_code == 200
    assert "immutable" in script.headers["cache-control"]
    assert script.headers["content-type"].startswith("text/javascript")
    assert browser.get("/icon.svg").headers["cache-control"] == "no-cache"
    page = browser.get("/?code=x")
    assert "the page" in page.text
    assert page.headers["cache-control"] == "no-cache"
    for path in ("/assets/link.js", "/notes.secret", "/assets/none.js", "/assets/..%2findex.html", "/index.html"):
        assert browser.get(path).status_code == 401, path


def test_a_page_built_meanwhile_is_taken(browser: httpx.Client, folder: Path) -> None:
    (folder / "index.html").unlink()
    unbuilt = browser.get("/")
    assert unbuilt.status_code == 200
    assert "has not been built yet" in unbuilt.text
    (folder / "assets" / "new-3c.js").write_text("1")
    (folder / "index.html").write_text("<title>newer</title>")
    assert "newer" in browser.get("/").text
    assert browser.get("/assets/new-3c.js").status_code == 200
