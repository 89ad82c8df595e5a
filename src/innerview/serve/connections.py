"""How long a connection may take and how many there may be: who dawdles is cut off, and nobody is shut out by that."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

try:
    import resource
except ImportError:  # Windows sets no limit on open files
    resource = None  # type: ignore[assignment]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one connection may take, and how many there may be."""

    head_s: float = 10.0
    """From connecting, or from the first byte of a further request, to the end of its headers."""
    body_s: float = 30.0
    stalled_s: float = 20.0
    """So often a reader must have taken another part of its answer."""
    part_bytes: int = 20_000
    connections: int = 1024
    """One more, and one that rests is closed; half of them may be unfinished: their request has not arrived as a whole.
    Of more unfinished ones the oldest is closed."""


@dataclass
class Crowd:
    """The connections of one service, oldest first."""

    limits: Limits = field(default_factory=Limits)
    unfinished: dict[Connection, None] = field(default_factory=dict)
    idle: dict[Connection, None] = field(default_factory=dict)

    @property
    def most(self) -> int:
        """How many there may be: half of the files that this process may open are for the study."""
        if resource is None:
            return self.limits.connections
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return self.limits.connections if soft < 0 else min(self.limits.connections, soft // 2)

    def admit(self, new: Connection, *, count: int) -> None:
        """Make room for one that just connected."""
        self.unfinished[new] = None
        most = self.most
        if len(self.unfinished) > most // 2:
            next(iter(self.unfinished)).drop()
        elif count > most:
            next(iter(self.idle), new).drop()

    def forget(self, gone: Connection) -> None:
        """It closed, or speaks WebSocket from now on."""
        self.unfinished.pop(gone, None)
        self.idle.pop(gone, None)


class LiveFrames(WebSocketsSansIOProtocol):
    """WebSocket as uvicorn speaks it, less who floods it with frames that no message comes of: pings and parts of one.

    They are answered or kept where they arrive, and nothing else holds them up.
    """

    FRAMES, PER_S = 1_000, 50.0
    """So many at once, and so many more each second."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._left, self._counted = float(self.FRAMES), self.loop.time()

    def handle_events(self) -> None:
        """Answer what arrived, unless it is too much."""
        now = self.loop.time()
        self._left = min(self.FRAMES, self._left + (now - self._counted) * self.PER_S)
        self._counted = now
        super().handle_events()

    def handle_ping(self) -> None:
        if self._counts():
            super().handle_ping()

    def handle_pong(self, event: Any) -> None:
        if self._counts():
            super().handle_pong(event)

    def handle_cont(self, event: Any) -> None:
        if self._counts():
            super().handle_cont(event)

    def _counts(self) -> bool:
        self._left -= 1
        if self._left < 0:
            self.transport.abort()
        return self._left >= 0


class Connection(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with a limit on every wait for the other side."""

    def __init__(self, *given: Any, crowd: Crowd, **named: Any) -> None:
        super().__init__(*given, **named)
        self._crowd, self._limits = crowd, crowd.limits
        self._awaited = ""
        self._patience: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._caught_up = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await("head")
        self._crowd.admit(self, count=len(self.connections))

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        if self._stalled is not None:
            self._stalled.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._see()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch_reader()  # what was written may still have to be taken, also after the connection is closed
        self._see()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._leave()
        super().handle_websocket_upgrade(event)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._caught_up = True

    def drop(self) -> None:
        """Close at once, whatever is under way."""
        self._leave()
        self.transport.abort()

    def _see(self) -> None:
        """Tell from what has arrived what is waited for now."""
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return
        theirs = self.conn.their_state
        if theirs is h11.SEND_BODY:
            self._await("body")
        elif theirs is h11.IDLE:
            self._await("head" if self.conn.trailing_data[0] else "")
        else:
            self._await("answer")

    def _await(self, awaited: str) -> None:
        if awaited == self._awaited:
            return  # a byte now and then does not buy more time
        self._leave()
        self._awaited = awaited
        if awaited in ("head", "body"):
            self._crowd.unfinished[self] = None
            wait_s = self._limits.head_s if awaited == "head" else self._limits.body_s
            self._patience = self.loop.call_later(wait_s, self.drop)
        elif not awaited:
            self._crowd.idle[self] = None  # uvicorn's own time-out closes it

    def _leave(self) -> None:
        self._crowd.forget(self)
        if self._patience is not None:
            self._patience.cancel()

    def _watch_reader(self) -> None:
        left = self.transport.get_write_buffer_size()
        if self._stalled is None and left:
            self._caught_up = False
            self._stalled = self.loop.call_later(self._limits.stalled_s, self._look_again, left)

    def _look_again(self, before: int) -> None:
        """Drop a reader that has not taken a part of its answer since it was looked at last."""
        self._stalled = None
        left = self.transport.get_write_buffer_size()
        if not self._caught_up and left > max(0, before - self._limits.part_bytes):
            return self.drop()
        self._watch_reader()
