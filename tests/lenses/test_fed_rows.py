"""Lenses over recorded rows as a subject took them: edited as it was, and fed by the arrays that are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import innerview as iv
from innerview.errors import LensError, RequestError
from innerview.jobs.context import Context
from innerview.jobs.engine import Cancelled
from innerview.lenses.look import ROWS_A_PART, look
from innerview.lenses.rows.inputs import RowInputs
from innerview.rollouts.live import ForwardCall, LensCall, forward, lens
from innerview.schema import SiteEdit
from innerview.store import Study
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import Pose, recurrent

ALWAYS = SiteEdit(elements=(0, 3), op="set", value=1.5)
LATER = SiteEdit(elements=(0, 3), op="set", value=1.5, start=2)
FROZEN = SiteEdit(elements=(1,), op="freeze", site="eye")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Study:
    path = tmp_path_factory.mktemp("fed") / "a.study"
    for name, edits in {"plain": (), "always": ALWAYS, "later": LATER, "frozen": FROZEN}.items():
        iv.record(path, recurrent(), CountingWorld(), episodes=2, name=name, edits=edits, progress=False)
    return Study.open(path)


@pytest.mark.parametrize("name", ["always", "later"])
def test_a_lens_looks_at_the_subject_as_it_was_edited(played: Study, name: str) -> None:
    recording, context = played.recording(name), Context(study=played, subjects={"tiny": recurrent()})
    start = recording.group_rows(1)[0]
    rows = [start, start + 1, start + 2, start + 9]
    result = look(played, "gradient", name, subject=recurrent(), target="value", progress=False)
    heat = played.result_array(result.id, "heat.x")
    chances = recording.array("probabilities", 0, recording.rows)
    given = RowInputs(recurrent(), recording)
    said = recurrent().probabilities(given.run(np.array(rows)))
    np.testing.assert_allclose(said, chances[rows], atol=1e-6)
    plain = RowInputs(recurrent(), recording, as_recorded=False)
    assert (
        plain.edits == () and np.abs(recurrent().probabilities(plain.run(np.array(rows))) - chances[rows]).max() > 0.01
    )
    for row in rows:
        live = lens(context, LensCall(recording=name, row=row, lens="gradient", parameters={"target": "value"}))[1]
        np.testing.assert_allclose(heat[row], live, atol=1e-7)
        logits = torch.tensor(forward(context, ForwardCall(recording=name, row=row))["heads"]["policy"])
        np.testing.assert_allclose(logits.softmax(0), chances[row], atol=1e-6)


def test_memory_that_was_not_recorded_is_carried_with_the_edits(played: Study) -> None:
    recording, rows = played.recording("later"), np.array([1, 2, 9])
    given = RowInputs(recurrent(), recording)
    carried = given._carried(rows)
    recorded = given.memory_before(rows)
    for site, state in recorded.items():
        torch.testing.assert_close(carried[site], state, atol=1e-6, rtol=0)


def test_edits_of_one_subject_are_not_made_to_another(played: Study) -> None:
    other = recurrent("other")
    with torch.no_grad():
        other.module.value.bias.add_(1)  # type: ignore[union-attr, operator]
    recording, rows = played.recording("always"), np.array([0])
    asked = RowInputs(other, recording)
    found = asked.run(rows).heads["value"] - other.run(*asked.read(rows)).heads["value"]
    assert asked.edits == () and not found.any()


def test_edits_that_hold_at_some_steps_are_for_single_rows(played: Study) -> None:
    whole = played.recording("always").group_rows(0)
    assert look(played, "influence", "always", subject=recurrent(), rows=whole, progress=False)
    with pytest.raises(LensError, match=r"hold at some steps only, and 'influence' looks at many"):
        look(played, "influence", "later", subject=recurrent(), rows=whole, progress=False)


def test_a_layer_frozen_at_what_is_not_known_any_more_is_refused(played: Study) -> None:
    with pytest.raises(RequestError, match="made with 'eye' frozen"):
        forward(Context(study=played, subjects={"tiny": recurrent()}), ForwardCall(recording="frozen", row=3))


@pytest.fixture
def pairs(tmp_path: Path) -> Study:
    study, random = Study.create(tmp_path / "s.study"), np.random.default_rng(0)
    arrays = {f"{side}.rgb": random.integers(0, 255, (9, 8, 10, 3)).astype(np.uint8) for side in ("sim", "real")}
    iv.write_rows(study, "pairs", columns={"x": np.arange(9.0)}, arrays=arrays)
    return study


def test_a_lens_is_fed_by_the_array_that_is_named(pairs: Study) -> None:
    torch.manual_seed(0)
    subject = iv.subject(Pose(0.0), name="pose", inputs={"rgb": (3, 8, 10)}, heads="pose")
    with pytest.raises(RequestError, match=r"could be fed by sim\.rgb .*, real\.rgb"):
        look(pairs, "gradient", "pairs", subject=subject, target="x of pose", progress=False)
    found = {
        side: look(
            pairs,
            "gradient",
            subject=subject,
            inputs={"rgb": f"{side}.rgb"},
            times_input=True,
            target="x of pose",
            progress=False,
        )
        for side in ("sim", "real")
    }
    heat = {side: pairs.result_array(result.id, "heat.rgb") for side, result in found.items()}
    assert found["real"].shown["arrays"] == {"rgb": "real.rgb"} and np.abs(heat["sim"] - heat["real"]).max() > 0.001
    call = LensCall(
        recording="pairs",
        row=4,
        lens="gradient",
        inputs={"rgb": "real.rgb"},
        parameters={"target": "x of pose", "times_input": True},
    )
    said, live = lens(Context(study=pairs, subjects={"pose": subject}), call)
    np.testing.assert_allclose(heat["real"][4], live, atol=1e-7)
    assert said["arrays"] == {"rgb": "real.rgb"}


def test_inputs_are_for_lenses_that_run_the_subject(played: Study) -> None:
    with pytest.raises(LensError, match="runs no subject"):
        look(played, "pca", "plain", inputs={"x": "image.x"}, progress=False)


def test_a_lens_over_single_rows_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    path = tmp_path / "a.study"
    iv.record(path, recurrent(), CountingWorld(), episodes=30, name="x", progress=False)
    study = Study.open(path)
    ask: dict[str, Any] = {"lens": "gradient", "subject": recurrent(), "target": "value"}
    seen: list[int] = []

    def stop(done: int, total: int | None, message: str = "") -> None:
        seen.append(done)
        if done >= 2 * ROWS_A_PART:
            raise Cancelled

    assert study.recording("x").rows > 2 * ROWS_A_PART
    with pytest.raises(Cancelled):
        look(study, **ask, progress=stop)
    (left,) = study.results()
    assert left.provisional and study.result_array(left.id, "rows").tolist() == list(range(2 * ROWS_A_PART))
    seen.clear()
    whole = look(study, **ask, progress=lambda done, total, message="": seen.append(done))
    assert min(seen) == 2 * ROWS_A_PART and not whole.provisional and whole.id == left.id
    heat = study.result_array(whole.id, "heat.x")
    anew = look(study, **ask, again=True, progress=False)
    np.testing.assert_array_equal(heat, study.result_array(anew.id, "heat.x"))
    assert len(heat) == study.recording("x").rows
