"""What was found of all models, as it is stored: figures with intervals, errors row by row, and a generic table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from innerview.errors import RequestError
from innerview.rollouts.gap.errors import PoseErrors
from innerview.schema import Axis, Binding, Table, to_json
from innerview.transfer.gap import STATISTICS, Gap, gaps
from innerview.transfer.interval import RESAMPLES

NAMED = 10
"""So many rows that are left out are named."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """A subject, as it is or behind a filter of the other domain's pictures."""

    subject: str
    filter: str
    bindings: tuple[Binding, Binding]

    @property
    def name(self) -> str:
        """How it is called in a table."""
        return f"{self.subject} | {self.filter}" if self.filter else self.subject


def value_of(
    models: Sequence[Model],
    errors: Sequence[tuple[PoseErrors, PoseErrors]],
    predictions: Sequence[str],
    *,
    rows: np.ndarray,
    domains: tuple[str, str],
    baseline: str,
) -> tuple[dict[str, Any], Table, dict[str, np.ndarray]]:
    """As JSON, as a table, and the errors [model, domain, row]."""
    measured = {"place_m": np.stack([[side.place_m for side in both] for both in errors])}
    headings = [[side.heading_deg for side in both] for both in errors]
    if all(each is not None for both in headings for each in both):
        measured["heading_deg"] = np.stack([np.stack([e for e in both if e is not None]) for both in headings])
    known = np.all([np.isfinite(each).all(axis=(0, 1)) for each in measured.values()], axis=0)
    if not known.any():
        raise RequestError("No row has a true and a predicted pose that are numbers: there is nothing to compare.")
    names = [model.name for model in models]
    told = {
        kind: {
            statistic: gaps(dict(zip(names, each[:, :, known], strict=True)), baseline=baseline, statistic=statistic)
            for statistic in STATISTICS
        }
        for kind, each in measured.items()
    }
    lines = [_model(model, told, predictions[2 * at : 2 * at + 2]) for at, model in enumerate(models)]
    left_out = rows[~known]
    value = {
        "domains": list(domains),
        "baseline": baseline,
        "rows": int(known.sum()),
        "left_out": {"count": len(left_out), "rows": left_out[:NAMED].tolist()},
        "resamples": RESAMPLES,
        "models": lines,
    }
    return value, _table(names, told, domains), {**measured, "rows": rows}


def _model(model: Model, told: Mapping[str, Mapping[str, Mapping[str, Gap]]], ids: Sequence[str]) -> dict[str, Any]:
    figures = {
        kind.partition("_")[0]: {statistic: to_json(found[model.name]) for statistic, found in each.items()}
        for kind, each in told.items()
    }
    return {
        "name": model.name,
        "subject": model.subject,
        "filter": model.filter,
        "inputs": [dict(binding.texts) for binding in model.bindings],
        "predictions": list(ids),
        **figures,
    }


def _table(
    names: Sequence[str], told: Mapping[str, Mapping[str, Mapping[str, Gap]]], domains: tuple[str, str]
) -> Table:
    columns = [Axis(name="model")]
    lines: list[list[Any]] = [[name] for name in names]
    for kind, each in told.items():
        what, _, unit = kind.partition("_")
        for statistic, found in each.items():
            columns += [Axis(name=f"{what}, {statistic}, {domain}", unit=unit) for domain in domains]
            columns += [Axis(name=f"{what}, {statistic}, {part}", unit=unit) for part in ("gap", "gap from", "gap to")]
            columns.append(Axis(name=f"{what}, {statistic}, closed"))
            for line, name in zip(lines, names, strict=True):
                of = found[name]
                line += [of.reference.value, of.other.value, of.gap.value, of.gap.low, of.gap.high]
                line.append(of.closed.value if of.closed else None)
    return Table(columns=tuple(columns), lines=[tuple(line) for line in lines])
