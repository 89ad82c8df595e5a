"""The work of one job: split into parts, run, and merged; a result of it is stored in the study and found again."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from innerview.errors import FormatVersionError, StoreError, UnknownName
from innerview.jobs.context import Context
from innerview.jobs.engine import PartedWork, Progress, perform
from innerview.jobs.kinds import check_bounds, kind_of
from innerview.jobs.terminal import bar
from innerview.schema import Result
from innerview.store import Recording

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Product:
    """What a job makes, known before it is done, so that it can be looked at while it grows."""

    result: str = ""
    """Id of a result."""
    recording: str = ""
    """Name of a recording."""
    predictions: str = ""
    """Id of predictions."""
    subject: str = ""
    """Who plays or predicts in it."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What stored work has to say: figures, and arrays beside them."""

    value: Any
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    type: str = ""
    shown: Mapping[str, Any] = field(default_factory=dict)


class Work(PartedWork):
    """The work of one job, checked. Making one raises whatever is wrong with what was asked.

    Made again from the same job, in another process with the same study, subjects and worlds, it runs the same parts.
    """

    again = False
    """Whether it is wanted anew, where it was answered before."""

    def __init__(self, job: Any, context: Context) -> None:
        self.job, self.study, self.kind = job, context.study, kind_of(job)

    @property
    @abstractmethod
    def title(self) -> str:
        """What is done, in words."""

    @property
    @abstractmethod
    def product(self) -> Product:
        """What it will have made."""


class StoredWork(Work):
    """Work whose result is stored by what it depends on: the same question is answered once.

    What there is so far is stored as provisional. A damaged result is computed anew. Whatever makes work go on where it
    was stopped is stored by the parts themselves (episodes that were played, effects that were computed), or read from
    the provisional result.
    """

    grows: ClassVar[bool] = False
    """Whether what the parts before gave can be shown while others run."""
    recording: Recording

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """All that the result depends on beside the recording: arguments as they are understood, weights, world."""

    @abstractmethod
    def merge(self, given: Sequence[Any]) -> Found:
        """What parts gave, all of them or the first ones."""

    @property
    def result_kind(self) -> str:
        """The kind that the result is listed as."""
        return self.kind.name

    @cached_property
    def id(self) -> str:
        """The id that its result has."""
        return self.study.result_id(self.result_kind, self.recording.name, self.identity, version=self.kind.version)

    @property
    def product(self) -> Product:
        """Its result."""
        return Product(result=self.id)

    def answered(self) -> Result | None:
        """The result that is in the study, where it was asked before and is not wanted again."""
        saved = None if self.again else self.saved()
        if saved is None:
            self.study.check_writable()
        return saved

    def finish(self, given: Sequence[Any]) -> Result:
        """The result, stored."""
        return self.save(self.merge(given))

    def saved(self) -> Result | None:
        """The whole result, where there is one that is not damaged."""
        try:
            saved = self.study.result(self.id)
            if saved.provisional:
                return None
            self.study.check_result(self.id)
        except (UnknownName, FormatVersionError):
            return None
        except StoreError as error:
            log.warning("The stored result of '%s' is damaged and is computed anew. %s", self.title, error)
            return None
        return saved

    def save(self, found: Found, *, provisional: bool = False) -> Result:
        """Put what was found, or what there is of it so far, into the study."""
        return self.study.save_result(
            self.result_kind,
            recording=self.recording.name,
            arguments=self.identity,
            value=found.value,
            arrays=found.arrays,
            type=found.type,
            shown=found.shown,
            title=self.title,
            provisional=provisional,
            result=self.id,
        )

    def show_so_far(self, given: Sequence[Any], part: Any = None) -> None:
        """Store what there is as provisional."""
        if part is not None or (self.grows and self.parts(given)):
            self.save(self.merge([*given, *(() if part is None else (part,))]), provisional=True)


def prepare(job: Any, context: Context, *, again: bool = False) -> Work:
    """The work of a job, checked against the study and what is live: nothing is computed yet."""
    kind = kind_of(job)
    check_bounds(job)
    work: Work = kind.load()(job, context)
    work.again = again
    return work


def run_job(job: Any, context: Context, *, progress: Progress | bool = True, again: bool = False) -> Any:
    """Do a job here and now, and return what it made."""
    work = prepare(job, context, again=again)
    with bar(progress, work.title, work.kind.unit) as report:
        return perform(work, report)


def spans(count: int, size: int) -> list[tuple[int, int]]:
    """(first, stop) of parts of at most `size`."""
    return [(first, min(first + size, count)) for first in range(0, count, size)]
