"""Recorded seeds played again with the memory changed: the same up to where the change makes a difference."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import innerview as iv
from innerview.errors import CaptureError, EditError, LensError, NotAsRecorded
from innerview.lenses.look import look
from innerview.rollouts.rerun import pairs_of, rerun
from innerview.schema import EditSet, Moment, SiteEdit
from innerview.testing.worlds import CountingGame, CountingWorld
from innerview.worlds import Game
from tests.rollouts.players import Recurrent, recurrent

LATE = EditSet(name="late", edits=(SiteEdit(elements=(0, 1, 2), op="set", value=3.0, start=6),))


@pytest.fixture
def study(tmp_path: Path) -> iv.Study:
    iv.record(tmp_path / "a.study", recurrent(), CountingWorld(), episodes=5, lanes=3, name="x", progress=False)
    return iv.Study.open(tmp_path / "a.study")


def test_nothing_differs_before_the_edit_and_the_decision_differs_with_it(study: iv.Study) -> None:
    made = rerun(study, "x", LATE, recurrent(), CountingWorld(), progress=False)
    assert made.recording.name == "x - late" and made.recording.info.of == "x"
    assert len(made.pairs) == 5 and all(pair.alike for pair in made.pairs)
    for pair in made.pairs:
        assert pair.divergence.decision == 6 and pair.seed == pair.of
        (start, _), (before, _) = made.recording.group_rows(pair.episode), study.recording("x").group_rows(pair.of)
        old, new = study.recording("x"), made.recording
        for array in ("memory", "probabilities", "observation"):
            assert np.array_equal(old.array(array, before, before + 6), new.array(array, start, start + 6))
        assert pair.divergence.action is None or pair.divergence.action >= 6
        assert pair.divergence.place is None or (
            pair.divergence.action is not None and pair.divergence.place > pair.divergence.action
        )
    assert any(pair.divergence.action is not None for pair in made.pairs)


def test_some_episodes_alone_are_the_same_to_the_last_bit(study: iv.Study) -> None:
    whole = rerun(study, "x", LATE, recurrent(), CountingWorld(), progress=False)
    some = rerun(study, "x", LATE, recurrent(), CountingWorld(), episodes=[4, 1], progress=False)
    assert some.recording.name != whole.recording.name
    assert [(pair.episode, pair.of) for pair in some.pairs] == [(0, 1), (1, 4)]
    for pair in some.pairs:
        rows, of = some.recording.group_rows(pair.episode), whole.recording.group_rows(pair.of)
        assert np.array_equal(some.recording.array("memory", *rows), whole.recording.array("memory", *of))


def test_an_edit_that_changes_nothing_never_parts(study: iv.Study) -> None:
    never = EditSet(name="never", edits=(SiteEdit(elements=(0,), start=10_000),))
    made = rerun(study, "x", never, recurrent(), CountingWorld(), progress=False)
    told = [(pair.divergence.decision, pair.divergence.action, pair.divergence.place) for pair in made.pairs]
    assert told == [(None, None, None)] * 5


def test_another_reduction_of_the_same_name_gets_a_name_of_its_own(study: iv.Study) -> None:
    first = rerun(study, "x", LATE, recurrent(), CountingWorld(), progress=False)
    assert rerun(study, "x", LATE, recurrent(), CountingWorld(), progress=False).recording.name == first.recording.name
    other = EditSet(name="late", edits=(SiteEdit(elements=(0,)),))
    assert rerun(study, "x", other, recurrent(), CountingWorld(), progress=False).recording.name != first.recording.name


def test_what_cannot_be_run_again(study: iv.Study) -> None:
    other = recurrent()
    assert isinstance(other.module, Recurrent)
    other.module.policy.bias.data += 1
    with pytest.raises(NotAsRecorded, match="weights of 'tiny' changed"):
        rerun(study, "x", LATE, other, CountingWorld(), progress=False)
    with pytest.raises(NotAsRecorded, match="length was None and is 9"):
        rerun(study, "x", LATE, recurrent(), CountingWorld(length=9), progress=False)
    with pytest.raises(CaptureError, match="0 to 4, not 5"):
        rerun(study, "x", LATE, recurrent(), CountingWorld(), episodes=[5], progress=False)
    with pytest.raises(EditError, match="elements 0 to 5"):
        wrong = EditSet(name="wrong", edits=(SiteEdit(elements=(6,)),))
        rerun(study, "x", wrong, recurrent(), CountingWorld(), progress=False)
    with pytest.raises(CaptureError, match="no re-run"):
        pairs_of(study, study.recording("x"))


def test_a_lens_that_runs_the_subject_does_not_look_at_an_edited_recording(study: iv.Study) -> None:
    made = rerun(study, "x", LATE, recurrent(), CountingWorld(), progress=False)
    with pytest.raises(LensError, match="Look at 'x' instead"):
        look(study, "influence", made.recording.name, subject=recurrent(), progress=False)


class DriftingWorld(CountingWorld):
    """Shows something else each time it is played."""

    def game(self, lane: int) -> Game:
        return Drifting()


@dataclass
class Drifting(CountingGame):
    """A game that counts how often games began."""

    begun = count()

    def reset(self, seed: int) -> Moment:
        self.drift = next(self.begun)
        return super().reset(seed)

    def _facts(self, step: int) -> dict[str, Any]:
        return {**super()._facts(step), "health": float(self.drift)}

    def _moment(self, **given: Any) -> Moment:
        moment = super()._moment(**given)
        moment.observation["observation"][..., 1] = self.drift  # type: ignore[index]
        return moment


def test_a_world_that_does_not_repeat_itself_is_reported(tmp_path: Path) -> None:
    iv.record(tmp_path / "a.study", recurrent(), DriftingWorld(), episodes=2, name="x", progress=False)
    made = rerun(tmp_path / "a.study", "x", LATE, recurrent(), DriftingWorld(), progress=False)
    assert not any(pair.alike for pair in made.pairs)
