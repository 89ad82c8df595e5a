"""Every HTTP request and WebSocket passes here, and is refused unless the door lets it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from innerview.errors import RequestError
from innerview.serve.door import Door
from innerview.serve.failures import REFUSAL, NotAllowed, TooLarge, Unauthorized, reply_to

BODY_LIMIT = 1_000_000
URL_LIMIT = 8_000
SECURITY_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' blob: data:; style-src 'self' 'unsafe-inline'; worker-src 'self' blob:; "
        "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """ASGI layer around the whole app. `is_public` names the few paths that hold no data."""

    def __init__(self, app: ASGIApp, *, door: Door, port: int, is_public: Callable[[str], bool]) -> None:
        self.app, self._door, self._is_public = app, door, is_public
        names = ("127.0.0.1", "localhost", "[::1]")
        self._hosts = {f"{n}:{port}" for n in names} | (set(names) if port == 80 else set())
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] == "http":
            send = _with_security_headers(send)
        try:
            scope = self._let_in(scope)
        except RequestError as refused:
            return await _refuse(refused, scope, receive, send)
        if scope["type"] == "http":
            receive = _bounded(receive)
        await self.app(scope, receive, send)

    def _let_in(self, scope: Scope) -> Scope:
        """The request as the app is to see it: the path without the part that only the page knows."""
        headers = Headers(scope=scope)
        self._check_place(headers)
        if len(scope.get("raw_path", b"")) + len(scope["query_string"]) > URL_LIMIT:
            raise TooLarge(f"The address is longer than {URL_LIMIT} characters.")
        declared = headers.get("content-length", "0")
        if not declared.isdecimal() or len(declared) > 20 or int(declared) > BODY_LIMIT:
            raise TooLarge(f"The request says it carries {declared[:20]} bytes; at most {BODY_LIMIT} are taken.")
        inside = self._door.within(scope["path"], headers)
        if inside is not None:
            return {**scope, "path": inside, "raw_path": quote(inside).encode()}
        if (scope["type"] == "http" and self._is_public(scope["path"])) or self._door.shows_token(headers):
            return scope
        raise Unauthorized(REFUSAL)

    def _check_place(self, headers: Headers) -> None:
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        # A foreign name that resolves to this machine (DNS rebinding) arrives with that name as Host.
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise NotAllowed("Wrong Host. innerview answers only to 127.0.0.1, localhost and [::1], at its own port.")
        if any(origin.lower() not in self._origins for origin in origins):
            raise NotAllowed("Another site may not ask innerview.")


async def _refuse(refused: RequestError, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        return await send({"type": "websocket.close", "code": 1008, "reason": ""})
    response = reply_to(refused)
    if isinstance(refused, TooLarge):
        response.headers["Connection"] = "close"
    await response(scope, receive, send)


def _with_security_headers(send: Send) -> Send:
    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sender


def _bounded(receive: Receive) -> Receive:
    """Count what really arrives; a body sent in chunks declares no length."""
    taken = 0

    async def receiver() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > BODY_LIMIT:
            raise HTTPException(413, f"The request carries more than {BODY_LIMIT} bytes.", {"Connection": "close"})
        return message

    return receiver
