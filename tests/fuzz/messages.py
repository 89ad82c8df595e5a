"""Talks over the WebSocket: right messages, damaged ones, and bytes that are no frames."""

from __future__ import annotations

import base64
import json
import os
import socket
from dataclasses import dataclass
from random import Random
from typing import Any

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage
from websockets.sync.client import ClientConnection, connect

from tests.fuzz.findings import Findings
from tests.fuzz.mutations import ODD, bytes_mutated, value_mutated
from tests.fuzz.requests import Routes
from tests.fuzz.target import HANG_S

PATIENCE_S = 0.05
TURNS = 30


@dataclass
class Messages:
    """One talk after the other; between two of them the service must still answer."""

    routes: Routes
    random: Random
    findings: Findings

    def step(self) -> None:
        """A talk of some messages, or broken bytes."""
        try:
            if self.random.random() < 0.2:
                self._broken()
            else:
                self._talk()
        except (ConnectionClosed, InvalidHandshake, InvalidMessage, OSError, TimeoutError, EOFError):
            pass  # closed: that is an answer; whether it still serves is asked next
        self.routes.send("after a talk", "GET", "/api/jobs")

    def _talk(self) -> None:
        target = self.routes.target
        address = f"ws://127.0.0.1:{target.port}/api/live"
        with connect(
            address, additional_headers=target.headers, proxy=None, open_timeout=HANG_S, close_timeout=1
        ) as talk:
            for _ in range(TURNS):
                self._say(talk)
            self._listen(talk)

    def _say(self, talk: ClientConnection) -> None:
        self.findings.messages += 1
        content = json.dumps(self._message()).encode(errors="replace")
        turn = self.random.random()
        if turn < 0.7:
            talk.send(content.decode(errors="replace"))
        elif turn < 0.85:
            talk.send(bytes_mutated(self.random, content).decode(errors="replace"))
        elif turn < 0.95:
            talk.send(content)
        else:
            talk.send([content[:3].decode(errors="replace"), content[3:].decode(errors="replace")])

    def _listen(self, talk: ClientConnection) -> None:
        """Take what has come; an internal error is told in words there."""
        try:
            while True:
                told = talk.recv(PATIENCE_S)
                if isinstance(told, str) and '"ServerError"' in told:
                    self.findings.add("5xx", f"live | {told[:200]}", self.routes.target.last_words())
        except TimeoutError:
            return

    def _message(self) -> Any:
        choose, pool = self.random.choice, self.routes.pool
        arguments = {
            "recording": choose(pool["recording"]),
            "row": choose((0, 1, 5, -1, 10**9)),
            "subject": choose(pool["subject"]),
            "lens": choose(pool["lens"]),
            "parameters": choose(({}, {"target": "policy"}, {"layer": choose(pool["layer"])})),
            "memory": choose((None, [0.0] * 6, [1e30] * 3)),
            "edits": choose(([], [{"kind": "site", "site": "cell/h", "elements": [0], "op": "set", "value": 2.0}])),
        }
        chosen = {key: value for key, value in arguments.items() if self.random.random() < 0.7}
        message: Any = {
            "id": choose((1, 2, 10**12)),
            "channel": choose(("a", "b", "c")),
            "call": choose(("forward", "lens")),
        }
        message["arguments"] = chosen
        for _ in range(choose((0, 0, 1, 2))):
            message = value_mutated(self.random, message)
        return choose(ODD) if self.random.random() < 0.03 else message

    def _broken(self) -> None:
        """A right handshake, then bytes that are nearly frames."""
        target = self.routes.target
        key = base64.b64encode(os.urandom(16)).decode()
        head = f"GET /api/live HTTP/1.1\r\nHost: 127.0.0.1:{target.port}\r\nAuthorization: Bearer {target.token}\r\n"
        head += (
            f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
        )
        shaken = f"{head}\r\n".encode()
        if self.random.random() < 0.3:
            shaken = bytes_mutated(self.random, shaken)
        with socket.create_connection(("127.0.0.1", target.port), timeout=0.3) as connection:
            connection.sendall(shaken)
            connection.recv(1000)
            for _ in range(5):
                self.findings.messages += 1
                connection.sendall(bytes_mutated(self.random, _frame(self.random, b'{"id": 1}')))
            connection.recv(1000)


def _frame(random: Random, content: bytes) -> bytes:
    """A masked frame of any opcode, with the mask of zeros."""
    first = random.choice((0x81, 0x82, 0x88, 0x89, 0x8A, 0x01, 0x00, 0xC1, 0x8F))
    return bytes([first, 0x80 | len(content)]) + bytes(4) + content
