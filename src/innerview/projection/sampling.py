"""Which states are laid out, and what every layout tells about itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from innerview.errors import LensError
from innerview.schema import Layout, Parameter, Rows

PARAMETERS = (
    Parameter(name="array", type="array", default="", description="Which memory; the first where not said."),
    Parameter(
        name="max_rows",
        type="int",
        default=20_000,
        low=10,
        high=1_000_000,
        description="How many states at most.",
    ),
    Parameter(
        name="sample",
        type="choice",
        default="stride",
        choices=("stride", "random"),
        description="Where there are more: every so many rows, or rows drawn at random.",
    ),
    Parameter(name="seed", type="int", default=0, low=0, description="The same seed gives the same layout."),
)


def chosen_rows(count: int, *, max_rows: int, sample: str, seed: int) -> np.ndarray:
    """At most `max_rows` places out of `count`, ascending."""
    if count <= max_rows:
        return np.arange(count)
    if sample == "random":
        return np.sort(np.random.default_rng(seed).choice(count, max_rows, replace=False))
    return np.unique(np.linspace(0, count - 1, max_rows).astype(np.int64))


def chosen_states(rows: Rows, array: str, *, max_rows: int, sample: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Places of the states that are laid out, and the states themselves, float32 [states, elements]."""
    if not rows.memory:
        raise LensError("There is no memory to lay out.")
    states = rows.memory[array] if array else next(iter(rows.memory.values()))
    places = chosen_rows(states.rows, max_rows=max_rows, sample=sample, seed=seed)
    if len(places) < 3:
        raise LensError(f"A layout needs 3 rows or more; there are {len(places)}.")
    values = states.read(places)
    if not np.isfinite(values).all():
        raise LensError("Some states hold values that are no numbers; they have no place in a layout.")
    return places, values


def layout(
    rows: Rows, array: str, places: np.ndarray, at: np.ndarray, *, provisional: bool = False, **more: Any
) -> Layout:
    """A layout as the page takes it: where each state lies, [states, 2], and which row of the recording it is."""
    told = {
        "array": array or next(iter(rows.memory)),
        "sampled": len(places),
        "of": rows.count,
        "provisional": provisional,
    }
    return Layout(places=np.asarray(at, np.float32), rows=rows.numbers[places], value=told | more)


def principal(values: np.ndarray, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """The states along their widest directions, [states, dimensions], and each direction's share of the variance."""
    centred = values - values.mean(axis=0, dtype=np.float64).astype(np.float32)
    if not centred.any():
        return np.zeros((len(values), dimensions), np.float32), np.zeros(dimensions)
    from sklearn.decomposition import PCA  # type: ignore[import-untyped]  # takes a while to load

    made = PCA(n_components=min(dimensions, *centred.shape), svd_solver="covariance_eigh").fit(centred)
    missing = dimensions - made.n_components_
    return np.pad(made.transform(centred), ((0, 0), (0, missing))), np.pad(made.explained_variance_ratio_, (0, missing))
