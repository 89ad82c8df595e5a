"""t-SNE: states that are alike lie together; drawn while it is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from innerview.errors import LensError
from innerview.projection.sampling import PARAMETERS, chosen_states, layout, principal
from innerview.schema import Layout, Lens, Parameter, Rows, Watch, unwatched

EVERY = 25
"""Iterations between two states that are shown."""
EARLY = 250
"""Iterations of the first phase, in which groups are pulled apart."""
DIMENSIONS = 50
WORTH_THREADS = 10_000
"""States from which on several threads are quicker than one: waiting for each other takes time too."""

if TYPE_CHECKING:
    from innerview.subjects import Subject

LENS = Lens(
    name="tsne",
    question="Which hidden states are alike?",
    needs=("memory",),
    parameters=(
        *PARAMETERS,
        Parameter(
            name="perplexity", type="float", default=30.0, low=2, high=500, description="How many neighbours count."
        ),
        Parameter(
            name="iterations",
            type="int",
            default=500,
            low=EVERY,
            high=5000,
            description=f"After the first {EARLY}, which pull groups apart.",
        ),
    ),
    yields="layout",
    cost="minutes",
    paper="van der Maaten, Hinton 2008: Visualizing data using t-SNE; computed by openTSNE (Poličar et al. 2024)",
)


def look(
    rows: Rows,
    subject: Subject | None = None,
    *,
    array: str = "",
    max_rows: int = 20_000,
    sample: str = "stride",
    seed: int = 0,
    perplexity: float = 30.0,
    iterations: int = 500,
    watch: Watch = unwatched,
) -> Layout:
    """Places of the states; shows a layout every few iterations while it goes on."""
    places, values = chosen_states(rows, array, max_rows=max_rows, sample=sample, seed=seed)
    total = EARLY + iterations
    points, _ = principal(values, min(DIMENSIONS, values.shape[1]))
    begin = principal(values, 2)[0].astype(np.float64)
    if begin[:, 0].std() == 0:
        raise LensError("All these states are the same; there is nothing to lay out.")
    begin *= 1e-4 / begin[:, 0].std()
    watch(0, total, "finding neighbours", layout(rows, array, places, begin * 1e4, provisional=True))
    embedding = _begun(points, begin, perplexity=perplexity, seed=seed)

    def showing(done_before: int) -> Any:
        def show(iteration: int, error: float, at: Any) -> None:
            so_far = layout(rows, array, places, np.asarray(at), provisional=True)
            watch(done_before + iteration, total, f"{len(places):,} states", so_far)

        return show

    phase = {"callbacks_every_iters": EVERY, "inplace": True}
    embedding.optimize(EARLY, exaggeration=12, momentum=0.5, callbacks=[showing(0)], **phase)
    embedding.optimize(iterations, momentum=0.8, callbacks=[showing(EARLY)], **phase)
    return layout(rows, array, places, np.asarray(embedding), divergence=float(embedding.kl_divergence))


def _begun(points: np.ndarray, begin: np.ndarray, *, perplexity: float, seed: int) -> Any:
    """A layout to optimise, with the neighbours of each state known."""
    from openTSNE import TSNEEmbedding  # type: ignore[import-untyped]
    from openTSNE.affinity import PerplexityBasedNN  # type: ignore[import-untyped]

    count = len(points)
    shared = {"random_state": seed, "n_jobs": -1 if count > WORTH_THREADS else 1}
    affinities = PerplexityBasedNN(points, perplexity=min(perplexity, max(1.0, (count - 1) / 3)), **shared)
    method = "bh" if count < 1000 else "fft"
    return TSNEEmbedding(begin, affinities, negative_gradient_method=method, **shared)
