"""An address opens one browser; what the browser then holds stays with this service."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import Handle, serve

from .conftest import Visit
from .test_away import serve_again
from .workbench import Workbench

REFUSED = "status of 401|WebSocket connection"


@pytest.fixture
def neighbour() -> Iterator[tuple[str, list[str]]]:
    """Another server on this machine, and what every request told it."""
    told: list[str] = []

    class Curious(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told.append(f"{self.path} {self.headers}")
            self.send_response(200)
            self.send_header("Set-Cookie", "innerview=mine; Path=/")
            self.end_headers()
            self.wfile.write(b"<!doctype html><link rel=icon href='data:,'>")

        def log_message(self, *about: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Curious) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", told
        server.shutdown()


def test_reloads_new_tabs_and_links_from_elsewhere_stay_in(visit: Visit, shown_walks: Handle) -> None:
    bench = visit(shown_walks)
    bench.page.reload()
    bench.ready()
    with bench.page.context.new_page() as tab:
        tab.goto(f"{shown_walks.address}#/episodes/first?step=3")
        Workbench(tab, bench.watch, bench.home).at_step(3)
        tab.goto(f"data:text/html,<a href='{shown_walks.address}%23/episodes/first?step=4'>from elsewhere</a>")
        tab.get_by_text("from elsewhere").click()
        Workbench(tab, bench.watch, bench.home).at_step(4)


def test_other_local_servers_are_sent_nothing_of_it(
    visit: Visit, shown_walks: Handle, neighbour: tuple[str, list[str]]
) -> None:
    bench = visit(shown_walks)
    address, told = neighbour
    bench.watch.expected.append(address)
    path = bench.page.evaluate("localStorage.getItem('innerview.path')")
    with bench.page.context.new_page() as tab:
        for place in ("", "api/study", "in/", "in/x/api/study"):
            tab.goto(address + place)
    assert len(told) >= 4
    (ours,) = [c for c in bench.page.context.cookies() if c["path"].startswith("/in/")]
    assert not [line for line in told if ours["value"] in line or path in line]
    bench.page.reload()
    bench.ready()


def test_an_address_that_was_used_opens_no_other_browser(visit: Visit, shown_walks: Handle) -> None:
    bench = visit(shown_walks)
    bench.watch.expected.append(REFUSED)
    used = shown_walks.url
    with bench.page.context.new_page() as tab:
        tab.goto(used)
        Workbench(tab, bench.watch, bench.home).ready()
        tab.goto(used)
        Workbench(tab, bench.watch, bench.home).ready()
        assert "code" not in tab.url
        bench.page.context.clear_cookies()
        tab.goto(used)
        expect(tab.get_by_test_id("problem")).to_contain_text("press Enter in the terminal")
        assert "code" not in tab.url


def test_a_page_whose_service_was_started_again_comes_in_with_a_new_tab(visit: Visit, walks: iv.Study) -> None:
    handle = serve(walks)
    bench = visit(handle)
    bench.watch.expected += [REFUSED, "net::ERR_"]
    handle.close()
    expect(bench.get("unreachable")).to_contain_text("does not answer")
    handle.door = type(handle.door)(token="new")
    with serve_again(walks, handle) as again, bench.page.context.new_page() as tab:
        tab.goto(again.url)
        Workbench(tab, bench.watch, bench.home).ready()
        bench.get("recording-picker").select_option("second")
        bench.settled("#/episodes/second")
        bench.page.close()
