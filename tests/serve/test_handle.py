"""Serving from a script, a thread and a running loop."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import pty
import socket
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from starlette.responses import Response
from starlette.routing import Route

from innerview.errors import InnerviewError, StoreError
from innerview.jobs.context import LazyMapping
from innerview.schema import SubjectInfo
from innerview.serve import Handle, serve, show
from innerview.serve.app import openapi_text
from innerview.serve.arguments import numbers_of_jobs
from innerview.store import Study
from innerview.testing.worlds import CountingWorld

from .wirework import WAIT_S, come_in

ROOT = Path(__file__).resolve().parents[2]
QUIET = {**os.environ, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}


@dataclass
class LiveSubject:
    info: SubjectInfo


def study_of(handle: Handle) -> httpx.Response:
    with httpx.Client(base_url=handle.address, timeout=WAIT_S) as browser:
        path = come_in(browser, handle.url).json()["path"]
        return browser.get(f"{path}/api/study")


def test_show_serves_live_subjects_until_closed(saved_study: Path) -> None:
    handle = show(saved_study, subject=LiveSubject(SubjectInfo(name="mine", family="torch")), open_browser=False)
    assert study_of(handle).json()["live_subjects"] == ["mine"]
    assert f"{handle.address}?code=" in repr(handle)
    handle.close()
    handle.close()
    with pytest.raises(httpx.ConnectError):
        httpx.get(handle.address)


def test_closing_cuts_off_who_still_waits_without_a_word(saved_study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A connection that outlived its service would warn whenever it is collected, in the middle of something else."""
    handle = serve(saved_study)
    handle.app.router.routes.insert(0, Route("/much", lambda request: Response(bytes(1 << 26))))
    with socket.create_connection(("127.0.0.1", handle.port), timeout=WAIT_S) as waiting:
        waiting.sendall(f"GET /much HTTP/1.1\r\nHost: 127.0.0.1:{handle.port}\r\n".encode())
        waiting.sendall(f"Authorization: Bearer {handle.token}\r\n\r\n".encode())
        assert waiting.recv(15) == b"HTTP/1.1 200 OK"  # and reads no further
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            handle.close()
            gc.collect()
        assert not seen
    assert capsys.readouterr() == ("", "")


def test_enter_prints_a_new_address(saved_study: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "innerview.cli", "serve", str(saved_study), "--no-browser"]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, text=True, env=QUIET) as serving:
        assert serving.stdout is not None
        first = next(line for line in serving.stdout if "innerview is at" in line)
        os.write(ours, b"\n")
        second = next(line for line in serving.stdout if "innerview is at" in line)
        serving.terminate()
    os.close(ours)
    os.close(theirs)
    codes = [line.strip().split("?code=")[1] for line in (first, second)]
    assert codes[0] != codes[1]
    assert first.split("?")[0] == second.split("?")[0]


def test_two_services_have_their_own_ports_and_tokens(saved_study: Path) -> None:
    study = Study.open(saved_study)
    with serve(study) as one, serve(study) as two:
        assert one.port != two.port
        assert one.token != two.token
        crossed = httpx.get(f"{one.address}api/study", headers={"Authorization": f"Bearer {two.token}"}, timeout=WAIT_S)
        assert crossed.status_code == 401


def test_it_listens_on_loopback_only(saved_study: Path) -> None:
    with serve(saved_study) as handle:
        assert handle._socket.getsockname()[0] == "127.0.0.1"


def test_it_works_inside_a_running_loop(saved_study: Path) -> None:
    async def notebook() -> int:
        with serve(saved_study) as handle:
            async with httpx.AsyncClient(timeout=WAIT_S) as client:
                reply = await client.get(
                    f"{handle.address}api/study", headers={"Authorization": f"Bearer {handle.token}"}
                )
                return reply.status_code

    assert asyncio.run(notebook()) == 200


def test_the_browser_is_opened_when_asked(saved_study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with show(saved_study, open_browser=True) as handle:
        (address,) = opened
        with httpx.Client(base_url=handle.address, timeout=WAIT_S) as browser:
            assert come_in(browser, address).status_code == 200
            assert come_in(browser, address).status_code == 401, "what stands in the browser's arguments is used up"


def test_a_taken_port_or_a_missing_study_says_so(saved_study: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InnerviewError, match="Choose another"):
            serve(saved_study, port=taken.getsockname()[1])
    with pytest.raises(StoreError, match="no study"):
        serve(tmp_path / "nothing")


def test_the_api_description_of_the_page_is_fresh() -> None:
    written = (ROOT / "web" / "openapi.json").read_text(encoding="utf-8")
    assert written == openapi_text(), "web/openapi.json is stale: run scripts/openapi, then `npm run types` in web/"
    numbers = (ROOT / "web" / "src" / "api" / "jobs.json").read_text(encoding="utf-8")
    assert numbers == numbers_of_jobs(), "web/src/api/jobs.json is stale: run scripts/openapi"
    operations = [o["operationId"] for path in json.loads(written)["paths"].values() for o in path.values()]
    assert len(operations) == len(set(operations))


def test_a_port_that_is_none_and_a_bare_model_are_reported(saved_study: Path) -> None:
    with pytest.raises(InnerviewError, match=r"Port 99999 cannot be used.*65535"):
        serve(saved_study, port=99_999)
    with pytest.raises(InnerviewError, match=r"object is not a subject.*iv\.subject"):
        show(saved_study, subject=object(), open_browser=False)


def test_what_is_loaded_later_is_loaded_once_from_several_threads() -> None:
    begun, loads = threading.Barrier(4), []

    def load() -> object:
        loads.append(1)
        time.sleep(0.05)
        return object()

    things: LazyMapping[object] = LazyMapping({"one": load})

    def ask(_: int) -> object:
        begun.wait()
        return things["one"]

    assert "one" in things and "two" not in things and not loads
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(ask, range(4)))) == 1
    assert loads == [1]


def test_several_subjects_and_worlds_may_be_live(saved_study: Path) -> None:
    subjects = [LiveSubject(SubjectInfo(name=name, family="torch")) for name in ("one", "two")]
    worlds = [CountingWorld(), CountingWorld()]
    worlds[1].name = "counting too"
    with show(saved_study, subjects, worlds, open_browser=False) as handle:
        assert study_of(handle).json()["live_subjects"] == ["one", "two"]
