"""The service goes away and comes back: the page says so, keeps what it has and goes on."""

from __future__ import annotations

import time

from playwright.sync_api import expect

import innerview as iv
from innerview.errors import InnerviewError
from innerview.serve import Handle, serve

from .conftest import Visit
from .workbench import PATIENCE_S

GONE = "net::ERR_|WebSocket connection"


def serve_again(walks: iv.Study, gone: Handle) -> Handle:
    """At the same address, as soon as no connection of somebody else happens to be using its port."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            return serve(walks, port=gone.port, door=gone.door)
        except InnerviewError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def test_the_page_says_that_the_service_is_away_and_recovers(visit: Visit, walks: iv.Study) -> None:
    handle = iv.show(walks, open_browser=False)
    bench = visit(handle, "#/episodes/first?episode=1&step=5&select=ur,mine,0-a")
    bench.watch.expected.append(GONE)
    bench.selected(10)
    expect(bench.get("begin-row").first).to_be_visible()
    bench.still()
    handle.close()
    expect(bench.get("unreachable")).to_contain_text("does not answer")
    bench.page.keyboard.press("ArrowRight")
    bench.at_step(6)
    bench.selected(10)
    with serve_again(walks, handle):
        bench.get("retry").click()
        expect(bench.get("unreachable")).to_have_count(0)
        bench.at_step(6)
        bench.selected(10)
        bench.get("recording-picker").select_option("second")
        bench.settled("#/episodes/second")
        bench.at_row(0)
        bench.page.close()
