"""Which methods can be used on a subject, which only with care, and which not, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from innerview.trust.examination import Figures
from innerview.trust.stability import MOST

SAME_FOR_ALL = 0.1
"""Maps of two actions of which less than this share lies elsewhere do not tell the actions apart."""


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What to do with one method, and why."""

    method: str
    use: str
    """use, care, avoid or not tested."""
    why: str


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """Advice for every method of a subject."""

    sentences: tuple[str, ...]
    methods: tuple[Advice, ...]


def recommend(figures: Sequence[Figures], subject: str) -> Recommendation:
    """Advice, method by method, and as sentences; edge detectors are judged and not recommended."""
    advice = tuple(advise(each) for each in figures)
    own = [each for each, of in zip(advice, figures, strict=True) if not of.baseline]
    named = {use: [each for each in own if each.use == use] for use in ("use", "care", "avoid", "not tested")}
    sentences = []
    if named["use"]:
        sentences.append(f"On '{subject}' use {_listed(named['use'])}: the maps depend on what was learnt.")
    else:
        sentences.append(f"On '{subject}' no method passes without reserve.")
    sentences += [f"With care: {each.method}. {each.why}" for each in named["care"]]
    sentences += [f"Do not use {each.method}. {each.why}" for each in named["avoid"]]
    sentences += [f"Not tested: {each.method}. {each.why}" for each in named["not tested"]]
    wrong = [each.name for each in figures if each.baseline and each.verdict == "passes"]
    if wrong:
        sentences.append(f"{', '.join(wrong)} knows nothing of the network and passes: do not trust this table.")
    return Recommendation(sentences=tuple(sentences), methods=advice)


def advise(figures: Figures) -> Advice:
    """What to do with one method."""
    remains = figures.randomisation
    if remains is None:
        return Advice(method=figures.name, use="not tested", why=figures.untested)
    left = f"its maps of random networks still correlate by {remains.remains.mean:.2f} with those of the trained one"
    if figures.verdict == "fails":
        return Advice(
            method=figures.name, use="avoid", why=f"{_begun(left)}: it shows the picture, not what was learnt."
        )
    doubts = _doubts(figures)
    if figures.verdict == "unclear":
        doubts.insert(0, f"{left} ({remains.remains.low:.2f} to {remains.remains.high:.2f}), too near to the limit")
    if doubts:
        return Advice(method=figures.name, use="care", why=f"{_begun('; '.join(doubts))}.")
    return Advice(method=figures.name, use="use", why=f"{_begun(left)} and no more.")


def _begun(words: str) -> str:
    return words[0].upper() + words[1:]


def _doubts(figures: Figures) -> list[str]:
    found = []
    if figures.draws_the_picture and figures.randomisation is not None:
        places = figures.randomisation.places_remain.mean
        found.append(f"its signs depend on the weights, and its places do not ({places:.2f}): read the colours")
    if figures.curves is not None and figures.curves.ahead.high <= 0:
        found.append("the output follows its map no better than the same map laid elsewhere")
    if figures.actions is not None and figures.actions.differs.high < SAME_FOR_ALL:
        found.append("it does not tell actions apart")
    if figures.stability is not None and figures.stability.seen_again.high < MOST:
        found.append(f"its highlights stay in {figures.stability.seen_again.mean:.0%} of steps, so that it flickers")
    return found


def _listed(advice: Sequence[Advice]) -> str:
    names = [each.method for each in advice]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
