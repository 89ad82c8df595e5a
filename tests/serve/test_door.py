"""A code opens one browser, once; what a browser holds is worth nothing to anybody else."""

from __future__ import annotations

from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path

import httpx
import pytest

from innerview.serve import Handle, serve
from innerview.serve.door import CODE_S, CODES_LIMIT, ENTRIES_LIMIT, Door

from .wirework import WAIT_S, come_in, live_refusal


@pytest.fixture
def browser(served: Handle) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served.address, timeout=WAIT_S) as client:
        yield client


def cookie_of(entered: httpx.Response) -> tuple[str, str]:
    """The cookie's value and the path that it is sent to."""
    (morsel,) = SimpleCookie(entered.headers["set-cookie"]).values()
    assert (morsel["httponly"], morsel["samesite"], morsel["domain"]) == (True, "Strict", "")
    return morsel.value, morsel["path"]


def test_a_code_is_exchanged_once_for_a_path_and_its_cookie(served: Handle, browser: httpx.Client) -> None:
    url = served.url
    entered = come_in(browser, url)
    assert entered.headers["cache-control"] == "no-store"
    path = entered.json()["path"]
    _, sent_to = cookie_of(entered)
    assert sent_to == path + "/"
    for _ in range(2):
        assert browser.get(f"{path}/api/study").status_code == 200
    again = come_in(browser, url)
    assert again.status_code == 401
    assert "press Enter" in again.json()["error"]["message"]
    assert browser.get(f"{path}/api/study").status_code == 200, "who is in stays in"


def test_every_address_has_a_code_of_its_own(served: Handle, browser: httpx.Client) -> None:
    paths = {come_in(browser, served.url).json()["path"] for _ in range(3)}
    assert len(paths) == 3
    assert all(browser.get(f"{path}/api/study").status_code == 200 for path in paths), "one for each tab"


def test_the_path_and_the_cookie_are_worth_nothing_alone(served: Handle, browser: httpx.Client) -> None:
    """Another local server may be sent cookies, and a history may hold a path."""
    entered = come_in(browser, served.url)
    path = entered.json()["path"]
    cookie, _ = cookie_of(entered)
    other = come_in(browser, served.url).json()["path"]
    browser.cookies.clear()
    ours = {"Cookie": f"innerview={cookie}"}
    assert browser.get(f"{path}/api/study").status_code == 401
    assert browser.get("/api/study", headers=ours).status_code == 401
    assert browser.get("/in/x/api/study", headers=ours).status_code == 401
    assert browser.get(f"{other}/api/study", headers=ours).status_code == 401
    assert browser.get(f"{path}/api/study", headers=ours).status_code == 200
    for secret in (cookie, path.removeprefix("/in/")):
        assert browser.get("/api/study", headers={"Authorization": f"Bearer {secret}"}).status_code == 401
        assert browser.post("/api/door", json={"code": secret}).status_code == 401


def test_the_live_connection_needs_both_too(served: Handle, browser: httpx.Client) -> None:
    entered = come_in(browser, served.url)
    path, cookie = entered.json()["path"], f"innerview={cookie_of(entered)[0]}"
    assert live_refusal(served, path=path, cookie=cookie) == 101
    assert live_refusal(served, path=path) == 403
    assert live_refusal(served, path="/in/x", cookie=cookie) == 403
    assert live_refusal(served, token="", cookie=cookie) == 403


def test_what_opens_one_service_opens_no_other(saved_study: Path, served: Handle, browser: httpx.Client) -> None:
    entered = come_in(browser, served.url)
    path, cookie = entered.json()["path"], f"innerview={cookie_of(entered)[0]}"
    with serve(saved_study) as other, httpx.Client(base_url=other.address, timeout=WAIT_S) as there:
        assert there.get(f"{path}/api/study", headers={"Cookie": cookie}).status_code == 401
        assert come_in(there, served.url).status_code == 401


@pytest.mark.parametrize(
    "other", ['prefs={"a": 1}', "words=b c", "=;;,", "name", "innerview=x", "innerview=", "xinnerview=y"]
)
def test_cookies_of_other_local_servers_do_not_hide_ours(served: Handle, browser: httpx.Client, other: str) -> None:
    """A browser sends to this port what any port of this machine has set."""
    entered = come_in(browser, served.url)
    path, ours = entered.json()["path"], f"innerview={cookie_of(entered)[0]}"
    for cookies in (f"{other}; {ours}", f"{ours}; {other}"):
        assert browser.get(f"{path}/api/study", headers={"Cookie": cookies}).status_code == 200


def test_inside_there_is_nothing_but_what_the_token_opens_as_well(served: Handle, browser: httpx.Client) -> None:
    path = come_in(browser, served.url).json()["path"]
    for inside in ("/api/nothing", "/../api/study", "//etc/passwd", path + "/api/study", "/%2e%2e/secret"):
        assert browser.get(path + inside).status_code in (401, 404), inside
    name = browser.get(f"{path}/api/recordings/<script>alert(1)<%2Fscript>")
    assert name.status_code in (404, 409)


def test_a_code_is_good_for_a_quarter_of_an_hour_and_a_few_at_a_time() -> None:
    now = [0.0]
    door = Door(token="t", clock=lambda: now[0])
    code = door.code()
    now[0] = CODE_S
    assert door.enter(code) is None
    first, *_, last = [door.code() for _ in range(CODES_LIMIT + 1)]
    assert door.enter(first) is None
    entry = door.enter(last)
    assert entry is not None
    assert CODE_S == 15 * 60, "as the refusal says"


def test_the_oldest_browser_is_forgotten_where_there_are_too_many() -> None:
    door = Door(token="t")
    entries = [door.enter(door.code()) for _ in range(ENTRIES_LIMIT + 1)]

    def inside(at: int) -> str | None:
        entry = entries[at]
        assert entry is not None
        return door.within(f"{entry.path}/api/study", httpx.Headers({"cookie": f"innerview={entry.cookie}"}))  # type: ignore[arg-type]

    assert inside(0) is None
    assert inside(1) == inside(-1) == "/api/study"


def test_an_empty_token_lets_nobody_in() -> None:
    assert not Door(token="").shows_token(httpx.Headers({"authorization": "Bearer "}))  # type: ignore[arg-type]
