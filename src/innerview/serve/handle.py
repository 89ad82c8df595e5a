"""Runs the service in a thread of this process, from a script, a terminal or a notebook."""

from __future__ import annotations

import asyncio
import logging
import secrets
import signal
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from rich.console import Console

from innerview.errors import InnerviewError
from innerview.interventions.edited import WithEdited
from innerview.jobs.shutdown import before_threads_end
from innerview.rollouts.learning.ages import WithSnapshots
from innerview.serve.app import create_app
from innerview.serve.connections import Connection, Crowd, LiveFrames
from innerview.serve.door import Door
from innerview.serve.guard import BODY_LIMIT
from innerview.serve.live.wiring import live_parts
from innerview.store import Study

HOST = "127.0.0.1"
START_S = 30.0
CLOSE_S = 10.0
GRACE_S = 0.5
"""So long a connection has to take the rest of its answer when the service ends."""

log = logging.getLogger(__name__)


class Server(uvicorn.Server):
    """Leaves no connection behind: whoever still waits a moment after it was to end is cut off."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        impatient = asyncio.create_task(self._lose_patience())
        await super().shutdown(sockets)
        impatient.cancel()
        await self._cut_off()

    async def _lose_patience(self) -> None:
        await asyncio.sleep(GRACE_S)
        while True:  # one that was accepted at the last moment comes late
            await self._cut_off()
            await asyncio.sleep(GRACE_S / 10)

    async def _cut_off(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)  # a turn of the loop, in which the sockets are closed


class Handle:
    """A running service: `url` opens it in a browser, `token` is for scripts, `close()` ends it."""

    def __init__(self, server: uvicorn.Server, listening: socket.socket, *, door: Door, app: Any) -> None:
        self.port: int = listening.getsockname()[1]
        self.door, self.app = door, app
        self.address = f"http://{HOST}:{self.port}/"
        self._server, self._socket = server, listening
        self._thread = threading.Thread(target=server.run, args=([listening],), name="innerview", daemon=True)

    @property
    def url(self) -> str:
        """A new address each time; it opens one browser, once, within a quarter of an hour."""
        return f"{self.address}?code={self.door.code()}"

    @property
    def token(self) -> str:
        """What a script shows as `Authorization: Bearer`."""
        return self.door.token

    def start(self) -> Handle:
        """Serve in a thread with a loop of its own, so that a notebook's loop is left alone."""
        _OPEN.add(self)
        self._thread.start()
        deadline = time.monotonic() + START_S
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > deadline:
                self.close()
                raise InnerviewError("The service could not start; the lines above say why.")
            time.sleep(0.005)
        return self

    def wait(self) -> None:
        """Print the address and serve until interrupted; Enter prints a new one."""
        Console().print(f"innerview is at {self.url}", highlight=False, soft_wrap=True)
        Console().print("[dim]The address opens one browser, once. Enter prints a new one, Ctrl-C ends innerview.[/]")
        if sys.stdin is not None and sys.stdin.isatty():
            _stay_in_background()
            threading.Thread(target=self._print_more, name="more addresses", daemon=True).start()
        try:
            while self._thread.is_alive():
                self._thread.join(0.5)
        except KeyboardInterrupt:
            log.info("Interrupted; closing.")
        finally:
            self.close()

    def _print_more(self) -> None:
        with suppress(OSError, ValueError):  # in the background, or the terminal is gone
            while self._thread.is_alive() and sys.stdin.readline():
                Console().print(f"innerview is at {self.url}", highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Stop serving and cancel what runs; nothing recorded is lost."""
        self._server.should_exit = True
        service = self.app.state.service
        service.jobs.close()
        if self._thread.is_alive():
            self._thread.join(CLOSE_S)
        service.close()  # now that nobody asks it for anything
        self._socket.close()
        _OPEN.discard(self)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"innerview at {self.url}"

    def _repr_html_(self) -> str:
        return f'<a href="{self.url}" target="_blank" rel="noopener">Open innerview</a>'


_OPEN: set[Handle] = set()


def _close_all() -> None:
    """A script that ends while it serves ends its services first."""
    for handle in [*_OPEN]:
        handle.close()


before_threads_end(_close_all)


def serve(study: Study | str | Path, *, port: int = 0, door: Door | None = None, **parts: Any) -> Handle:
    """Serve a study on loopback and return at once; port 0 takes a free one. `parts` go to `create_app`."""
    opened = study if isinstance(study, Study) else Study.open(Path(study))
    parts["subjects"] = WithSnapshots(opened, WithEdited(opened, parts.get("subjects") or {}))
    parts = live_parts(opened, parts["subjects"], parts.get("worlds") or {}) | parts
    door = door or Door(token=secrets.token_urlsafe(24))
    listening = _listen(port)
    try:
        app = create_app(opened, door=door, port=listening.getsockname()[1], **parts)
    except BaseException:
        listening.close()
        raise
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # an access log would show codes and paths
        proxy_headers=False,
        server_header=False,
        http=partial(Connection, crowd=Crowd()),  # type: ignore[arg-type]
        ws=LiveFrames,
        ws_max_size=BODY_LIMIT,
        ws_per_message_deflate=False,  # a few bytes would become a million, and loopback needs none
    )
    return Handle(Server(config), listening, door=door, app=app).start()


def show(
    study: Study | str | Path,
    subject: Any = None,
    world: Any = None,
    *,
    port: int = 0,
    block: bool = False,
    open_browser: bool | None = None,
    **parts: Any,
) -> Handle:
    """Open a study in the browser, with live objects; returns a handle with `.url` and `.close()`."""
    if world is not None and not isinstance(world, Mapping):
        from innerview.worlds import world as as_world

        world = [as_world(each) for each in (world if isinstance(world, list | tuple) else [world])]
    handle = serve(study, port=port, subjects=_by_name(subject), worlds=_by_name(world), **parts)
    if open_browser or (open_browser is None and sys.stdout.isatty()):
        webbrowser.open(handle.url)
    if block:
        handle.wait()
    return handle


def _by_name(things: Any) -> Mapping[str, Any]:
    """One live object, several, or several by name."""
    if things is None:
        return {}
    if isinstance(things, Mapping):
        return things
    several = things if isinstance(things, list | tuple) else [things]
    for thing in several:
        if not hasattr(thing, "info"):
            raise InnerviewError(
                f"{type(thing).__name__} is not a subject. Adapt it first: iv.subject(module, …) or iv.from_sb3(model)."
            )
    return {thing.info.name: thing for thing in several}


def _stay_in_background() -> None:
    """Reading a terminal from the background fails, instead of stopping the process."""
    with suppress(AttributeError, ValueError):  # Windows has no such signal, and only the main thread may say so
        signal.signal(signal.SIGTTIN, signal.SIG_IGN)


def _listen(port: int) -> socket.socket:
    # Named as TCP, or asyncio leaves Nagle's algorithm on and every small reply takes 40 ms.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except (OSError, OverflowError) as problem:
        listening.close()
        reason = problem.strerror if isinstance(problem, OSError) else "ports go up to 65535"
        raise InnerviewError(
            f"Port {port} cannot be used ({reason}). Choose another, or 0 for any free one."
        ) from problem
    listening.listen(128)
    return listening
