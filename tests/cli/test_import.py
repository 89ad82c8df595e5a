"""`innerview import` as people type it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import innerview as iv
from innerview.cli import app
from innerview.errors import InnerviewError
from tests.store.test_importers_agents import drlviz, memred
from tests.store.test_pairs import make_pairs


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> str:
    result = CliRunner().invoke(app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_several_files_are_episodes_of_one_recording(here: Path) -> None:
    longer = drlviz()
    longer["scores"].append("9.0")
    (here / "first.json").write_text(json.dumps({"episode0": drlviz()}))
    (here / "second.json").write_text(json.dumps(longer))
    said = run("import", "first.json", "second.json", "--study", "a.study", "--name", "both")
    assert "'second.json': cut to 9 steps: scores had 10" in said
    assert "2 episodes, 18 rows as 'both'" in said
    assert iv.Study.open("a.study").recording("both").group_count == 2
    (here / "reduced.json").write_text(json.dumps(memred()))
    run("import", "reduced.json", "--study", "a.study", *(w for n in "abcde" for w in ("--action", n)))
    action = next(c for c in iv.Study.open("a.study").recording("reduced").info.columns if c.name == "action")
    assert action.categories == ("a", "b", "c", "d", "e")


def test_the_study_may_come_first(here: Path) -> None:
    np.savez("data.npz", x=np.arange(5.0))
    run("import", "b.study", "data.npz")
    run("import", "data.npz", "--study", "b.study", "--name", "again")
    assert iv.Study.open("b.study").recordings() == ["again", "data"]


def test_mistakes_are_reported_with_what_would_be_right(here: Path) -> None:
    np.savez("data.npz", x=np.arange(5.0))
    for words in (["data.npz"], ["data.npz", "data.npz"]):
        with pytest.raises(InnerviewError, match=r"--study: innerview import data\.npz --study my\.study"):
            run("import", *words)
    with pytest.raises(InnerviewError, match=r"One \.npz file makes a recording"):
        run("import", "data.npz", "data.npz", "--study", "b.study")
    with pytest.raises(InnerviewError, match="no file"):
        run("import", "nothing.npz", "--study", "b.study")
    assert not (here / "b.study").exists()


def test_a_folder_of_pairs(here: Path) -> None:
    make_pairs(here / "rooms")
    (here / "rooms/real/rgb/0004.jpg").write_bytes(b"no picture")
    said = run("import", "rooms", "--study", "a.study", "--unit", "depth=cm")
    assert "Left out row 4, 'real/rgb/0004.jpg': It is neither a PNG nor a JPEG file." in said
    assert "Imported 11 rows as 'rooms'" in said
    told = run("info", "a.study", "rooms").replace("\n", " ")
    assert "imported by folder of images, from rooms" in told
    (line,) = (line for line in run("info", "a.study", "rooms").splitlines() if "sim.depth" in line)
    assert line.split()[-3:] == ["encoded", "cm", "sim"]
    assert "imported" in run("info", "a.study")
    depth = next(spec for spec in iv.Study.open("a.study").recording("rooms").info.arrays if spec.name == "sim.depth")
    assert (depth.dtype, depth.unit) == ("uint16", "cm")


def test_the_help_tells_how_a_folder_of_pairs_is_laid_out(here: Path) -> None:
    make_pairs(here / "rooms")
    (here / "rooms/pairs.json").write_text(json.dumps({"map": {"origin": "corner", "scale": 1}}))
    with pytest.raises(InnerviewError, match="See innerview import --help"):
        run("import", "rooms", "--study", "a.study")
    told = run("import", "--help")
    for part in ("pairs/sim/depth/0001.png", "pairs/poses.csv", "pairs/map.png", '"units": {"depth": "mm"}'):
        assert part in told


def test_rows_are_ordered_by_the_columns_that_are_named(here: Path) -> None:
    np.savez("data.npz", run=[3, 3, 5], tick=[0, 1, 0])
    assert "2 episodes" in run("import", "data.npz", "--study", "a.study", "--order", "run,tick")
    with pytest.raises(InnerviewError, match="--order is GROUP,TIME"):
        run("import", "data.npz", "--study", "a.study", "--name", "b", "--order", "run")
