"""The page itself, which holds no data: it asks for them, and is let in or not."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from innerview.serve.page import Page

router = APIRouter(include_in_schema=False)


@router.get("/")
def index(request: Request) -> Response:
    """The page, which takes the code out of its address."""
    built: Page = request.app.state.page
    return built.index()


@router.get("/{path:path}")
def asset(path: str, request: Request) -> Response:
    """A file of the built page."""
    built: Page = request.app.state.page
    found = built.asset("/" + path)
    if found is None:
        raise HTTPException(404)
    return found
