"""What is looked at before something happens: sentences with their numbers, none of them by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import LensError
from innerview.saliency.shares.classes import shares_of
from innerview.saliency.shares.cover import classes_of, cover
from innerview.saliency.shares.lead import Lead, happenings, leads, onsets
from innerview.saliency.shares.maps import MAP, MapOf
from innerview.schema import Axis, Lens, Output, Parameter, Rows, Table, Watch, unwatched

if TYPE_CHECKING:
    from innerview.subjects import Subject

LENS = Lens(
    name="onsets",
    question="What does it begin to look at before it acts?",
    needs=("image input", "subject", "classes", "episodes"),
    parameters=(
        *MAP,
        Parameter(
            name="window",
            type="int",
            default=10,
            low=0,
            high=1000,
            description="How many steps before an action or an event attention may begin to count for it.",
        ),
        Parameter(
            name="rise",
            type="float",
            default=1.0,
            low=0.0,
            high=10.0,
            description="Attention begins where a class's share rises so many standard deviations above its mean.",
        ),
        Parameter(
            name="classes",
            type="result",
            default="",
            description="Attention per class that was measured before, over the same rows; measured anew where none.",
        ),
        Parameter(name="seed", type="int", default=0, low=0, description="Which shuffled times it is compared with."),
    ),
    yields="table",
    cost="minutes",
    paper="Event-aligned onsets; family-wise chance by shifted times, after Westfall, Young 1993",
)


def look(
    rows: Rows,
    subject: Subject,
    *,
    method: str = "gradient",
    target: str = "action",
    layer: str = "",
    frame: int = -1,
    window: int = 10,
    rise: float = 1.0,
    classes: Output | str = "",
    seed: int = 0,
    watch: Watch = unwatched,
) -> Table:
    """Every class before every action and event, those that are more than chance first and as a sentence."""
    of_map = MapOf(method=method, target=target, layer=layer, frame=frame)
    names = classes_of(rows)
    share = _given(classes, rows, names) if isinstance(classes, Output) else _measured(rows, subject, of_map, watch)
    watch(rows.count, rows.count, "comparing with shuffled times")
    groups = rows.groups or ((0, rows.count),)
    started = onsets(share, groups, rise)
    times = happenings(rows)
    found = leads(started[:, 1:], names[1:], times, groups, window=window, seed=seed)
    said = [lead for lead in found if lead.said]
    seconds = rows.seconds_per_step
    return Table(
        columns=tuple(Axis(name=name, unit=unit) for name, unit in _COLUMNS),
        lines=[_line(lead, seconds) for lead in found],
        value={
            "sentences": [sentence(lead, seconds) for lead in said],
            "tried": len(found),
            "onsets": {name: int(started[:, c].sum()) for c, name in enumerate(names)},
            "why": _why(found, said, started, times),
        },
        arrays=_places(said, rows),
    )


_COLUMNS = (
    ("looked at", ""),
    ("before", ""),
    ("times", ""),
    ("preceded", ""),
    ("by chance", ""),
    ("median lead", "steps"),
    ("low", "steps"),
    ("high", "steps"),
    ("p", ""),
    ("said", ""),
)


def _line(lead: Lead, seconds: float | None) -> list[str | int | float | None]:
    figures = [None if np.isnan(value) else value for value in (lead.lead, lead.low, lead.high)]
    words = sentence(lead, seconds) if lead.said else ""
    return [lead.looked_at, lead.before, lead.times, lead.preceded, round(lead.chance, 2), *figures, lead.p, words]


def sentence(lead: Lead, seconds: float | None) -> str:
    """What was found, with the numbers behind it."""
    before = f"before {lead.preceded} of {lead.times} times"
    chance = f"by chance it would be {lead.chance:.1f}; p = {lead.p:.3f}"
    return f"{lead.looked_at} was looked at {_time(lead, seconds)} before {lead.before}: {before} ({chance})."


def _time(lead: Lead, seconds: float | None) -> str:
    scale, unit = (seconds, "s") if seconds else (1.0, "steps")
    middle, low, high = (f"{value * scale:.3g}" for value in (lead.lead, lead.low, lead.high))
    unit = "step" if unit == "steps" and middle == "1" else unit
    return f"{middle} {unit} ({low} to {high})"


def _why(found: list[Lead], said: list[Lead], started: np.ndarray, times: dict[str, np.ndarray]) -> str:
    """Why nothing is said, where that is so."""
    if said:
        return ""
    if not times:
        return "No action begins and no event happens five times in these rows: choose more of them."
    if not started[:, 1:].any():
        return "Attention to no class ever rises: each share is as good as constant in these rows."
    return f"None of {len(found)} pairs of a class and an action or event is more than what shuffled times give."


def _measured(rows: Rows, subject: Subject, of_map: MapOf, watch: Watch) -> np.ndarray:
    shares = [
        shares_of(sizes, cover(rows, places, sizes.shape[1:]))[0]
        for places, sizes in of_map.pieces(rows, subject, watch)
    ]
    return np.concatenate(shares)


def _given(saved: Output, rows: Rows, names: tuple[str, ...]) -> np.ndarray:
    """The shares of a result, where it is of these rows."""
    known, values = saved.arrays["rows"], saved.arrays["values"]
    if tuple(saved.value["classes"]) != names or not np.isin(rows.numbers, known).all():
        raise LensError("The result of 'classes' is of other rows. Choose one of these, or leave classes= out.")
    share: np.ndarray = values[np.searchsorted(known, rows.numbers), : len(names)]
    return share


def _places(said: list[Lead], rows: Rows) -> dict[str, np.ndarray]:
    """Rows behind each sentence: its number, where attention began, and where it happened."""
    sizes = [len(lead.happened) for lead in said]
    empty = np.zeros(0, np.int64)
    return {
        "sentence": np.repeat(np.arange(len(said)), sizes),
        "began": rows.numbers[np.concatenate([empty, *(lead.onsets for lead in said)])],
        "happened": rows.numbers[np.concatenate([empty, *(lead.happened for lead in said)])],
    }
