"""Joins capture and lenses to the store: runs, shows progress, cancels, resumes.

A line lives here if it makes something long happen or ties computing to the store. Engines decide where work runs;
today that is local threads, and any other engine needs only `Engine.submit`.
"""

from innerview.jobs.runner import Cancelled, Engine, Job, Jobs, LocalEngine, Progress, Report, Task

__all__ = ["Cancelled", "Engine", "Job", "Jobs", "LocalEngine", "Progress", "Report", "Task"]
