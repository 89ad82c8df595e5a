"""Assembles the service."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from innerview.jobs.runner import Jobs
from innerview.schema import Lens
from innerview.serve import failures
from innerview.serve.context import JobMaker, LiveCall, Service
from innerview.serve.guard import Guard
from innerview.serve.page import Page
from innerview.serve.routes import page as page_routes
from innerview.serve.routes import recordings
from innerview.serve.routes import study as study_routes
from innerview.serve.wire import ErrorReply
from innerview.store import Study

ROUTERS = (study_routes.router, recordings.router, page_routes.router)


def create_app(
    study: Study,
    *,
    token: str,
    port: int,
    subjects: Mapping[str, Any] | None = None,
    worlds: Mapping[str, Any] | None = None,
    calls: Mapping[str, LiveCall] | None = None,
    makers: Mapping[str, JobMaker] | None = None,
    lenses: Iterable[Lens] = (),
    jobs: Jobs | None = None,
    page: Page | None = None,
) -> FastAPI:
    """The service over one study. `calls` answer the live channel, `makers` turn a request into a job's work."""
    app = FastAPI(
        title="innerview",
        version="1",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        generate_unique_id_function=_operation_id,
        responses={"4XX": {"model": ErrorReply}, "5XX": {"model": ErrorReply}},
    )
    app.state.service = Service(
        study=study,
        jobs=jobs or Jobs(),
        subjects=subjects or {},
        worlds=worlds or {},
        calls=calls or {},
        makers=makers or {},
        lenses=tuple(lenses),
    )
    app.state.token, app.state.port, app.state.page = token, port, page or Page()
    for router in ROUTERS:
        app.include_router(router)
    failures.install(app)
    app.add_middleware(failures.Unexpected)
    built: Page = app.state.page
    app.add_middleware(Guard, token=token, port=port, is_public=lambda path: path == "/" or built.is_asset(path))
    return app


def _operation_id(route: APIRoute) -> str:
    return route.name
