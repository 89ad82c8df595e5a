"""Holds the sessions of what-if rollouts, which needs torch, until somebody asks for it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from innerview.jobs.context import Context

if TYPE_CHECKING:
    from innerview.rollouts.what_if.sessions import WhatIfSessions


class LazyWhatIfSessions:
    """The sessions of what-if rollouts, made when it is first used."""

    def __init__(self, context: Context) -> None:
        self._context, self._made = context, list[Any]()
        self._lock = threading.Lock()

    def get(self) -> WhatIfSessions:
        """The same every time."""
        with self._lock:
            if not self._made:
                from innerview.rollouts.what_if.sessions import WhatIfSessions

                self._made.append(WhatIfSessions(self._context))
            found: WhatIfSessions = self._made[0]
            return found

    def close(self) -> None:
        """End its games, if there are any."""
        with self._lock:
            while self._made:
                self._made.pop().close()
