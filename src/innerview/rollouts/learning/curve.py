"""Scores by training step: of a CSV file, or as the snapshots of a run keep them."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

from innerview.errors import StoreError
from innerview.store import Snapshot, Study

Curve = tuple[tuple[float, float], ...]
"""(step, score), by step."""
_STEPS = ("step", "steps", "timesteps", "total_timesteps", "time/total_timesteps", "global_step", "decisions")
_SCORES = ("score", "reward", "return", "mean_reward", "ep_rew_mean", "rollout/ep_rew_mean", "episode_reward", "value")
SCORE = "score"
"""Among the facts of a snapshot: the mean return when it was taken."""
_COVERED = 0.9
"""The share of the training that a curve has to cover at least."""
_MAX_BYTES = 64 << 20


def read_curve(path: Path) -> Curve:
    """A CSV file with a column of steps and one of scores, such as stable-baselines3's progress.csv."""
    if not path.is_file():
        raise StoreError(f"There is no curve at {path}.")
    if path.stat().st_size > _MAX_BYTES:
        raise StoreError(f"{path} has {path.stat().st_size:,} bytes; a curve has at most {_MAX_BYTES:,}.")
    with path.open(encoding="utf-8-sig", newline="", errors="replace") as file:
        lines = csv.DictReader(file)
        titles = {title.strip().lower(): title for title in lines.fieldnames or () if title}
        step, score = (next((titles[n] for n in known if n in titles), None) for known in (_STEPS, _SCORES))
        if step is None or score is None:
            lacks = "steps" if step is None else "scores"
            known, there = ", ".join(_STEPS if step is None else _SCORES), ", ".join(titles) or "no titles"
            raise StoreError(f"{path.name} has no column of {lacks}: it has {there}. Call it one of: {known}.")
        points = [(_number(line.get(step)), _number(line.get(score))) for line in lines]
    return checked_curve([(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)], path.name)


def checked_curve(points: Sequence[tuple[float, float]], name: str = "the curve") -> Curve:
    """Points by step; of several at one step the last."""
    found = {float(x): float(y) for x, y in points}
    if len(found) < 2:
        raise StoreError(f"{name} has {len(found)} point{'s' * (len(found) != 1)}; a curve has two or more.")
    if not all(map(math.isfinite, (*found, *found.values()))):
        raise StoreError(f"{name} holds what is no number.")
    return tuple(sorted(found.items()))


def check_covered(curve: Curve, steps: Sequence[int]) -> None:
    """Raise where a curve leaves out a part of the training that the snapshots are of."""
    first, last, begun, over = curve[0][0], curve[-1][0], steps[0], steps[-1]
    if last < _COVERED * over:
        raise StoreError(
            f"The curve ends at step {last:,.0f}, and the snapshots go on to {over:,}: it does not cover them. Give "
            "the whole curve, or leave out the later snapshots."
        )
    if first - begun > (1 - _COVERED) * (over - begun):
        raise StoreError(
            f"The curve begins at step {first:,.0f}, and the snapshots at {begun:,}: it does not say how the "
            "training began."
        )


def kept_curve(study: Study, taken: Sequence[Snapshot]) -> tuple[Curve, str]:
    """Scores that the snapshots keep, else the mean returns of what was recorded with them; and which they are."""
    scored = [(float(each.step), float(each.facts[SCORE])) for each in taken if SCORE in each.facts]
    if len(scored) > 1:
        return checked_curve(scored), "as logged with the snapshots"
    played = []
    for each in taken:
        if each.recording and each.recording in study.recordings():
            groups = study.recording(each.recording).groups()
            if "return" in groups.columns and len(groups):
                played.append((float(each.step), float(groups["return"].mean())))  # type: ignore[arg-type]
    if len(played) > 1:
        return checked_curve(played), "mean returns of the episodes recorded with the snapshots"
    return (), ""


def _number(text: str | None) -> float:
    try:
        return float(text) if text else math.nan
    except ValueError:
        return math.nan
