"""The demo records each agent once, in the order in which the page needs them, and again for other weights."""

from __future__ import annotations

from pathlib import Path

import innerview_zoo as zoo
import pytest
from innerview_zoo import demo
from innerview_zoo.demo import Show, make_demo

import innerview as iv
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent

SHOWS = (
    Show(entry="second", subject="b agent", world="counting", seed=5, episodes=2, about="It counts."),
    Show(entry="first", subject="a agent", world="counting too", seed=7, episodes=3, about="So does it."),
    Show(entry="unfinished", subject="c agent", world="none", seed=0, episodes=1, about="It has no weights."),
)


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the weights of two zoo models that play quickly."""
    played = []

    def load(name: str) -> tuple[iv.Subject, CountingWorld]:
        played.append(name)
        assert len(played) == len(set(played)), "each is loaded once"
        return recurrent(f"{'b' if name == 'second' else 'a'} agent"), CountingWorld(length=4)

    for entry in ("first", "second"):
        (tmp_path / entry).write_bytes(entry.encode())
    monkeypatch.setattr(zoo, "load", load)
    monkeypatch.setattr(demo, "SHOWS", SHOWS)
    monkeypatch.setattr(demo, "_weights_file", lambda entry: tmp_path / entry)
    for show in SHOWS:
        show.__dict__.pop("weights", None)
    return tmp_path


def test_every_agent_with_weights_is_recorded_once(weights: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study, subjects, worlds = make_demo(weights / "demo.study", episodes=None)
    assert study.recordings() == ["a agent", "b agent"]
    assert study.recording("b agent").groups()["seed"].to_list() == [5, 6]
    assert study.recording("a agent").groups()["seed"].to_list() == [7, 8, 9]
    assert list(subjects) == ["b agent", "a agent"] and list(worlds) == ["counting", "counting too"]
    assert subjects["a agent"]().info.name == "a agent"
    told = capsys.readouterr().err
    assert told.index("It counts.") < told.index("So does it."), "what the page opens on comes first"
    created = study.recording("a agent").info.created_at
    again, _, _ = make_demo(weights / "demo.study", episodes=None)
    assert "Recording the demo" not in capsys.readouterr().err
    assert again.recording("a agent").info.created_at == created


def test_the_number_of_episodes_can_be_said(weights: Path) -> None:
    study, _, _ = make_demo(weights / "demo.study", episodes=1)
    assert [study.recording(name).group_count for name in study.recordings()] == [1, 1]


def test_other_weights_get_a_recording_of_their_own(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_demo(weights / "demo.study", episodes=1)
    (weights / "second").write_bytes(b"trained further")
    SHOWS[0].__dict__.pop("weights")
    monkeypatch.setattr(zoo, "load", lambda name: (recurrent("b agent"), CountingWorld(length=4)))
    study, _, _ = make_demo(weights / "demo.study", episodes=1)
    assert len([name for name in study.recordings() if name.startswith("b agent")]) == 2
