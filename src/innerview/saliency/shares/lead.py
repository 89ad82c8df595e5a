"""When attention to something starts, and which actions and events follow oftener than by chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from innerview.schema import Rows

MIN_TIMES = 5
"""An action or an event that was fewer times preceded is not spoken of."""
_SHUFFLES = 500
_RESAMPLES = 1000
SIGNIFICANT = 0.05


@dataclass(frozen=True, kw_only=True)
class Lead:
    """Attention to a class that starts before something happens."""

    looked_at: str
    before: str
    times: int
    """How many times it happened."""
    preceded: int
    """Before how many of them the class began to be looked at, within the window."""
    chance: float
    """Of how many of them that is so when the onsets are shifted in time."""
    lead: float
    """Steps from the onset to it: the median."""
    low: float
    high: float
    """Of the median, 95 %."""
    p: float
    """How often shuffled times give any pair so far above its chance."""
    onsets: np.ndarray
    """Places where it began to look, one for each time that was preceded."""
    happened: np.ndarray

    @property
    def said(self) -> bool:
        """Whether it is more than chance."""
        return self.preceded >= MIN_TIMES and self.p < SIGNIFICANT and self.preceded > self.chance


def happenings(rows: Rows) -> dict[str, np.ndarray]:
    """Places where each action begins, and where each event happens, by name."""
    found: dict[str, np.ndarray] = {}
    begins = np.zeros(rows.count, bool)
    begins[[start for start, _ in rows.groups]] = True
    for name, spec in rows.specs.items():
        if spec.kind == "action" and spec.categories:
            values = rows.columns[name]
            changed = np.r_[True, values[1:] != values[:-1]] & ~begins
            for number, action in enumerate(spec.categories):
                found[action] = np.flatnonzero(changed & (values == number))
        elif spec.kind == "event" and spec.type == "bool":
            found[spec.label or name] = np.flatnonzero(rows.columns[name] > 0)
    return {name: places for name, places in found.items() if len(places) >= MIN_TIMES}


def onsets(share: np.ndarray, groups: Sequence[tuple[int, int]], rise: float) -> np.ndarray:
    """bool [row, class]: where a share rises above its mean by so many standard deviations, and was not there before.

    A class that is not in view, or a map that is 0 everywhere, has a share of 0.
    """
    known = np.nan_to_num(share)
    spread = known.std(axis=0)
    high = (known > known.mean(axis=0) + rise * spread) & (spread > 0)
    before = np.zeros_like(high)
    before[1:] = high[:-1]
    for start, _ in groups:
        before[start] = True  # what is there when an episode begins does not start
    started: np.ndarray = high & ~before
    return started


def leads(
    started: np.ndarray,
    classes: Sequence[str],
    times: Mapping[str, np.ndarray],
    groups: Sequence[tuple[int, int]],
    *,
    window: int,
    seed: int,
) -> list[Lead]:
    """Every class before every happening: how often, how long, and how that compares with shifted times."""
    names = [name for name in times if len(times[name])]
    if not names or not len(classes):
        return []
    random = np.random.default_rng(seed)
    bounds = np.array(groups)
    of_row = np.repeat(np.arange(len(bounds)), bounds[:, 1] - bounds[:, 0])
    since = _since(started, groups)
    at = np.concatenate([times[name] for name in names])
    which = np.repeat(np.arange(len(names)), [len(times[name]) for name in names])
    counted = _counted(since[at] <= window, which, len(names))
    shifted = _shifted(started, at, which, bounds, of_row, window=window, names=len(names), random=random)
    mean, spread = shifted.mean(axis=0), np.maximum(shifted.std(axis=0), 0.5)
    above = (counted - mean) / spread
    highest = ((shifted - mean) / spread).max(axis=(1, 2))
    p = (1 + (highest[:, None, None] >= above).sum(axis=0)) / (1 + len(highest))
    found = []
    for n, name in enumerate(names):
        for c, looked_at in enumerate(classes):
            there = times[name][since[times[name], c] <= window]
            gaps = since[there, c]
            middle, low, high = _median(gaps, of_row[there], random)
            found.append(
                Lead(
                    looked_at=looked_at,
                    before=name,
                    times=len(times[name]),
                    preceded=len(there),
                    chance=float(mean[n, c]),
                    lead=middle,
                    low=low,
                    high=high,
                    p=float(p[n, c]),
                    onsets=there - gaps,
                    happened=there,
                )
            )
    return sorted(found, key=lambda lead: (not lead.said, lead.p, -lead.preceded))


def _since(started: np.ndarray, groups: Sequence[tuple[int, int]]) -> np.ndarray:
    """[row, class]: steps since the class last began to be looked at in this episode; very many where it did not."""
    place = np.where(started, np.arange(len(started))[:, None], -1)
    never = len(started) + 1
    since = np.full(started.shape, never)
    for start, stop in groups:
        last = np.maximum.accumulate(place[start:stop], axis=0)
        since[start:stop] = np.where(last >= 0, np.arange(start, stop)[:, None] - last, never)
    return since


def _counted(is_so: np.ndarray, which: np.ndarray, names: int) -> np.ndarray:
    counts = np.zeros((names, is_so.shape[1]))
    np.add.at(counts, which, is_so)
    return counts


def _shifted(
    started: np.ndarray,
    at: np.ndarray,
    which: np.ndarray,
    bounds: np.ndarray,
    of_row: np.ndarray,
    *,
    window: int,
    names: int,
    random: np.random.Generator,
) -> np.ndarray:
    """[shuffle, happening, class]: the same counts when an episode's onsets are shifted around it by some steps."""
    recent = np.zeros(started.shape, bool)
    for start, stop in bounds:
        inside = started[start:stop]
        for back in range(min(window, stop - start - 1) + 1):
            recent[start:stop] |= np.roll(inside, back, axis=0)
    start, length = bounds[of_row[at], 0], (bounds[:, 1] - bounds[:, 0])[of_row[at]]
    counts = []
    for _ in range(_SHUFFLES):
        shift = random.integers(0, 1 << 30, len(bounds))[of_row[at]]
        counts.append(_counted(recent[start + (at - start - shift) % length], which, names))
    return np.stack(counts)


def _median(gaps: np.ndarray, groups: np.ndarray, random: np.random.Generator) -> tuple[float, float, float]:
    """The median with its interval, by resampling episodes, or the times themselves where there are few episodes."""
    if not len(gaps):
        return float("nan"), float("nan"), float("nan")
    each, inverse = np.unique(groups, return_inverse=True)
    parts = (
        [gaps[inverse == k] for k in range(len(each))]
        if len(each) >= MIN_TIMES
        else [gaps[[i]] for i in range(len(gaps))]
    )
    drawn = random.integers(0, len(parts), (_RESAMPLES, len(parts)))
    medians = [np.median(np.concatenate([parts[k] for k in some])) for some in drawn]
    low, high = np.quantile(medians, (0.025, 0.975))
    return float(np.median(gaps)), float(low), float(high)
