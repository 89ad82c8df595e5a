"""One Atari game: the same seed gives the same frames, states can be restored, and mistakes are explained."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from innerview.errors import UnknownName, WorldError

pytest.importorskip("ale_py")

from innerview.worlds.atari.game import AtariGame, GameSettings, find_rom


def play(game: AtariGame, actions: Sequence[int]) -> list[tuple[bytes, float, bool]]:
    return [(turn.screen_hw.tobytes(), turn.reward, turn.life_lost) for turn in map(game.step, actions)]


def any_actions(game: AtariGame, count: int = 60) -> list[int]:
    return np.random.default_rng(7).integers(len(game.actions), size=count).tolist()


@pytest.mark.parametrize("name", ["breakout", "seaquest"])
@pytest.mark.parametrize("sticky", [0.0, 0.25])
def test_a_seed_gives_the_same_episode_whatever_was_played_before(name: str, sticky: float) -> None:
    settings = GameSettings(sticky=sticky)
    one, two = AtariGame(name, settings), AtariGame(name, settings)
    actions = any_actions(one)
    first = one.reset(5), play(one, actions)
    two.reset(8)
    other = play(two, actions)
    again = two.reset(5), play(two, actions)
    assert np.array_equal(first[0], again[0]) and first[1] == again[1]
    assert first[1] != other


def test_without_waiting_every_episode_begins_alike() -> None:
    game = AtariGame("breakout", GameSettings(noop_max=0))
    assert np.array_equal(game.reset(1), game.reset(2))


def test_actions_have_names() -> None:
    assert AtariGame("breakout").actions == ("noop", "fire", "right", "left")
    assert AtariGame("seaquest").actions[-1] == "down left fire"


def test_a_restored_state_goes_on_as_before() -> None:
    game = AtariGame("seaquest", GameSettings(sticky=0.25))
    actions = any_actions(game, 80)
    game.reset(3)
    play(game, actions[:40])
    kept, picture = game.clone(), game.colour()
    first = play(game, actions[40:])
    other = AtariGame("seaquest", GameSettings(sticky=0.25))
    other.restore(kept)
    assert np.array_equal(other.colour(), picture)
    assert play(other, actions[40:]) == first
    game.restore(kept)
    assert play(game, actions[40:]) == first


def test_a_state_of_another_game_is_refused() -> None:
    game = AtariGame("seaquest")
    game.reset(0)
    with pytest.raises(WorldError, match="one of 'seaquest'; this game is 'breakout'"):
        AtariGame("breakout").restore(game.clone())


def test_breakout_is_served_for_the_player() -> None:
    game, idle = AtariGame("breakout"), AtariGame("breakout", GameSettings(fire_on_reset=False))
    for each in (game, idle):
        each.reset(0)
        for _ in range(100):
            each.step(0)
    assert (game.lives < 4, idle.lives) == (True, 5), "after each life it is served again"


def test_the_screen_is_the_brighter_of_two_frames() -> None:
    coarse, fine = (
        AtariGame("breakout", GameSettings(noop_max=0)),
        AtariGame("breakout", GameSettings(noop_max=0, frame_skip=1)),
    )
    coarse.reset(0)
    fine.reset(0)
    for _ in range(3):  # serving takes as long as a step
        fine.step(1)
    for _ in range(10):
        frames = [fine.step(2).screen_hw for _ in range(4)]
        assert np.array_equal(coarse.step(2).screen_hw, np.maximum(frames[2], frames[3]))


def test_long_episodes_are_cut() -> None:
    game = AtariGame("seaquest", GameSettings(max_frames=80, noop_max=0))
    game.reset(0)
    turns = [game.step(0) for _ in range(20)]
    assert [turn.over for turn in turns] == [False] * 19 + [True]
    assert game.cut


@pytest.mark.parametrize("seed", ["3", 3.0, None, True])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(WorldError, match="A seed is a whole number, not"):
        AtariGame("breakout").reset(seed)


def test_a_seed_is_not_negative() -> None:
    with pytest.raises(WorldError, match="0 or more, not -1"):
        AtariGame("breakout").reset(-1)


def test_an_unknown_game_gets_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'breakout'"):
        AtariGame("brekout")


def test_a_rom_that_is_not_there_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match=r"no ROM at .*mine\.bin"):
        find_rom("breakout", tmp_path / "mine.bin")


def test_a_folder_without_the_rom_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALE_ROMS_DIR", str(tmp_path))
    with pytest.raises(UnknownName, match=f"looked for in {tmp_path}"):
        find_rom("breakout", None)


def test_a_file_that_is_no_rom_is_refused_before_the_emulator_sees_it(tmp_path: Path) -> None:
    (tmp_path / "mine.bin").write_bytes(b"no game" * 500)
    with pytest.raises(WorldError, match="no ROM that ale-py knows"):
        AtariGame("breakout", GameSettings(rom=tmp_path / "mine.bin"))


def test_a_game_for_two_is_refused() -> None:
    with pytest.raises(WorldError, match="a game for two"):
        AtariGame("combat")


def test_a_rom_of_ones_own_is_played_and_one_of_another_game_refused(tmp_path: Path) -> None:
    mine = tmp_path / "mine.bin"
    mine.write_bytes(find_rom("pong", None).read_bytes())
    assert AtariGame("pong", GameSettings(rom=mine)).actions[0] == "noop"
    with pytest.raises(WorldError, match="holds the game 'pong', not 'breakout'"):
        AtariGame("breakout", GameSettings(rom=mine))


def test_without_ale_py_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ale_py", None)
    with pytest.raises(WorldError, match=r"pip install 'innerview\[atari\]'"):
        AtariGame("breakout")


@pytest.mark.parametrize(
    "settings", [{"frame_skip": 0}, {"noop_max": -1}, {"max_frames": 1.5}, {"sticky": 1.0}, {"sticky": "a lot"}]
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(WorldError, match=f"^{next(iter(settings))} is"):
        GameSettings(**settings)


def test_the_emulator_keeps_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    AtariGame("breakout").reset(0)
    assert capfd.readouterr() == ("", "")
