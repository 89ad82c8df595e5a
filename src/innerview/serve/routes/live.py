"""The WebSocket for live calls and news of jobs."""

from __future__ import annotations

from fastapi import APIRouter, WebSocket

from innerview.serve.context import Serving
from innerview.serve.live.connection import LiveConnection

router = APIRouter()


@router.websocket("/api/live")
async def live(socket: WebSocket, service: Serving) -> None:
    """Live calls where the newest wins, and news of jobs."""
    await LiveConnection(socket, calls=service.calls, jobs=service.jobs, pool=service.pool).run()
