"""The page itself, and the token's way into a cookie."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from starlette.exceptions import HTTPException

from innerview.serve import page
from innerview.serve.guard import cookie_name, same_token, shows_token

router = APIRouter(include_in_schema=False)


@router.get("/")
def index(request: Request, token: Annotated[str | None, Query(max_length=200)] = None) -> Response:
    """The page for those who have the token; it moves from the address into a cookie."""
    state = request.app.state
    kept = urlencode([(k, v) for k, v in request.query_params.multi_items() if k != "token"])
    here = "/?" + kept if kept else "/"
    # A browser that follows a link from another site keeps a strict cookie back; a step of our own brings it.
    from_elsewhere = request.headers.get("sec-fetch-site") in ("cross-site", "same-site")
    if token is not None:
        if not same_token(token, state.token):
            return page.note("Wrong token", page.WRONG_TOKEN, 401)
        response = page.arrive(here) if from_elsewhere else Response(status_code=303, headers={"Location": here})
        response.headers["Cache-Control"] = "no-store"
        response.set_cookie(cookie_name(state.port), state.token, httponly=True, samesite="strict", path="/")
        return response
    if not shows_token(request.headers, token=state.token, port=state.port):
        return page.arrive(here) if from_elsewhere else page.note("Closed", page.NO_TOKEN, 401)
    built: page.Page = state.page
    return built.index()


@router.get("/{path:path}")
def asset(path: str, request: Request) -> Response:
    """A file of the built page."""
    built: page.Page = request.app.state.page
    found = built.asset("/" + path)
    if found is None:
        raise HTTPException(404)
    return found
