"""Episodes played for a table or a test are kept, and none is played twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import innerview as iv
from innerview.capture import evaluate
from innerview.errors import CaptureError
from innerview.interventions.reductions import FULL, Table
from innerview.rollouts.episodes import Match, Player
from innerview.schema import Column, EditSet, SiteEdit, WorldInfo
from innerview.testing.crossing import Crossing, walker
from innerview.testing.worlds import CountingGame, CountingWorld, CrashingWorld, episode_length
from innerview.worlds.protocols import Game
from tests.rollouts.players import recurrent

EDITED = EditSet(name="without 1", edits=(SiteEdit(elements=(1,)),))


def quiet(*_: Any) -> None:
    """No progress."""


@pytest.fixture
def study(tmp_path: Path) -> iv.Study:
    return iv.Study.create(tmp_path / "a.study")


def test_a_table_sums_up_what_a_recording_of_the_same_seeds_holds(study: iv.Study) -> None:
    subject, world = recurrent(), CountingWorld()
    games = Table(study=study, subject=subject, world=world, lanes=3).play([FULL, EDITED], range(4), quiet)
    recorded = iv.record(study, subject, world, episodes=4, lanes=3, name="x", progress=False)
    for line, row in zip(games.lines[0], recorded.groups().iter_rows(named=True), strict=True):
        assert (line.seed, line.length, line.outcome) == (row["seed"], row["length"], row["outcome"])
        assert line.total_reward == row["return"]
        rows = recorded.columns(["picked_up", "health"], row["start"], row["stop"])
        assert line.counts["picked_up"] == rows["picked_up"].sum()
        assert line.counts["mean health"] == pytest.approx(rows["health"].mean())
    assert games.began_alike(1) == set(range(4))


def test_what_was_played_is_read_again_and_only_the_rest_is_played(study: iv.Study) -> None:
    table = Table(study=study, subject=recurrent(), world=CountingWorld())
    first = table.play([FULL, EDITED], range(3), quiet)
    done: list[int] = []
    again = table.play([FULL, EDITED], range(4), lambda now, *_: done.append(now))
    assert done[0] == 6 and done[-1] == 8
    assert [lines[:3] for lines in again.lines] == list(first.lines)


def test_a_match_keeps_what_an_evaluation_counts(study: iv.Study) -> None:
    subject, world = walker(), Crossing()
    match = Match(study=study, players=(Player(name="original", subject=subject, world=world),), seeds=tuple(range(9)))
    (lines,) = match.play(quiet)
    once = {one.seed: one for ended in evaluate(subject, world, range(9)) for _, one in ended}
    assert [(one.seed, one.outcome, one.length) for one in lines] == [
        (seed, once[seed].outcome, once[seed].length) for seed in range(9)
    ]
    assert match.play(quiet) == [lines]


def test_a_table_plays_again_what_was_played_without_counting(study: iv.Study) -> None:
    subject, world = recurrent(), CountingWorld()
    Match(study=study, players=(Player(name="a", subject=subject, world=world),), seeds=(0, 1)).play(quiet)
    done: list[int] = []
    Table(study=study, subject=subject, world=world).play([FULL], (0, 1), lambda now, *_: done.append(now))
    assert done[0] == 0


def test_a_match_whose_world_breaks_says_that_the_rest_is_saved(study: iv.Study) -> None:
    player = Player(name="a", subject=recurrent(), world=CrashingWorld(crash_at=3))
    broken = Match(study=study, players=(player,), seeds=(1,))
    with pytest.raises(CaptureError, match=r"could not play on in 'crashing'.*goes on from there"):
        broken.play(quiet)


class ShopWorld(CountingWorld):
    """Has words of its own for what is collected: at every fifth step, a pear and an apple in turn."""

    @property
    def info(self) -> WorldInfo:
        event = Column(name="bought", type="bool", kind="event", named_by="goods")
        goods = Column(name="goods", type="text", kind="event")
        return replace(super().info, facts=(*super().info.facts, event, goods))

    def game(self, lane: int) -> Game:
        return Shop()


class Shop(CountingGame):
    def _facts(self, step: int) -> dict[str, Any]:
        bought = step > 0 and step % 5 == 0
        return {**super()._facts(step), "bought": bought, "goods": ("pear", "apple")[step % 2] if bought else ""}


def test_each_name_that_an_event_has_is_counted_and_none_counts_as_none(study: iv.Study) -> None:
    games = Table(study=study, subject=recurrent(), world=ShopWorld()).play([FULL], range(1, 4), quiet)
    for line in games.fared(0):
        assert line.counts["bought: pear"] + line.counts["bought: apple"] == line.counts["bought"] > 1
    assert games.fared(0)[0].counts["bought: pear"] == games.fared(0)[0].counts["bought: apple"] == 2


def test_items_that_nobody_picked_up_count_as_none(study: iv.Study) -> None:
    games = Table(study=study, subject=recurrent(), world=CountingWorld()).play([FULL], range(3), quiet)
    assert [each.length for each in games.fared(0)] == [episode_length(seed) for seed in range(3)]
    assert len({frozenset(each.counts) for each in games.fared(0)}) == 1
