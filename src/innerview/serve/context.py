"""What the routes work with: the study, live objects and what the rest of innerview can do for a request."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from fastapi import Depends
from starlette.requests import HTTPConnection

from innerview.jobs.context import Context
from innerview.jobs.runner import Jobs
from innerview.schema import Lens
from innerview.serve.docs.pages import Docs
from innerview.serve.live.what_if import LazyWhatIfSessions
from innerview.serve.openings import LOOK_AGAIN_S, Opened, Openings
from innerview.serve.pyramids import Pyramids
from innerview.store import Damage, Study, check_at_a_glance

Answer = dict[str, Any] | tuple[dict[str, Any], np.ndarray]
LiveCall = Callable[[dict[str, Any], Callable[[], bool]], Answer]
"""Takes the arguments and a call that tells whether nobody waits any more."""
LIVE_THREADS = 4


@dataclass(frozen=True, kw_only=True)
class Service:
    """Everything one server serves from."""

    study: Study
    openings: Openings
    jobs: Jobs
    subjects: Mapping[str, Any] = field(default_factory=dict)
    worlds: Mapping[str, Any] = field(default_factory=dict)
    calls: Mapping[str, LiveCall] = field(default_factory=dict)
    lenses: Iterable[Lens] = ()
    docs: Docs = field(default_factory=Docs)
    pool: Executor = field(default_factory=lambda: ThreadPoolExecutor(LIVE_THREADS, "live"))
    """Runs live calls."""
    live: set[Any] = field(default_factory=set)
    """Live connections that are open."""
    pyramids: Pyramids = field(default_factory=Pyramids)
    _looked: list[tuple[float, list[Damage]]] = field(default_factory=list)

    @property
    def context(self) -> Context:
        """What jobs work with."""
        return Context(study=self.study, subjects=self.subjects, worlds=self.worlds)

    @cached_property
    def what_ifs(self) -> LazyWhatIfSessions:
        """Rollouts by live subjects in live worlds."""
        return LazyWhatIfSessions(self.context)

    def open(self, name: str) -> Opened:
        """The recording as it is on disk now; read again only when its manifest was replaced."""
        return self.openings.open(name)

    def damage(self) -> list[Damage]:
        """What lists leave out; manifests are read each time, the rest again after a while."""
        now = time.monotonic()
        if not self._looked or now - self._looked[-1][0] > LOOK_AGAIN_S:
            self._looked[:] = [(now, check_at_a_glance(self.study))]
        return [*self.study.damaged(), *self._looked[-1][1]]

    def close(self) -> None:
        """Cancel what runs; nothing recorded is lost."""
        self.jobs.close()
        self.pool.shutdown(wait=False, cancel_futures=True)
        self.pyramids.close()
        self.what_ifs.close()


def _service(connection: HTTPConnection) -> Service:
    service: Service = connection.app.state.service
    return service


Serving = Annotated[Service, Depends(_service)]
