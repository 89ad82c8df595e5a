"""Lenses from the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import innerview as iv
from innerview.cli import app
from innerview.cli.lenses import parameters_of
from innerview.cli.rows import bound, ranges
from innerview.errors import InnerviewError, UnknownName
from innerview.lenses.discovery import LoadedLens, all_lenses
from innerview.registry import Registry
from innerview.schema import ArraySpec, Lens, Ordering
from innerview.testing.planted import Planted
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "a.study"
    iv.record(path, recurrent(), CountingWorld(), episodes=8, name="x", progress=False)
    made = Planted(episodes=24).rows()
    columns = {name: made.columns[name] > 0.5 for name in ("lamp in view", "thing 1 in view")}
    episode = [number for number, (start, stop) in enumerate(made.groups) for _ in range(start, stop)]
    step = [row for start, stop in made.groups for row in range(stop - start)]
    memory = made.memory["memory"].between(0, made.count)
    spec = ArraySpec(name="memory", shape=(64,), dtype="float32", role="memory")
    iv.write_rows(
        iv.Study.open(path),
        "planted",
        columns={"episode": episode, "step": step, **columns},
        arrays={"memory": memory},
        ordering=Ordering(),
        specs=[spec],
    )
    return path


def run(*words: str) -> str:
    result = CliRunner().invoke(app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_lenses_are_listed_with_their_questions() -> None:
    told = run("lenses")
    for name, _ in all_lenses():
        assert name in told
    assert "perplexity=30.0" in told.replace("\n", "").replace(" ", "")


def test_what_a_lens_lacks_is_reported_to_the_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    lenses: Registry[LoadedLens] = Registry("lens")
    for name, over in (("umap", "rows"), ("factors", "row"), ("influence", "episode")):
        settings = {"missing": "needs 'innerview[umap]'"}
        lenses.register(name, LoadedLens(Lens(name=name, question="", over=over, settings=settings), print))  # type: ignore[arg-type]
    monkeypatch.setattr("innerview.lenses.discovery.all_lenses", lambda: lenses)
    told = run("lenses")
    assert told.count("innerview[umap]") == 3
    assert "an episode" in told and "single rows" in told and "any rows" in told


def test_flags_are_printed_and_saved(study: Path) -> None:
    told = run("lens", "flags", str(study), "--recording", "planted", "--set", "swaps=300")
    assert "lamp in view" in told and " 8 " in told and "thing 1 in view" not in told
    (kept,) = iv.Study.open(study).results("flags", "planted")
    assert kept.id in told.replace("\n", " ")
    assert kept.arguments["parameters"]["swaps"] == 300


def test_a_column_is_no_lens(study: Path) -> None:
    with pytest.raises(UnknownName, match="are columns, not lenses"):
        run("lens", "advantage", str(study), "--recording", "x")
    with pytest.raises(UnknownName, match="are columns, not lenses"):
        iv.look(study, "advantage", "x")


@pytest.mark.parametrize("lens", ["strategy", "pca"])
def test_other_lenses_print_what_they_found(study: Path, lens: str) -> None:
    assert "Saved as result" in run("lens", lens, str(study), "--recording", "x", "--set", "max_rows=200")


def test_an_episode_is_looked_at_with_a_model(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "agent.py").write_text("from tests.rollouts.players import recurrent as make\n")
    monkeypatch.chdir(tmp_path)
    words = ("--recording", "x", "--subject", "agent.py:make", "--episode", "2", "--set", "lags=3")
    assert "By lag" in run("lens", "influence", str(study), *words)


def test_parameters_are_read_as_the_lens_wants_them() -> None:
    tsne, gradient = all_lenses().get("tsne").lens, all_lenses().get("gradient").lens
    assert parameters_of(tsne, ["max_rows=100", "perplexity=12"]) == {"max_rows": 100, "perplexity": 12.0}
    flags = all_lenses().get("flags").lens
    assert parameters_of(flags, ["thresholds=health=50, x=0"]) == {"thresholds": "health=50, x=0"}
    assert parameters_of(gradient, ["times_input=yes"]) == {"times_input": True}
    for words, says in (
        (["max_rows"], "sets nothing"),
        (["max_rows=many"], "is a whole number"),
        (["perplexity=x"], "is a number"),
    ):
        with pytest.raises(InnerviewError, match=says):
            parameters_of(tsne, words)
    with pytest.raises(InnerviewError, match="true or false"):
        parameters_of(gradient, ["times_input=1"])
    with pytest.raises(UnknownName, match="Did you mean 'max_rows'"):
        parameters_of(tsne, ["mots=3"])


def test_rows_and_inputs_are_read_as_they_are_typed(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ranges(["0:4", "10:12"]) == [(0, 4), (10, 12)] and ranges(None) is None and ranges([]) is None
    assert bound(["rgb=real.rgb | resize 64x64", "depth = real.depth"]) == {
        "rgb": "real.rgb | resize 64x64",
        "depth": "real.depth",
    }
    for words in ("real.rgb", "=real.rgb", "rgb="):
        with pytest.raises(InnerviewError, match=f"INPUT=ARRAY, such as rgb=real.rgb, not '{words}'"):
            bound([words])
    with pytest.raises(InnerviewError, match="says twice what feeds 'rgb'"):
        bound(["rgb=a", "rgb=b"])
    monkeypatch.setattr("innerview.cli.make.load_subject", lambda text: (recurrent(), None))
    for command in (("lens", "gradient", str(study)), ("predict", str(study))):
        with pytest.raises(UnknownName, match="array 'nothing'"):
            run(*command, "--recording", "x", "--subject", "agent.py:make", "--input", "x=nothing")
