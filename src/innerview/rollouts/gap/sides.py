"""The two domains of a paired recording, and how each feeds a subject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from innerview.errors import RequestError, UnknownName
from innerview.schema import (
    Binding,
    RecordingInfo,
    Step,
    SubjectInfo,
    bind,
    counterpart,
    domains_of,
    pose_of,
    units_per,
    with_filters,
)
from innerview.store import Recording


@dataclass(frozen=True, kw_only=True)
class Sides:
    """The reference and the other domain."""

    info: RecordingInfo
    domains: tuple[str, str]

    def bindings(
        self, subject: SubjectInfo, inputs: Mapping[str, str], filters: Sequence[Step] = ()
    ) -> tuple[Binding, Binding]:
        """What feeds a subject from each domain; the filters are on the other one's pictures alone."""
        reference, other = (self.binding(subject, inputs, domain) for domain in self.domains)
        return reference, with_filters(other, filters, self.info.arrays)

    def binding(self, subject: SubjectInfo, inputs: Mapping[str, str], domain: str) -> Binding:
        """What feeds a subject from one domain."""
        given = {spec.name: domain for spec in subject.inputs if spec.kind == "image"} | dict(inputs)
        bound = bind(subject.inputs, self.info.arrays, given, where=self.info.name)
        return counterpart(bound, self.info.arrays, domain)


def sides_of(recording: Recording, domains: Sequence[str] = ()) -> Sides:
    """The two domains asked for, or those there are, where it is known in which unit the pose is."""
    info, there = recording.info, domains_of(recording.info.arrays)
    for domain in domains:
        if domain not in there:
            raise UnknownName("domain", domain, there)
    chosen = tuple(domains) or there
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        named = ", ".join(map(repr, there)) or "none"
        raise RequestError(
            f"A gap lies between two domains, and '{recording.name}' has pictures of {named}. Domains are said when "
            "pairs are imported (folders sim and real), or as domain= of an array's description."
        )
    for domain in chosen:
        _check_pose(info, domain)
    return Sides(info=info, domains=(chosen[0], chosen[1]))


def _check_pose(info: RecordingInfo, domain: str) -> None:
    pose = pose_of(info.columns, (domain,))
    if not pose.placed:
        raise RequestError(
            f"'{info.name}' does not say where its pictures were taken: two columns are needed that are x and y of the "
            "pose. Imported columns called x and y are; else describe them: Column(pose='x', unit='m')."
        )
    if units_per(pose.unit, "m") is None:
        unit = f"is '{pose.unit}'" if pose.unit else "is not said, or differs"
        raise RequestError(
            f"The unit of the place {pose.x}, {pose.y} of '{info.name}' {unit}, so an error has no length. Say it: "
            f"'{pose.x} [m]' in a table's head, --unit {pose.x}=m, or Column(unit='m')."
        )
