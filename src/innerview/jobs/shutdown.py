"""Stops what is under way when Python ends, while it can still be stopped well."""

from __future__ import annotations

import atexit
import concurrent.futures.thread  # noqa: F401  (registers itself in the same way, and must do so before us)
import os
import threading
from collections.abc import Callable


def before_threads_end(call: Callable[[], None]) -> None:
    """Call it when this process has run its last line, before pools of threads are closed.

    `atexit` is too late: pools take no more work then, so that a recording could not put its last rows on disk. And a
    thread that is inside of torch when Python goes away takes the whole process down.
    """
    ours = os.getpid()

    def unless_forked() -> None:
        if os.getpid() == ours:  # a child has none of our threads, and their locks may be closed for ever
            call()

    register: Callable[[Callable[[], None]], object] = getattr(threading, "_register_atexit", atexit.register)
    register(unless_forked)
