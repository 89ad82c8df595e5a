"""Memorised or general: does it respond to the same thing wherever it is, or only where it learnt to expect it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from innerview.saliency.shares.explained import Explained, Figure, clusters, explained
from innerview.saliency.shares.maps import MAP, MapOf
from innerview.saliency.shares.sightings import OFFSETS, Sightings, Spotter
from innerview.schema import Axis, Lens, Parameter, Rows, Table, Watch, to_json, unwatched

if TYPE_CHECKING:
    from innerview.subjects import Subject

LENS = Lens(
    name="memorised",
    question="Does it respond to the same thing in every place?",
    needs=("image input", "subject", "classes"),
    parameters=(
        *MAP,
        Parameter(
            name="cells", type="int", default=6, low=2, high=16, description="Places of the screen, down and across."
        ),
        Parameter(
            name="max_rows",
            type="int",
            default=2000,
            low=16,
            high=100_000,
            description="Rows that are looked at, evenly spread, at most.",
        ),
        Parameter(name="seed", type="int", default=0, low=0, description="Which episodes are left out together."),
    ),
    yields="table",
    cost="minutes",
    paper="Rosynski, Kirchner, Valdenegro-Toro 2020, section 5 and figure 15: an agent that plays by heart",
)
MIN_SIGHTINGS = 40
BY_PLACE = 0.1
"""A share of the variance from which a class is said to be responded to by place."""
_UNSEEN = "seen too seldom"


def look(
    rows: Rows,
    subject: Subject,
    *,
    method: str = "gradient",
    target: str = "action",
    layer: str = "",
    frame: int = -1,
    cells: int = 6,
    max_rows: int = 2000,
    seed: int = 0,
    watch: Watch = unwatched,
) -> Table:
    """For each class the share of what its response varies by that place explains, in episodes that were left out."""
    places = np.linspace(0, rows.count - 1, min(max_rows, rows.count)).round().astype(np.int64)
    some = rows.part(np.unique(places))
    spotter, of_map = Spotter(some, cells), MapOf(method=method, target=target, layer=layer, frame=frame)
    parts, total, pixels = [], 0.0, 0
    for piece, sizes in of_map.pieces(some, subject, watch):
        parts.append(spotter.spot(piece, sizes))
        total, pixels = total + float(sizes.sum(dtype=np.float64)), pixels + sizes.size
    seen, mean = Sightings.joined(parts), total / max(pixels, 1)
    cluster = clusters(some.group_numbers())
    found = [_of_class(name, seen.of(number), cluster, seed=seed) for number, name in enumerate(spotter.classes)]
    often, response = _maps(seen, len(spotter.classes), cells, mean)
    return Table(
        columns=tuple(Axis(name=name) for name in _COLUMNS),
        lines=[_line(one) for one in found],
        value={"classes": found, "cells": cells, "clusters": len(np.unique(cluster)), "words": words(found, mean)},
        arrays={"often": often, "response": response},
    )


_COLUMNS = (
    "class",
    "sightings",
    "places",
    "explained by place",
    "low",
    "high",
    "beyond distance",
    "low beyond",
    "high beyond",
    "verdict",
)


def _of_class(name: str, seen: Sightings, cluster: np.ndarray, *, seed: int) -> dict[str, Any]:
    count, places = len(seen.row), len(np.unique(seen.cell))
    share = None
    if count >= MIN_SIGHTINGS:
        share = explained(seen, cluster, seed=seed)
    figures = (
        {"place": None, "beyond": None}
        if share is None
        else {
            "place": to_json(share.place),
            "beyond": to_json(share.beyond) if share.beyond else None,
        }
    )
    return {"name": name, "sightings": count, "places": places, **figures, "verdict": verdict(share, seen)}


def verdict(share: Explained | None, seen: Sightings) -> str:
    """In words, by the figures of place alone, and beyond where the player is where that is known."""
    if share is None:
        if len(seen.row) < MIN_SIGHTINGS:
            return _UNSEEN
        if len(np.unique(seen.cell)) < 2:
            return "always in one place"
        return "everywhere alike" if np.ptp(seen.response) == 0 else "too few episodes"
    if share.place.high < BY_PLACE:
        return "everywhere alike"
    if share.beyond is not None and share.beyond.high < BY_PLACE:
        return "by where the player is"
    strict: Figure = share.beyond or share.place
    if min(share.place.low, strict.low) <= BY_PLACE:
        return "cannot be told"
    return "by place" if offsets_known(seen) else "by place in view"


def offsets_known(seen: Sightings) -> bool:
    """Whether the player was in view each time, so that place on the screen and place beside it are told apart."""
    return bool(((seen.relation >= 0) & (seen.relation < OFFSETS**2)).all())


def words(found: list[dict[str, Any]], mean: float) -> str:
    """What that says of the agent."""
    if mean == 0:
        return "The map is 0 everywhere in every row: there is no response to compare."
    by_place = [one["name"] for one in found if one["verdict"] == "by place"]
    alike = [one["name"] for one in found if one["verdict"] == "everywhere alike"]
    near = [one["name"] for one in found if one["verdict"] == "by where the player is"]
    in_view = [one["name"] for one in found if one["verdict"] == "by place in view"]
    said = []
    if in_view:
        said.append(
            f"It responds to {_and(in_view)} by place in view. Nobody says where in the picture the player is: where "
            "the picture follows it, this is the direction from it and no sign of playing by heart."
        )
    if near:
        said.append(f"How it responds to {_and(near)} goes by where the player is, not by the place on the screen.")
    if by_place:
        said.append(f"It responds to {_and(by_place)} by place, as an agent does that plays by heart.")
    if alike:
        said.append(f"It responds to {_and(alike)} alike in every place.")
    return " ".join(said) or "Of no class can it be told: record more episodes, or choose another method."


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _line(one: dict[str, Any]) -> list[Any]:
    figures = [one[key][part] if one[key] else None for key in ("place", "beyond") for part in ("value", "low", "high")]
    return [one["name"], one["sightings"], one["places"], *figures, one["verdict"]]


def _maps(seen: Sightings, classes: int, cells: int, mean: float) -> tuple[np.ndarray, np.ndarray]:
    """Both [class, cell, cell]: how often such a thing was there, and the mean response, 1 the average pixel."""
    key, size = seen.name * cells**2 + seen.cell, classes * cells**2
    often = np.bincount(key, minlength=size)
    summed = np.bincount(key, seen.response, size)
    with np.errstate(invalid="ignore", divide="ignore"):
        response = np.where((often > 0) & (mean > 0), summed / often / mean, np.nan)
    shape = (classes, cells, cells)
    return often.reshape(shape).astype(np.int32), response.reshape(shape).astype(np.float32)
