"""Live calls: the newest wins, arrays arrive exactly, failures are told, jobs are pushed."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from pydantic import TypeAdapter
from websockets.sync.client import ClientConnection

from innerview.errors import LensError
from innerview.jobs.engine import Cancelled
from innerview.jobs.kinds import job_kind
from innerview.jobs.work import Product, Work
from innerview.schema import Watch
from innerview.serve import Handle, serve
from innerview.serve.live.connection import CALLS_AT_ONCE, CHANNELS_LIMIT
from innerview.serve.live.messages import LiveMessage

from .wirework import WAIT_S, live

Answer = dict[str, Any] | tuple[dict[str, Any], np.ndarray]


class Calls:
    """Calls whose timing the test decides."""

    def __init__(self) -> None:
        self.began: list[int] = []
        self.entered, self.go = threading.Semaphore(0), threading.Event()

    def slow(self, arguments: dict[str, Any], cancelled: Callable[[], bool]) -> Answer:
        """Begin, and go on until let go or nobody waits any more."""
        self.began.append(arguments["n"])
        self.entered.release()
        while not self.go.wait(0.005):
            if cancelled():
                raise Cancelled
        return {"n": arguments["n"]}

    def heat(self, arguments: dict[str, Any], cancelled: Callable[[], bool]) -> Answer:
        return {"low": float("nan"), "size": np.int64(6)}, np.arange(6, dtype=">f4").reshape(2, 3)

    def refuse(self, arguments: dict[str, Any], cancelled: Callable[[], bool]) -> Answer:
        raise LensError("This subject has no memory.")

    def broken(self, arguments: dict[str, Any], cancelled: Callable[[], bool]) -> Answer:
        raise ZeroDivisionError("a detail that stays on the server")

    def objects(self, arguments: dict[str, Any], cancelled: Callable[[], bool]) -> Answer:
        return {}, np.array([object()])

    def table(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("slow", "heat", "refuse", "broken", "objects")}


class CountToAThousand(Work):
    """Reports a thousand times."""

    title = "Count"
    product = Product(recording="counted")

    def run(self, part: Any, watch: Watch) -> None:
        for i in range(1000):
            watch(i + 1, 1000)


@job_kind("count to a thousand", work=CountToAThousand)
@dataclass(frozen=True)
class CountJob:
    """Takes nothing."""


@pytest.fixture
def calls() -> Calls:
    return Calls()


@pytest.fixture
def handle(saved_study: Path, calls: Calls) -> Iterator[Handle]:
    with serve(saved_study, calls=calls.table()) as handle:
        yield handle
    calls.go.set()


def ask(talk: ClientConnection, request: int, call: str, channel: str = "one", **arguments: Any) -> None:
    talk.send(json.dumps({"id": request, "channel": channel, "call": call, "arguments": arguments}))


def hear(talk: ClientConnection) -> dict[str, Any]:
    heard: dict[str, Any] = json.loads(talk.recv(WAIT_S))
    described: TypeAdapter[Any] = TypeAdapter(LiveMessage)
    assert described.dump_python(described.validate_python(heard)) == heard
    return heard


def test_an_array_follows_its_message(handle: Handle) -> None:
    with live(handle) as talk:
        ask(talk, 1, "heat")
        assert hear(talk) == {
            "id": 1,
            "channel": "one",
            "ok": True,
            "value": {"low": None, "size": 6},
            "binary": {"shape": [2, 3], "dtype": "float32"},
        }
        values = np.frombuffer(talk.recv(WAIT_S), "<f4")  # type: ignore[arg-type]
        assert values.tolist() == [0, 1, 2, 3, 4, 5]


def test_the_newest_wins_and_those_between_never_begin(handle: Handle, calls: Calls) -> None:
    with live(handle) as talk:
        ask(talk, 0, "slow", n=0)
        assert calls.entered.acquire(timeout=WAIT_S)
        for n in range(1, 6):
            ask(talk, n, "slow", n=n)
        stale = [hear(talk) for _ in range(5)]
        assert [s["id"] for s in stale] == [0, 1, 2, 3, 4]
        assert all(s["stale"] and not s["ok"] for s in stale)
        calls.go.set()
        assert hear(talk) == {"id": 5, "channel": "one", "ok": True, "value": {"n": 5}, "binary": None}
        ask(talk, 6, "slow", n=6)
        assert hear(talk)["value"] == {"n": 6}, "an answered request is not called stale later"
    assert calls.began[0] == 0
    assert calls.began[-2:] == [5, 6]
    assert len(calls.began) < 7, "some were dropped before they began"


def test_channels_do_not_disturb_each_other(handle: Handle, calls: Calls) -> None:
    with live(handle) as talk:
        ask(talk, 1, "slow", "left", n=1)
        ask(talk, 2, "slow", "right", n=2)
        for _ in range(2):
            assert calls.entered.acquire(timeout=WAIT_S)
        calls.go.set()
        assert sorted(hear(talk)["id"] for _ in range(2)) == [1, 2]


def test_leaving_cancels_what_runs(handle: Handle, calls: Calls) -> None:
    ended = threading.Event()
    slow = calls.slow

    def watched(arguments: dict[str, Any], cancelled: Callable[[], bool]) -> Answer:
        try:
            return slow(arguments, cancelled)
        finally:
            ended.set()

    handle.app.state.service.calls["slow"] = watched
    with live(handle) as talk:
        ask(talk, 1, "slow", n=1)
        assert calls.entered.acquire(timeout=WAIT_S)
    assert ended.wait(WAIT_S)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        ("refuse", "LensError", "This subject has no memory."),
        ("broken", "ServerError", "Something went wrong"),
        ("objects", "ServerError", "Something went wrong"),
        ("slwo", "UnknownName", "Did you mean 'slow'?"),
    ],
)
def test_failures_are_reported_and_the_connection_lives_on(handle: Handle, call: str, kind: str, words: str) -> None:
    with live(handle) as talk:
        ask(talk, 1, call)
        told = hear(talk)
        assert (told["id"], told["ok"], told["error"]["kind"]) == (1, False, kind)
        assert words in told["error"]["message"]
        assert "detail" not in told["error"]["message"]
        ask(talk, 2, "heat")
        assert hear(talk)["ok"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": "x"}', "[" * 10_000, '{"id":1,"channel":"","call":"heat"}'])
def test_malformed_messages_are_reported(handle: Handle, text: str) -> None:
    with live(handle) as talk:
        talk.send(text)
        told = hear(talk)
        assert (told["ok"], told["error"]["kind"]) == (False, "RequestError")
        talk.send(b"\x00\x01")
        assert not hear(talk)["ok"]


def test_channels_are_bounded(handle: Handle, calls: Calls) -> None:
    with live(handle) as talk:
        for n in range(CHANNELS_LIMIT + 1):
            ask(talk, n, "slow", f"channel {n}", n=n)
        told = hear(talk)
        assert (told["id"], told["error"]["kind"]) == (CHANNELS_LIMIT, "RequestError")


def test_one_that_asks_for_everything_leaves_threads_to_others(handle: Handle, calls: Calls) -> None:
    with live(handle) as greedy, live(handle) as other:
        for n in range(CHANNELS_LIMIT):
            ask(greedy, n, "slow", f"channel {n}", n=n)
        for _ in range(CALLS_AT_ONCE):
            assert calls.entered.acquire(timeout=WAIT_S)
        ask(other, 1, "heat")
        assert hear(other)["ok"]
        assert len(calls.began) == CALLS_AT_ONCE
        calls.go.set()
        assert {hear(greedy)["id"] for _ in range(CHANNELS_LIMIT)} == set(range(CHANNELS_LIMIT))


def test_answers_are_not_computed_for_one_who_takes_none(handle: Handle) -> None:
    began, large = [], np.zeros(10_000_000, np.float32)  # more than the system holds on the way

    def heat(arguments: dict[str, Any], cancelled: Callable[[], bool]) -> Answer:
        began.append(arguments["n"])
        return {}, large

    handle.app.state.service.calls["heat"] = heat
    with socket.create_connection(("127.0.0.1", handle.port), timeout=WAIT_S) as lazy, live(handle) as other:
        lazy.sendall(
            f"GET /api/live HTTP/1.1\r\nHost: 127.0.0.1:{handle.port}\r\nAuthorization: Bearer {handle.token}\r\n"
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
        )
        assert lazy.recv(12) == b"HTTP/1.1 101"
        for n in range(CHANNELS_LIMIT):
            asked = json.dumps({"id": n, "channel": str(n), "call": "heat", "arguments": {"n": n}}).encode()
            lazy.sendall(bytes([0x81, 0x80 | len(asked), 0, 0, 0, 0]) + asked)
        for n in range(20):  # each goes through the same threads, after what was asked before
            ask(other, n, "refuse")
            assert not hear(other)["ok"]
        assert 1 <= len(began) <= CALLS_AT_ONCE + 1, "one is on its way, and two wait for that"


def test_jobs_are_pushed_until_their_end(handle: Handle) -> None:
    with live(handle) as talk:
        headers = {"Authorization": f"Bearer {handle.token}"}
        with httpx.Client(base_url=handle.address, headers=headers, timeout=WAIT_S) as client:
            job = client.post("/api/jobs", json={"kind": "count to a thousand"}).json()
        heard = [hear(talk)]
        while heard[-1]["job"]["state"] not in ("done", "failed"):
            heard.append(hear(talk))
        assert {h["event"] for h in heard} == {"job"}
        assert heard[-1]["job"]["id"] == job["id"]
        assert heard[-1]["job"]["result"]["recording"] == "counted"
        assert len(heard) < 500, "a thousand reports of progress are told in a few messages"
