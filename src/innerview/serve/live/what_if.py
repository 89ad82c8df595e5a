"""Holds the sessions of what-if rollouts, which needs torch, until somebody asks for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from innerview.rollouts.what_if.sessions import WhatIfSessions


class LazyWhatIfSessions:
    """The sessions of what-if rollouts, made when it is first used."""

    def __init__(self, make: Callable[[], WhatIfSessions]) -> None:
        self._make, self._made = make, list[Any]()
        self._lock = threading.Lock()

    def get(self) -> WhatIfSessions:
        """The same every time."""
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            found: WhatIfSessions = self._made[0]
            return found

    def close(self) -> None:
        """End its games, if there are any."""
        with self._lock:
            while self._made:
                self._made.pop().close()
