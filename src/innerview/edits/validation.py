"""Tells whether edits fit a subject, before anything is played."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from innerview.errors import EditError, UnknownName
from innerview.schema import EditMode, MemoryEdit, MemorySite, Reduction, to_json

MOST_EDITS = 10_000


def as_edits(given: Reduction | MemoryEdit | Sequence[MemoryEdit] | None) -> tuple[MemoryEdit, ...]:
    """One edit, several, a reduction's, or none, as a tuple."""
    if given is None:
        return ()
    if isinstance(given, Reduction):
        return given.edits
    edits = (given,) if isinstance(given, MemoryEdit) else tuple(given)
    for edit in edits:
        if not isinstance(edit, MemoryEdit):
            raise EditError(f"{edit!r:.80} is no edit. Give MemoryEdit(elements=(0, 1), mode='zero'), or a Reduction.")
    return edits


def checked(edits: Sequence[MemoryEdit], sites: Sequence[MemorySite]) -> tuple[MemoryEdit, ...]:
    """The same edits with their site filled in and elements in order, or an error that says what would fit."""
    if len(edits) > MOST_EDITS:
        raise EditError(f"A reduction has at most {MOST_EDITS} edits, not {len(edits)}: put elements together.")
    return tuple(_checked(edit, sites) for edit in edits)


def fingerprint(edits: Sequence[MemoryEdit]) -> str:
    """The same for edits that do the same in the same words; empty for none."""
    if not edits:
        return ""
    plain = json.dumps([to_json(edit) for edit in edits], sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def described(edit: MemoryEdit) -> str:
    """An edit in words."""
    count = len(edit.elements)
    which = f"element{'s' if count > 1 else ''} {', '.join(map(str, edit.elements[:6]))}{', …' if count > 6 else ''}"
    what = {"zero": "zeroed", "freeze": "frozen", "set": f"set to {edit.value:g}"}[edit.mode]
    until = "" if edit.stop is None else f" to {edit.stop - 1}"
    when = f" from step {edit.start}{until}" if edit.start or edit.stop is not None else ""
    return f"{which}{f' ({count} in all)' if count > 6 else ''} of '{edit.site}' {what}{when}"


def _checked(edit: MemoryEdit, sites: Sequence[MemorySite]) -> MemoryEdit:
    site = _site(edit.site, sites)
    size = math.prod(site.shape)
    _check_numbers(edit)
    wrong = [element for element in edit.elements if not 0 <= element < size]
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise EditError(f"Element {wrong[0]}{more} is not in '{site.name}', which has elements 0 to {size - 1}.")
    return replace(edit, site=site.name, elements=tuple(sorted(set(edit.elements))), value=float(edit.value))


def _site(name: str, sites: Sequence[MemorySite]) -> MemorySite:
    if not sites:
        raise EditError("This subject has no memory: there is nothing that an edit could change.")
    by_name = {site.name: site for site in sites}
    if not name or (name == "memory" and name not in by_name):
        if len(sites) > 1:
            raise EditError(f"This subject has several memory sites: say which with site=… ({', '.join(by_name)}).")
        return sites[0]
    # Recordings call the array of a site "memory.<site>"; both names are understood.
    found = by_name.get(name) or by_name.get(name.removeprefix("memory."))
    if found is None:
        raise UnknownName("memory site", name, by_name)
    return found


def _check_numbers(edit: MemoryEdit) -> None:
    if edit.mode not in get_args(EditMode):
        raise UnknownName("mode of an edit", str(edit.mode), get_args(EditMode))
    if not edit.elements:
        raise EditError("An edit without elements changes nothing. Choose at least one element.")
    for element in edit.elements:
        _check_whole(element, "An element is the place of a number in the memory")
    _check_whole(edit.start, "start is a step, 0 or more")
    if edit.start < 0:
        raise EditError(f"start is a step, 0 or more, not {edit.start}.")
    if edit.stop is not None:
        _check_whole(edit.stop, "stop is the step after the last")
        if edit.stop <= edit.start:
            raise EditError(f"stop must be after start: {edit.stop} is not after {edit.start}.")
    number = isinstance(edit.value, int | float) and not isinstance(edit.value, bool)
    if not number or not math.isfinite(edit.value):
        raise EditError(f"An element can be set to a finite number, not to {edit.value!r}.")


def _check_whole(value: Any, what: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise EditError(f"{what}, not {value!r:.40}.")
