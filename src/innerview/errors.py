"""Names every failure. A message gives the bad value, the valid choices, the nearest match and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class InnerviewError(Exception):
    """Anything innerview refuses to do, said so that a person can act on it."""


class UnknownName(InnerviewError):
    """A name that nothing answers to."""

    def __init__(self, what: str, name: str, choices: Iterable[str], hint: str = "") -> None:
        self.what, self.name, self.choices = what, name, tuple(choices)
        super().__init__(_unknown_message(what, name, self.choices, hint))


class SubjectError(InnerviewError):
    """A model could not be adapted, fed or read."""


class NoRectifier(SubjectError):
    """A rule of going back through rectifiers has no meaning for a model: it has none, or others in their place."""


class WorldError(InnerviewError):
    """A world could not be opened or stopped working."""


class CaptureError(InnerviewError):
    """A recording could not go on; what was committed is safe."""


class NotAsRecorded(InnerviewError):
    """The subject or the world is another than the one that a recording was made with."""


class StoreError(InnerviewError):
    """Something on disk is missing, damaged or in use."""


class FormatVersionError(StoreError):
    """A study was written by a version of innerview that this one cannot read."""


class StudyBusy(StoreError):
    """Another process is writing what this one wants to write."""


class DamagedPart(StoreError):
    """One part of a study cannot be read; the rest can."""


class DiskFull(StoreError):
    """There was no room to write; what was saved before is safe."""


class ReadOnly(StoreError):
    """Nothing can be written there; reading works."""


class LensError(InnerviewError):
    """A lens cannot look at this subject or these rows."""


class EditError(InnerviewError):
    """An edit does not fit the subject, or what it makes of the memory is no number any more."""


class MetricError(InnerviewError):
    """An expression cannot be understood or computed; `at` is the character where."""

    def __init__(self, message: str, at: int = 0) -> None:
        self.at = at
        super().__init__(message)


class JobError(InnerviewError):
    """A job could not start, go on or be found."""


class RequestError(InnerviewError):
    """A request from outside is malformed, too large or not allowed."""


def _unknown_message(what: str, name: str, choices: tuple[str, ...], hint: str) -> str:
    near = get_close_matches(name, choices, n=1, cutoff=0.5)
    guess = f" Did you mean '{near[0]}'?" if near else ""
    shown = ", ".join(choices[:20]) + (f", … ({len(choices)} in all)" if len(choices) > 20 else "")
    valid = f" Known: {shown}." if choices else f" There is no {what} here."
    return f"Unknown {what} '{name}'.{guess}{valid}{' ' + hint if hint else ''}"


class PluginError(InnerviewError):
    """Something that another package adds cannot be used."""
