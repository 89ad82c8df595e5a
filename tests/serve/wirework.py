"""Requests that a well-behaved client would not send."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qsl, urlsplit

import httpx
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from innerview.serve import Handle

WAIT_S = 60
"""However busy the machine is: who waits longer waits for nothing."""


def ask(handle: Handle, path: str, *, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Ask for a path exactly as written; underscores in header names become dashes."""
    sent = {"Host": f"127.0.0.1:{handle.port}", "Connection": "close"}
    sent |= {k.replace("_", "-"): v for k, v in headers.items()}
    lines = "".join(f"{k}: {v}\r\n" for k, v in sent.items() if v)
    return send(handle, f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode())


def send(handle: Handle, request: bytes) -> tuple[int, dict[str, str], bytes]:
    """Send bytes and read one reply."""
    with socket.create_connection(("127.0.0.1", handle.port), timeout=WAIT_S) as connection:
        connection.sendall(request)
        reply = http.client.HTTPResponse(connection)
        reply.begin()
        return reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read()


def come_in(browser: httpx.Client, url: str) -> httpx.Response:
    """What the page does with the address that was printed: exchange its code for a path and a cookie."""
    code = dict(parse_qsl(urlsplit(url).query))["code"]
    return browser.post("/api/door", json={"code": code})


@contextmanager
def live(
    handle: Handle, *, token: str | None = None, origin: str | None = None, path: str = "", cookie: str = ""
) -> Iterator[ClientConnection]:
    """An open live connection; shows the right token unless another, or a browser's path and cookie, are given."""
    shown = handle.token if token is None else token
    headers = {"Authorization": f"Bearer {shown}"} if shown and not path else {}
    headers |= {"Cookie": cookie} if cookie else {}
    address = f"ws://127.0.0.1:{handle.port}{path}/api/live"
    with connect(address, additional_headers=headers, origin=origin, proxy=None, open_timeout=WAIT_S) as socket_:  # type: ignore[arg-type]
        yield socket_


def live_refusal(handle: Handle, **how: str) -> int:
    """The status with which a live connection is refused; 101 where it is not."""
    try:
        with live(handle, **how):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code
