"""Scores of platformer agents: every level is played once, failures have their causes, the table fits the paper's."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from innerview_zoo.models.platformer.agent import Agent
from innerview_zoo.models.platformer.score import (
    FAMILY,
    HEAD,
    Score,
    Scored,
    complete,
    load_agent,
    member,
    own_levels,
    report,
    unseen_levels,
)
from innerview_zoo.worlds.platformer import ACTIONS, FIRST_TEST_LEVEL, OUTCOMES, PlatformerSettings
from torch import Tensor

from innerview.errors import InnerviewError, SubjectError


class Stubborn(Agent):
    """Always the same action."""

    def __init__(self, action: str) -> None:
        super().__init__()
        self.action = ACTIONS.index(action)

    def forward(self, frame: Tensor) -> tuple[Tensor, Tensor]:
        logits = torch.zeros(len(frame), len(ACTIONS))
        logits[:, self.action] = 100.0
        return logits, torch.zeros(len(frame), 1)


def test_who_stands_still_runs_out_of_time_in_every_level() -> None:
    settings = PlatformerSettings(auto_reset=False, time_limit=6)
    score = complete(Stubborn("C"), unseen_levels(23), settings=settings, lanes=5)
    assert score.count == 23 and score.endings[OUTCOMES.index("time")] == 23
    assert score.steps == 6 and score.completed("").value == 0


def test_each_level_counts_once_whatever_the_number_of_lanes() -> None:
    settings = PlatformerSettings(auto_reset=False, time_limit=40)
    few, many = (complete(Stubborn("right"), unseen_levels(20), settings=settings, lanes=n) for n in (7, 20))
    assert few == many and few.count == 20


def test_the_same_seed_gives_the_same_score() -> None:
    told: list[tuple[int, int]] = []
    settings = PlatformerSettings(auto_reset=False, time_limit=30)

    def play() -> Score:
        return complete(
            None,
            unseen_levels(12),
            settings=settings,
            lanes=6,
            seed=3,
            progress=lambda done, of, what: told.append((done, of)),
        )

    first, second = play(), play()
    assert first == second and sum(first.endings[1:]) == 12 and told[-1] == (12, 12)


def test_no_levels_is_an_error() -> None:
    with pytest.raises(InnerviewError, match="at least one"):
        complete(None, unseen_levels(0))


def test_unseen_levels_are_never_drawn_and_own_ones_are() -> None:
    assert int(unseen_levels(5).min()) == FIRST_TEST_LEVEL
    drawn = own_levels(1000, 100)
    assert int(drawn.min()) >= 0 and int(drawn.max()) < 100 and len(drawn.unique()) > 90


def test_the_table_stands_beside_the_paper() -> None:
    unseen, own = Score((0, 70, 10, 8, 6, 4, 2), 80.0), Score((0, 99, 1, 0, 0, 0, 0), 60.0)
    table = report([Scored(who, unseen, own if who.levels else None) for who in FAMILY], title="All")
    by_levels = {row[0]: dict(zip(HEAD[1:], row[1:], strict=True)) for row in table.rows}
    assert by_levels["100"]["saw"] == "10.00" and by_levels["without limit"]["own, %"] == "–"
    assert table.rows[0][4] == "61.81, 64.13" and table.main.value == pytest.approx(70)
    assert table.main.low < 70 < table.main.high


def test_a_truncated_weight_file_is_named(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    path = tmp_path / "weights.safetensors"
    save_file({name: value.half() for name, value in Agent().state_dict().items()}, path)
    assert load_agent(path).conv2b.weight.dtype == torch.float32
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(SubjectError, match=r"weights\.safetensors"):
        load_agent(path)


def test_members_are_found_by_folder() -> None:
    assert member("platformer_10k").called == "10,000" and member("platformer").levels is None
