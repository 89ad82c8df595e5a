"""Parting a channel: whose a place is, that nothing changes when it is parted rightly, and that it is learnt."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from innerview_zoo.models.platformer.agent import Agent, as_input
from innerview_zoo.models.platformer.split import (
    KINDS,
    Seen,
    choose,
    copied,
    early,
    late,
    main,
    nearest,
    played,
    wanted,
    without,
)
from innerview_zoo.worlds.platformer import CLASSES
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from innerview.errors import InnerviewError


def _masks(**at: tuple[int, int]) -> torch.Tensor:
    masks = torch.zeros(1, 64, 64, dtype=torch.uint8)
    for kind, (row, column) in at.items():
        masks[0, row, column] = CLASSES.index(kind.replace("_", " "))
    return masks


def test_a_place_belongs_to_the_nearest_danger_within_reach() -> None:
    owner = nearest(_masks(saw=(20, 20), enemy_moving_right=(20, 40)))[0]
    assert owner.sum(0).max() == 1 and owner[1].sum() == 0
    assert owner[0, 10, 10] == 1 and owner[0, 10, 14] == 1 and owner[2, 10, 16] == 1 and owner[2, 10, 20] == 1
    assert owner[:, 10, 27].sum() == 0, "out of reach"
    assert owner[0, 10, 15] == 1 and owner[2, 10, 15] == 0, "as near to both: the first"


def test_an_agent_that_parts_rightly_decides_as_before() -> None:
    torch.manual_seed(0)
    agent = Agent()
    frames = torch.randint(0, 256, (1, 3, 64, 64), dtype=torch.uint8)
    spoken = early(agent, as_input(frames))
    spoken[:, [3, 5, 7]] = 0
    spoken[:, 3, 8:14, 8:12] = 1.0  # a channel speaks near the saw and near the enemy, others are silent
    spoken[:, 3, 8:14, 20:24] = 1.0
    masks = _masks(saw=(20, 20), enemy_moving_left=(20, 44))
    seen = Seen(frames, spoken, masks, *late(agent, spoken))
    target = wanted(seen, (3, 5, 7))
    assert target[0, 3].sum() == 24 and target[0, 5].sum() == 24 and target[0, 7].sum() == 0
    assert target[0, 3, 10, 10] == 1 and target[0, 5, 10, 22] == 1
    new = copied(agent, (3, 5, 7))
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(late(new, target), late(agent, spoken), strict=True))


def test_one_channel_is_taken_away_in_each_row_or_none() -> None:
    spoken = torch.ones(4, 8, 2, 2)
    left = without(spoken, (3, 5, 7), torch.arange(4))
    silent = [(left[row].sum((1, 2)) == 0).nonzero()[:, 0].tolist() for row in range(4)]
    assert silent == [[3], [5], [7], []]


def test_games_may_be_played_by_another_than_the_one_who_is_asked() -> None:
    torch.manual_seed(0)
    asked: list[int] = []

    def player(frames: torch.Tensor) -> torch.Tensor:
        asked.append(len(frames))
        return torch.zeros(len(frames), 9)

    games = played(Agent(), games=2, seed=1, player=player)
    assert next(games).logits.shape == (2, 9) and asked == []
    next(games)
    assert asked == [2]


def test_the_command_makes_an_agent_in_which_the_channel_is_parted(tmp_path: Path) -> None:
    torch.manual_seed(0)
    agent = Agent()
    channels = choose(agent, played(agent, games=2, seed=1))
    assert len(set(channels)) == len(KINDS)
    save_file({name: value.half() for name, value in agent.state_dict().items()}, tmp_path / "before.safetensors")
    given = [str(tmp_path / "before.safetensors"), "--out", str(tmp_path), "--minutes", "0.001", "--games", "2"]
    main([*given, "--device", "cpu"])
    before, after = load_file(tmp_path / "before.safetensors"), load_file(tmp_path / "weights.safetensors")
    assert not torch.equal(before["conv2b.weight"], after["conv2b.weight"])
    assert torch.equal(before["conv4a.weight"], after["conv4a.weight"])
    changed = (before["conv3a.weight"] != after["conv3a.weight"]).any(dim=3).any(dim=2).any(dim=0)
    assert int(changed.sum()) == len(KINDS) - 1, "the others are read as before"
    with safe_open(tmp_path / "weights.safetensors", "pt") as file:
        assert len(file.metadata()["channels"].split(",")) == len(KINDS)
    main([*given, "--device", "cpu", "--resume", str(tmp_path)])
    again = load_file(tmp_path / "weights.safetensors")
    assert torch.equal(after["conv3a.weight"], again["conv3a.weight"]), "the same channels"
    save_file(again, tmp_path / "weights.safetensors")
    with pytest.raises(InnerviewError, match="does not say which channels"):
        main([*given, "--device", "cpu", "--resume", str(tmp_path)])
    assert not torch.equal(after["conv2b.weight"], again["conv2b.weight"])
