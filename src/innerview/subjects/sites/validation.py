"""Says whether edits fit a subject, before anything runs."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from innerview.errors import EditError, UnknownName
from innerview.schema import (
    FILTERS,
    Edit,
    Edits,
    EditSet,
    InputEdit,
    Site,
    SiteEdit,
    SubjectInfo,
    WeightEdit,
    find_site,
    to_json,
)
from innerview.schema.edit import InputOperation, SiteOperation
from innerview.schema.site import parse_site

MAX_EDITS = 10_000
MAX_MAP_NUMBERS = 1_000_000
_ATTENTION_OPERATIONS = ("uniform", "force")


def as_edits(given: Edits | None) -> tuple[Edit, ...]:
    """One edit, several, a set's, or none, as a tuple."""
    if given is None:
        return ()
    if isinstance(given, EditSet):
        return given.edits
    edits = (given,) if isinstance(given, Edit) else tuple(given)
    for edit in edits:
        if not isinstance(edit, Edit):
            raise EditError(f"{edit!r:.80} is not an edit. Give SiteEdit(elements=(0, 1), op='zero'), or an EditSet.")
    return edits


def checked(edits: Sequence[Edit], info: SubjectInfo) -> tuple[Edit, ...]:
    """The same edits with sites and inputs filled in and elements in order, or an error that says what would fit."""
    if len(edits) > MAX_EDITS:
        raise EditError(f"A set has at most {MAX_EDITS} edits, not {len(edits)}: put elements together.")
    return tuple(_checked(edit, info) for edit in edits)


def fingerprint(edits: Sequence[Edit]) -> str:
    """The same for edits that do the same in the same words; empty for none."""
    if not edits:
        return ""
    plain = json.dumps([to_json(edit) for edit in edits], sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def described(edit: Edit) -> str:
    """An edit in words."""
    if isinstance(edit, WeightEdit):
        return f"{edit.op} at '{edit.weight or edit.layer}'"
    if isinstance(edit, InputEdit):
        return f"{edit.filter or edit.op} of input '{edit.input}'"
    count = len(edit.elements)
    which = f"element{'s' if count > 1 else ''} {', '.join(map(str, edit.elements[:6]))}{', …' if count > 6 else ''}"
    done = {"zero": "zeroed", "freeze": "frozen", "set": f"set to {edit.value:g}", "scale": f"times {edit.value:g}"}
    others = {"uniform": "made uniform", "force": "forced", "project out": "without directions"}
    until = "" if edit.stop is None else f" to {edit.stop - 1}"
    when = f" from step {edit.start}{until}" if edit.start or edit.stop is not None else ""
    return f"{which}{f' ({count} in all)' if count > 6 else ''} of '{edit.site}' {(done | others)[edit.op]}{when}"


def _checked(edit: Edit, info: SubjectInfo) -> Edit:
    if isinstance(edit, SiteEdit):
        return _checked_site(edit, info)
    if isinstance(edit, InputEdit):
        return _checked_input(edit, info)
    raise EditError(
        "A WeightEdit changes the model itself and cannot be made in a run. "
        "Make an edited subject first: iv.edit(subject, edits)."
    )


def _checked_site(edit: SiteEdit, info: SubjectInfo) -> SiteEdit:
    site, element = _site(edit.site, info)
    elements = edit.elements or (() if element is None else (element,))
    if (not elements and site.kind != "memory") or edit.op == "project out":
        elements = elements or tuple(range(site.elements))
    _check_numbers(edit, elements)
    wrong = [element for element in elements if not 0 <= element < site.elements]
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        last = site.elements - 1
        raise EditError(f"Element {wrong[0]}{more} is not in '{site.address}', which has elements 0 to {last}.")
    if edit.op in _ATTENTION_OPERATIONS and site.kind != "attention":
        maps = ", ".join(each.address for each in info.attention) or "none"
        raise EditError(f"'{edit.op}' changes an attention map; '{site.address}' is {site.kind}. Maps: {maps}.")
    if edit.op == "force":
        _check_table(edit.map, "map", None)
    if edit.op == "project out":
        _check_table(edit.directions, "directions", site.elements)
    return replace(edit, site=site.address, elements=tuple(sorted(set(elements))), value=float(edit.value))


def _site(name: str, info: SubjectInfo) -> tuple[Site, int | None]:
    if not name:
        return info.memory_site().site, None
    return find_site(name, info.sites), parse_site(name).element


def _checked_input(edit: InputEdit, info: SubjectInfo) -> InputEdit:
    if edit.op not in get_args(InputOperation):
        raise UnknownName("operation on an input", str(edit.op), get_args(InputOperation))
    known = {spec.name: spec for spec in info.inputs}
    name = edit.input or (next(iter(known)) if len(known) == 1 else "")
    if name not in known:
        raise UnknownName("input", name, known)
    shape = known[name].shape
    if len(shape) != 3:
        raise EditError(
            f"Input '{name}' has shape {list(shape)}; '{edit.op}' changes an image [channel, height, width]."
        )
    _check_finite(edit.value)
    if edit.op == "patch":
        _check_box(edit.box, shape)
    elif edit.op == "filter":
        _check_filter(edit)
    else:
        _check_frame(edit, shape[0])
    return replace(edit, input=name)


def _check_box(box: tuple[int, int, int, int] | None, shape: tuple[int, ...]) -> None:
    if box is None or len(box) != 4:
        raise EditError("A patch needs box=(top, left, bottom, right).")
    top, left, bottom, right = box
    if not (0 <= top < bottom <= shape[1] and 0 <= left < right <= shape[2]):
        raise EditError(f"Box {box} is not within {shape[1]} × {shape[2]} pixels: top, left, bottom, right.")


def _check_filter(edit: InputEdit) -> None:
    if edit.filter not in FILTERS:
        raise UnknownName("filter", edit.filter, FILTERS)
    parameter = FILTERS[edit.filter][0]
    for name, value in edit.parameters:
        if name != parameter:
            raise UnknownName(f"parameter of filter '{edit.filter}'", name, (parameter,))
        _check_finite(value)
        if parameter == "sigma_px" and not 0 < value <= 100:
            raise EditError(f"sigma_px is more than 0 and at most 100 pixels, not {value}.")


def _check_frame(edit: InputEdit, channels: int) -> None:
    if edit.frames < 1 or channels % edit.frames:
        raise EditError(f"{channels} channels cannot be divided among frames={edit.frames}.")
    for frame in (edit.frame, *(() if edit.source is None else (edit.source,))):
        if not 0 <= frame < edit.frames:
            raise EditError(f"The stack has frames 0 to {edit.frames - 1}, not {frame}.")


def _check_table(table: tuple[tuple[float, ...], ...], what: str, width: int | None) -> None:
    widths = {len(line) for line in table}
    if not table or len(widths) != 1 or 0 in widths or (width is not None and widths != {width}):
        wide = "of the same length" if width is None else f"of {width} numbers each"
        raise EditError(f"{what} needs one row or more, {wide}.")
    if len(table) * len(table[0]) > MAX_MAP_NUMBERS:
        raise EditError(f"{what} has more than {MAX_MAP_NUMBERS:,} numbers.")
    if not all(isinstance(v, int | float) and math.isfinite(v) for line in table for v in line):
        raise EditError(f"{what} holds something that is not a finite number.")
    if width is not None and not all(any(line) for line in table):
        raise EditError("A direction of nothing but zeros cannot be projected out.")


def _check_numbers(edit: SiteEdit, elements: Sequence[int]) -> None:
    if edit.op not in get_args(SiteOperation):
        raise UnknownName("operation of an edit", str(edit.op), get_args(SiteOperation))
    if not elements:
        raise EditError("An edit of a memory without elements changes nothing. Choose at least one element.")
    for element in elements:
        _check_whole(element, "An element is the place of a number in the memory")
    _check_whole(edit.start, "start is a step, 0 or more")
    if edit.start < 0:
        raise EditError(f"start is a step, 0 or more, not {edit.start}.")
    if edit.stop is not None:
        _check_whole(edit.stop, "stop is the step after the last")
        if edit.stop <= edit.start:
            raise EditError(f"stop must be after start: {edit.stop} is not after {edit.start}.")
    _check_finite(edit.value)


def _check_finite(value: Any) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value):
        raise EditError(f"An element can be set to a finite number, not to {value!r}.")


def _check_whole(value: Any, what: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise EditError(f"{what}, not {value!r:.40}.")
