"""Everything that runs long."""

from __future__ import annotations

from fastapi import APIRouter

from innerview.errors import UnknownName
from innerview.jobs.runner import Job
from innerview.serve.context import Serving
from innerview.serve.encoding.plain import plain
from innerview.serve.wire import JobReply, JobRequest

router = APIRouter(prefix="/api/jobs", tags=["jobs"])


@router.get("")
def jobs(service: Serving) -> list[JobReply]:
    """Every job, oldest first."""
    return [_reply(job) for job in service.jobs.list()]


@router.post("", status_code=201)
def start_job(body: JobRequest, service: Serving) -> JobReply:
    """Start a job of a kind, with what that kind takes beside it."""
    if body.kind not in service.makers:
        raise UnknownName("kind of job", body.kind, service.makers)
    task = service.makers[body.kind](dict(body.model_extra or {}))
    return _reply(service.jobs.submit(body.kind, task.title, task.work, unit=task.unit, promise=task.promise))


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
