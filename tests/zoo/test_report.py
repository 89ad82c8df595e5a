"""Figures carry intervals that can be checked by hand, and reports and figure files that are wrong say so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from innerview_zoo.report import Figure, Report, mean_figure, read_figures, share_figure, write_figures

from innerview.errors import InnerviewError


def test_the_mean_has_the_interval_of_students_t() -> None:
    figure = mean_figure([1.0, 2.0, 3.0, 4.0, 5.0], name="score", unit="points")
    half = 2.776445 * (2.5 / 5) ** 0.5  # the 97.5 % quantile with 4 degrees of freedom
    assert figure.value == 3.0
    assert (figure.low, figure.high) == pytest.approx((3 - half, 3 + half))
    assert (figure.count, figure.unit) == (5, "points")


def test_one_value_reports_nothing_of_its_spread() -> None:
    figure = mean_figure([7.0], name="score")
    assert str(figure) == "7.00 (−∞–∞)"


def test_a_share_has_wilsons_interval() -> None:
    figure = share_figure(126, 200, name="complete")
    assert figure.value == pytest.approx(63.0)
    assert (figure.low, figure.high) == pytest.approx((56.13, 69.39), abs=0.01)


@pytest.mark.parametrize(("successes", "low", "high"), [(0, 0.0, 27.75), (10, 72.25, 100.0)])
def test_none_and_all_keep_an_interval(successes: int, low: float, high: float) -> None:
    figure = share_figure(successes, 10, name="complete")
    assert (figure.low, figure.high) == pytest.approx((low, high), abs=0.01)


@pytest.mark.parametrize(("successes", "count"), [(3, 2), (-1, 2), (0, 0)])
def test_what_is_no_share_is_refused(successes: int, count: int) -> None:
    with pytest.raises(InnerviewError, match="no share"):
        share_figure(successes, count, name="complete")


def test_a_mean_of_nothing_is_refused() -> None:
    with pytest.raises(InnerviewError, match="no values"):
        mean_figure([], name="score")


def test_figures_agree_where_their_intervals_overlap() -> None:
    card = Figure("score", 10.0, 8.0, 12.0, 30)
    assert Figure("score", 13.0, 11.5, 14.5, 30).agrees_with(card)
    assert not Figure("score", 15.0, 12.5, 17.5, 30).agrees_with(card)
    assert not Figure("score", 5.0, 2.5, 7.5, 30).agrees_with(card)


def test_a_few_episodes_that_happen_to_be_alike_prove_nothing() -> None:
    card = Figure("score", 500.0, 490.0, 510.0, 100)
    assert Figure("score", 525.0, 525.0, 525.0, 4).agrees_with(card)
    assert not Figure("score", 525.0, 525.0, 525.0, 100).agrees_with(card)


def test_figures_survive_the_file(tmp_path: Path) -> None:
    main, other = share_figure(97, 100, name="levels", how="unseen"), mean_figure([1.0, 2.0], name="steps")
    write_figures(tmp_path / "figures.json", main, [other])
    found = read_figures(tmp_path / "figures.json")
    assert (found.main, found.others) == (main, (other,))


@pytest.mark.parametrize("content", ["{", "[]", "{}", json.dumps({"main": {"name": "score"}}), '{"main": 3}'])
def test_a_file_without_figures_says_what_is_expected(tmp_path: Path, content: str) -> None:
    path = tmp_path / "figures.json"
    path.write_text(content)
    with pytest.raises(InnerviewError, match=r'holds no figures.*"main"'):
        read_figures(path)


def test_a_missing_file_says_that_the_model_was_not_evaluated(tmp_path: Path) -> None:
    with pytest.raises(InnerviewError, match="not evaluated"):
        read_figures(tmp_path / "figures.json")


def test_a_row_that_does_not_fit_its_head_is_refused() -> None:
    with pytest.raises(InnerviewError, match="3 cells, its head has 2"):
        Report("scores", ("who", "score"), (("agent", "3", "4"),), Figure("score", 3.0, 2.0, 4.0, 5))


def test_numbers_are_as_long_as_they_report_something() -> None:
    assert str(Figure("score", 1543.21, 1402.6, 1683.8, 30, "points")) == "1,543 points (1,403–1,684)"
    assert str(Figure("error", 0.3124, 0.3, 0.325, 30, "m")) == "0.31 m (0.30–0.33)"
    assert str(Figure("levels", 99.89, 99.8, 99.94, 10_000, "%")) == "99.89 % (99.80–99.94)"
    assert str(Figure("levels", 63.0, 56.12, 69.4, 200, "%")) == "63.0 % (56.1–69.4)"
