"""Says what a job is, and runs it with progress, cancel and resume.

Engines decide where work runs; today that is local threads, and any other engine needs only `Engine.submit`.
"""

from innerview.jobs.runner import Cancelled, Engine, Job, Jobs, LocalEngine, Progress, Report, Task

__all__ = ["Cancelled", "Engine", "Job", "Jobs", "LocalEngine", "Progress", "Report", "Task"]
