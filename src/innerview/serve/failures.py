"""Turns every failure into one shape: {"error": {"kind", "message"}} with a fitting status."""

from __future__ import annotations

import logging
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError, ResponseValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from innerview import errors
from innerview.serve.wire import ErrorBody, ErrorReply

log = logging.getLogger(__name__)


class TooLarge(errors.RequestError):
    """More was sent or asked for than one request may carry."""


class Unauthorized(errors.RequestError):
    """The request comes from no browser that was let in, and shows no token."""


class NotAllowed(errors.RequestError):
    """The request comes from a place that may not ask."""


# A failure takes the status of the nearest class above it that is named here. What is on disk and cannot be used as
# it stands (damaged, busy, of another version) is a conflict (409): asking differently will not help, repairing will.
STATUS: dict[type[errors.InnerviewError], int] = {
    Unauthorized: 401,
    NotAllowed: 403,
    TooLarge: 413,
    errors.UnknownName: 404,
    errors.DiskFull: 507,
    errors.ReadOnly: 403,
    errors.StoreError: 409,
    errors.JobError: 409,
    errors.NotAsRecorded: 409,
    errors.SubjectError: 422,
    errors.WorldError: 422,
    errors.LensError: 422,
    errors.CaptureError: 422,
    errors.EditError: 422,
    errors.InnerviewError: 400,
}
KINDS = {
    401: "Unauthorized",
    403: "NotAllowed",
    404: "UnknownName",
    413: "TooLarge",
    414: "TooLarge",
    500: "ServerError",
}
REFUSAL = (
    "This browser is not let in. An address opens one browser, once, within 15 minutes. For a new one press Enter in "
    "the terminal where innerview runs, or evaluate handle.url again."
)
UNEXPECTED = "Something went wrong inside innerview. The terminal that runs it says what."


def status_of(error: errors.InnerviewError) -> int:
    """The HTTP status of a failure."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def error_body(kind: str, message: str) -> ErrorBody:
    """The one shape of a failure on the wire. A message may repeat what was sent, and that need not be Unicode."""
    return ErrorBody(kind=kind, message=message.encode(errors="replace").decode())


def reply(status: int, message: str, kind: str | None = None) -> JSONResponse:
    """A failure as a response that nobody keeps."""
    kind = kind or KINDS.get(status, "RequestError")
    body = ErrorReply(error=error_body(kind, message)).model_dump()
    return JSONResponse(body, status, headers={"Cache-Control": "no-store"})


def reply_to(error: errors.InnerviewError) -> JSONResponse:
    """The response for something innerview refused to do."""
    return reply(status_of(error), str(error), type(error).__name__)


def install(app: FastAPI) -> None:
    """Make the app answer every failure in that shape."""
    app.add_exception_handler(errors.InnerviewError, _refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(ValidationError, _misshapen)
    app.add_exception_handler(ResponseValidationError, _misshapen)
    app.add_exception_handler(HTTPException, _http)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, errors.InnerviewError)
    return reply_to(error)


async def _malformed(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    problems = [f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in error.errors()]
    return reply(422, "The request is malformed. " + "; ".join(problems[:10]), "RequestError")


async def _misshapen(request: Request, error: Exception) -> JSONResponse:
    """A reply is made of what is stored: where that has another form than it should, it is damaged."""
    assert isinstance(error, ValidationError | ResponseValidationError)
    problems = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
    log.warning("What is stored does not fit %s: %s", request.url.path, "; ".join(problems[:10]))
    told = "What is stored for this has not the form that it should. `innerview check` says what is damaged. "
    return reply(409, told + "; ".join(problems[:5])[:500], "DamagedPart")


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    known = HTTPStatus(error.status_code)
    detail = f"There is nothing at {request.url.path}." if known == 404 else str(error.detail)
    return reply(error.status_code, detail)


class Unexpected:
    """ASGI layer: a bug is logged here with its traceback, and the client gets one sentence."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception:
            log.exception("Unexpected error while answering %s.", scope["path"])
            if started:
                raise
            await reply(500, UNEXPECTED)(scope, receive, send)
