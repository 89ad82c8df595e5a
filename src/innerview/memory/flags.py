"""Flags: which elements tell which facts, found by itself and confirmed on episodes not used to find them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from innerview.errors import LensError
from innerview.memory.auc import areas, chances, corrected
from innerview.memory.facts import Fact, make_facts
from innerview.memory.flag_table import Data, Pairs
from innerview.schema import Axis, Lens, Parameter, Rows, Table, Watch, unwatched

if TYPE_CHECKING:
    from innerview.subjects import Subject

MIN_EPISODES = 8
CANDIDATES = 0.2
"""The share of false ones, by Benjamini and Hochberg, up to which pairs of the finding half go on to be judged."""

_SHOWN = ("element", "fact", "auc", "held_out_auc", "q", "retention_steps")
COLUMNS = (
    Axis(name="element"),
    Axis(name="fact"),
    Axis(name="AUC"),
    Axis(name="AUC, held out"),
    Axis(name="q"),
    Axis(name="retention", unit="steps"),
)

LENS = Lens(
    name="flags",
    question="Which elements encode which facts?",
    needs=("memory", "episodes"),
    parameters=(
        Parameter(name="array", type="array", default="", description="Which memory; the first where not said."),
        Parameter(
            name="facts",
            type="text",
            default="",
            description="Columns to ask about, with commas between; all where empty.",
        ),
        Parameter(
            name="thresholds",
            type="text",
            default="",
            description="Where numbers are split, as health=50, x=0; at the median where not said.",
        ),
        Parameter(
            name="false_discoveries",
            type="float",
            default=0.05,
            low=0.0001,
            high=0.5,
            description="The share of flags that may be there by chance.",
        ),
        Parameter(
            name="confirmed",
            type="float",
            default=0.65,
            low=0.5,
            high=1,
            description="The AUC that a flag needs on episodes not used to find it.",
        ),
        Parameter(
            name="max_rows", type="int", default=50_000, low=100, high=500_000, description="Rows to use at most."
        ),
        Parameter(
            name="swaps", type="int", default=1000, low=100, high=5000, description="How often episodes are swapped."
        ),
        Parameter(
            name="seed", type="int", default=0, low=0, description="Splits the episodes in halves and swaps them."
        ),
    ),
    yields="table",
    cost="seconds",
    paper="Mann, Whitney 1947 (AUC); Benjamini, Hochberg 1995 (false discoveries); Jaunet et al. 2020 (by eye)",
)


def look(
    rows: Rows,
    subject: Subject | None = None,
    *,
    array: str = "",
    facts: str = "",
    thresholds: str = "",
    false_discoveries: float = 0.05,
    confirmed: float = 0.65,
    max_rows: int = 50_000,
    swaps: int = 1000,
    seed: int = 0,
    watch: Watch = unwatched,
) -> Table:
    """A line per element and fact that it may tell, the most telling first; arrays "auc" and "q" [elements, facts]."""
    array = array or next(iter(rows.memory))
    names = [name.strip() for name in facts.split(",") if name.strip()]
    data = _prepared(rows, array, names=names, thresholds=thresholds, max_rows=max_rows, seed=seed)
    table = _tested(data, swaps=swaps, seed=seed, watch=watch)
    lines = table.lines(false_discoveries=false_discoveries, confirmed=confirmed)
    value = {
        "array": array,
        "episodes": {"used": len(data.finding), "held_out": len(data.held_out)},
        "rows": len(data.values),
        "pairs": int(table.p.size),
        "candidates": int(table.candidates.sum()),
        "false_discoveries": false_discoveries,
        "facts": [_fact_to_json(fact) for fact in data.facts],
        "flags": lines,
        "note": _note(len(data.finding)),
    }
    return Table(
        columns=COLUMNS,
        lines=[[line[name] for name in _SHOWN] for line in lines if line["significant"]],
        value=value,
        arrays={"auc": table.area.astype(np.float32), "q": table.q.astype(np.float32)},
    )


def _tested(data: Data, *, swaps: int, seed: int, watch: Watch) -> Pairs:
    """Every pair in the finding half; those that may be flags are judged by the half held out alone."""
    count = 2 * len(data.facts)
    watch(0, count, f"ranking {len(data.values):,} rows")
    half, rows = data.half(data.finding), data.rows(data.finding)
    area = areas(half, data.facts, rows)
    direction = np.where(area >= 0.5, 1, -1)
    p, held_out_p = np.ones_like(area), np.ones_like(area)
    for place, chance in chances(half, data.facts, rows, direction=direction, swaps=swaps, seed=seed):
        p[:, place] = np.minimum(1, 2 * chance)  # the direction was read off the same rows
        watch(place + 1, count, data.facts[place].name)
    half, rows = data.half(data.held_out), data.rows(data.held_out)
    held_out = areas(half, data.facts, rows)
    for place, chance in chances(half, data.facts, rows, direction=direction, swaps=swaps, seed=seed + 1):
        held_out_p[:, place] = chance
        watch(len(data.facts) + place + 1, count, data.facts[place].name)
    candidates = corrected(p) <= CANDIDATES
    q = np.ones_like(p)
    q[candidates] = corrected(held_out_p[candidates])
    return Pairs(data=data, area=area, p=p, q=q, held_out=held_out, held_out_p=held_out_p, candidates=candidates)


def _fact_to_json(fact: Fact) -> dict[str, Any]:
    return {"fact": fact.name, "column": fact.column, "kind": fact.kind, "share": fact.share, "when": fact.when}


def _note(episodes: int) -> str:
    if episodes >= 10:
        return ""
    return (
        f"Found in {episodes} episodes only. Few episodes can be swapped in few ways, so weak flags are missed; record "
        "more to find them."
    )


def _prepared(rows: Rows, array: str, *, names: list[str], thresholds: str, max_rows: int, seed: int) -> Data:
    episodes = [group for group in rows.groups if group[1] - group[0] > 1]
    if len(episodes) < MIN_EPISODES:
        raise LensError(
            f"Flags are found in half of the episodes and confirmed in the others: that needs {MIN_EPISODES} or "
            f"more, and there are {len(episodes)}. Record more."
        )
    chosen = _some(episodes, max_rows)
    places = np.concatenate([np.arange(*group) for group in chosen])
    made = make_facts(rows, names=names, thresholds=thresholds, places=places)
    stops = np.cumsum([stop - start for start, stop in chosen])
    groups = tuple((int(stop - (b - a)), int(stop)) for stop, (a, b) in zip(stops, chosen, strict=True))
    order = np.random.default_rng(seed).permutation(len(groups))
    finding, held_out = np.sort(order[: -(-len(order) // 2)]), np.sort(order[-(-len(order) // 2) :])
    data = Data(
        values=rows.memory[array].read(places),
        facts=made,
        groups=groups,
        finding=tuple(map(int, finding)),
        held_out=tuple(map(int, held_out)),
    )
    usable = [fact for fact in data.facts if _varies(fact, data)]
    if not usable:
        raise LensError(
            "No column holds a fact that is true in some of these episodes and not in others. Name columns with "
            "the parameter 'facts', or record more."
        )
    return replace(data, facts=usable)


def _some(episodes: list[tuple[int, int]], max_rows: int) -> list[tuple[int, int]]:
    """Whole episodes from all over the recording, with at most that many rows but enough of them."""
    total = sum(stop - start for start, stop in episodes)
    wanted = max(MIN_EPISODES, int(len(episodes) * min(1.0, max_rows / total)))
    return [episodes[i] for i in np.unique(np.linspace(0, len(episodes) - 1, wanted).astype(int))]


def _varies(fact: Fact, data: Data) -> bool:
    """Whether both halves have rows with and without it, in two episodes or more each of the finding half."""
    for half, least in ((data.finding, 2), (data.held_out, 1)):
        spans = [slice(*data.groups[episode]) for episode in half]
        holding = sum(bool(fact.holds[span].any()) for span in spans)
        failing = sum(bool((fact.known[span] & ~fact.holds[span]).any()) for span in spans)
        if min(holding, failing) < least:
            return False
    return True
