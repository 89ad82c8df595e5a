"""Lets the browser keep what cannot change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256

from fastapi import Request, Response

FOREVER = "private, max-age=31536000, immutable"
ASK_AGAIN = "private, no-cache"
_PLAIN = re.compile(r"[A-Za-z0-9:.+_-]{1,200}")


def mark(etag: str) -> str:
    """The version as a header may say it: it is made of what is stored, which may be anything."""
    return etag if _PLAIN.fullmatch(etag) else sha256(etag.encode(errors="replace")).hexdigest()


def headers(request: Request, etag: str) -> dict[str, str]:
    """Kept for good where the address names this very version, else asked about each time."""
    named = request.query_params.get("v") == etag
    return {"ETag": f'"{mark(etag)}"', "Cache-Control": FOREVER if named else ASK_AGAIN}


def unchanged(request: Request, etag: str) -> Response | None:
    """304 where the browser has this version already."""
    given = [each.strip().removeprefix("W/").strip('"') for each in request.headers.get("if-none-match", "").split(",")]
    return Response(status_code=304, headers=headers(request, etag)) if mark(etag) in given else None


def binary(
    request: Request, etag: str, *, content: bytes, media_type: str, extra: Mapping[str, str] | None = None
) -> Response:
    """Bytes with their caching headers."""
    return Response(content, media_type=media_type, headers={**headers(request, etag), **(extra or {})})
