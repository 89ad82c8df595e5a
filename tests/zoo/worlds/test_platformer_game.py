"""Games side by side: pictures and masks, auto-reset, saving and editing, and what is refused."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest
import torch
from innerview_zoo.worlds.platformer import ACTIONS, CLASSES, OUTCOMES, Platformer, PlatformerSettings

from innerview.errors import InnerviewError, UnknownName, WorldError

RIGHT, JUMP = ACTIONS.index("right"), ACTIONS.index("up-right")


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Small batches gain nothing from more, and other tests may be running."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def actions(count: int, steps: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(0, len(ACTIONS), (steps, count), generator=torch.Generator().manual_seed(seed))


def played(invisible: tuple[str, ...] = (), count: int = 48, steps: int = 25) -> Platformer:
    game = Platformer(count, settings=PlatformerSettings(invisible=invisible))
    game.reset(level_seeds=torch.arange(count))
    for row in torch.where(actions(count, steps) < 5, RIGHT, JUMP):
        game.step(row)
    return game


def test_frames_are_small_pictures_with_the_agent_in_the_middle() -> None:
    game = played()
    frames, masks = game.frames(), game.masks()
    assert frames.shape == (48, 3, 64, 64)
    assert frames.dtype == masks.dtype == torch.uint8
    where = (masks == CLASSES.index("agent")).nonzero()
    assert set(where[:, 0].tolist()) == set(range(48))
    assert where[:, 2].float().mean() == pytest.approx(31.5, abs=2)
    assert where[:, 1].float().mean() == pytest.approx(31.5, abs=2)


@pytest.mark.parametrize("name", CLASSES[1:])
def test_what_is_made_invisible_changes_exactly_the_pixels_of_its_mask(name: str) -> None:
    shown, hidden = played(), played((name,))
    masks, without = shown.masks(), hidden.masks()
    its = masks == CLASSES.index(name)
    assert its.any()
    assert not (without == CLASSES.index(name)).any()
    assert torch.equal(masks != without, its)
    differs = (shown.frames() != hidden.frames()).any(1)
    assert not (differs & ~its).any()
    assert (differs | ~its).float().mean() > 0.999, "but for a pixel here and there that has the colour behind it"


def test_masks_agree_with_where_things_are() -> None:
    """The cell under each pixel, worked out by hand from the state, is of the class that the mask tells."""
    game = played(("agent", "velocity", "enemy moving left", "enemy moving right"))
    state, masks = game.state(), game.masks()
    solid = 0
    for lane in range(game.count):
        left, bottom = (state.x[lane].item() * 6 >> 8) - 32, (state.y[lane].item() * 6 >> 8) - 28
        for y in range(0, 64, 5):
            for x in range(0, 64, 5):
                row, column = (bottom + 63 - y) // 6, (left + x) // 6
                kind = state.grid[lane, min(max(row, 0), 15), min(max(column, 0), 63)].item()
                if kind in (0, 3, 4, 5, *range(7, 11)):  # these fill their cell
                    wanted = {0: "background", 3: "box", 4: "box", 5: "lava"}.get(kind, "wall")
                    assert CLASSES[masks[lane, y, x]] == wanted
                    solid += kind >= 7
    assert solid > 1000


def test_velocity_is_visualised_into_two_squares() -> None:
    game = Platformer(1)
    game.reset(level_seeds=[0])
    still = game.frames()[0, :, 3, [3, 10]]
    assert still.unique().tolist() == [127]
    for _ in range(6):
        frames = game.step(torch.tensor([RIGHT])).frames
    assert frames[0, :, 3, 3].tolist() == [255] * 3
    assert frames[0, :, 3, 10].tolist() == [127] * 3
    game.step(torch.tensor([JUMP]))
    assert game.step(torch.tensor([RIGHT])).frames[0, 0, 3, 10] > 200
    assert (game.masks()[0, 1:7, 1:7] == CLASSES.index("velocity")).all()


def test_the_large_picture_shows_the_same_as_the_small_one() -> None:
    game = played(count=6)
    small = game.frames().float()
    large = torch.nn.functional.avg_pool2d(game.render(256).float(), 4)
    assert large.shape == small.shape
    assert (small - large).abs().mean() < 12
    assert game.render(128, games=[4]).shape == (1, 3, 128, 128)


@pytest.mark.parametrize("halvings", [1, 2, 3])
def test_small_pictures_are_the_mean_of_fine_ones(halvings: int) -> None:
    game = Platformer(3)
    game.reset(level_seeds=[1, 2, 3])
    mean = torch.nn.functional.avg_pool2d(game.render(512).float(), 2**halvings)
    assert (game.render(512 >> halvings).float() - mean).abs().max() <= halvings / 2 + 0.01


def test_a_game_does_not_depend_on_its_neighbours() -> None:
    many, one = Platformer(5), Platformer(1)
    many.reset(level_seeds=[3, 1, 4, 1, 5])
    one.reset(level_seeds=[4])
    for row in actions(5, 30):
        turn, alone = many.step(row), one.step(row[2:3])
        if turn.ended[2]:
            break
        assert torch.equal(turn.frames[2], alone.frames[0])


def test_a_game_that_ends_begins_anew_in_a_fresh_level() -> None:
    game = Platformer(64, seed=2)
    game.reset()
    seen = {int(level) for level in game.level_seeds}
    ends = 0
    for row in torch.where(actions(64, 150) < 5, RIGHT, JUMP):
        before = game.level_seeds.clone()
        turn = game.step(row)
        assert torch.equal(turn.ended, turn.outcome > 0)
        assert torch.equal(turn.reward, (turn.outcome == OUTCOMES.index("coin")).float())
        assert torch.equal(game.level_seeds == before, ~turn.ended)
        facts = game.facts()
        assert (facts["step"][turn.ended] == 0).all()
        assert torch.equal(turn.frames, game.frames())
        ends += int(turn.ended.sum())
        seen |= set(game.level_seeds.tolist())
    assert ends > 64
    assert len(seen) > ends * 0.9, "who ends soon again may see a level twice, others not"


def test_without_auto_reset_games_wait_and_can_be_reset_one_by_one() -> None:
    game = Platformer(16, settings=PlatformerSettings(auto_reset=False, time_limit=40))
    game.reset(level_seeds=torch.arange(16))
    for row in torch.where(actions(16, 41) < 5, RIGHT, JUMP):
        turn = game.step(row)
    assert (turn.outcome > 0).all()
    assert not turn.ended.any(), "they ended before"
    assert (turn.reward == 0).all()
    where = torch.arange(16) == 3
    game.reset(level_seeds=torch.arange(100, 116), where=where)
    assert game.level_seeds.tolist() == [*range(3), 103, *range(4, 16)]
    assert (game.facts()["outcome"] == 0).tolist() == where.tolist()


def test_a_saved_state_goes_on_exactly_as_before() -> None:
    game = Platformer(8, settings=PlatformerSettings(auto_reset=False))
    began = game.reset(level_seeds=torch.arange(8))
    saved = game.state()
    first = [game.step(row).frames for row in actions(8, 10)]
    assert torch.equal(game.restore(saved), began)
    assert all(torch.equal(game.step(row).frames, frames) for frames, row in zip(first, actions(8, 10), strict=True))
    assert torch.equal(game.restore(saved), began), "playing on did not change what was saved"


def with_a(name: str) -> tuple[Platformer, int]:
    game = Platformer(64, settings=PlatformerSettings(auto_reset=False))
    game.reset(level_seeds=torch.arange(64))
    return game, next(g for g in range(64) if any(thing.name == name for thing in game.objects(g)))


@pytest.mark.parametrize("name", ["saw", "coin", "box", "lava", "enemy moving left", "enemy moving right"])
def test_a_thing_can_be_removed(name: str) -> None:
    game, lane = with_a(name)
    there = [thing for thing in game.objects(lane) if thing.name == name]
    game.restore(game.with_object(name, game=lane))
    left = [thing for thing in game.objects(lane) if thing.name == name]
    assert left == there[1:]
    game.restore(game.with_object(name, game=lane, number=None))
    assert not [thing for thing in game.objects(lane) if thing.name == name]


@pytest.mark.parametrize("name", ["saw", "coin", "box", "enemy moving left"])
def test_a_thing_can_be_moved_and_is_seen_and_felt_there(name: str) -> None:
    game, lane = with_a(name)
    agent = game.facts()
    x, y = int(agent["x"][lane]) + 2, int(agent["y"][lane])
    game.restore(game.with_object(name, game=lane, to=(x + 0.5, y)))
    assert any((thing.name, thing.x, thing.y) == (name, x + 0.5, y) for thing in game.objects(lane))
    row, column = 32 + 4 - 3, 32 + 12
    assert CLASSES[game.masks()[lane, row, column]] == name
    for _ in range(8):
        turn = game.step(torch.full((64,), RIGHT))
    ended = OUTCOMES[turn.outcome[lane]]  # an enemy may have turned back by then
    assert ended.startswith("enemy") if name.startswith("enemy") else ended == ("" if name == "box" else name)


def test_the_agent_can_be_moved_but_not_removed() -> None:
    game = Platformer(1)
    game.reset(level_seeds=[0])
    game.restore(game.with_object("agent", to=(3.25, 12)))
    assert (game.facts()["x"].item(), game.facts()["y"].item()) == (3.25, 12)
    with pytest.raises(WorldError, match="only moved"):
        game.with_object("agent")
    with pytest.raises(WorldError, match="in a wall"):
        game.with_object("agent", to=(3, 1))


def test_what_cannot_be_edited_is_refused() -> None:
    game, lane = with_a("saw")
    with pytest.raises(UnknownName, match=r"Did you mean 'saw'"):
        game.with_object("saws")
    with pytest.raises(WorldError, match="no saw number 40"):
        game.with_object("saw", game=lane, number=40)
    with pytest.raises(WorldError, match="Choose a free cell"):
        game.with_object("saw", game=lane, to=(0, 0))
    with pytest.raises(WorldError, match="in tiles"):
        game.with_object("saw", game=lane, to=(900, 0))
    with pytest.raises(WorldError, match="no game 64"):
        game.with_object("saw", game=64)
    with pytest.raises(WorldError, match="by its number"):
        game.with_object("saw", game=lane, number=None, to=(3, 9))


def test_settings_say_what_is_wrong_with_them() -> None:
    with pytest.raises(UnknownName, match=r"Did you mean 'saw'"):
        PlatformerSettings(invisible=("saww",))
    with pytest.raises(UnknownName, match="'levels'"):
        PlatformerSettings.of(level=3)
    for wrong in ({"levels": 0}, {"difficulty": 11}, {"themes": 2.5}, {"time_limit": True}, {"first_level": -1}):
        with pytest.raises(InnerviewError, match=next(iter(wrong))):
            PlatformerSettings.of(**wrong)
    assert PlatformerSettings(invisible="saw").invisible == ("saw",)  # type: ignore[arg-type]


@pytest.mark.parametrize("seeds", ["ab", [1.5, 2.0], [1, 2, 3], [3, -1], torch.tensor([True, False])])
def test_wrong_level_seeds_are_refused(seeds: object) -> None:
    with pytest.raises(WorldError, match="level_seeds"):
        Platformer(2).reset(level_seeds=seeds)  # type: ignore[arg-type]


def test_wrong_counts_seeds_actions_and_sizes_are_refused() -> None:
    with pytest.raises(WorldError, match="count"):
        Platformer(0)
    for seed in ("7", 1.5, -1, True):
        with pytest.raises(WorldError, match="seed"):
            Platformer(1, seed=seed)  # type: ignore[arg-type]
    game = Platformer(2)
    for wrong in (torch.zeros(3, dtype=torch.int64), torch.zeros(2), [1, 2]):
        with pytest.raises(WorldError, match="2 whole numbers"):
            game.step(wrong)  # type: ignore[arg-type]
    with pytest.raises(WorldError, match="from 0 to 8"):
        game.step(torch.tensor([0, 9]))
    with pytest.raises(WorldError, match="booleans"):
        game.reset(where=torch.ones(3, dtype=torch.bool))
    with pytest.raises(WorldError, match="multiple of 32"):
        game.render(100)
    with pytest.raises(WorldError, match="state of 2 games"):
        game.restore(Platformer(3).state())


def test_pictures_stay_what_they_are() -> None:
    """Agents were trained on exactly these pixels: who changes them has to train anew."""
    game = Platformer(16, settings=PlatformerSettings(auto_reset=False))
    seen = hashlib.sha256(game.reset(level_seeds=torch.arange(16)).numpy().tobytes())
    for step in range(24):
        action = (RIGHT, JUMP, JUMP, RIGHT)[step % 4]
        seen.update(game.step(torch.full((16,), action)).frames.numpy().tobytes())
    assert seen.hexdigest()[:16] == "7786313bd2e771b1"
