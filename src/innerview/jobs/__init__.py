"""Says what a job is, and runs it with progress, cancel and resume.

A kind of job is a frozen dataclass of arguments (`kinds`) with the work it asks for (`work`): parts that can be run one
by one, merged into what is stored. Engines are given parts and decide where they run; today that is local threads.
"""

from innerview.jobs.context import Context
from innerview.jobs.engine import Cancelled, Engine, LocalEngine, PartedWork, Progress, Report, perform
from innerview.jobs.kinds import KINDS, JobKind, bounded, job_kind
from innerview.jobs.runner import Job, Jobs
from innerview.jobs.work import Found, Product, StoredWork, Work, run_job

__all__ = [
    "KINDS",
    "Cancelled",
    "Context",
    "Engine",
    "Found",
    "Job",
    "JobKind",
    "Jobs",
    "LocalEngine",
    "PartedWork",
    "Product",
    "Progress",
    "Report",
    "StoredWork",
    "Work",
    "bounded",
    "job_kind",
    "perform",
    "run_job",
]
