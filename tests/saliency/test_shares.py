"""How much of a map lies where: answers known by hand on planted nets and pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.errors import LensError, UnknownName
from innerview.lenses.discovery import all_lenses
from innerview.saliency import gradient
from innerview.saliency.shares import classes, ignored, memorised, moments, onsets, region
from innerview.saliency.shares.cover import cover
from innerview.saliency.shares.explained import clusters, ranks
from innerview.saliency.shares.lead import leads
from innerview.saliency.shares.lead import onsets as onsets_of
from innerview.saliency.shares.maps import METHODS, MapOf
from innerview.schema import Column, Rows, Things
from innerview.testing.feeds import fed_rows
from innerview.testing.lenses import check_lens
from innerview.testing.places import diver, dives

LENSES = ("region", "classes", "onsets", "memorised", "ignored", "moments")
SIZE = 8


class Left(nn.Module):
    """Q values of two actions, read off the left half three times as strongly as off the right."""

    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(SIZE * SIZE, 2, bias=False)
        weight = torch.ones(2, SIZE, SIZE)
        weight[:, :, : SIZE // 2] = 3.0
        weight[1] *= -1
        with torch.no_grad():
            self.q.weight.copy_(weight.view(2, -1))

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"q": self.q(x.flatten(1))}


@pytest.fixture
def left() -> iv.Subject:
    return iv.subject(Left(), example=torch.zeros(1, 1, SIZE, SIZE), actions=["a", "b"])


def pictures(count: int = 4) -> Tensor:
    return torch.rand(count, 1, SIZE, SIZE, generator=torch.Generator().manual_seed(1))


def boxed(*boxes: tuple[str, int, int, int, int]) -> Things:
    """The same things in every row: name, left, top, width, height."""
    seen = [dict(zip(("name", "x_px", "y_px", "width_px", "height_px"), box, strict=True)) for box in boxes]
    names = tuple(dict.fromkeys(str(box[0]) for box in boxes))
    return Things(names=lambda: names, read=lambda places: [seen for _ in places], size_hw=(SIZE, SIZE))


@pytest.mark.parametrize("name", LENSES)
def test_each_keeps_what_lenses_promise_on_every_subject_it_fits(name: str) -> None:
    assert {"lstm", "dueling", "frame stack", "dict"} <= set(check_lens(name))


def test_every_method_of_the_room_can_be_measured() -> None:
    lenses = [all_lenses().get(name) for name in all_lenses().names()]
    own = [each.lens for each in lenses if each.look.__module__.startswith("innerview.saliency.")]
    heat = {lens.name for lens in own if lens.yields == "heat" and lens.over == "row"}
    heat.remove("recurrent")  # it lies on earlier pictures, where other things were
    assert heat == {module.LENS.name for module, _ in METHODS.values()}


def test_the_share_of_a_region_by_hand(left: iv.Subject) -> None:
    rows = fed_rows(left, {"x": pictures()})
    found = region.look(rows, left, target="a of q", right=0.5)
    assert np.allclose(found.values[:, 0], 0.75) and np.allclose(found.values[:, 1], 3.0)
    assert np.allclose(found.values[:, 2], SIZE * SIZE * 2) and found.value["share of the picture"] == 0.5
    corner = region.look(rows, left, target="a of q", right=1 / SIZE, bottom=1 / SIZE)
    assert np.allclose(corner.values[:, 0], 3 / (SIZE * SIZE * 2))
    with pytest.raises(LensError, match="holds no pixel"):
        region.look(rows, left, left=0.51, right=0.52)


def test_a_map_that_is_0_everywhere_has_no_share() -> None:
    module = Left()
    with torch.no_grad():
        module.q.weight.zero_()
    dark = iv.subject(module, example=torch.zeros(1, 1, SIZE, SIZE), actions=["a", "b"])
    rows = fed_rows(dark, {"x": pictures()}, things=boxed(("fish", 0, 0, 2, 2)), groups=((0, 4),))
    assert np.isnan(region.look(rows, dark).values[:, 0]).all()
    assert np.isnan(classes.look(rows, dark).values[:, 0]).all()
    assert "0 everywhere" in memorised.look(rows, dark).value["words"]
    said = onsets.look(rows, dark).value
    assert said["sentences"] == [] and "choose more" in said["why"]
    assert np.isnan(moments.look(rows, dark, methods="gradient,occlusion").values[:, 0]).all(), (
        "constant maps neither agree nor disagree"
    )


def test_a_frame_of_a_stack_and_the_strongest_of_all() -> None:
    class Stack(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.q = nn.Linear(4 * SIZE * SIZE, 2, bias=False)
            weight = torch.arange(1.0, 5.0).view(1, 4, 1, 1).expand(2, 4, SIZE, SIZE)
            with torch.no_grad():
                self.q.weight.copy_(weight.reshape(2, -1))

        def forward(self, x: Tensor) -> dict[str, Tensor]:
            return {"q": self.q(x.flatten(1))}

    stacked = iv.subject(Stack(), example=torch.zeros(1, 4, SIZE, SIZE), actions=["a", "b"])
    rows = fed_rows(stacked, {"x": torch.rand(2, 4, SIZE, SIZE)})
    for frame, size in ((-1, 4.0), (0, 4.0), (1, 3.0), (3, 1.0)):
        assert np.allclose(MapOf(target="a of q", frame=frame).sizes(rows, stacked), size)
    with pytest.raises(LensError, match="0 to 3"):
        MapOf(target="a of q", frame=4).sizes(rows, stacked)


def test_attention_per_class_by_boxes_and_by_masks(left: iv.Subject) -> None:
    things = boxed(("fish", 0, 0, 2, 2), ("crab", 6, 6, 2, 2))
    rows = fed_rows(left, {"x": pictures()}, things=things)
    found = classes.look(rows, left, target="a of q")
    assert found.value == {"classes": ["background", "fish", "crab"], "by": "boxes"}
    assert np.allclose(found.values[0], [1 - 16 / 128, 12 / 128, 4 / 128, 56 / 64, 4 / 64, 4 / 64])
    mask = np.zeros((SIZE, SIZE), np.uint8)
    mask[:, : SIZE // 2] = 1
    masked = fed_rows(left, {"x": pictures()}, mask=lambda p: np.stack([mask] * len(p)), classes=("air", "wall"))
    assert np.allclose(classes.look(masked, left, target="a of q").values, [0.25, 0.75, 0.5, 0.5])
    with pytest.raises(LensError, match="no masks and names no objects"):
        classes.look(fed_rows(left, {"x": pictures()}), left)
    with pytest.raises(LensError, match="Nothing was ever in view"):
        classes.look(fed_rows(left, {"x": pictures()}, things=boxed()), left)


def test_boxes_reach_over_edges_and_to_maps_of_another_size(left: iv.Subject) -> None:
    rows = fed_rows(left, {"x": pictures(1)}, things=boxed(("fish", -1, 7, 2, 4)))
    covered = cover(rows, np.array([0]), (4, 4))
    assert covered.shape == (1, 2, 4, 4)
    assert np.argwhere(covered[0, 1]).tolist() == [[3, 0]]
    assert (covered[0, 0] == ~covered[0, 1]).all()


@pytest.mark.parametrize(("method", "more"), [("guided", {}), ("g1gradcam", {"gradients": "guided"})])
def test_a_map_is_the_methods_own(method: str, more: dict[str, Any]) -> None:
    adapted = diver("general")
    rows = dives(adapted, episodes=2, steps=3)
    module, fixed = METHODS[method]
    assert fixed == more
    heat = next(iter(module.look(rows, adapted, target="value", **more).heat.values()))
    assert np.allclose(MapOf(method=method, target="value").sizes(rows, adapted), np.abs(heat).max(1))


def test_onsets_are_rises_and_not_what_an_episode_begins_with() -> None:
    share = np.array([[0.9], [0.9], [0.0], [0.9], [0.0], [0.0], [0.0], [0.9], [np.nan], [0.9]])
    assert np.flatnonzero(onsets_of(share, ((0, 5), (5, 10)), 0.5)).tolist() == [3, 7, 9]
    assert not onsets_of(np.full((6, 2), 0.3), ((0, 6),), 1.0).any(), "what is constant never rises"


def planted_leads(lead: int, seed: int, *, follows: float = 1.0) -> list[Any]:
    """Attention to the first of three classes comes `lead` steps before a jump, to the others at any time."""
    random = np.random.default_rng(seed)
    groups = tuple((e * 100, e * 100 + 100) for e in range(12))
    started = random.random((1200, 3)) < 0.03
    started[:, 0] = False
    jumps = np.sort(random.choice(np.arange(1200)[later_steps()], 60, replace=False))
    for jump in jumps:
        if random.random() < follows:
            started[jump - lead, 0] = True
    started[:, 0] |= random.random(1200) < (0.03 if follows == 0 else 0.0)
    times = {"jump": jumps, "duck": np.sort(random.choice(1200, 60, replace=False))}
    return leads(started, ("saw", "coin", "wall"), times, groups, window=8, seed=0)


def later_steps() -> np.ndarray:
    """Rows that are no first steps of an episode."""
    return np.arange(1200) % 100 >= 10


def test_what_is_looked_at_before_a_jump_is_said_with_its_lead_and_nothing_else() -> None:
    found = planted_leads(4, 0)
    (said,) = [lead for lead in found if lead.said]
    assert (said.looked_at, said.before, said.times, said.preceded) == ("saw", "jump", 60, 60)
    assert said.lead == 4 and said.low <= 4 <= said.high and said.chance < 40 and said.p < 0.01
    assert (said.happened - said.onsets <= 8).all() and len(said.onsets) == 60
    sentence = onsets.sentence(said, 0.2)
    assert sentence.startswith("saw was looked at 0.8 s (") and "before jump: before 60 of 60 times" in sentence


def test_no_sentence_is_said_by_chance() -> None:
    false = sum(any(lead.said for lead in planted_leads(4, seed, follows=0.0)) for seed in range(20))
    assert false <= 3, "at most one in twenty is expected"


def test_the_rows_behind_a_sentence_and_a_given_result() -> None:
    adapted = diver("general")
    rows = dives(adapted, episodes=6, steps=20)
    shares = classes.look(rows, adapted, target="value")
    from innerview.schema import Output

    saved = Output(value=shares.value, arrays=shares.stored())
    mine, given = onsets.look(rows, adapted, target="value"), onsets.look(rows, adapted, target="value", classes=saved)
    assert mine.lines == given.lines and {line[1] for line in mine.lines} <= {"wait", "shoot"}
    other = Output(value=shares.value, arrays={**shares.stored(), "rows": np.arange(500, 620)})
    with pytest.raises(LensError, match="other rows"):
        onsets.look(rows, adapted, target="value", classes=other)


def found_of_fish(planting: Any, **more: Any) -> dict[str, Any]:
    """What is found of the fish of a planted net."""
    adapted = diver(planting)
    found = memorised.look(dives(adapted, **more), adapted, target="value")
    told: dict[str, Any] = next(one for one in found.value["classes"] if one["name"] == "fish")
    return told


def test_a_net_that_plays_by_heart_is_told_from_a_general_one() -> None:
    for seed in range(3):
        by_heart, by_distance = found_of_fish("by heart", seed=seed), found_of_fish("by distance", seed=seed)
        assert by_heart["verdict"] == "by place" and by_heart["place"]["low"] > 0.8
        assert by_heart["beyond"]["low"] > 0.3, "also where the diver never leaves its height"
        assert found_of_fish("general", seed=seed)["verdict"] == "everywhere alike"
        assert by_distance["verdict"] == "by where the player is" and by_distance["beyond"]["high"] < 0.1


def test_by_the_chosen_action_whose_gradient_saturates_too() -> None:
    for planting, verdict in (("by heart", "by place"), ("general", "everywhere alike")):
        adapted = diver(planting)  # type: ignore[arg-type]
        found = memorised.look(dives(adapted), adapted, target="action")
        assert found.value["classes"][1]["verdict"] == verdict
        assert ("by heart" in found.value["words"]) == (planting == "by heart")


def test_response_by_place_is_what_the_maps_say() -> None:
    adapted = diver("by heart")
    rows = dives(adapted, episodes=4)
    found = memorised.look(rows, adapted, target="value", cells=2)
    heat = np.abs(gradient.look(rows, adapted, target="value").heat["x"]).max(1)
    often, summed = np.zeros((2, 2)), np.zeros((2, 2))
    assert rows.things is not None
    for size, seen in zip(heat, rows.things.read(np.arange(rows.count)), strict=True):
        for thing in seen[1:]:
            if not thing["distance"]:
                continue  # right where the diver is: it might as well be the diver
            y, x = int(thing["y_px"]), int(thing["x_px"])
            often[int((y + 1.5) * 2 / 24), int((x + 1.5) * 2 / 24)] += 1
            summed[int((y + 1.5) * 2 / 24), int((x + 1.5) * 2 / 24)] += size[y : y + 3, x : x + 3].mean()
    assert (found.arrays["often"][1] == often).all()
    assert np.allclose(found.arrays["response"][1], summed / often / heat.mean(), rtol=1e-4)


def test_too_little_to_tell() -> None:
    assert found_of_fish("by heart", episodes=1, steps=4)["verdict"] == "seen too seldom"
    assert found_of_fish("by heart", episodes=1, steps=30)["verdict"] == "too few episodes"
    assert clusters(np.zeros(240, int)).max() == 11, "one long episode is cut into stretches"
    assert len(np.unique(clusters(np.repeat([0, 1], 10)))) == 2
    assert ranks(np.array([3.0, 1.0, 3.0])).tolist() == [0.75, 0.0, 0.75]


class Watches(nn.Module):
    """Decides by fish in the first channel; looks at crabs in the second too, which move both actions alike."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = nn.Linear(2 * SIZE * SIZE, 2, bias=False)
        weight = torch.zeros(2, 2, SIZE, SIZE)
        weight[0, 0], weight[1, 0], weight[:, 1] = 1.0, -1.0, 3.0
        with torch.no_grad():
            self.policy.weight.copy_(weight.view(2, -1))

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"policy": self.policy(x.flatten(1))}


def watched(adapted: iv.Subject, episodes: int = 12, steps: int = 4) -> Rows:
    """A fish and a crab somewhere in each row, each in the channel that shows it."""
    random, count = np.random.default_rng(0), episodes * steps
    seen, given = [], np.zeros((count, 2, SIZE, SIZE), np.float32)
    for row in range(count):
        (y, x), (v, u) = random.permutation([(0, 0), (0, 5), (5, 0), (5, 5)])[:2] + random.integers(0, 2, (2, 2))
        given[row, 0, y : y + 2, x : x + 2] = given[row, 1, v : v + 2, u : u + 2] = 1
        seen.append(
            [
                {"name": n, "x_px": b, "y_px": a, "width_px": 2, "height_px": 2}
                for n, a, b in (("fish", y, x), ("crab", v, u))
            ]
        )
    things = Things(names=lambda: ("fish", "crab"), read=lambda p: [seen[i] for i in p], size_hw=(SIZE, SIZE))
    groups = tuple((e * steps, (e + 1) * steps) for e in range(episodes))
    return fed_rows(adapted, {"x": torch.as_tensor(given)}, things=things, groups=groups)


def test_what_is_seen_but_not_acted_on_is_told_from_what_decides() -> None:
    adapted = iv.subject(Watches(), heads="policy", example=torch.zeros(1, 2, SIZE, SIZE), actions=["a", "b"])
    found = ignored.look(
        watched(adapted), adapted, method="integrated-input", target="a of policy", fill="black", margin=0
    )
    by_name = {one["name"]: one for one in found.value["classes"]}
    assert by_name["crab"]["verdict"] == "seen but not acted on" and by_name["fish"]["verdict"] == "seen and acted on"
    p = 1 / (1 + np.exp(-8))  # four pixels, each 1 for one action and 1 against the other
    fish = by_name["fish"]
    assert np.isclose(fish["change"]["value"] + fish["control"], p - 0.5, atol=1e-6)
    crab = by_name["crab"]
    assert np.isclose(crab["change"]["value"], -crab["control"]), "without it all is as it was; elsewhere stand fish"
    assert "crab" in found.value["words"]


def test_control_and_margin() -> None:
    shape = np.zeros((6, 6), bool)
    shape[2, 2] = True
    assert ignored.grown(shape, 1).sum() == 5 and not ignored.grown(shape, 0)[2, 1]
    moved = ignored.elsewhere(shape, np.random.default_rng(0))
    assert moved.sum() == 1 and not (moved & shape).any()
    assert not ignored.elsewhere(np.ones((4, 4), bool), np.random.default_rng(0)).any(), "there is no other place"


def test_moments_by_hand() -> None:
    same = np.random.default_rng(0).random((3, 1, 20)).repeat(2, axis=1)
    assert np.allclose(moments.disagreement(same), 0)
    assert np.allclose(moments.disagreement(np.stack([same[:, 0], -same[:, 0]], 1)), 2)
    maps = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.5, 0.5]])
    assert np.allclose(moments.jumps(maps, ((0, 3), (3, 4))), [np.nan, 1, 0.5, np.nan], equal_nan=True)
    share, chance = np.array([[0.5, 0.1, 0.0], [0.5, 0.1, 0.2], [0.5, 0.4, 0.2]]), np.ones((3, 3))
    above, which = moments.unusual(share, chance)
    assert which.tolist()[2] == 1 and np.isclose(above[2], (0.4 - 0.2) / np.std([0.1, 0.1, 0.4]))
    assert np.isclose(moments.pooled(np.ones((1, 24, 24)))[0], 1 / 144).all()


def test_moments_need_two_known_methods(left: iv.Subject) -> None:
    rows = fed_rows(left, {"x": pictures()})
    with pytest.raises(LensError, match="two"):
        moments.look(rows, left, methods="gradient")
    with pytest.raises(UnknownName, match="gradient"):
        moments.look(rows, left, methods="gradiend,guided")


def test_actions_and_events_are_what_can_be_preceded() -> None:
    from innerview.saliency.shares.lead import happenings

    spec = {
        "action": Column(name="action", type="int", kind="action", categories=("a", "b")),
        "hit": Column(name="hit", type="bool", kind="event"),
    }
    values = {"action": np.array([0.0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1]), "hit": np.ones(12)}
    rows = Rows(numbers=np.arange(12), columns=values, specs=spec, groups=((0, 6), (6, 12)))
    found = happenings(rows)
    assert set(found) == {"hit"}, "what begins fewer than five times is not spoken of"
    assert found["hit"].tolist() == list(range(12))
