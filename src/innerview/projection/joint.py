"""One layout for several domains: what a subject holds of each picture of a pair, laid out together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from innerview.errors import LensError, UnknownName
from innerview.projection import pca, tsne, umap
from innerview.projection.sampling import PARAMETERS, chosen_rows
from innerview.schema import Layout, Lens, Parameter, Predicted, Rows, States, Watch, unwatched

if TYPE_CHECKING:
    from innerview.subjects import Subject

METHODS = {"tsne": tsne.look, "umap": umap.look, "pca": pca.look}
THERE = tuple(name for name in METHODS if name != "umap" or not umap.LENS.settings.get("missing"))
"""Those whose packages are installed."""
DOMAIN = "domain"
"""The array that says which domain each point is of, by its place in `domains`."""

LENS = Lens(
    name="joint",
    question="Which pictures are alike to the model, those of all domains together?",
    needs=("domains",),
    parameters=(
        Parameter(
            name="model", type="text", default="", description="Who predicted each domain; the first where not said."
        ),
        Parameter(
            name="site",
            type="text",
            default="",
            description="What is laid out, of what was kept with the predictions; the last site, else the widest head.",
        ),
        Parameter(name="method", type="choice", default="tsne", choices=THERE, description="How."),
        *PARAMETERS[1:],
    ),
    yields="layout",
    cost="minutes",
    paper="Jaunet, Bono, Vuillemot, Wolf 2021: SIM2REALVIZ: visualizing the sim2real gap in robot ego-pose estimation",
)


def look(
    rows: Rows,
    subject: Subject | None = None,
    *,
    model: str = "",
    site: str = "",
    method: str = "tsne",
    max_rows: int = 20_000,
    sample: str = "stride",
    seed: int = 0,
    watch: Watch = unwatched,
) -> Layout:
    """Places of all pictures of each pair, pair by pair; a pair that is not predicted in every domain is left out."""
    watch(0, None, "reading predictions")
    sides = _sides(rows.predicted(), model)
    name = _site(sides, site)
    many = len(sides)
    places = chosen_rows(rows.count, max_rows=max(3, max_rows // many), sample=sample, seed=seed)
    values = np.stack([side.states[name].read(places) for side in sides], axis=1)
    known = np.isfinite(values).all(axis=(1, 2))
    places, values = places[known], values[known].reshape(-1, values.shape[2])
    if not len(places):
        raise LensError(f"No row is predicted in every domain by '{sides[0].subject}'.")
    domain = np.tile(np.arange(many, dtype=np.int8), len(places))
    more = {
        "model": sides[0].subject,
        "site": name,
        "method": method,
        "domains": [side.domain for side in sides],
        "sampled": len(places),
        "of": rows.count,
    }

    def told(made: Layout) -> Layout:
        return replace(made, arrays={DOMAIN: domain}, value={**made.value, **more})

    def report(done: int, total: int | None, message: str = "", so_far: Any = None) -> None:
        watch(done, total, message, None if so_far is None else told(so_far))

    together = Rows(numbers=np.repeat(rows.numbers[places], many), memory={name: States.of(values)})
    return told(METHODS[method](together, array=name, max_rows=len(domain), seed=seed, watch=report))


def _sides(found: Sequence[Predicted], model: str) -> list[Predicted]:
    """What one subject predicts of each domain, the newest of each."""
    domains = {who: {each.domain: each for each in found if each.subject == who} for who in (p.subject for p in found)}
    paired = {who: list(sides.values()) for who, sides in domains.items() if len(sides) > 1}
    if not paired:
        raise LensError(
            "No subject predicted the pictures of two domains. Run one over each: iv.predict(study, subject, "
            "recording, inputs={…: 'sim'}, keep=[…]), then with 'real'."
        )
    if model and model not in paired:
        raise UnknownName("model", model, paired)
    return paired[model or next(iter(paired))]


def _site(sides: Sequence[Predicted], site: str) -> str:
    """What all sides kept: the one that is asked for, else the last site, else the head with the most numbers."""
    known = [name for name in sides[0].states if all(name in side.states for side in sides)]
    if site:
        match = [name for name in known if site in (name, name.partition(".")[2])]
        if not match:
            raise UnknownName("site", site, known, "Keep it with the predictions: iv.predict(…, keep=[…]).")
        return match[0]
    if not known:
        raise LensError(f"The predictions of '{sides[0].subject}' kept nothing in common: nothing can be laid out.")
    inside = [name for name in known if not name.startswith("head.")]
    return inside[-1] if inside else max(known, key=lambda name: sides[0].states[name].elements)
