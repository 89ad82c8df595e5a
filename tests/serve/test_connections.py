"""Connections that say nothing, little or read nothing: they end, and shut nobody out."""

from __future__ import annotations

import contextlib
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from starlette.responses import Response
from starlette.routing import Route
from websockets.exceptions import ConnectionClosed

from innerview.serve import Handle, handle, serve
from innerview.serve.connections import Crowd, Limits, LiveFrames
from innerview.serve.live.connection import MESSAGE_BYTES, MESSAGES_PER_S

from .wirework import WAIT_S, live, live_refusal

SERVE = """
import sys
from innerview.serve import serve
with serve(sys.argv[1]) as handle:
    print(handle.port, handle.token, flush=True)
    sys.stdin.read()
"""
QUICK = Limits(head_s=0.4, body_s=0.8, stalled_s=0.5, connections=40)


@pytest.fixture
def impatient(saved_study: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Handle]:
    """A service that waits as little as a test likes to."""
    monkeypatch.setattr(handle, "Crowd", lambda: Crowd(QUICK))
    with serve(saved_study) as served:
        yield served


def connect(served: Handle, said: str = "") -> socket.socket:
    made = socket.create_connection(("127.0.0.1", served.port), timeout=WAIT_S)
    made.sendall(said.encode())
    return made


def seconds_until_closed(connection: socket.socket, *, drip: bytes = b"") -> float:
    """How long the service waits, also where something arrives now and then."""
    began = time.monotonic()
    connection.settimeout(0.05)
    while time.monotonic() - began < WAIT_S:
        try:
            if drip:
                connection.sendall(drip)
            if not connection.recv(1000):
                break
        except TimeoutError:
            continue
        except OSError:
            break
    return time.monotonic() - began


def head(served: Handle, first: str = "GET /api/study") -> str:
    return f"{first} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nAuthorization: Bearer {served.token}\r\n"


def study_is_served(served: Handle) -> bool:
    headers = {"Authorization": f"Bearer {served.token}"}
    return httpx.get(f"{served.address}api/study", headers=headers, timeout=WAIT_S).status_code == 200


@pytest.mark.parametrize(("said", "drip"), [("", b""), ("GET /api/st", b""), ("GET / HTTP/1.1\r\nX-", b"a")])
def test_a_request_that_never_arrives_is_not_waited_for(impatient: Handle, said: str, drip: bytes) -> None:
    with connect(impatient, said) as connection:
        assert seconds_until_closed(connection, drip=drip) < 5
    assert study_is_served(impatient)


def test_a_body_that_never_arrives_is_not_waited_for(impatient: Handle) -> None:
    with connect(impatient, head(impatient, "PUT /api/selections") + "Content-Length: 1000\r\n\r\n[") as connection:
        assert seconds_until_closed(connection, drip=b" ") < 5
    assert study_is_served(impatient)


def test_a_further_request_has_its_own_time(impatient: Handle) -> None:
    """A connection that is kept is closed when its next request does not arrive, not before."""
    with connect(impatient, head(impatient) + "\r\n") as connection:
        assert connection.recv(15) == b"HTTP/1.1 200 OK"
        time.sleep(2 * QUICK.head_s)
        connection.sendall((head(impatient) + "\r\n").encode())
        answer = b""
        while b"HTTP/1.1 200 OK" not in answer:
            answer = answer[-15:] + connection.recv(1000)
        connection.sendall(b"GET /api/stu")
        assert seconds_until_closed(connection) < 4


@pytest.fixture
def poor(saved_study: Path) -> Iterator[Handle]:
    """A service in a process that may open as few files as macOS allows."""
    command = [sys.executable, "-c", SERVE, str(saved_study)]
    limit = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (256, 256))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=limit) as child:
        assert child.stdout is not None
        port, token = child.stdout.readline().split()
        yield SimpleNamespace(port=int(port), token=token, address=f"http://127.0.0.1:{port}/")  # type: ignore[misc]
        child.kill()


def test_three_hundred_half_open_connections_shut_nobody_out(poor: Handle) -> None:
    with contextlib.ExitStack() as opened:
        for kind in range(300):
            said = ["", "GET / HT", head(poor, "PUT /api/selections") + "Content-Length: 9\r\n\r\n"][kind % 3]
            with contextlib.suppress(OSError):
                opened.enter_context(connect(poor, said))
        began = time.monotonic()
        assert all(study_is_served(poor) for _ in range(10))
        assert time.monotonic() - began < 8
        with live(poor) as socket_:
            socket_.send("{}")
            assert "malformed" in str(socket_.recv(WAIT_S))


def test_of_too_many_connections_the_ones_that_rest_give_way(impatient: Handle) -> None:
    with contextlib.ExitStack() as opened:
        for _ in range(2 * QUICK.connections):
            resting = opened.enter_context(connect(impatient, head(impatient) + "\r\n"))
            assert resting.recv(15) == b"HTTP/1.1 200 OK"
        assert study_is_served(impatient)


def test_an_answer_that_nobody_reads_is_given_up(impatient: Handle) -> None:
    impatient.app.router.routes.insert(0, Route("/much", lambda request: Response(bytes(1 << 26))))
    connections = impatient._server.server_state.connections
    with connect(impatient, head(impatient, "GET /much") + "\r\n") as connection:
        assert connection.recv(15) == b"HTTP/1.1 200 OK"
        ends = time.monotonic() + 20
        while connections and time.monotonic() < ends:
            time.sleep(0.05)
        assert not connections
    assert study_is_served(impatient)


def test_an_answer_that_is_read_slowly_arrives_whole(impatient: Handle) -> None:
    size = 8_000_000
    impatient.app.router.routes.insert(0, Route("/much", lambda request: Response(bytes(size))))
    with connect(impatient, head(impatient, "GET /much") + "Connection: close\r\n\r\n") as connection:
        taken = 0
        while part := connection.recv(100_000):
            taken += len(part)
            time.sleep(0.02)
    assert taken > size


def test_who_sends_too_many_live_messages_waits(served: Handle) -> None:
    count = 2 * MESSAGES_PER_S
    began = time.monotonic()
    with live(served) as socket_:
        for _ in range(count):
            socket_.send("{}")
        for _ in range(count):
            assert "malformed" in str(socket_.recv(WAIT_S))
    assert time.monotonic() - began > 0.9 * (count - MESSAGES_PER_S) / MESSAGES_PER_S


def test_a_long_live_message_counts_as_many(served: Handle) -> None:
    began, count, size = time.monotonic(), 4, 90 * MESSAGE_BYTES
    with live(served) as socket_:
        for _ in range(count):
            socket_.send("x" * size)
        for _ in range(count):
            assert "malformed" in str(socket_.recv(WAIT_S))
    turns = (count - 1) * size / MESSAGE_BYTES
    assert time.monotonic() - began > 0.9 * (turns - MESSAGES_PER_S) / MESSAGES_PER_S


@pytest.mark.parametrize("flood", [bytes([0x89, 0x80, 0, 0, 0, 0]), bytes([0x00, 0x80, 0, 0, 0, 0])])
def test_who_floods_with_frames_of_no_message_is_dropped(served: Handle, flood: bytes) -> None:
    """Pings, or parts of a message that never ends, masked as a client must."""
    with live(served) as calm, live(served) as talk:
        raw = talk.socket
        raw.sendall(bytes([0x01, 0x81, 0, 0, 0, 0]) + b"{")  # a message begins
        with contextlib.suppress(OSError):
            raw.sendall(flood * 20 * LiveFrames.FRAMES)
        with pytest.raises(ConnectionClosed):
            talk.recv(WAIT_S)
        calm.send("{}")
        assert "malformed" in str(calm.recv(WAIT_S))
    assert study_is_served(served)


def test_live_messages_are_not_compressed(served: Handle) -> None:
    with live(served) as talk:
        assert talk.protocol.extensions == [], "a thousand bytes would become a million"


def test_there_are_only_so_many_live_connections(saved_study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("innerview.serve.routes.live.MOST", 2)
    with serve(saved_study) as own, live(own):  # a service of its own: nobody else's connection is still closing
        with live(own):
            assert live_refusal(own) == 403
        assert wait_until(lambda: live_refusal(own) == 101), "one that left makes room"


def wait_until(true: Callable[[], bool]) -> bool:
    ends = time.monotonic() + WAIT_S
    while not (found := true()) and time.monotonic() < ends:
        time.sleep(0.02)
    return found
