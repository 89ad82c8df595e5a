"""The gallery: every cell of the paper's tables, claims with figures, and colours that are the map's."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from innerview_zoo.gallery.agents import ROWS, YOUNG, Row
from innerview_zoo.gallery.claims import CLAIMS
from innerview_zoo.gallery.command import made
from innerview_zoo.gallery.page import Cell, painted
from innerview_zoo.models.atari.plans import PLANS

import innerview as iv

pytest.importorskip("ale_py")


def test_every_agent_of_the_papers_first_table_has_its_row() -> None:
    assert len(ROWS) == 6 and {row.name for row in ROWS} == set(PLANS)
    assert all(age in PLANS[row.name].ages for row in (*ROWS, YOUNG) for age in row.younger)


def test_a_page_has_every_cell_and_every_claim(tmp_path: Path) -> None:
    row = Row(name="breakout_ac", title="Breakout, actor-critic", paper="A3C", back=(1, 3), younger=("early",))
    young = Row(name="breakout_ac", title="Breakout, young", paper="young", age="early")
    study, page = iv.Study.create(tmp_path / "g.study", "g"), tmp_path / "gallery.html"
    told: list[str] = []
    made(study, page, rows=(row,), young=young, steps=range(10, 14), say=told.append)
    text = page.read_text()
    assert set(study.recordings()) == {"breakout_ac", "breakout_ac.early"}
    assert text.count("<img ") == 6 + 2 + 6, "tables 1, 3 and 4; table 2 is of two streams"
    assert all(claim.text in text for claim in CLAIMS)
    assert len(re.findall("Measured here: (holds|in part|does not hold)", text)) == len(CLAIMS)
    count = len(study.results())
    made(study, page, rows=(row,), young=young, steps=range(10, 14), say=told.append)
    assert len(study.results()) == count and page.read_text() == text, "what is there is not computed again"


def test_colours_are_the_maps() -> None:
    drawn = painted(Cell(map_hw=np.array([[2.0, -2.0], [1.0, 0.0]]), frame_hw=np.full((2, 2), 200, np.uint8))).astype(
        int
    )
    (for_, against), (half, nothing) = drawn
    assert for_[1] > for_[0] and against[0] > against[1], "green for, red against"
    assert tuple(nothing) == (100, 100, 100)
    assert (np.abs(half - nothing) < np.abs(for_ - nothing).max() + 1).all() and half[1] > half[0]
    assert (painted(Cell(map_hw=np.zeros((1, 1)), frame_hw=np.full((1, 1), 80, np.uint8))) == 40).all()
