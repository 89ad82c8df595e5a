"""The platformer training: advantages, what PPO learns on a game with a known answer, and going on with a saved run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from innerview_zoo.models.platformer.fast import dangers_of
from innerview_zoo.models.platformer.graph import anchor, write_back
from innerview_zoo.models.platformer.ppo import Player, Recipe, Window, distance_from, draw, improve, slipped
from innerview_zoo.models.platformer.train import COIN, Tally, Training, arguments
from innerview_zoo.worlds.platformer import Platformer, PlatformerSettings
from safetensors.torch import load_file
from torch import Tensor, nn

SIDES = 2


@dataclass
class Turn:
    frames: Tensor
    reward: Tensor
    ended: Tensor
    outcome: Tensor


class Signpost:
    """One step a game: the bright half of the frame says which of two actions finds the coin; the others never do."""

    def __init__(self, count: int) -> None:
        self.count = count

    def reset(self) -> Tensor:
        self.side = torch.randint(0, SIDES, (self.count,))
        frames = torch.zeros(self.count, 3, 64, 64, dtype=torch.uint8)
        frames[self.side == 0, :, :, :32] = 255
        frames[self.side == 1, :, :, 32:] = 255
        return frames

    def masks(self) -> Tensor:
        raise NotImplementedError

    def step(self, actions: Tensor) -> Turn:
        found = actions == self.side
        ended = torch.ones(self.count, dtype=torch.bool)
        outcome = torch.where(found, COIN, 2).to(torch.uint8)
        return Turn(self.reset(), found.float(), ended, outcome)


class Glance(nn.Module):
    """A network small enough for a test: the mean brightness of nine patches."""

    def __init__(self) -> None:
        super().__init__()
        self.policy, self.value = nn.Linear(9, 9), nn.Linear(9, 1)

    def forward(self, blocks: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        x = blocks[..., :12].float().mean(-1).view(-1, 3, 11, 3, 11).mean((2, 4)).flatten(1) / 255
        return self.policy(x), self.value(x), self.policy.weight.abs().sum(), self.value.weight.square().sum()


class FirstOfAll(nn.Module):
    """Always chooses action 0."""

    def forward(self, blocks: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        logits = torch.zeros(len(blocks), 9)
        logits[:, 0] = 50.0
        return logits, torch.zeros(len(blocks), 1), torch.tensor(0.0)


def test_advantages_are_rewards_to_come_less_what_was_expected() -> None:
    window = Window(3, 1, torch.zeros(1, 33, 33, 16, dtype=torch.uint8))
    window.rewards[:, 0] = torch.tensor([0.0, 1.0, 0.0])
    window.values[:, 0] = torch.tensor([0.5, 0.25, 0.0])
    window.last_values[:] = 4.0
    window.ended[1] = True
    found = window.advantages(0.5, 1.0)[:, 0].tolist()
    assert found == pytest.approx([0.5 * 1.0 - 0.5, 1.0 - 0.25, 0.5 * 4.0])


def test_a_layer_that_pays_for_speaking_says_less() -> None:
    def loudness(sparse: float) -> float:
        torch.manual_seed(0)
        network, recipe = Glance(), Recipe(games=16, window=4, batch=32, lr=0.03, sparse=sparse)
        optimizer = torch.optim.Adam(network.parameters())
        player = Player(Signpost(16), 4)
        for _ in range(5):
            losses = improve(network, optimizer, player.play(network), recipe=recipe, share=0.5)
        return float(losses.loudness)

    assert loudness(1.0) < loudness(0.0)
    assert Recipe(sparse=1.0, naming=3.0, sparse_from=0.5).prices(0.25) == (0.5, 1.5)
    assert Recipe(sparse=1.0).prices(1.0) == (1.0, 0.0)


def test_who_names_dangers_learns_to_and_is_saved_beside_the_agent(tmp_path: Path) -> None:
    torch.manual_seed(0)
    recipe = Recipe(games=2, window=2, batch=4, lr=5e-3, last_lr=5e-3, sparse=0.0, naming=5.0, sparse_from=0.0)
    training = Training(recipe, device="cpu", log=lambda _: None)
    games = Platformer(8, settings=PlatformerSettings(), device="cpu", seed=1)
    for _ in range(30):
        games.step(torch.full((8,), 7))
    player = Player(games, 2, marked=True)
    window = player.play(training.network)
    there = dangers_of(window.blocks.flatten(0, 1))
    assert 0 < float(there.mean()) < 0.5 and set(there.unique().tolist()) == {0.0, 1.0}
    wrong = [
        float(improve(training.network, training.optimizer, window, recipe=recipe, share=1).naming) for _ in range(12)
    ]
    assert wrong[-1] < 0.7 * wrong[0]
    training.save(tmp_path)
    assert not any("namer" in name for name in load_file(tmp_path / "weights.safetensors"))
    again = Training(recipe, device="cpu", log=lambda _: None)
    again.load(tmp_path)
    assert again.namer and training.namer and torch.equal(again.namer.weight, training.namer.weight)
    Training(Recipe(games=2, window=2), device="cpu", log=lambda _: None).save(tmp_path)
    with pytest.raises(SystemExit, match="without --naming"):
        again.load(tmp_path)


def test_a_teacher_is_followed_until_it_falls_silent() -> None:
    torch.manual_seed(0)
    teacher, recipe = Glance(), Recipe(games=64, window=8, batch=128, lr=0.03, teach=20.0)
    player = Player(Signpost(64), 8)

    def distance(share: float) -> float:
        torch.manual_seed(1)
        network = Glance()
        optimizer = torch.optim.Adam(network.parameters())
        for _ in range(20):
            losses = improve(network, optimizer, player.play(network), recipe=recipe, share=share, teacher=teacher)
        return float(losses.distance)

    torch.manual_seed(1)
    far = distance_from(teacher, player.seen, Glance()(player.seen)[0].log_softmax(-1)).item()
    assert far > 0.01 and distance(0.0) < far / 2
    assert distance(0.5) == 0.0, "nobody asks any more"
    assert Recipe(teach=1.0, teach_until=0.5).lesson(0.25) == 0.5


def test_at_a_share_of_the_steps_something_else_is_done_than_was_chosen() -> None:
    torch.manual_seed(0)
    chosen = torch.full((20_000,), 4)
    done = slipped(chosen, 0.3, 9)
    assert torch.bincount(done, minlength=9)[:4] / 20_000 == pytest.approx(0.3 / 9, abs=0.006)
    assert float((done == chosen).float().mean()) == pytest.approx(0.7 + 0.3 / 9, abs=0.012)
    window = Player(Signpost(256), 8, slip=1.0).play(FirstOfAll())
    assert int(window.actions.unique()) == 0, "what was chosen is what is learnt from"
    assert float(window.rewards.mean()) == pytest.approx(1 / 9, abs=0.03), "what was done is what is rewarded"


def test_ppo_finds_the_coin_and_knows_its_chance() -> None:
    torch.manual_seed(0)
    network, recipe = Glance(), Recipe(games=64, window=8, batch=128, epochs=4, lr=0.03, entropy=0.003)
    optimizer = torch.optim.Adam(network.parameters())
    player, tally = Player(Signpost(64), 8), Tally(2000)
    for turn in range(60):
        window = player.play(network)
        improve(network, optimizer, window, recipe=recipe, share=turn / 60)
        if turn >= 55:
            tally.add(window.endings(7), window.actions.numel())
    assert tally.completed > 0.95, "one ninth by chance"
    assert window.values.mean().item() == pytest.approx(1.0, abs=0.1)


def test_only_the_last_episodes_count() -> None:
    tally = Tally(10)
    for coins in (0, 5, 10):
        tally.add(torch.tensor([0, coins, 10 - coins, 0, 0, 0, 0]), 50)
    assert (tally.ended, tally.completed, tally.length) == (10, 1.0, 5.0)


def test_actions_are_drawn_with_their_chances() -> None:
    chances = torch.tensor([0.7, 0.2, 0.1])
    drawn = draw(chances.log().expand(20_000, 3), torch.Generator().manual_seed(0))
    shares = torch.bincount(drawn, minlength=3) / 20_000
    assert torch.allclose(shares, chances, atol=0.015)


def test_rate_and_entropy_fall_to_their_last_values() -> None:
    recipe = Recipe(lr=1.0, last_lr=0.2, entropy=0.5, last_entropy=0.1)
    assert recipe.at(0.0) == pytest.approx((1.0, 0.5))
    assert recipe.at(0.5) == pytest.approx((0.6, 0.3))
    assert recipe.at(1.7) == pytest.approx((0.2, 0.1))


def test_a_saved_run_goes_on_with_the_same_weights_and_momentum(tmp_path: Path) -> None:
    torch.manual_seed(0)
    recipe = Recipe(games=4, window=2, batch=8, epochs=1)
    said: list[str] = []
    first = Training(recipe, device="cpu", log=said.append)
    first.run(Player(Signpost(4), 2), None, minutes=1e-5, out=tmp_path)
    assert first.steps >= 8 and "completed" in said[-1]
    second = Training(recipe, device="cpu", log=said.append)
    second.load(tmp_path)
    assert (second.steps, second.curve) == (first.steps, first.curve)
    assert second.seconds == pytest.approx(first.seconds)
    window = Player(Signpost(4), 2).play(first.network)
    for training in (first, second):
        torch.manual_seed(5)
        improve(training.network, training.optimizer, window, recipe=recipe, share=0.5)
    for a, b in zip(first.agent.parameters(), second.agent.parameters(), strict=True):
        assert torch.equal(a, b)


def test_games_go_on_the_same_when_what_they_hold_is_saved_in_its_place() -> None:
    values = []
    for kept in (False, True):
        torch.manual_seed(2)
        network = Glance()
        game = Platformer(3, settings=PlatformerSettings(time_limit=20), seed=4)
        player = Player(game, 16)
        held = anchor(player, game) if kept else []
        for _ in range(3):
            window = player.play(network)
            write_back(held)
        values.append(window.values.clone())
        assert window.ended.any(), "so that fresh levels came into it"
    assert torch.equal(*values)


def test_a_training_whose_time_is_over_says_so(tmp_path: Path) -> None:
    training = Training(Recipe(games=4, window=2), device="cpu", log=lambda text: None)
    training.seconds = 60.0
    with pytest.raises(SystemExit, match="minutes"):
        training.run(Player(Signpost(4), 2), None, minutes=1.0, out=tmp_path)


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    training = Training(Recipe(games=4, window=2), device="cpu", log=lambda text: None)
    with pytest.raises(SystemExit, match=str(tmp_path)):
        training.load(tmp_path)


def test_every_number_of_the_recipe_can_be_given() -> None:
    args = arguments(["--games", "32", "--last-lr", "0.001", "--levels", "100"])
    assert (args.games, args.last_lr, args.levels) == (32, 0.001, 100)
