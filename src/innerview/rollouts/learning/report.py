"""What came of a learning signal: figures, sentences and a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from innerview.rollouts.learning.curve import Curve
from innerview.saliency.learning.rise import Rise, block_means, intervals, rise
from innerview.schema import Axis, Chart, Series

SCORE = "score"
WORDS = {
    "agreement": "agreement of the maps with those of the last snapshot",
    "on objects": "share of the maps on objects",
    "contrast": "contrast of positive and negative parts",
    SCORE: "score",
}


@dataclass(frozen=True)
class Signal:
    """A figure of maps by training step."""

    name: str
    steps: Sequence[int]
    values: np.ndarray
    """[step, block]."""


def told(
    signals: Sequence[Signal], curve: Curve, *, source: str, share: float, health: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Signals, scores, when each rises, and by how much earlier than the score, as JSON."""
    lines = [_line(signal, share) for signal in signals]
    score = _score(curve, source, share) if curve else None
    ratios = [_ratio(line, score) for line in lines if score]
    value = {"share": share, "signals": lines, "score": score, "ratios": [each for each in ratios if each]}
    return {**value, "health": list(health), "words": _words(value)}


def charted(value: Mapping[str, Any]) -> Chart:
    """Every line as a share of its own rise, from 0 at the first step to 1 at the last, with the share that counts."""
    lines = [*value["signals"], *([value["score"]] if value["score"] else [])]
    series = tuple(Series(name=line["name"], x=line["steps"], y=_share_of_rise(line["values"])) for line in lines)
    ends = [value["signals"][0]["steps"][0], value["signals"][0]["steps"][-1]] if value["signals"] else []
    bound = Series(name=f"{value['share']:.0%} of the rise", x=ends, y=[value["share"]] * len(ends))
    return Chart(x=Axis(name="training step"), y=Axis(name="share of the final rise"), series=(*series, bound))


def _line(signal: Signal, share: float) -> dict[str, Any]:
    edges = intervals(signal.values)
    return {
        "name": signal.name,
        "steps": list(signal.steps),
        "values": block_means(signal.values).tolist(),
        "low": edges[:, 0].tolist(),
        "high": edges[:, 1].tolist(),
        "rise": asdict(rise(signal.steps, signal.values, share=share)),
    }


def _score(curve: Curve, source: str, share: float) -> dict[str, Any]:
    steps, scores = (list(side) for side in zip(*curve, strict=True))
    found = rise(steps, np.array(scores)[:, None], share=share)
    return {"name": SCORE, "source": source, "steps": steps, "values": scores, "rise": asdict(found)}


def _ratio(line: Mapping[str, Any], score: Mapping[str, Any]) -> dict[str, Any] | None:
    """How many times later the score rises; its bounds are those of both intervals put together."""
    mine, other = Rise(**line["rise"]), Rise(**score["rise"])
    if not mine.step or not other.step:
        return None
    low = other.low / mine.high if mine.high and other.low is not None else None
    high = other.high / mine.low if mine.low and other.high is not None else None
    return {"signal": line["name"], "ratio": other.step / mine.step, "low": low, "high": high}


def _words(value: Mapping[str, Any]) -> list[str]:
    """What came out, a sentence each."""
    found = []
    for each in value["ratios"]:
        low, high = (f"{bound:.2g}" if bound is not None else "?" for bound in (each["low"], each["high"]))
        first = "before" if each["ratio"] > 1 else "after" if each["ratio"] < 1 else "at the same step as"
        unsure = "" if (each["low"] or 0) > 1 or (each["high"] or np.inf) < 1 else "; as 1 is among them, this is open"
        found.append(
            f"The {WORDS[each['signal']]} rises {first} the score: the score takes {each['ratio']:.2g} times as many "
            f"steps ({low} to {high} times{unsure})."
        )
    lines = [*value["signals"], *([value["score"]] if value["score"] else [])]
    for line in lines:
        what, risen = WORDS.get(line["name"], line["name"]), Rise(**line["rise"])
        if risen.step is None:
            found.append(f"The {what} does not rise: {risen.why}.")
            continue
        begun, ended = line["values"][0], line["values"][-1]
        sure = f" (95 % interval {risen.low:,.0f} to {risen.high:,.0f})" if line["name"] != SCORE else ""
        found.append(
            f"The {what} goes from {begun:.3g} to {ended:.3g}; from step {risen.step:,.0f} on it stays beyond "
            f"{value['share']:.0%} of that{sure}, at step {risen.after:,.0f} not yet."
        )
    if value["score"] is None:
        found.append("There are no scores to compare with: give a curve, or record episodes with the snapshots.")
    return found


def _share_of_rise(values: Sequence[float]) -> list[float | None]:
    span = values[-1] - values[0]
    return [(value - values[0]) / span if span else 0.0 for value in values]
