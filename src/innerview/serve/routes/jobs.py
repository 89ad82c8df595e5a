"""Everything that runs long."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body

from innerview.jobs.runner import Job
from innerview.serve.arguments import JobRequest
from innerview.serve.context import Serving
from innerview.serve.encoding.plain import plain
from innerview.serve.wire import JobReply

router = APIRouter(prefix="/api/jobs", tags=["jobs"])


@router.get("")
def jobs(service: Serving) -> list[JobReply]:
    """Every job, oldest first."""
    return [_reply(job) for job in service.jobs.list()]


@router.post("", status_code=201)
def start_job(body: Annotated[JobRequest, Body()], service: Serving) -> JobReply:
    """Start a job of a kind, with what that kind takes beside it; what it cannot do it refuses at once."""
    return _reply(service.jobs.start(body.arguments, service.context, again=body.again))


@router.get("/{job_id}")
def job(job_id: str, service: Serving) -> JobReply:
    """How a job stands."""
    return _reply(service.jobs.get(job_id))


@router.post("/{job_id}/cancel")
def cancel_job(job_id: str, service: Serving) -> JobReply:
    """Ask a job to stop."""
    return _reply(service.jobs.cancel(job_id))


@router.post("/{job_id}/resume")
def resume_job(job_id: str, service: Serving) -> JobReply:
    """Run a failed or cancelled job again; a recording goes on where it stopped."""
    return _reply(service.jobs.resume(job_id))


def _reply(job: Job) -> JobReply:
    return JobReply.model_validate(plain(job))
