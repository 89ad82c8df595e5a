"""The way in: a one-time code is exchanged for a path and the cookie that belongs to it."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from innerview.serve.door import Door
from innerview.serve.failures import REFUSAL, Unauthorized
from innerview.serve.wire import EnterReply, EnterRequest

router = APIRouter(prefix="/api", tags=["door"])


@router.post("/door")
def enter(asked: EnterRequest, request: Request, response: Response) -> EnterReply:
    """Let one browser in, and use the code up."""
    door: Door = request.app.state.door
    entry = door.enter(asked.code)
    if entry is None:
        raise Unauthorized(REFUSAL)
    response.headers["Set-Cookie"] = entry.set_cookie
    response.headers["Cache-Control"] = "no-store"
    return EnterReply(path=entry.path)
