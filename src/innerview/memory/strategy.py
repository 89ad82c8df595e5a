"""Strategy chart: what kinds of states the memory goes through, in which order, and what is true in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from innerview.errors import LensError
from innerview.memory.clusters import k_means, nearest, settle, silhouette
from innerview.memory.facts import Fact, make_facts
from innerview.memory.visits import Visit, smoothed, visits
from innerview.schema import Axis, Chart, Lens, Parameter, Rows, Series, States, Watch, of_kind, unwatched

if TYPE_CHECKING:
    from innerview.subjects import Subject

MAX_STATES = 10
DIMENSIONS = 32
JUDGED = 2000
"""States by which a number of clusters is judged; all of them would take too long."""
MAX_FACT_ROWS = 100_000
ALIKE = "All these states are the same; there are no phases."
NAMES_IT = 0.25
"""How far a fact's share in a state must be above its base, in units of its spread, to give the state its name."""
MOSTLY = 0.6

LENS = Lens(
    name="strategy",
    question="What phases does it go through, and what is true in each?",
    needs=("memory",),
    parameters=(
        Parameter(name="array", type="array", default="", description="Which memory; the first where not said."),
        Parameter(
            name="states",
            type="int",
            default=0,
            low=0,
            high=50,
            description="How many; 0 chooses the clearest from 3 to 10.",
        ),
        Parameter(
            name="shortest", type="int", default=3, low=1, high=1000, description="Shorter visits count as going on."
        ),
        Parameter(
            name="max_rows",
            type="int",
            default=20_000,
            low=100,
            high=200_000,
            description="States to find clusters in.",
        ),
        Parameter(name="seed", type="int", default=0, low=0, description="The same seed gives the same chart."),
    ),
    yields="chart",
    cost="seconds",
    paper="Lloyd 1982 (k-means); Rousseeuw 1987 (silhouettes); charts as in Jaunet et al. 2020, section 7",
)


def look(
    rows: Rows,
    subject: Subject | None = None,
    *,
    array: str = "",
    states: int = 0,
    shortest: int = 3,
    max_rows: int = 20_000,
    seed: int = 0,
    watch: Watch = unwatched,
) -> Chart:
    """States with their share, facts and place, transitions between them; array "state" [rows]."""
    array = array or next(iter(rows.memory))
    memory = rows.memory[array]
    groups = rows.groups or ((0, memory.rows),)
    if memory.rows < 2:
        raise LensError(f"A chart needs two rows or more; there are {memory.rows}.")
    watch(0, 4, "finding clusters")
    clusters = _Clusters.of(_sample(memory, max_rows), states=states, seed=seed)
    watch(1, 4, "assigning rows")
    labels = np.concatenate([clusters.nearest(values) for _, values in memory.pieces()])
    labels = smoothed(labels, groups, shortest=shortest)
    order = _by_time(labels, groups)
    labels = np.argsort(order)[labels]
    centres = clusters.centres[order[: labels.max() + 1]]
    watch(2, 4, "naming states")
    places = np.unique(np.linspace(0, memory.rows - 1, min(memory.rows, MAX_FACT_ROWS)).astype(np.int64))
    named = _named(labels[places], make_facts(rows, places=places))
    made = visits(labels, groups)
    value = {
        "array": array,
        "rows": [int(rows.numbers[0]), int(rows.numbers[-1]) + 1],
        "states": _states(labels, made, centres, named, _actions(rows, labels)),
        "transitions": _transitions(made),
        "starts": np.bincount([v.state for v in made if v.begins], minlength=len(centres)).tolist(),
        "ends": np.bincount([v.state for v in made if v.ends], minlength=len(centres)).tolist(),
        "silhouette": clusters.silhouette,
    }
    return Chart(
        x=Axis(name="state"),
        y=Axis(name="share of rows"),
        series=(_shares(value["states"]),),
        value=value,
        arrays={"state": labels.astype(np.int16)},
    )


def _shares(states: Sequence[Mapping[str, Any]]) -> Series:
    names = [f"{state['state']}: {state['name']}" for state in states]
    return Series(name="share", x=names, y=[state["share"] for state in states], mark="bar")


def _sample(memory: States, max_rows: int) -> np.ndarray:
    places = np.unique(np.linspace(0, memory.rows - 1, min(memory.rows, max_rows)).astype(np.int64))
    values = memory.read(places)
    if not np.isfinite(values).all():
        raise LensError("Some states hold values that are no numbers; they belong to no cluster.")
    return values


@dataclass(frozen=True, kw_only=True)
class _Clusters:
    """Centres in the space of the widest directions."""

    mean: np.ndarray
    axes: np.ndarray
    centres: np.ndarray
    silhouette: float

    @staticmethod
    def of(values: np.ndarray, *, states: int, seed: int) -> _Clusters:
        """That many clusters, or as many as stand apart most clearly."""
        mean = values.mean(axis=0, dtype=np.float64).astype(np.float32)
        from sklearn.decomposition import PCA  # type: ignore[import-untyped]  # takes a while to load

        centred = values - mean
        if not centred.any():
            raise LensError(ALIKE)
        widest = PCA(n_components=min(DIMENSIONS, *centred.shape), svd_solver="covariance_eigh").fit(centred)
        axes = widest.components_.T.astype(np.float32)
        points = centred @ axes
        different = len(np.unique(points[:: max(1, len(points) // JUDGED)], axis=0))
        if different < 2:
            raise LensError(ALIKE)
        judged = points[:: max(1, len(points) // JUDGED)]
        tried = [min(states, different)] if states else range(3, min(MAX_STATES, different - 1) + 1)
        made = [_clustered(judged, count, seed) for count in tried] or [_clustered(judged, different, seed)]
        clear, centres = max(made, key=lambda clusters: clusters[0])
        return _Clusters(mean=mean, axes=axes, centres=settle(points, centres), silhouette=clear)

    def nearest(self, values: np.ndarray) -> np.ndarray:
        """[rows], the centre nearest to each state."""
        return nearest((values - self.mean) @ self.axes, self.centres)


def _clustered(points: np.ndarray, count: int, seed: int) -> tuple[float, np.ndarray]:
    """How clearly that many clusters stand apart, from -1 to 1, and their centres."""
    centres = k_means(points, count, seed=seed)
    return silhouette(points, nearest(points, centres)), centres


def _by_time(labels: np.ndarray, groups: tuple[tuple[int, int], ...]) -> np.ndarray:
    """States that are there, the one that comes earliest in its episode first; then those that are not."""
    step = np.concatenate([np.linspace(0, 1, stop - start) for start, stop in groups])
    count = np.bincount(labels)
    mean = np.bincount(labels, weights=step) / np.maximum(count, 1)
    return np.argsort(np.where(count > 0, mean, np.inf), kind="stable")


def _named(labels: np.ndarray, facts: list[Fact]) -> list[list[dict[str, Any]]]:
    """Per state the facts that hold more often in it than elsewhere, the most telling first."""
    named: list[list[dict[str, Any]]] = []
    for state in range(labels.max() + 1):
        here = labels == state
        lines: list[dict[str, Any]] = []
        for fact in facts:
            known = fact.known & here
            base = fact.share
            share = float(fact.holds[known].mean()) if known.any() else 0.0
            if share > base:
                # Rare facts have large lifts by chance: what counts is how much of the state they explain.
                weight = (share - base) / np.sqrt(base * (1 - base))
                told = {"fact": fact.name, "share": share, "base": base, "lift": share / base}
                lines.append(told | {"weight": float(weight)})
        named.append(sorted(lines, key=lambda line: -line["weight"])[:6])
    return named


def _actions(rows: Rows, labels: np.ndarray) -> list[list[dict[str, Any]]]:
    """Per state what it does there, the most frequent action first."""
    taken, names = _taken(rows)
    told = []
    for state in range(labels.max() + 1):
        here = taken[(labels == state) & np.isfinite(taken)].astype(int)
        counts = np.bincount(here, minlength=len(names))[: len(names)]
        shares = counts / max(1, counts.sum())
        told.append([{"action": names[i], "share": float(shares[i])} for i in np.argsort(-shares)[:3]])
    return told


def _taken(rows: Rows) -> tuple[np.ndarray, Sequence[str]]:
    """[rows] the action of each, and what they are called; of continuous ones the strongest, with its sign."""
    acted = of_kind(rows.specs.values(), "action")
    if chosen := next((column for column in acted if column.categories), None):
        return rows.columns[chosen.name], chosen.categories
    numbers = [column for column in acted if column.type == "float"]
    if not numbers:
        return np.full(rows.count, np.nan), ()
    values = np.stack([rows.columns[column.name] for column in numbers], axis=1)
    known = np.isfinite(values).all(axis=1)
    usual = np.sqrt(np.mean(values[known] ** 2, axis=0)) if known.any() else np.ones(len(numbers))
    strength = np.nan_to_num(values / np.where(usual > 0, usual, 1))
    strongest = np.abs(strength).argmax(axis=1)
    negative = np.take_along_axis(strength, strongest[:, None], axis=1)[:, 0] < 0
    titles = [column.label or column.name for column in numbers]
    return np.where(known, 2 * strongest + negative, np.nan), [f"{title} {sign}" for title in titles for sign in "+−"]


def _states(
    labels: np.ndarray,
    made: list[Visit],
    centres: np.ndarray,
    named: list[list[dict[str, Any]]],
    actions: list[list[dict[str, Any]]],
) -> list[dict[str, Any]]:
    counts = np.bincount(labels, minlength=len(centres))
    taken: set[str] = set()
    states = []
    for state in range(len(centres)):
        lengths = [visit.stop - visit.start for visit in made if visit.state == state]
        fitting = [line["fact"] for line in named[state] if line["weight"] >= NAMES_IT]
        fitting += [f"mostly {line['action']}" for line in actions[state] if line["share"] >= MOSTLY]
        name = next((name for name in fitting if name not in taken), f"state {state}")
        taken.add(name)
        states.append(
            {
                "state": state,
                "name": name,
                "share": float(counts[state] / len(labels)),
                "rows": int(counts[state]),
                "visits": len(lengths),
                "mean_steps": float(np.mean(lengths)) if lengths else 0.0,
                "facts": named[state],
                "actions": actions[state],
                "place": [float(v) for v in np.pad(centres[state][:2], (0, max(0, 2 - centres.shape[1])))],
            }
        )
    return states


def _transitions(made: list[Visit]) -> list[dict[str, Any]]:
    """Steps from one state to another within an episode, the most frequent first."""
    counts: dict[tuple[int, int], int] = {}
    for before, after in pairwise(made):
        if not before.ends:
            pair = (before.state, after.state)
            counts[pair] = counts.get(pair, 0) + 1
    leaving: dict[int, int] = {}
    for (start, _), count in counts.items():
        leaving[start] = leaving.get(start, 0) + count
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [{"from": a, "to": b, "count": n, "probability": n / leaving[a]} for (a, b), n in ranked]
