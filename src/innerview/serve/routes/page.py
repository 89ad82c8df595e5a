"""The page itself, and the token's way into a cookie."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from starlette.exceptions import HTTPException

from innerview.serve import page
from innerview.serve.guard import cookie_name, read_cookie, same_token

router = APIRouter(include_in_schema=False)


@router.get("/")
def index(request: Request, token: Annotated[str | None, Query(max_length=200)] = None) -> Response:
    """The page for those who have the token; it moves from the address into a cookie."""
    secret: str = request.app.state.token
    name = cookie_name(request.app.state.port)
    if token is not None:
        if not same_token(token, secret):
            return page.note("Wrong token", page.WRONG_TOKEN, 401)
        others = [(k, v) for k, v in request.query_params.multi_items() if k != "token"]
        response = Response(status_code=303, headers={"Location": "/" + ("?" + urlencode(others) if others else "")})
        response.headers["Cache-Control"] = "no-store"
        response.set_cookie(name, secret, httponly=True, samesite="strict", path="/")
        return response
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    shown = bearer.strip() if scheme.lower() == "bearer" else read_cookie(request.headers, name)
    if not same_token(shown, secret):
        return page.note("Closed", page.NO_TOKEN, 401)
    built: page.Page = request.app.state.page
    return built.index()


@router.get("/{path:path}")
def asset(path: str, request: Request) -> Response:
    """A file of the built page."""
    built: page.Page = request.app.state.page
    found = built.asset("/" + path)
    if found is None:
        raise HTTPException(404)
    return found
