"""Feature visualisation: a picture optimised so that something in a layer responds to it as strongly as can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from innerview.errors import LensError
from innerview.features.visualisation.aim import OBJECTIVES, Aim, everything, survey
from innerview.features.visualisation.ascent import GradientAscent, visualised_input
from innerview.features.visualisation.canvas import HELD, Shaking, blank, palette_of
from innerview.schema import Axis, Gallery, Lens, Output, Parameter, Rows, Watch, unwatched

if TYPE_CHECKING:
    from innerview.subjects import ReceptiveField, Subject

BEYOND = 1.5
"""From so many times the strongest observation on, a picture is said to lie beyond what the subject ever sees."""
_SHOWN_EVERY = 32

LENS = Lens(
    name="visualise",
    question="Which picture would a channel, a factor or a layer respond to most?",
    needs=("image input", "convolution", "gradients"),
    parameters=(
        Parameter(
            name="factors",
            type="result",
            default="",
            description="Directions: a result of the lens factors; channels of the layer where there is none.",
        ),
        Parameter(
            name="unit",
            type="int",
            default=-1,
            low=-1,
            description="Which factor or channel, counted from 0; -1: those that respond most.",
        ),
        Parameter(name="count", type="int", default=8, low=1, high=64, description="How many, where none is chosen."),
        Parameter(
            name="layer",
            type="layer",
            default="",
            description="A layer with height and width; that of the factors, or the middle convolution, unless said.",
        ),
        Parameter(
            name="objective",
            type="choice",
            default="cell",
            choices=OBJECTIVES,
            description="The response of the middle cell, of the whole layer, or all that the layer said to one row.",
        ),
        Parameter(name="row", type="int", default=0, low=0, description="The row that a caricature is made of."),
        Parameter(
            name="held",
            type="choice",
            default="fourier",
            choices=HELD,
            description="Optimised in frequencies, which makes large shapes first, or in pixels.",
        ),
        Parameter(name="steps", type="int", default=256, low=8, high=4096, description="How long it is optimised."),
        Parameter(
            name="jitter", type="int", default=2, low=0, high=64, description="Pixels that it is moved by each step."
        ),
        Parameter(
            name="turn", type="float", default=0.0, low=0.0, high=45.0, description="Degrees it is turned by each step."
        ),
        Parameter(
            name="zoom",
            type="float",
            default=0.0,
            low=0.0,
            high=0.5,
            description="How much it is made larger or smaller each step, as a share.",
        ),
        Parameter(
            name="reach",
            type="float",
            default=0.0,
            low=0.0,
            high=100.0,
            description="Go on until it responds so many times as strongly as the strongest row; 0: as far as it gets.",
        ),
        Parameter(
            name="l2", type="float", default=0.15, low=0.0, high=1000.0, description="What colours that are rare cost."
        ),
        Parameter(name="tv", type="float", default=4.0, low=0.0, high=1000.0, description="What unrest costs."),
        Parameter(
            name="max_rows", type="int", default=1024, low=16, high=65536, description="Rows that it is compared with."
        ),
        Parameter(name="seed", type="int", default=0, low=0, description="Where the ascent begins, and which rows."),
    ),
    yields="gallery",
    cost="minutes",
    paper="Olah, Mordvintsev, Schubert 2017: Feature visualization; on agents: Hilton and others 2020",
)


def look(
    rows: Rows,
    subject: Subject,
    *,
    factors: Output | str = "",
    unit: int = -1,
    count: int = 8,
    layer: str = "",
    objective: str = "cell",
    row: int = 0,
    held: str = "fourier",
    steps: int = 256,
    jitter: int = 2,
    turn: float = 0.0,
    zoom: float = 0.0,
    reach: float = 0.0,
    l2: float = 0.15,
    tv: float = 4.0,
    max_rows: int = 1024,
    seed: int = 0,
    watch: Watch = unwatched,
) -> Gallery:
    """Optimise pictures, and say how far they get beside the strongest of the rows."""
    from innerview.subjects import middle_for, receptive_field

    given = factors if isinstance(factors, Output) else None
    layer = layer or (str(given.value["layer"]) if given else middle_for(subject))
    whole = everything(subject, rows, layer=layer, objective=objective, row=row, given=given)
    kind = "row" if objective == "caricature" else "factor" if given else "channel"
    which = _which(whole, unit, count, kind)
    places = np.sort(np.random.default_rng(seed).permutation(rows.count)[:max_rows])
    total = len(places) + steps
    seen, pictures = survey(
        subject, rows, layer=layer, aim=whole, places=places, progress=lambda n: watch(n, total, "rows")
    )
    if which is None:
        which = np.sort(np.argsort(seen.baseline - seen.strongest, kind="stable")[:count])
    name = visualised_input(subject, layer, pictures)
    margin = jitter + (round(0.1 * max(pictures[name].shape[2:])) if turn or zoom else 0)
    palette = palette_of(pictures[name], rows.ends.get(name))
    sees = receptive_field(subject, layer)
    ascent = GradientAscent(
        subject=subject,
        layer=layer,
        input=name,
        aim=whole.chosen(which),
        seen=seen.chosen(which),
        canvas=blank(palette, count=len(which), held=held, margin=margin, seed=seed),
        shaking=Shaking(jitter=jitter, turn=turn, zoom=zoom),
        area=float(sees.reach**2 if objective == "cell" else palette.low[0].numel()),
    )
    report = _Report(ascent, kind, np.array([row]) if kind == "row" else which, len(places), sees)
    for step in ascent.run(steps, seed=seed, reach=reach, l2=l2, tv=tv):
        shown = report.output() if (step + 1) % _SHOWN_EVERY == 0 and step + 1 < steps else None
        watch(len(places) + step + 1, total, "optimising", shown)
    return report.output()


def _which(whole: Aim, unit: int, count: int, what: str) -> np.ndarray | None:
    """Numbers of what is optimised; None where the rows decide."""
    known = len(whole.goal)
    if what == "row":
        return np.array([0])
    if unit >= known:
        raise LensError(f"There is no {what} {unit}; they are counted from 0 to {known - 1}, and -1 takes several.")
    if unit >= 0:
        return np.array([unit])
    return np.arange(known) if what == "factor" and known <= count else None


@dataclass(frozen=True)
class _Report:
    """What there is to be seen of some pictures, also while they are optimised."""

    ascent: GradientAscent
    kind: str
    units: np.ndarray
    rows: int
    receptive_field: ReceptiveField

    def output(self) -> Gallery:
        """The pictures, and how far each is."""
        ascent, seen = self.ascent, self.ascent.seen
        pictures = ascent.pictures()
        reached = ascent.reached(pictures)
        times = (reached - seen.baseline) / seen.span
        value = {
            "layer": ascent.layer,
            "objective": ascent.aim.objective,
            "input": ascent.input,
            "grid": list(seen.grid),
            "reach": self.receptive_field.reach,
            "receptive_field": self.receptive_field.summary(),
            "rows": self.rows,
            "beyond": BEYOND,
            "pictures": [self._line(i, float(reached[i]), float(times[i])) for i in range(len(reached))],
        }
        return Gallery(
            pictures=pictures,
            captions=tuple(f"{self.kind} {unit}" for unit in self.units),
            scores=times.tolist(),
            score=Axis(name="response", unit="× the strongest row"),
            value=value,
            arrays={"way": np.stack(ascent.way, axis=1)},
        )

    def _line(self, i: int, reached: float, times: float) -> dict[str, Any]:
        seen = self.ascent.seen
        return {
            "kind": self.kind,
            "unit": int(self.units[i]),
            "reached": reached,
            "baseline": float(seen.baseline[i]),
            "strongest": {
                "row": int(seen.rows[i]),
                "y": int(seen.cells[i]) // seen.grid[1],
                "x": int(seen.cells[i]) % seen.grid[1],
                "amount": float(seen.strongest[i]),
            },
            "times": times,
            "beyond": times >= BEYOND,
        }
