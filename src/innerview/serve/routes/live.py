"""The WebSocket for live calls and news of jobs."""

from __future__ import annotations

from fastapi import APIRouter, WebSocket

from innerview.serve.context import Serving
from innerview.serve.live.connection import LiveConnection

router = APIRouter()
MOST = 64
"""Live connections of one service: a page has one."""
TRY_LATER = 1013


@router.websocket("/api/live")
async def live(socket: WebSocket, service: Serving) -> None:
    """Live calls where the newest wins, and news of jobs."""
    if len(service.live) >= MOST:
        return await socket.close(TRY_LATER)
    connection = LiveConnection(socket, calls=service.calls, jobs=service.jobs, pool=service.pool)
    service.live.add(connection)
    try:
        await connection.run()
    finally:
        service.live.discard(connection)
