"""Lets the browser keep what cannot change."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import Request, Response

FOREVER = "private, max-age=31536000, immutable"
ASK_AGAIN = "private, no-cache"


def headers(request: Request, etag: str) -> dict[str, str]:
    """Kept for good where the address names this very version, else asked about each time."""
    named = request.query_params.get("v") == etag
    return {"ETag": f'"{etag}"', "Cache-Control": FOREVER if named else ASK_AGAIN}


def unchanged(request: Request, etag: str) -> Response | None:
    """304 where the browser has this version already."""
    given = [mark.strip().removeprefix("W/").strip('"') for mark in request.headers.get("if-none-match", "").split(",")]
    return Response(status_code=304, headers=headers(request, etag)) if etag in given else None


def binary(
    request: Request, etag: str, *, content: bytes, media_type: str, extra: Mapping[str, str] | None = None
) -> Response:
    """Bytes with their caching headers."""
    return Response(content, media_type=media_type, headers={**headers(request, etag), **(extra or {})})
