"""Blame: how much of the gap each way explains in which pictures of two domains differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import LensError
from innerview.schema import Axis, Lens, Parameter, Rows, Table, Watch, units_per, unwatched
from innerview.transfer.domains import picture_of
from innerview.transfer.factors import FACTORS, Look, carried
from innerview.transfer.interval import Estimate, estimate, resampled
from innerview.transfer.pose import MEASURE, METRES_PER_RADIAN, Measure, truth_of

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.schema import Head
    from innerview.subjects import Subject

AT_ONCE = 32

LENS = Lens(
    name="blame",
    question="Which difference of the pictures explains the gap?",
    needs=("subject", "image input", "domains", "pose"),
    parameters=(
        Parameter(
            name="max_rows",
            type="int",
            default=200,
            low=2,
            high=100_000,
            description="Pairs that are looked at, spread over the chosen ones.",
        ),
        MEASURE,
        METRES_PER_RADIAN,
    ),
    yields="table",
    cost="minutes",
    paper="Switching factors one by one, as ablations do; shares by first in and last out, after Shapley 1953",
)


def look(
    rows: Rows,
    subject: Subject,
    *,
    max_rows: int = 200,
    measure: Measure = "pose",
    metres_per_radian: float = 1.0,
    watch: Watch = unwatched,
) -> Table:
    """Each factor switched on alone in SIM, and off alone in REAL; what explains most of what is said, first."""
    rows = rows.part(np.unique(np.linspace(0, rows.count - 1, min(max_rows, rows.count)).round().astype(np.int64)))
    if rows.count < 2:
        raise LensError("Blame needs some pairs, as it says how sure it is. Choose at least two.")
    image = picture_of(subject)
    truth = truth_of(rows, subject, measure)
    pictures = _Sides.of(rows, image.name, watch)
    runs = {(domain, ""): pictures.by_domain[domain] for domain in ("sim", "real")}
    places = np.arange(rows.count)
    errors: dict[tuple[str, str], np.ndarray] = {}
    said: dict[tuple[str, str], np.ndarray] = {}
    jobs = [*runs, *((domain, factor) for factor in FACTORS for domain in ("sim", "real"))]
    for number, (domain, factor) in enumerate(jobs):
        watch(number, len(jobs), factor or domain)
        heads = _heads(rows, subject, image.name, pictures.with_factor(domain, factor), domain)
        errors[domain, factor] = truth.errors(heads, measure, places, metres_per_radian).cpu().numpy()
        said[domain, factor] = predictions(truth.head, heads)
    return table(errors, said, FACTORS, unit=truth.unit_of(measure), measure=measure)


def table(
    errors: Mapping[tuple[str, str], np.ndarray],
    said: Mapping[tuple[str, str], np.ndarray],
    factors: tuple[str, ...],
    *,
    unit: str,
    measure: str,
) -> Table:
    """A line per factor, of errors [row] and predictions [row, number] by domain and factor; "" is the domain itself.

    `said` with a factor of REAL may be missing; a factor is then judged by SIM alone.
    """
    gap = errors["real", ""] - errors["sim", ""]
    found = {factor: _explained(errors, said, factor, gap) for factor in factors}
    order = sorted(found, key=lambda factor: -_rank(found[factor]))
    lines = [
        [factor, *(number for one in found[factor] for number in (one.value, one.low, one.high))] for factor in order
    ]
    titles = ("switched on in SIM, error rises", "switched off in REAL, error falls", "explains of the gap")
    columns = [Axis(name="factor")]
    for title, of in zip((*titles, "explains of how predictions move"), (unit, unit, "share", "share"), strict=True):
        columns += [Axis(name=title, unit=of), Axis(name="from", unit=of), Axis(name="to", unit=of)]
    whole = _mean(gap)
    return Table(
        columns=tuple(columns),
        lines=[[None if isinstance(c, float) and not np.isfinite(c) else c for c in line] for line in lines],
        value={
            "gap": {"value": whole.value, "low": whole.low, "high": whole.high, "unit": unit},
            "measure": measure,
            "rows": len(gap),
            "first": order[0],
        },
    )


def _explained(
    errors: Mapping[tuple[str, str], np.ndarray],
    said: Mapping[tuple[str, str], np.ndarray],
    factor: str,
    gap: np.ndarray,
) -> tuple[Estimate, Estimate, Estimate, Estimate]:
    """Rise in SIM, fall in REAL, share of the gap (their mean), and share of the way that predictions move."""
    rises = errors["sim", factor] - errors["sim", ""]
    falls = errors["real", ""] - errors["real", factor] if ("real", factor) in errors else np.full(len(gap), np.nan)
    both = np.where(np.isfinite(falls), (rises + falls) / 2, rises)
    drawn = resampled(np.stack([both, gap]), np.mean)
    share = estimate(float(_ratio(both.mean(), gap.mean())), _ratio(drawn[:, 0], drawn[:, 1]))
    left, way = _left(said, factor)
    drawn = resampled(np.stack([left, way]), np.mean)
    moved = estimate(float(1 - _ratio(left.mean(), way.mean())), 1 - _ratio(drawn[:, 0], drawn[:, 1]))
    return _mean(rises), _mean(falls), share, moved


def _left(said: Mapping[tuple[str, str], np.ndarray], factor: str) -> tuple[np.ndarray, np.ndarray]:
    """How far predictions of SIM with the factor, and of REAL without it, are still apart; and how far they were."""
    way = np.abs(said["real", ""] - said["sim", ""]).sum(1)
    near = np.abs(said["real", ""] - said["sim", factor]).sum(1)
    if ("real", factor) not in said:
        return near, way
    return (near + np.abs(said["real", factor] - said["sim", ""]).sum(1)) / 2, way


def _rank(found: tuple[Estimate, Estimate, Estimate, Estimate]) -> float:
    moved = found[3].value
    return moved if np.isfinite(moved) else -np.inf


def _mean(values: np.ndarray) -> Estimate:
    return estimate(float(values.mean()), resampled(values[None], np.mean)[:, 0])


def _ratio(value: np.ndarray | float, whole: np.ndarray | float) -> np.ndarray:
    """NaN where there is nothing to share."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.abs(whole) > 0, np.divide(value, whole), np.nan)


@dataclass(frozen=True)
class _Sides:
    """Pictures of both domains from 0 to 1, how each looks, and which channels are depth."""

    by_domain: Mapping[str, Tensor]
    looks: Mapping[str, Look]
    depth: tuple[bool, ...]
    black: Tensor | float
    range: Tensor | float

    @classmethod
    def of(cls, rows: Rows, name: str, watch: Watch) -> _Sides:
        import torch

        black, white = rows.ends.get(name, (0.0, 1.0))
        by_domain = {}
        for domain in ("sim", "real"):
            parts = []
            for first in range(0, rows.count, AT_ONCE):
                watch(first, rows.count, f"reading {domain}")
                some = np.arange(first, min(first + AT_ONCE, rows.count))
                parts.append(rows.in_domain(domain).inputs(some)[name])
            by_domain[domain] = (torch.cat(parts) - black) / (white - black)
        count = by_domain["sim"].shape[1]
        depth = tuple(held == "depth" for held in rows.channels.get(name, ("colour",) * count))
        colour = ~torch.tensor(depth)
        looks = {domain: Look.of(pictures[:, colour]) for domain, pictures in by_domain.items()}
        return cls(by_domain, looks, depth, black, white - black)

    def with_factor(self, domain: str, factor: str) -> Tensor:
        """Pictures of a domain as the subject takes them, with one factor of the other."""
        own = self.by_domain[domain]
        other = "real" if domain == "sim" else "sim"
        looks = self.looks[domain], self.looks[other]
        made = carried(own, self.by_domain[other], factor, self.depth, looks) if factor else own
        return made * self.range + self.black


def _heads(rows: Rows, subject: Subject, name: str, pictures: Tensor, domain: str) -> dict[str, Tensor]:
    import torch

    parts = []
    side = rows.in_domain(domain)
    for first in range(0, rows.count, AT_ONCE):
        some = np.arange(first, min(first + AT_ONCE, rows.count))
        given = {**side.inputs(some), name: pictures[first : first + AT_ONCE]}
        parts.append(subject.run(given, side.memory_before(some)).heads)
    return {head: torch.cat([part[head] for part in parts]) for head in parts[0]}


def predictions(head: Head, heads: Mapping[str, Tensor]) -> np.ndarray:
    """What a pose head says as numbers [row, number] without a seam: of an angle, its cosine and sine."""
    said = heads[head.name].double().cpu().numpy()
    found: list[np.ndarray] = []
    for place, part in enumerate(head.pose_parts):
        unit = head.units[place] if head.units else ""
        number = said[:, place] * (units_per(unit, "rad") or 1.0) if part == "angle" else said[:, place]
        found += [np.cos(number), np.sin(number)] if part == "angle" else [number]
    return np.stack(found, 1)
