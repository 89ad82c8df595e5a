"""Steps worth a look: where methods disagree, where attention jumps, where a class is looked at that is not usually."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import LensError, UnknownName
from innerview.saliency.shares.classes import shares_of
from innerview.saliency.shares.cover import classes_of, cover
from innerview.saliency.shares.explained import ranks
from innerview.saliency.shares.maps import LAYER, METHODS, MapOf
from innerview.schema import TARGET, Axis, Lens, Parameter, PerRow, Rows, Watch, unwatched

if TYPE_CHECKING:
    from innerview.subjects import Subject

LENS = Lens(
    name="moments",
    question="At which steps do maps disagree, or jump?",
    needs=("image input", "subject"),
    parameters=(
        Parameter(
            name="methods",
            type="text",
            default="gradient,guided,integrated-input",
            description="Names of methods with commas between them; jumps and classes are those of the first.",
        ),
        TARGET,
        LAYER,
    ),
    yields="per row",
    paper="Agreement of maps by rank, as Adebayo and others 2018 compare them",
)
_CELLS = 12
"""Maps are compared on so many places down and across: that one lights a pixel's neighbour is no difference."""
BATCH = 64
DISAGREE, JUMP, UNUSUAL = "disagreement of methods", "jump of attention", "unusual class"


def look(
    rows: Rows,
    subject: Subject,
    *,
    methods: str = "gradient,guided,integrated-input",
    target: str = "action",
    layer: str = "",
    watch: Watch = unwatched,
) -> PerRow:
    """For each row 1 less the rank correlation of the methods' maps, how much of a map moved, and an unusual class."""
    named = _named(methods)
    maps = [MapOf(method=name, target=target, layer=layer) for name in named]
    classes = classes_of(rows) if rows.mask is not None or (rows.things and rows.things.names()) else ()
    coarse, shares = [], []
    for first in range(0, rows.count, BATCH):
        watch(first, rows.count, "comparing methods")
        places = np.arange(first, min(first + BATCH, rows.count))
        some = rows.part(places)
        sizes = [each.sizes(some, subject) for each in maps]
        coarse.append(np.stack([pooled(size) for size in sizes], axis=1))
        if classes:
            shares.append(shares_of(sizes[0], cover(rows, places, sizes[0].shape[1:])))
    together = np.concatenate(coarse)
    columns = [disagreement(together), jumps(together[:, 0], rows.groups or ((0, rows.count),))]
    names, beside = [DISAGREE, JUMP], {}
    if classes:
        above, which = unusual(*(np.concatenate(parts) for parts in zip(*shares, strict=True)))
        columns.append(above)
        names.append(UNUSUAL)
        beside = {"class": which}
    return PerRow(
        values=np.stack(columns, axis=1),
        rows=rows.numbers,
        columns=tuple(Axis(name=name, unit="σ" if name == UNUSUAL else "") for name in names),
        value={"methods": named, "classes": list(classes)},
        arrays=beside,
    )


def _named(methods: str) -> list[str]:
    named = [name.strip() for name in methods.split(",") if name.strip()]
    for name in named:
        if name not in METHODS:
            raise UnknownName("method", name, METHODS)
    if len(set(named)) < 2:
        raise LensError("Methods can disagree only where there are two: name them with commas between them.")
    return list(dict.fromkeys(named))


def pooled(sizes: np.ndarray) -> np.ndarray:
    """[row, cells]: sums of maps [row, height, width] over cells, as a share of the whole; 0 where a map is 0."""
    edges = [np.arange(side) * min(_CELLS, side) // side for side in sizes.shape[1:]]
    down, across = ((np.arange(edge[-1] + 1)[:, None] == edge).astype(np.float64) for edge in edges)
    cells = np.einsum("ah,rhw,bw->rab", down, sizes, across, optimize=True).reshape(len(sizes), -1)
    shares: np.ndarray = cells / np.maximum(cells.sum(1, keepdims=True), 1e-30)
    return shares


def disagreement(together: np.ndarray) -> np.ndarray:
    """[row] of maps [row, method, cells]: 1 less the mean rank correlation of two; unknown where one is constant."""
    ranked = np.apply_along_axis(ranks, 2, together)
    centred = ranked - ranked.mean(2, keepdims=True)
    norm = np.linalg.norm(centred, axis=2, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        unit = np.where(norm > 1e-9, centred / norm, np.nan)
    alike = np.einsum("rmc,rnc->rmn", unit, unit)
    first, second = np.triu_indices(together.shape[1], 1)
    disagree: np.ndarray = 1 - alike[:, first, second].mean(1)
    return disagree


def jumps(maps: np.ndarray, groups: tuple[tuple[int, int], ...]) -> np.ndarray:
    """[row] of maps [row, cells]: the share of attention that was elsewhere a step ago; unknown at a group's begin."""
    moved = np.full(len(maps), np.nan)
    moved[1:] = 0.5 * np.abs(np.diff(maps, axis=0)).sum(1)
    for start, _ in groups:
        moved[start] = np.nan
    return moved


def unusual(share: np.ndarray, chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row by how many deviations a class in view is looked at more than usual, and which one."""
    seen = np.where(chance > 0, share, np.nan)
    seen[:, 0] = np.nan
    known = (~np.isnan(seen)).sum(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.nansum(seen, 0) / known
        spread = np.sqrt(np.nansum((seen - mean) ** 2, 0) / known)
        above = np.where((known > 1) & (spread > 0), (seen - mean) / spread, np.nan)
    which = np.where(np.isnan(above), -np.inf, above).argmax(1)
    largest = above[np.arange(len(above)), which]
    return largest, np.where(np.isnan(largest), 0, which).astype(np.int32)
