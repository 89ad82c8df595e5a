"""What was found of all methods, as it is stored: figures, agreement, advice, and a table for the generic view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from innerview.lenses.trust.job import TrustJob
from innerview.schema import Axis, Table, to_json
from innerview.trust.actions import more_discriminative
from innerview.trust.agreement import agreement
from innerview.trust.deletion import FRACTIONS
from innerview.trust.examination import Bench, Figures
from innerview.trust.question import Question
from innerview.trust.randomisation import THRESHOLD
from innerview.trust.recommendation import recommend

COLUMNS = (
    Axis(name="method"),
    Axis(name="verdict"),
    Axis(name="remains with random weights"),
    Axis(name="places remain"),
    Axis(name="differs between actions"),
    Axis(name="seen again in the next step"),
    Axis(name="insertion area"),
    Axis(name="deletion area"),
    Axis(name="ahead of chance"),
    Axis(name="on things"),
    Axis(name="by chance"),
    Axis(name="why"),
)


def value_of(
    figures: Sequence[Figures], maps: Mapping[str, np.ndarray], bench: Bench, job: TrustJob
) -> tuple[dict[str, Any], Table]:
    """As JSON, and as a table."""
    advice = recommend(figures, bench.subject.info.name)
    why = {each.method: each for each in advice.methods}
    known = {each.name: each.actions for each in figures if each.actions is not None}
    gain = None
    if "discriminative" in known and "guided" in known:
        gain = more_discriminative(known["discriminative"], known["guided"])
    value = {
        "subject": bench.subject.info.name,
        "target": job.target,
        "threshold": THRESHOLD,
        "rows": bench.rows.numbers[bench.spread].tolist(),
        "runs": [bench.rows.numbers[[start, stop - 1]].tolist() for start, stop in bench.runs],
        "fractions": list(FRACTIONS),
        "replaced_by": "the mean of what was seen",
        "output": _output(bench.question),
        "memory": [site.name for site in bench.subject.info.memory],
        "methods": [each.to_json() for each in figures],
        "agreement": agreement({name: each[bench.spread] for name, each in maps.items()}),
        "discriminative_over_guided": to_json(gain),
        "recommendation": to_json(advice),
    }
    lines = [_line(each, why[each.name].why) for each in figures]
    return value, Table(columns=COLUMNS, lines=lines)


def _output(question: Question) -> str:
    """What the curves are of, in words."""
    if question.target != "action" or not question.actions:
        return f"'{question.target}'"
    return "probability of the chosen action" if question.kind == "policy" else f"{question.head} of the chosen action"


def _line(figures: Figures, why: str) -> tuple[Any, ...]:
    remains, stable, ran, on = figures.randomisation, figures.stability, figures.curves, figures.pointing
    return (
        figures.name,
        figures.verdict,
        remains and remains.remains.mean,
        remains and remains.places_remain.mean,
        figures.actions and figures.actions.differs.mean,
        stable and stable.seen_again.mean,
        ran and ran.insertion_area.mean,
        ran and ran.deletion_area.mean,
        ran and ran.ahead.mean,
        on and on.mass.mean,
        on and on.area,
        why,
    )
