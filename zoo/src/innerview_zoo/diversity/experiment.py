"""Do agents that know more levels see more clearly? Agents of one family, by how many they were trained on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from innerview.errors import LensError, RequestError, UnknownName
from innerview.jobs.engine import Progress
from innerview.lenses.look import look
from innerview.rollouts.record import record
from innerview.schema import Result
from innerview.store import Study
from innerview.subjects import Subject
from innerview.worlds import World
from innerview_zoo.report import Figure, share_figure

LONGEST = 250
"""Steps after which a level is left: an agent that is stuck shows the same picture again and again."""
LANES = 8


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """An agent, how many levels it was trained on, and how many it completes."""

    name: str
    levels: int | None
    """None: without limit."""
    subject: Subject
    unseen: Figure
    own: Figure | None = None

    @property
    def order(self) -> float:
        """Its number of levels, as a number also without limit."""
        return float("inf") if self.levels is None else self.levels

    @property
    def called(self) -> str:
        """Its number of levels, for people."""
        return "without limit" if self.levels is None else f"{self.levels:,}"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What factors of an agent were found to mean."""

    candidate: Candidate
    names: tuple[tuple[str, ...], ...]
    """For each fit, what each factor means; empty where nothing is clear."""
    scores: tuple[tuple[float, ...], ...]
    """For each fit, how far beyond chance each factor responds to the class that it responds to most."""
    rows: int
    results: tuple[str, ...]
    """Where the study keeps them."""
    layer: str
    without: tuple[str, ...] = ()
    """Classes that do not count."""

    @property
    def meaningful(self) -> Figure:
        """The share of factors with a clear meaning, over all fits; the interval is that of so many factors."""
        every = [name for fit in self.names for name in fit]
        counted = sum(bool(name) and name not in self.without for name in every)
        return share_figure(counted, len(every), name="meaningful factors")

    @property
    def kinds(self) -> tuple[str, ...]:
        """The different things that factors mean."""
        every = {name for fit in self.names for name in fit if name and name not in self.without}
        return tuple(sorted(every))

    @property
    def score(self) -> float:
        """How far beyond chance, on average."""
        every = [score for fit in self.scores for score in fit]
        return sum(every) / len(every)


@dataclass(frozen=True, kw_only=True)
class Diversity:
    """The experiment: agents in the order of how many levels they know, the one without limit last."""

    seen: tuple[Seen, ...]

    @property
    def rises(self) -> float | None:
        """Rank correlation of levels and share of meaningful factors; None where it is not defined."""
        return self._rising([each.meaningful.value for each in self.seen])

    @property
    def kinds_rise(self) -> float | None:
        """The same of how many different things factors mean."""
        return self._rising([len(each.kinds) for each in self.seen])

    @property
    def score_rises(self) -> float | None:
        """The same of how far beyond chance factors respond."""
        return self._rising([each.score for each in self.seen])

    @property
    def generalises(self) -> float | None:
        """The same of unseen levels completed."""
        return self._rising([each.candidate.unseen.value for each in self.seen])

    def _rising(self, values: Sequence[float]) -> float | None:
        return _spearman([each.candidate.order for each in self.seen], values)

    def summary(self) -> dict[str, Any]:
        """Everything as plain values, for a file."""
        return {
            "spearman": {
                "meaningful": self.rises,
                "kinds": self.kinds_rise,
                "score": self.score_rises,
                "unseen": self.generalises,
            },
            "agents": [_summary(each) for each in self.seen],
        }


def diversity(
    study: Study | str | Path,
    candidates: Sequence[Candidate],
    world: World,
    *,
    seeds: Sequence[int],
    parameters: Mapping[str, Any] | None = None,
    fits: int = 1,
    without: Sequence[str] = (),
    again: bool = False,
    progress: Callable[[str], Progress | bool] = lambda _: True,
) -> Diversity:
    """Record the same levels with every agent and see how many of its factors mean something.

    Each fit begins elsewhere; factors that mean a class in `without` do not count. What the study holds already is not
    made again, unless it is wanted `again`; `progress` is asked for a report by what is done.
    """
    if len(candidates) < 2:
        raise RequestError(f"Two agents or more can be compared, not {len(candidates)}.")
    if fits < 1:
        raise RequestError(f"fits is how often factors are found anew: 1 or more, not {fits}.")
    _check_classes(world, without)
    opened = study if isinstance(study, Study) else Study.open_or_create(study)
    ordered = sorted(candidates, key=lambda each: each.order)
    found = []
    for each in ordered:
        report = progress(f"{each.name}: levels")
        made = record(
            opened,
            each.subject,
            world,
            seeds=seeds,
            lanes=LANES,
            name=each.name,
            max_steps=LONGEST,
            progress=report,
        )
        report = progress(f"{each.name}: factors")
        wishes = [{**(parameters or {}), "seed": fit} for fit in range(fits)]
        fitted = [
            look(opened, "factors", made.name, subject=each.subject, again=again, progress=report, **wish)
            for wish in wishes
        ]
        found.append(replace(_seen(each, made.rows, fitted), without=tuple(without)))
    return Diversity(seen=tuple(found))


def _check_classes(world: World, without: Sequence[str]) -> None:
    mask = next((spec for spec in world.info.observations if spec.role == "mask"), None)
    if mask is None:
        raise LensError(f"World '{world.info.name}' provides no masks, so nobody can say what a factor means.")
    for name in without:
        if name not in mask.elements:
            raise UnknownName("class of the world's masks", name, mask.elements)


def _seen(candidate: Candidate, rows: int, fitted: Sequence[Result]) -> Seen:
    meanings = [[factor["meaning"] for factor in result.value["factors"]] for result in fitted]
    return Seen(
        candidate=candidate,
        names=tuple(tuple(str(m["means"]) for m in fit) for fit in meanings),
        scores=tuple(tuple(float(m["score"]) for m in fit) for fit in meanings),
        rows=rows,
        results=tuple(result.id for result in fitted),
        layer=str(fitted[0].value["layer"]),
    )


def _spearman(ones: Sequence[float], others: Sequence[float]) -> float | None:
    """Rank correlation; equal values share their rank. None where there are too few, or one side is all the same."""
    if len(ones) < 3 or len(set(ones)) < 2 or len(set(others)) < 2:
        return None
    return float(np.corrcoef(_ranks(ones), _ranks(others))[0, 1])


def _ranks(values: Sequence[float]) -> list[float]:
    return [sum(other < each for other in values) + values.count(each) / 2 for each in values]


def _summary(each: Seen) -> dict[str, Any]:
    candidate = each.candidate
    figures = {"own": candidate.own, "unseen": candidate.unseen, "meaningful": each.meaningful}
    return {
        "name": candidate.name,
        "levels": candidate.levels,
        **{name: None if f is None else [f.value, f.low, f.high, f.count] for name, f in figures.items()},
        "score": each.score,
        "factors": [list(fit) for fit in each.names],
        "kinds": list(each.kinds),
        "without": list(each.without),
        "rows": each.rows,
        "layer": each.layer,
        "results": list(each.results),
    }
