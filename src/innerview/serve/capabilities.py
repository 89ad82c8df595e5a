"""What a recording offers: the page compares it with what a workspace needs, and says what is missing."""

from __future__ import annotations

from collections.abc import Iterable

from innerview.schema import Lens, RecordingInfo
from innerview.serve.wire import Capabilities


def capabilities_of(info: RecordingInfo, *, lenses: Iterable[Lens], live: bool) -> Capabilities:
    """What rows and subject of a recording offer; `live` says whether a model is loaded that can be run on them."""
    roles: dict[str, list[str]] = {}
    for array in info.arrays:
        roles.setdefault(array.role, []).append(array.name)
    subject = info.subject
    offered = _offered(info, live=live)
    return Capabilities(
        row=info.row,
        ordered=info.ordering is not None,
        arrays=roles,
        images=[array.name for array in info.arrays if array.is_image],
        domains=sorted({array.domain for array in info.arrays if array.domain}),
        subject=subject is not None,
        heads=sorted({head.kind for head in subject.heads}) if subject else [],
        sites=_sites(info),
        lenses=sorted(lens.name for lens in lenses if set[str](lens.needs) <= offered),
        live=live,
    )


def _offered(info: RecordingInfo, *, live: bool) -> set[str]:
    """What lenses may ask for, in their own words."""
    subject = info.subject
    given = [array for array in info.arrays if array.role == "observation"]
    inputs = {"image" if array.is_image else "vector" for array in given}
    offered: set[str] = set(_sites(info))
    if subject is not None:
        inputs |= {each.kind for each in subject.inputs}
        offered |= {head.kind for head in subject.heads}
        offered |= {"convolution"} if subject.convolutions else set()
    if live:
        # A model of a family that does not list its parts may still have them; asking it says so.
        offered |= {"gradients", "convolution"}
    return offered | {f"{kind} input" for kind in inputs}


def _sites(info: RecordingInfo) -> list[str]:
    """The kinds of places inside the subject that can be looked at."""
    subject = info.subject
    found: set[str] = {array.role for array in info.arrays if array.role in ("memory", "activation", "attention")}
    if subject is not None:
        listed = {"activation": subject.layers, "memory": subject.memory, "attention": subject.attention}
        found |= {kind for kind, places in listed.items() if places}
    return sorted(found)
