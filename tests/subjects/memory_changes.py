"""One function of a memory's name and state as changes of all memory sites."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch import Tensor

from innerview.subjects import Changes, Subject


def memory_changes(subject: Subject, change: Callable[[str, Tensor], Tensor]) -> Changes:
    """The same change at every memory site."""
    return Changes({site.address: partial(change, site.name) for site in subject.info.memory})
