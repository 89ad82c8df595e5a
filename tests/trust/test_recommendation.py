"""Advice in words: what passes without reserve is to be used, what fails is not."""

from __future__ import annotations

from dataclasses import replace

from innerview.trust.actions import ActionDifference
from innerview.trust.deletion import FRACTIONS, Curves
from innerview.trust.examination import Figures
from innerview.trust.interval import Interval
from innerview.trust.randomisation import Randomisation
from innerview.trust.recommendation import advise, recommend
from innerview.trust.stability import Stability


def around(mean: float, width: float = 0.02) -> Interval:
    return Interval(mean=mean, low=mean - width, high=mean + width, n=16)


def figures(name: str, remains: float, places: float = 0.1, **more: object) -> Figures:
    line = (remains,)
    left = Randomisation(
        stages=("one",),
        rank=line,
        rank_low=line,
        rank_high=line,
        strength=line,
        ssim=line,
        remains=around(remains),
        places_remain=around(places),
        draws=1,
        empty=0.0,
    )
    return replace(Figures(name=name, randomisation=left), **more)  # type: ignore[arg-type]


def curves(ahead: float) -> Curves:
    line = (0.0,) * len(FRACTIONS)
    return Curves(
        insertion=line,
        deletion=line,
        insertion_by_chance=line,
        deletion_by_chance=line,
        insertion_area=around(0),
        deletion_area=around(0),
        insertion_area_by_chance=0,
        deletion_area_by_chance=0,
        ahead=around(ahead),
    )


def test_the_verdict_follows_the_interval() -> None:
    assert figures("a", 0.2).verdict == "passes" and figures("a", 0.8).verdict == "fails"
    assert figures("a", 0.49).verdict == "unclear" and figures("a", 0.51).verdict == "unclear"
    assert Figures(name="a", untested="No.").verdict == "not tested"


def test_what_passes_with_a_doubt_is_used_with_care() -> None:
    stays = Stability(seen_again=around(0.2), by_chance=0.1, steps=9, reach_px=2)
    alike = ActionDifference(differs=around(0.05), actions=2, empty=0, by_row=(0.05,))
    told = {
        "its places do not": figures("a", 0.1, places=0.9),
        "flickers": figures("a", 0.1, stability=stays),
        "tell actions apart": figures("a", 0.1, actions=alike),
        "laid elsewhere": figures("a", 0.1, curves=curves(-0.5)),
        "too near to the limit": figures("a", 0.5),
    }
    for words, each in told.items():
        assert advise(each).use == "care" and words in advise(each).why, words
    assert advise(figures("a", 0.1, curves=curves(0.5))).use == "use"


def test_sentences_name_what_to_use_and_what_not() -> None:
    every = [
        figures("good", 0.1),
        figures("fine", 0.2),
        figures("bad", 0.9),
        Figures(name="gelu", untested="No rectifier."),
        figures("edges", 1.0, baseline=True),
    ]
    found = recommend(every, "agent")
    assert found.sentences[0].startswith("On 'agent' use good and fine:")
    assert any(each.startswith("Do not use bad. ") and "0.90" in each for each in found.sentences)
    assert any("Not tested: gelu. No rectifier." in each for each in found.sentences)
    assert not any("edges" in each for each in found.sentences)
    assert recommend([figures("bad", 0.9)], "agent").sentences[0] == "On 'agent' no method passes without reserve."


def test_an_edge_detector_that_passes_condemns_the_table() -> None:
    found = recommend([figures("good", 0.1), figures("edges", 0.1, baseline=True)], "agent")
    assert found.sentences[-1] == "edges knows nothing of the network and passes: do not trust this table."
