"""The diversity experiment: shares and ranks that are known, plots that hold every number, figures from the cards."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
import torch
from innerview_zoo import entry
from innerview_zoo.diversity import command
from innerview_zoo.diversity.experiment import Candidate, Diversity, Seen, diversity
from innerview_zoo.diversity.plots import completion_plot, meaning_plot
from innerview_zoo.models.platformer import score
from innerview_zoo.models.platformer.published import PUBLISHED
from innerview_zoo.report import share_figure
from rich.console import Console

from innerview.errors import LensError, RequestError, UnknownName
from innerview.subjects import Subject
from innerview.testing.crossing import Crossing, walker
from innerview.testing.worlds import CountingWorld

SEEDS = range(1_000, 1_018)
PARAMETERS = {"layer": "see", "count": 2}


def seeing_the_ground() -> Subject:
    """It tells nothing apart but the ground, which is there in every picture."""
    agent = walker("dull")
    module: Any = agent.module
    with torch.no_grad():
        module.tell.weight.zero_()
        module.tell.weight[:, 2] = 0.01
    return agent


def candidate(name: str, levels: int | None, subject: Subject, unseen: int = 50) -> Candidate:
    share = share_figure(unseen, 100, name="levels completed")
    return Candidate(name=name, levels=levels, subject=subject, unseen=share, own=share if levels else None)


def candidates() -> list[Candidate]:
    """Not in their order, which is that of their levels."""
    return [candidate("clear", None, walker(), 99), candidate("dull", 100, seeing_the_ground(), 40)]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("diversity") / "a.study"


def test_factors_that_mean_something_are_counted_agent_by_agent(study: Path) -> None:
    found = diversity(study, candidates(), Crossing(), seeds=SEEDS, parameters=PARAMETERS, fits=2)
    dull, clear = found.seen
    assert (dull.candidate.name, clear.candidate.called) == ("dull", "without limit")
    assert dull.meaningful.value == 0 and dull.score < 0.1
    assert clear.meaningful.value >= 50 and clear.score == pytest.approx(1)
    assert clear.meaningful.count == 4 and {name for fit in clear.names for name in fit} >= {"red", "green"}
    assert found.summary()["agents"][1]["factors"] == [list(fit) for fit in clear.names]
    assert [len(each.results) for each in found.seen] == [2, 2]


def test_a_class_may_not_count(study: Path) -> None:
    given = {"seeds": SEEDS, "parameters": PARAMETERS, "fits": 2}
    every = diversity(study, candidates(), Crossing(), **given).seen[1]
    fewer = diversity(study, candidates(), Crossing(), without=["red"], **given).seen[1]
    assert every.kinds == ("green", "red") and fewer.kinds == ("green",)
    assert fewer.meaningful.value == every.meaningful.value - 25 * sum(fit.count("red") for fit in every.names)
    with pytest.raises(UnknownName, match="Did you mean 'red'"):
        diversity(study, candidates(), Crossing(), without=["rod"], **given)


def seen(levels: int | None, meaningful: int, unseen: int) -> Seen:
    return Seen(
        candidate=candidate(str(levels), levels, walker(), unseen),
        names=(("saw",) * meaningful + ("",) * (8 - meaningful),),
        scores=((0.5,) * 8,),
        rows=1,
        results=("a",),
        layer="see",
    )


def test_ranks_say_whether_it_rises() -> None:
    found = Diversity(seen=(seen(100, 1, 60), seen(1_000, 3, 50), seen(10_000, 2, 40), seen(None, 6, 30)))
    assert found.rises == pytest.approx(0.8) and found.generalises == pytest.approx(-1)
    assert found.score_rises is None and found.kinds_rise is None


def test_agents_of_as_many_levels_share_their_rank() -> None:
    one = (seen(100, 1, 60), seen(100, 3, 50), seen(None, 5, 40), seen(None, 7, 30))
    other = (one[1], one[0], one[3], one[2])
    assert Diversity(seen=one).rises == pytest.approx(0.8944272) == Diversity(seen=other).rises  # by scipy


def test_plots_hold_ours_and_every_number_of_the_paper() -> None:
    found = Diversity(seen=(seen(100, 2, 60), seen(None, 6, 99)))
    completion, meaning = (ElementTree.fromstring(plot(found)) for plot in (completion_plot, meaning_plot))
    told = ["".join(each.itertext()) for each in completion.iter("{http://www.w3.org/2000/svg}title")]
    assert "ours, unseen, no limit: 99.00 %" in told and "paper, unseen, no limit: 99.27 %" in told
    assert sum(each.startswith("paper, own") for each in told) == len(PUBLISHED)
    told = ["".join(each.itertext()) for each in meaning.iter("{http://www.w3.org/2000/svg}title")]
    assert "ours, by masks, 100: 25.00 %" in told and "paper, by people, 100: 20.00 %" in told
    places = [float(each.attrib["cx"]) for each in meaning.iter("{http://www.w3.org/2000/svg}circle")]
    assert all(0 < place < 640 for place in places)


def test_the_command_prints_draws_and_saves(study: Path, tmp_path: Path) -> None:
    console = Console(record=True, width=200)
    wanted = command.Options(out=tmp_path, study=study, episodes=len(SEEDS), parameters=PARAMETERS, fits=2)
    command.measure(console, wanted, candidates(), Crossing(), SEEDS[0])
    said = console.export_text()
    for words in ("without limit", "99.27", "20 ± 19", "(unclear) 4", "Spearman", "zoo:clear", "too few"):
        assert words in said
    kept = json.loads((tmp_path / "diversity.json").read_text())
    assert [each["name"] for each in kept["agents"]] == ["dull", "clear"] and kept["agents"][0]["meaningful"][0] == 0
    assert (tmp_path / "completion.svg").stat().st_size and (tmp_path / "meaning.svg").stat().st_size


def test_the_cards_say_what_is_completed_and_missing_agents_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = score.weights_of
    monkeypatch.setattr(score, "weights_of", lambda name: tmp_path / name if name.endswith("k") else there(name))
    console = Console(record=True, width=200)
    found = command.candidates(console, command.Options(out=tmp_path))
    assert [(each.levels, each.unseen) for each in found] == [
        (100, entry("platformer_100").figures.main),
        (None, entry("platformer").figures.main),
    ]
    assert found[0].own == entry("platformer_100").figures.others[0] and found[1].own is None
    assert "'platformer_10k' has no weights and is left out; --train trains it." in console.export_text()


def test_what_cannot_be_compared_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="Two agents or more"):
        diversity(tmp_path / "a.study", candidates()[:1], Crossing(), seeds=SEEDS)
    with pytest.raises(RequestError, match="1 or more, not 0"):
        diversity(tmp_path / "a.study", candidates(), Crossing(), seeds=SEEDS, fits=0)
    with pytest.raises(LensError, match="provides no masks"):
        diversity(tmp_path / "a.study", candidates(), CountingWorld(), seeds=SEEDS)
