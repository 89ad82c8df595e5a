"""Every method of attribution that fits a subject: lenses that give heat row by row, and their variants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from innerview.lenses.discovery import LoadedLens
from innerview.lenses.look import run_lens
from innerview.lenses.methods import heat_methods
from innerview.lenses.needs import unmet_needs
from innerview.schema import Heat, Lens, RecordingInfo, Rows, Setting, SubjectInfo
from innerview.subjects import Subject
from innerview.trust.question import Method


@dataclass(frozen=True)
class MethodLens:
    """A lens with the parameters that make it one method."""

    looking: LoadedLens
    name: str
    parameters: Mapping[str, Setting]

    @property
    def lens(self) -> Lens:
        """The lens."""
        return self.looking.lens

    def method(self) -> Method:
        """As the figures want it."""
        kinds = {parameter.type for parameter in self.lens.parameters}
        named = {parameter.name for parameter in self.lens.parameters}
        return Method(
            name=self.name,
            maps=self.maps,
            takes_action="target" in kinds or "action" in named,
            baseline=self.lens.baseline,
            slow=self.lens.cost != "instant",
        )

    def maps(self, rows: Rows, subject: Subject, *, target: str, action: str) -> Heat:
        """The maps of these rows."""
        given: dict[str, Any] = dict(self.parameters)
        for parameter in self.lens.parameters:
            if parameter.type == "target":
                given[parameter.name] = target
            elif parameter.name == "action":
                given[parameter.name] = action
        found = run_lens(self.looking, rows, subject, given)
        assert isinstance(found, Heat)  # it says so, and run_lens checks it
        return found


def methods_for(recording: RecordingInfo, subject: SubjectInfo) -> list[MethodLens]:
    """Those that fit, edge detectors last; not those that ask about a pose or another domain in place of a target."""
    found = [each for each in _methods() if not unmet_needs(each.lens, recording, subject)]
    found = [each for each in found if not {"domains", "pose"} & set(each.lens.needs)]
    return sorted(found, key=lambda each: each.lens.baseline)


def _methods() -> Iterator[MethodLens]:
    for name, method in heat_methods().items():
        if method.looking.lens.runs_subject:
            yield MethodLens(method.looking, name, method.usual)
