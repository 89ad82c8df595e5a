"""Assembles the service."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from innerview.jobs.runner import Jobs
from innerview.schema import Lens
from innerview.serve import failures
from innerview.serve.context import LiveCall, Service
from innerview.serve.docs.pages import Docs
from innerview.serve.door import Door
from innerview.serve.guard import Guard
from innerview.serve.live.messages import beside_routes
from innerview.serve.openings import Openings
from innerview.serve.page import Page
from innerview.serve.routes import docs as doc_routes
from innerview.serve.routes import door as door_routes
from innerview.serve.routes import (
    edited,
    filters,
    live,
    metrics,
    predictions,
    recordings,
    reductions,
    results,
    saved,
    what_if,
)
from innerview.serve.routes import jobs as job_routes
from innerview.serve.routes import page as page_routes
from innerview.serve.routes import study as study_routes
from innerview.serve.routes.memory import aligned, order, tiles
from innerview.serve.wire import ErrorReply
from innerview.store import Study

# The page comes last: its route takes every path that no other one took.
RECORDED = (recordings, predictions, tiles, aligned, order, what_if)
SAVED = (metrics, results, reductions, filters, edited, saved)
NOUNS = (door_routes, study_routes, *RECORDED, *SAVED, doc_routes, job_routes, live, page_routes)


def create_app(
    study: Study,
    *,
    door: Door,
    port: int,
    subjects: Mapping[str, Any] | None = None,
    worlds: Mapping[str, Any] | None = None,
    openings: Openings | None = None,
    calls: Mapping[str, LiveCall] | None = None,
    lenses: Iterable[Lens] = (),
    jobs: Jobs | None = None,
    page: Page | None = None,
    docs: Docs | None = None,
) -> FastAPI:
    """The service over one study. `calls` answer the live channel."""
    app = FastAPI(
        title="innerview",
        version="1",
        docs_url=None,
        redoc_url=None,
        lifespan=_closing,
        openapi_url="/api/openapi.json",
        generate_unique_id_function=_operation_id,
        responses={"4XX": {"model": ErrorReply}, "5XX": {"model": ErrorReply}},
    )
    app.state.service = Service(
        study=study,
        openings=openings or Openings(study),
        jobs=jobs or Jobs(),
        subjects=subjects or {},
        worlds=worlds or {},
        calls=calls or {},
        lenses=lenses,
        docs=docs or Docs(),
    )
    built = page or Page()
    app.state.door, app.state.page = door, built
    for noun in NOUNS:
        app.include_router(noun.router)
    failures.install(app)
    app.add_middleware(failures.Unexpected)
    _describe_messages(app)
    app.add_middleware(Guard, door=door, port=port, is_public=built.is_public)
    return app


@asynccontextmanager
async def _closing(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.service.close()


def _describe_messages(app: FastAPI) -> None:
    """Add what is no body of a request to the description: messages of the live connection, and cells of columns."""
    by_routes = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schemas = by_routes()["components"]["schemas"]
            schemas.update({name: schema for name, schema in beside_routes().items() if name not in schemas})
        return by_routes()

    app.openapi = described  # type: ignore[method-assign]


def openapi_text() -> str:
    """The API's description, the same for every study."""
    app = create_app(Study(Path(), "any"), door=Door(token=""), port=0)
    return json.dumps(app.openapi(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _operation_id(route: APIRoute) -> str:
    return route.name
