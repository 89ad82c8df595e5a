"""Levels of the platformer: made of a seed alone, with everything in them that the task needs."""

from __future__ import annotations

import torch
from innerview_zoo.worlds.platformer import FIRST_TEST_LEVEL, TILES, Platformer, PlatformerSettings, digest, make_levels
from innerview_zoo.worlds.platformer.names import COLUMNS, WALL

PLAIN = PlatformerSettings()


def test_a_seed_gives_the_same_level_whatever_else_is_in_the_batch_and_in_whatever_order() -> None:
    seeds = torch.tensor([7, 3, FIRST_TEST_LEVEL, 123_456_789_012])
    together = digest(make_levels(seeds, PLAIN))
    alone = [digest(make_levels(seeds[i : i + 1], PLAIN))[0] for i in range(4)]
    backwards = digest(make_levels(seeds.flip(0), PLAIN))
    assert together == alone == backwards[::-1]


def test_levels_stay_what_they_are() -> None:
    """A recording names its levels by seed: a seed must mean the same level tomorrow."""
    assert digest(make_levels(torch.tensor([0, 1, FIRST_TEST_LEVEL]), PLAIN)) == DIGESTS


DIGESTS = ["c9a152f65a1a85a3", "d884aa97e96cf10a", "5a1c38e331551a38"]


def test_other_seeds_give_other_levels() -> None:
    names = digest(make_levels(torch.arange(1000), PLAIN))
    assert len(set(names)) == 1000


def test_every_level_has_one_coin_at_its_end_and_a_floor_to_start_on() -> None:
    levels = make_levels(torch.arange(2000), PlatformerSettings(difficulty=10))
    coin = (levels.grid == TILES.index("coin")).flatten(1)
    assert (coin.sum(1) == 1).all()
    assert torch.equal(coin.to(torch.uint8).argmax(1) % COLUMNS, levels.length.to(torch.int64))
    games = torch.arange(2000)
    feet = levels.y.to(torch.int64) >> 8
    assert (levels.grid[games, feet - 1, 2] >= WALL).all()
    assert (levels.grid[games, feet, 2] == 0).all()
    assert (levels.grid[:, :, 0] >= WALL).all(), "the left end is a wall"
    assert (levels.grid[games, :, levels.length.to(torch.int64) + 1] >= WALL).all(), "the right end is a wall"


def test_each_danger_is_met_in_a_third_of_the_levels_or_more() -> None:
    levels = make_levels(torch.arange(FIRST_TEST_LEVEL, FIRST_TEST_LEVEL + 3000), PLAIN)
    for name in ("saw", "lava top"):
        assert (levels.grid == TILES.index(name)).flatten(1).any(1).float().mean() > 1 / 3, name
    for way in (-1, 1):
        assert (levels.enemy_way == way).any(1).float().mean() > 1 / 3, way


def test_difficulty_makes_levels_longer_on_average() -> None:
    lengths = [
        make_levels(torch.arange(500), PlatformerSettings(difficulty=d)).length.float().mean() for d in (1, 5, 10)
    ]
    assert lengths[0] < lengths[1] < lengths[2]


def test_themes_and_sprites_limit_what_is_drawn() -> None:
    levels = make_levels(torch.arange(500), PlatformerSettings(themes=2, sprites=1))
    assert set(levels.ground.tolist()) == set(levels.sky.tolist()) == {0, 1}
    assert set(levels.colour.tolist()) == set(levels.enemy_look.flatten().tolist()) == {0}


def test_training_levels_are_drawn_from_those_asked_for() -> None:
    game = Platformer(400, settings=PlatformerSettings(levels=5, first_level=70))
    game.reset()
    assert set(game.level_seeds.tolist()) == {70, 71, 72, 73, 74}
    free = Platformer(400)
    free.reset()
    assert len(set(free.level_seeds.tolist())) == 400
    assert (free.level_seeds < FIRST_TEST_LEVEL).all()


def test_two_games_with_the_same_seed_draw_the_same_levels() -> None:
    one, other, third = Platformer(8, seed=4), Platformer(8, seed=4), Platformer(8, seed=5)
    for game in (one, other, third):
        game.reset()
        game.reset()
    assert torch.equal(one.level_seeds, other.level_seeds)
    assert not torch.equal(one.level_seeds, third.level_seeds)
