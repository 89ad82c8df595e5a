"""TD errors and advantages of a recording: they end as its episodes ended, and say where they say little."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import innerview as iv
from innerview.lenses.columns.derived import derived
from innerview.schema import Column, Ordering, RecordingInfo
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent


@pytest.fixture
def walks(tmp_path: Path) -> iv.Study:
    """Episodes with even seeds are cut by a time limit, those with odd ones end by a death."""
    study = iv.Study.create(tmp_path / "walks.study", "walks")
    iv.record(study, recurrent(), CountingWorld(length=9), episodes=2, name="walks", progress=False)
    return study


def test_what_follows_a_cut_is_unknown_and_what_follows_a_death_is_nothing(walks: iv.Study) -> None:
    recording = walks.recording("walks")
    assert recording.groups()["cut"].to_list() == [True, False]
    table = derived(walks, recording).columns(["reward", "value", "TD error", "advantage"])
    reward, value = table["reward"].to_numpy(), table["value"].to_numpy()
    inside = reward[:8] + 0.999 * value[1:9] - value[:8]
    np.testing.assert_allclose(table["TD error"].to_numpy()[:8], inside, rtol=1e-5)
    assert table["TD error"][8] is None and table["advantage"][8] is None
    assert table["advantage"][7] == pytest.approx(table["TD error"][7]), "bootstrapped from the last value"
    assert table["TD error"][17] == pytest.approx(reward[17] - value[17]), "nothing is expected after a death"


def test_an_episode_that_has_not_ended_yet_is_cut(tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "open.study", "open")
    columns = (
        Column(name="episode", type="int", kind="index"),
        Column(name="step", type="int", kind="index"),
        Column(name="reward", type="float", kind="reward"),
        Column(name="value", type="float", kind="value"),
    )
    groups = tuple(Column(name=name, type="int", kind="index") for name in ("episode", "start", "stop"))
    info = RecordingInfo(name="open", ordering=Ordering(), columns=columns, arrays=(), group_columns=groups)
    writer = study.writer(info)
    rows = {"episode": [0, 0, 1, 1], "step": [0, 1, 0, 1], "reward": [1.0] * 4, "value": [0.5] * 4}
    writer.append({name: values[:2] for name, values in rows.items()}, {})
    writer.end_group({"episode": 0, "start": 0, "stop": 2})
    writer.append({name: values[2:] for name, values in rows.items()}, {})
    writer.close(keep=True)
    errors = derived(study, "open").columns(["TD error"])["TD error"].to_list()
    assert errors[1] == pytest.approx(0.5) and errors[3] is None


@pytest.mark.parametrize(("scale", "warned"), [(1.0, False), (40.0, True)])
def test_a_value_on_another_scale_is_said_and_calibrated(tmp_path: Path, scale: float, warned: bool) -> None:
    """Values that foretell every return exactly, but for their scale."""
    reward = np.random.default_rng(0).uniform(1, 3, 50)
    value = np.array([sum(r * 0.999**k for k, r in enumerate(reward[t:])) for t in range(50)])
    study = iv.Study.create(tmp_path / "scaled.study", "scaled")
    columns = {"episode": [0] * 50, "step": list(range(50)), "reward": reward, "value": value / scale}
    specs = [Column(name=name, type="float", kind=name) for name in ("reward", "value")]
    iv.write_rows(study, "scaled", ordering=Ordering(), columns=columns, specs=specs)
    source = derived(study, "scaled")
    (advantage,) = (column for column in source.specs if column.name == "advantage")
    assert bool(advantage.warning) == warned
    table = source.columns(["advantage", "calibrated advantage"])
    assert (table["advantage"].abs().max() > 10) == warned
    assert table["calibrated advantage"].abs().max() < 1e-3, "calibrated, nothing is better than it expected"
    if warned:
        assert "above 0 in 100%" in advantage.warning and "calibrated advantage" in advantage.warning
