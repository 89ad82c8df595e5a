"""Bindings made of others: fed by the other domain, or through filters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from innerview.errors import RequestError
from innerview.schema.binding import Binding, Step, is_depth
from innerview.schema.data import ArraySpec
from innerview.schema.picture.filter import PICTURE_FILTERS


def domains_of(arrays: Iterable[ArraySpec]) -> tuple[str, ...]:
    """The domains that pictures are of, the simulator first."""
    found = dict.fromkeys(array.domain for array in arrays if array.domain and array.is_image)
    return tuple(sorted(found, key=lambda name: name != "sim"))


def counterpart(binding: Binding, arrays: Iterable[ArraySpec], domain: str) -> Binding:
    """The same binding fed by a domain: each array that belongs to another one is replaced by its counterpart.

    A counterpart of another size is resized to that of the array it replaces.
    """
    known = {array.name: array for array in arrays}
    made = []
    for item in binding.inputs:
        own = known[item.array]
        if own.domain in ("", domain):
            made.append(item)
            continue
        others = [array for array in known.values() if array.domain == domain and own.pair and array.pair == own.pair]
        if len(others) != 1:
            there = ", ".join(array.name for array in known.values() if array.domain == domain) or "nothing"
            raise RequestError(
                f"'{own.name}' has no counterpart in '{domain}': arrays of the same pair belong together, and there is "
                f"{there}. Import both sides with one name of the pair each, as in sim/rgb and real/rgb."
            )
        resized = any(step.kind == "resize" for step in item.steps) or not own.is_image
        other_size = others[0].shape[:2] != own.shape[:2] and not resized
        size = (Step(kind="resize", values=(own.shape[1], own.shape[0])),) if other_size else ()
        made.append(replace(item, array=others[0].name, domain=domain, steps=(*size, *item.steps)))
    return Binding(inputs=tuple(made))


def with_filters(binding: Binding, filters: Sequence[Step], arrays: Iterable[ArraySpec]) -> Binding:
    """The same binding with filters before its other steps: colours on colours, depth on depth, the view on both."""
    known = {array.name: array for array in arrays}
    used: set[Step] = set()
    made = []
    for item in binding.inputs:
        array = known[item.array]
        parts = ("depth", "view") if is_depth(array) else ("colour", "view")
        chosen = [step for step in filters if array.is_image and PICTURE_FILTERS[step.kind].part in parts]
        used.update(chosen)
        before = [step for step in item.steps if step.kind in PICTURE_FILTERS]
        after = [step for step in item.steps if step.kind not in PICTURE_FILTERS]
        made.append(replace(item, steps=(*before, *chosen, *after)))
    for step in filters:
        if step not in used:
            what = PICTURE_FILTERS[step.kind].part.replace("view", "picture").replace("colour", "picture in colour")
            raise RequestError(f"Filter '{step}': no {what} feeds an input of this subject ({binding}).")
    return Binding(inputs=tuple(made))
