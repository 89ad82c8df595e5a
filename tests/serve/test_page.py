"""The page and its door."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from innerview.serve import Handle, serve
from innerview.serve.guard import cookie_name
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


def test_the_token_moves_into_a_cookie_and_opens_the_page(browser: httpx.Client, handle: Handle) -> None:
    arrived = browser.get(f"/?token={handle.token}&recording=a%26b")
    assert (arrived.status_code, arrived.headers["location"]) == (303, "/?recording=a%26b")
    cookie = arrived.headers["set-cookie"]
    assert cookie.startswith(f"{cookie_name(handle.port)}={handle.token};")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    page = browser.get("/")
    assert "the page" in page.text
    assert page.headers["cache-control"] == "no-cache"
    assert browser.get("/api/study").status_code == 200
    assert browser.get("/index.html").status_code == 404


@pytest.mark.parametrize("other", ['prefs={"a": 1}', "words=b c", "=;;,", "name"])
def test_cookies_of_other_local_servers_do_not_hide_ours(browser: httpx.Client, handle: Handle, other: str) -> None:
    """Browsers share cookies between all ports of a machine."""
    ours = f"{cookie_name(handle.port)}={handle.token}"
    for cookies in (f"{other}; {ours}", f"{ours}; {other}"):
        assert browser.get("/api/study", headers={"Cookie": cookies}).status_code == 200


def test_without_the_token_a_friendly_page_says_what_to_do(browser: httpx.Client) -> None:
    closed = browser.get("/")
    assert closed.status_code == 401
    assert "Open the address that was printed" in closed.text
    wrong = browser.get("/?token=<script>")
    assert wrong.status_code == 401
    assert "<script>" not in wrong.text
    assert "set-cookie" not in wrong.headers


def test_a_link_from_another_site_takes_one_more_step(browser: httpx.Client, handle: Handle) -> None:
    """A browser keeps strict cookies back on that first request, and also on its redirect."""
    foreign = {"Sec-Fetch-Site": "cross-site"}
    step = browser.get(f"/?token={handle.token}&a=%22%3E%3Cscript%3E", headers=foreign)
    assert step.status_code == 200
    assert 'href="/?a=%22%3E%3Cscript%3E"' in step.text
    assert "location.hash" in browser.get("/arrive.js").text
    assert "the page" in browser.get("/", headers={"Sec-Fetch-Site": "same-origin"}).text
    browser.cookies.clear()
    assert "the page" not in browser.get("/", headers=foreign).text
    assert browser.get("/", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 401


def test_files_of_the_page_are_public_and_nothing_else(browser: httpx.Client) -> None:
    script = browser.get("/assets/main-1a2b.js")
    assert script.status_code == 200
    assert "immutable" in script.headers["cache-control"]
    assert script.headers["content-type"].startswith("text/javascript")
    assert browser.get("/icon.svg").headers["cache-control"] == "no-cache"
    for path in ("/assets/link.js", "/notes.secret", "/assets/none.js", "/assets/..%2findex.html", "/index.html"):
        assert browser.get(path).status_code == 401, path


def test_a_page_built_meanwhile_is_taken(browser: httpx.Client, handle: Handle, folder: Path) -> None:
    browser.get(f"/?token={handle.token}")
    (folder / "index.html").unlink()
    unbuilt = browser.get("/")
    assert unbuilt.status_code == 200
    assert "has not been built yet" in unbuilt.text
    (folder / "assets" / "new-3c.js").write_text("1")
    (folder / "index.html").write_text("<title>newer</title>")
    assert "newer" in browser.get("/").text
    assert browser.get("/assets/new-3c.js").status_code == 200
