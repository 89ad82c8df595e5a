"""What a recording offers: the page compares it with what a workspace needs, and says what is missing."""

from __future__ import annotations

from collections.abc import Iterable

from innerview.lenses.needs import unmet_needs
from innerview.schema import Lens, RecordingInfo, pose_of, targets_of
from innerview.serve.wire import Capabilities


def capabilities_of(info: RecordingInfo, *, lenses: Iterable[Lens], live: bool) -> Capabilities:
    """What rows and subject of a recording offer; `live` says whether a model is loaded that can be run on them."""
    roles: dict[str, list[str]] = {}
    for array in info.arrays:
        roles.setdefault(array.role, []).append(array.name)
    subject = info.subject
    lacks = {lens.name: " ".join(_lacks(lens, info, live=live)) for lens in lenses}
    return Capabilities(
        row=info.row,
        ordered=info.ordering is not None,
        arrays=roles,
        images=[array.name for array in info.arrays if array.is_image],
        domains=sorted({array.domain for array in info.arrays if array.domain}),
        posed=_posed(info),
        subject=subject is not None,
        heads=sorted({head.kind for head in subject.heads}) if subject else [],
        targets=list(targets_of(subject.heads)) if subject else [],
        sites=_sites(info),
        lenses=sorted(name for name, missing in lacks.items() if not missing),
        lacks={name: missing for name, missing in lacks.items() if missing},
        live=live,
    )


def _lacks(lens: Lens, info: RecordingInfo, *, live: bool) -> tuple[str, ...]:
    """What is missing; of a live model that nothing was recorded with, it is said when it is asked."""
    if live and info.subject is None and lens.runs_subject:
        return ()
    return unmet_needs(lens, info, info.subject if live else None)


def _posed(info: RecordingInfo) -> bool:
    """Whether it is known where rows lie, in one domain at least."""
    domains = {column.domain for column in info.columns}
    return any(pose_of(info.columns, {domain} - {""}).placed for domain in domains)


def _sites(info: RecordingInfo) -> list[str]:
    """The kinds of places inside the subject that can be looked at."""
    subject = info.subject
    found: set[str] = {array.role for array in info.arrays if array.role in ("memory", "activation", "attention")}
    if subject is not None:
        listed = {"activation": subject.layers, "memory": subject.memory, "attention": subject.attention}
        found |= {kind for kind, places in listed.items() if places}
    return sorted(found)
