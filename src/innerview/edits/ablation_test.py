"""Compares how episodes end, cause by cause, between a subject and what was made of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Literal

import numpy as np

from innerview.edits.comparison import Z95, mean_of, share_of
from innerview.schema import EpisodeSummary

ArmKind = Literal["original", "ablated", "control", "invisible"]
MAX_SEEDS = 24
"""Of each cause in each arm: levels to look at, not all of them."""


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One line of an ablation test: who played, and how each episode ended."""

    name: str
    kind: ArmKind
    episodes: Sequence[EpisodeSummary]

    @cached_property
    def outcomes(self) -> list[str]:
        """Why each episode ended."""
        return [episode.outcome for episode in self.episodes]

    @cached_property
    def returns(self) -> list[float]:
        """What each earned."""
        return [episode.total_reward for episode in self.episodes]


def compare_arms(arms: Sequence[Arm], endings: Sequence[str] = ()) -> dict[str, Any]:
    """Causes, arms and how they compare with the first, as JSON; `endings` are known ones, the good one first."""
    causes = causes_of(arms, endings)
    return {
        "causes": causes,
        "arms": [_arm(arm, causes) for arm in arms],
        "compared": [compared(arm, arms[0], cause) for arm in arms[1:] for cause in causes],
    }


def causes_of(arms: Sequence[Arm], endings: Sequence[str] = ()) -> list[str]:
    """Every way to end: as the world names them, else the one that earns most first and then the most frequent."""
    found: dict[str, list[float]] = {}
    for arm in arms:
        for outcome, earned in zip(arm.outcomes, arm.returns, strict=True):
            found.setdefault(outcome, []).append(earned)
    by_count = sorted(found, key=lambda cause: (-len(found[cause]), cause))
    if endings:
        return [*endings, *(cause for cause in by_count if cause not in endings)]
    best = max(by_count, key=lambda cause: float(np.mean(found[cause])), default=None)
    return [] if best is None else [best, *(cause for cause in by_count if cause != best)]


def _arm(arm: Arm, causes: Sequence[str]) -> dict[str, Any]:
    earned = mean_of(arm.returns)
    return {
        "name": arm.name,
        "kind": arm.kind,
        "episodes": len(arm.outcomes),
        "return": {"mean": earned.mean, "low": earned.low, "high": earned.high},
        "steps": float(np.mean([episode.length for episode in arm.episodes])),
        "causes": [{**_cause(arm.outcomes, cause), "seeds": _first(arm, cause)} for cause in causes],
    }


def _first(arm: Arm, cause: str) -> list[int]:
    ended_so = (episode.seed for episode in arm.episodes if episode.outcome == cause)
    return list(islice(ended_so, MAX_SEEDS))


def _cause(outcomes: Sequence[str], cause: str) -> dict[str, Any]:
    count = sum(outcome == cause for outcome in outcomes)
    share = share_of(count, len(outcomes))
    return {"cause": cause, "count": count, "share": share.mean, "low": share.low, "high": share.high}


def compared(arm: Arm, original: Arm, cause: str) -> dict[str, Any]:
    """How many times as often an arm ended so, and whether the two shares are apart beyond their intervals."""
    ours, theirs = _cause(arm.outcomes, cause), _cause(original.outcomes, cause)
    times = times_of((ours["count"], len(arm.outcomes)), (theirs["count"], len(original.outcomes)))
    apart = ours["low"] > theirs["high"] or ours["high"] < theirs["low"]
    return {"arm": arm.name, "cause": cause, **times, "apart": apart}


def times_of(ours: tuple[int, int], theirs: tuple[int, int]) -> dict[str, float | None]:
    """Ratio of two shares, counts of so many each, with a 95 % interval by its logarithm.

    Half an episode is added everywhere, so that a share of none has an interval too. Where theirs is none there is no
    ratio, only what it is at least; where ours is none it may be 0.
    """
    (count, of), (base, base_of) = ours, theirs
    middle = math.log((count + 0.5) / (of + 0.5)) - math.log((base + 0.5) / (base_of + 0.5))
    spread = 1 / (count + 0.5) - 1 / (of + 0.5) + 1 / (base + 0.5) - 1 / (base_of + 0.5)
    half = Z95 * math.sqrt(max(0.0, spread))
    return {
        "times": (count / of) / (base / base_of) if base else None,
        "low": math.exp(middle - half) if count else 0.0,
        "high": math.exp(middle + half) if base else None,
    }


def verdict(table: Mapping[str, Any], cause: str) -> str:
    """One sentence about a cause: how often with the original, and how often without."""
    arms = {arm["kind"]: arm for arm in reversed(table["arms"])}
    if "ablated" not in arms or cause not in table["causes"]:
        return ""
    before, after = (_share(arms[kind], cause) for kind in ("original", "ablated"))
    line = next(c for c in table["compared"] if c["arm"] == arms["ablated"]["name"] and c["cause"] == cause)
    factor = f", {often(line['times'])} times as often" if line["times"] is not None else ""
    if line["times"] is None and line["low"] > 1:
        factor = f", at least {often(line['low'])} times as often"
    sure = "" if line["apart"] else f"; no clear difference over {arms['ablated']['episodes']:,} levels"
    return f"Ended by {cause}: {before:.2%} of levels before, {after:.2%} after{factor}{sure}."


def often(times: float) -> str:
    """A ratio in digits that mean something."""
    return f"{times:,.0f}" if times >= 100 else f"{times:.1f}"


def levels_of(table: Mapping[str, Any], cause: str) -> list[int]:
    """Some levels that the edited subject ended so."""
    ablated = (each for arm in table["arms"] if arm["kind"] == "ablated" for each in arm["causes"])
    return next((list(each["seeds"]) for each in ablated if each["cause"] == cause), [])


def _share(arm: Mapping[str, Any], cause: str) -> float:
    return float(next(each["share"] for each in arm["causes"] if each["cause"] == cause))
