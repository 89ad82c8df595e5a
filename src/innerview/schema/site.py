"""Places inside a model that can be read and changed, and the address of each: module.path[@call][/part][element]."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from innerview.errors import SubjectError, UnknownName

SiteKind = Literal["activation", "memory", "attention"]
ATTENTION = "attention"
MAX_ADDRESS_LENGTH = 500
_ADDRESS = re.compile(
    r"(?P<module>[^@/\[\]]*)(?:@(?P<call>\d{1,6}))?(?:/(?P<part>[^@/\[\]]+))?(?:\[(?P<element>\d{1,9})\])?"
)
_ELEMENT_AXES = ("head", "element", "channel", "feature")


@dataclass(frozen=True, kw_only=True)
class SiteAddress:
    """One address in its parts: `encoder.x.2.cross@1/attention[3]`."""

    module: str
    """The module's qualified name; empty for the model itself."""
    call: int | None = None
    """Which of several calls in one run, from 0."""
    part: str = ""
    """`attention`, `h`, `c`, or the name of a declared memory; empty for the activation."""
    element: int | None = None
    """A head of an attention map, a channel, an element of a state."""

    def __str__(self) -> str:
        call = "" if self.call is None else f"@{self.call}"
        element = "" if self.element is None else f"[{self.element}]"
        return f"{self.module}{call}{'/' if self.part else ''}{self.part}{element}"


@dataclass(frozen=True, kw_only=True)
class Site:
    """A place that can be read and changed. `shape` and `axes` are without the batch axis."""

    address: str
    kind: SiteKind
    shape: tuple[int, ...] = ()
    """As in the run that found it; attention maps and token sequences may vary with the input."""
    axes: tuple[str, ...] = ()
    stream: str = ""
    """Of an attention map: `self` where query and key come of the same tensors, `cross` where not, or as declared."""
    row_tokens: str = ""
    """What attends: the name of an input with a token for each row, where that is known."""
    column_tokens: str = ""
    """What is attended to."""

    @property
    def element_axis(self) -> int | None:
        """The axis that elements count along: heads, channels or features; None for all numbers of a memory."""
        return next((place for place, axis in enumerate(self.axes) if axis in _ELEMENT_AXES), None)

    @property
    def elements(self) -> int:
        """How many elements it has."""
        if self.kind == "memory" or self.element_axis is None:
            count = 1
            for size in self.shape:
                count *= size
            return count
        return self.shape[self.element_axis]


def parse_site(text: str) -> SiteAddress:
    """An address as people write it."""
    match = _ADDRESS.fullmatch(text) if len(text) <= MAX_ADDRESS_LENGTH else None
    if match is None or not text:
        raise SubjectError(
            f"'{text:.80}' is not the address of a site. Write module.path[@call][/part][element], "
            "as in 'conv2', 'gru/h' or 'encoder.2.self@1/attention[3]'."
        )
    call, element = match["call"], match["element"]
    return SiteAddress(
        module=match["module"],
        call=None if call is None else int(call),
        part=match["part"] or "",
        element=None if element is None else int(element),
    )


def find_site(text: str, sites: Sequence[Site]) -> Site:
    """The site an address means; an unknown one is refused with the nearest match, an ambiguous one with its calls."""
    asked = parse_site(text)
    whole = replace(asked, element=None)
    known = {site.address: site for site in sites}
    found = known.get(str(whole))
    if found is None and whole.call == 0:
        found = known.get(str(replace(whole, call=None)))
    if found is None:
        calls = [address for address in known if _without_call(address) == str(whole)]
        if calls:
            raise SubjectError(f"'{text}' runs {len(calls)} times in one run. Choose a call: {', '.join(calls)}.")
        if whole.part:
            raise UnknownName("site", text, known)
        raise UnknownName("layer", text, [site.address for site in sites if site.kind == "activation"])
    if asked.element is not None and not asked.element < found.elements:
        raise SubjectError(f"'{found.address}' has elements 0 to {found.elements - 1}, not {asked.element}.")
    return found


def _without_call(address: str) -> str:
    return str(replace(parse_site(address), call=None))
