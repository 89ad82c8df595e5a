"""Lenses of two domains on small networks whose answers are known by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import pi

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.errors import LensError
from innerview.schema import Column, Head, Rows
from innerview.subjects import receptive_field
from innerview.testing.feeds import GivenFeed, fed_rows
from innerview.testing.lenses import check_lens
from innerview.transfer import activation, distance, occlusion
from innerview.transfer.patches import Patches, Swap

SIZE = 12


class Pixels(nn.Module):
    """A pose that is read off four pixels: x of colour, y of depth, the angle of a far corner."""

    def __init__(self) -> None:
        super().__init__()
        self.see = nn.Conv2d(4, 4, 1, bias=False)
        self.see.weight.data = torch.eye(4).view(4, 4, 1, 1)

    def forward(self, rgbd: Tensor) -> Tensor:
        seen = self.see(rgbd)
        return torch.stack([seen[:, 0, 1, 1], seen[:, 3, 1, 7], seen[:, 1, 10, 10]], 1)


class Pooled(nn.Module):
    """Convolutions, then either a mean over the maps and one layer, or a layer that reads the maps as they are."""

    def __init__(self, *, pools: bool) -> None:
        super().__init__()
        self.one, self.two = nn.Conv2d(4, 6, 3, stride=2, padding=1), nn.Conv2d(6, 5, 3, padding=1)
        self.relu, self.pools = nn.ReLU(), pools
        self.pose = nn.Linear(5 if pools else 5 * 36, 3)

    def forward(self, rgbd: Tensor) -> Tensor:
        maps = self.relu(self.two(torch.relu(self.one(rgbd))))
        said: Tensor = self.pose(maps.mean((2, 3)) if self.pools else maps.flatten(1))
        return said


class Strided(nn.Module):
    """Two halvings, with or without a way past them."""

    def __init__(self, *, skips: bool = False) -> None:
        super().__init__()
        self.one, self.two = nn.Conv2d(4, 8, 3, stride=2, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.three, self.pose = nn.Conv2d(8, 4, 9, stride=2, padding=4), nn.Linear(4 * 256, 3)
        self.skips = skips

    def forward(self, x: Tensor) -> Tensor:
        deep = torch.relu(self.three(torch.relu(self.two(torch.relu(self.one(x))))))
        said: Tensor = self.pose(deep.flatten(1))
        return said + x.mean((1, 2, 3)).unsqueeze(1) if self.skips else said


def adapted(module: nn.Module) -> iv.Subject:
    heads = [Head(name="pose", kind="pose", size=3, units=("m", "m", "rad"))]
    return iv.subject(module, example={"rgbd": torch.zeros(1, 4, SIZE, SIZE)}, heads={"pose": heads[0]})


def paired(subject: iv.Subject, sim: Tensor, real: Tensor, truth: Mapping[str, list[float]]) -> Rows:
    columns = {part: np.array(values) for part, values in truth.items()}
    specs = {part: Column(name=part, type="float", pose=part, unit="rad" if part == "angle" else "m") for part in truth}
    feeds = {"sim": GivenFeed(subject, {"rgbd": sim}), "real": GivenFeed(subject, {"rgbd": real})}
    holds = {"rgbd": ("colour", "colour", "colour", "depth")}
    return fed_rows(subject, {"rgbd": real}, domains=feeds, channels=holds, columns=columns, specs=specs)


@pytest.mark.parametrize("name", ["feature-distance", "domain-occlusion", "activation-map"])
def test_each_keeps_what_lenses_promise(name: str) -> None:
    assert check_lens(name) == ("pairs",)


def test_distances_are_those_worked_out_by_hand() -> None:
    own = torch.tensor([[3.0, 4.0], [0, 0], [0, 0], [1, 0]]).T.reshape(1, 2, 2, 2)
    others = torch.tensor([[4.0, 3.0], [0, 0], [2, 0], [0, 1]]).T.reshape(1, 2, 2, 2)
    cosine = distance.distance(own, others, "cosine").flatten().tolist()
    assert np.allclose(cosine, [1 - 24 / 25, 0, 1, 1])  # both empty: 0; one of them: 1
    assert np.allclose(distance.distance(own, others, "l1").flatten(), [1, 0, 1, 1])
    assert np.allclose(distance.distance(own, others, "product").flatten(), [1 / 25, 0, 1, 1])


def test_feature_distance_lies_where_the_pictures_differ_and_keeps_its_scale() -> None:
    subject = adapted(Pixels())
    sim = torch.rand(2, 4, SIZE, SIZE, generator=torch.Generator().manual_seed(0))
    real = sim.clone()
    real[0, :, 3, 5] += 0.5
    real[1, :, 3, 5] += 1.0
    rows = paired(subject, sim, real, {"x": [0, 0], "y": [0, 0], "angle": [0, 0]})
    found = distance.look(rows, subject, measure="l1", layer="see")
    heat = found.heat["rgbd"][:, 0]
    assert np.allclose(heat[:, 3, 5], [0.5, 1.0], atol=1e-5)  # no scaling by row
    assert np.count_nonzero(heat > 1e-5) == 2
    assert (found.domain, found.signed) == ("real", False)
    assert np.allclose(distance.look(rows, subject, measure="l1", layer="see", domain="sim").heat["rgbd"][:, 0], heat)
    with pytest.raises(LensError, match="no counterpart"):
        distance.look(replace(rows, domains={"real": rows.domains["real"]}), subject)
    dense = adapted(Pooled(pools=True))
    with pytest.raises(LensError, match="Layers that have one"):
        distance.look(paired(dense, sim, real, {"x": [0, 0]}), dense, layer="pose")


def test_a_replaced_patch_is_worth_what_the_error_falls() -> None:
    """The pose is read off single pixels, so only patches that cover one of them can change it."""
    subject = adapted(Pixels())
    sim, real = torch.zeros(1, 4, SIZE, SIZE), torch.ones(1, 4, SIZE, SIZE)
    rows = paired(subject, sim, real, {"x": [0.0], "y": [1.0], "angle": [0.0]})
    x, y, angle = (
        occlusion.look(rows, subject, patch=4, measure=measure).heat["rgbd"][0, 0] for measure in ("x", "y", "angle")
    )
    wanted = np.zeros((3, SIZE, SIZE))
    wanted[0, :4, :4] = 1  # x is 1 and should be 0: the simulator's patch mends it
    wanted[1, :4, 4:8] = -1  # y is right: the simulator's patch spoils it
    wanted[2, 8:, 8:] = 1
    assert np.allclose([x, y, angle], wanted, atol=1e-6)
    place = occlusion.look(rows, subject, patch=4, measure="place")
    whole = occlusion.look(rows, subject, patch=4, measure="pose", metres_per_radian=2.0)
    assert np.allclose(place.heat["rgbd"][0, 0], wanted[0] + wanted[1] * 0 - np.where(wanted[1], np.sqrt(2) - 1, 0))
    assert np.allclose(whole.heat["rgbd"][0, 0] - place.heat["rgbd"][0, 0], 2 * wanted[2], atol=1e-6)
    assert np.allclose(whole.arrays["errors"], [[1 + 2, 1]])  # of real, and of sim
    assert (whole.unit, whole.positive) == ("m closer to the truth (pose)", "blue")


def test_patches_go_the_other_way_and_into_some_channels_only() -> None:
    subject = adapted(Pixels())
    sim, real = torch.zeros(1, 4, SIZE, SIZE), torch.ones(1, 4, SIZE, SIZE)
    rows = paired(subject, sim, real, {"x": [1.0], "y": [1.0], "angle": [0.0]})
    into_sim = {
        channels: occlusion.look(rows, subject, domain="sim", patch=4, channels=channels, measure=measure)
        for channels, measure in (("depth", "y"), ("colour", "x"))
    }
    assert into_sim["depth"].heat["rgbd"][0, 0, 1, 7] == 1 and into_sim["colour"].heat["rgbd"][0, 0, 1, 1] == 1
    assert not occlusion.look(rows, subject, domain="sim", patch=4, channels="depth", measure="x").heat["rgbd"].any()
    with pytest.raises(LensError, match="depth is not known"):
        occlusion.look(replace(rows, channels={}), subject, channels="depth")


def test_an_angle_is_wrapped_and_its_unit_is_minded() -> None:
    subject = adapted(Pixels())
    sim, real = torch.zeros(1, 4, SIZE, SIZE), torch.zeros(1, 4, SIZE, SIZE)
    real[0, 1, 10, 10] = pi - 0.1
    rows = paired(subject, sim, real, {"x": [0.0], "y": [0.0], "angle": [-pi + 0.1]})
    in_degrees = replace(
        rows,
        columns={**rows.columns, "angle": np.rad2deg(rows.columns["angle"])},
        specs={**rows.specs, "angle": replace(rows.specs["angle"], unit="deg")},
    )
    for given in (rows, in_degrees):
        assert np.allclose(
            occlusion.look(given, subject, measure="angle").arrays["errors"][0], [0.2, pi - 0.1], atol=1e-6
        )


def test_a_missing_truth_is_named() -> None:
    subject = adapted(Pixels())
    pictures = torch.zeros(3, 4, SIZE, SIZE)
    rows = paired(subject, pictures, pictures, {"x": [0, np.nan, 0], "y": [0, 0, 0], "angle": [0, 0, 0]})
    with pytest.raises(LensError, match=r"true x .* unknown in 1 of 3 rows, the first is row 1"):
        occlusion.look(rows, subject)
    assert np.isfinite(occlusion.look(rows, subject, measure="y").heat["rgbd"]).all()
    bare = replace(rows, specs={part: spec for part, spec in rows.specs.items() if part != "y"})
    with pytest.raises(LensError, match="do not say the true y"):
        occlusion.look(bare, subject, measure="y")
    odd = replace(rows, specs={**rows.specs, "y": replace(rows.specs["y"], unit="pixels")})
    with pytest.raises(LensError, match="cannot be compared"):
        occlusion.look(odd, subject, measure="y")


def test_patches_that_share_a_picture_say_what_each_says_alone() -> None:
    torch.manual_seed(0)
    subject = iv.subject(Strided(), example=torch.zeros(1, 4, 64, 64), heads="pose")
    (name,) = subject.observation_names
    own, other = torch.rand(2, 1, 4, 64, 64)
    patches, swap = Patches.over(64, 64), Swap({name: own}, {}, name, other)
    layer = patches._shared_layer(subject, swap)
    assert layer == "two" and len(patches.corners) == 36
    alone = subject.run({name: torch.where(patches.masks, other, own)}).heads["pose"]
    assert torch.allclose(patches.heads(subject, swap)["pose"][1:], alone, atol=1e-5)
    past = iv.subject(Strided(skips=True), example=torch.zeros(1, 4, 64, 64), heads="pose")
    assert patches._shared_layer(past, swap) == ""  # another way leads past the layers: each patch goes alone
    alone = past.run({name: torch.where(patches.masks, other, own)}).heads["pose"]
    assert torch.allclose(patches.heads(past, swap)["pose"][1:], alone, atol=1e-5)


def test_patches_cover_all_and_overlaps_are_means() -> None:
    patches = Patches.over(5, 7, 3, 2)
    assert bool(patches.masks.any(0).all())
    values = torch.arange(len(patches.corners), dtype=torch.float64)
    drawn = patches.pictured(values)[0]
    by_hand = (patches.masks[:, 0] * values[:, None, None]).sum(0) / patches.masks[:, 0].sum(0)
    assert torch.allclose(drawn, by_hand)


def test_a_true_cam_adds_up_to_the_number_less_its_bias() -> None:
    torch.manual_seed(1)
    module = Pooled(pools=True)
    subject = adapted(module)
    pictures = torch.rand(3, 4, SIZE, SIZE)
    rows = paired(subject, pictures, pictures, {"x": [0, 0, 0]})
    for place, number in enumerate(("x", "y", "angle")):
        found = activation.look(rows, subject, number=number)
        assert found.value == {"layer": "relu", "number": number, "kind": "true CAM"}
        maps = subject.run({"rgbd": pictures}, keep=("relu",)).sites["relu"]
        by_hand = (module.pose.weight[place].view(1, -1, 1, 1) * maps).sum(1) / 36
        head = subject.run({"rgbd": pictures}).heads["pose"][:, place] - module.pose.bias[place]
        assert torch.allclose(by_hand.sum((1, 2)), head, atol=1e-5)
        drawn = receptive_field(subject, "relu").pictured(by_hand[:, None], (SIZE, SIZE))
        assert np.allclose(found.heat["rgbd"], drawn.detach(), atol=1e-5)


def test_without_a_pool_gradients_weight_the_maps_and_it_says_so() -> None:
    torch.manual_seed(1)
    module = Pooled(pools=False)
    subject = adapted(module)
    pictures = torch.rand(2, 4, SIZE, SIZE)
    rows = paired(subject, pictures, pictures, {"x": [0, 0]})
    found = activation.look(rows, subject, number="y")
    assert found.value["kind"] == "gradient-weighted" and "gradient-weighted" in found.unit
    maps = subject.run({"rgbd": pictures}, keep=("relu",)).sites["relu"]
    weighted = (maps * module.pose.weight[1].view(1, 5, 6, 6)).sum(1)
    # A finite difference of one cell, along all channels at once, is what that cell is worth.
    cell, nudge = (2, 3), 1e-2
    nudged = maps.clone()
    nudged[:, :, cell[0], cell[1]] *= 1 + nudge
    moved = (
        subject.run_after("relu", nudged, {"rgbd": pictures})["pose"] - subject.run({"rgbd": pictures}).heads["pose"]
    )
    assert torch.allclose(moved[:, 1] / nudge, weighted[:, cell[0], cell[1]], atol=1e-3)
    whole = activation.look(rows, subject, metres_per_radian=3.0)
    each = [(maps * module.pose.weight[part].view(1, 5, 6, 6)).sum(1).abs() for part in range(3)]
    by_hand = receptive_field(subject, "relu").pictured((each[0] + each[1] + 3 * each[2])[:, None], (SIZE, SIZE))
    assert not whole.signed and np.allclose(whole.heat["rgbd"], by_hand.detach(), atol=1e-4)


def test_a_number_that_a_head_lacks_and_a_layer_without_maps_are_refused() -> None:
    subject = adapted(Pooled(pools=True))
    pictures = torch.rand(1, 4, SIZE, SIZE)
    rows = paired(subject, pictures, pictures, {"x": [0]})
    with pytest.raises(LensError, match=r"not one map .* Layers that have one: one, two, relu"):
        activation.look(rows, subject, layer="pose")
    flat = Head(name="pose", kind="pose", size=3, pose=("x", "y", "z"))
    other = iv.subject(Pooled(pools=True), example={"rgbd": torch.zeros(1, 4, SIZE, SIZE)}, heads={"pose": flat})
    with pytest.raises(LensError, match="does not say the pose's angle"):
        activation.look(rows, other, number="angle")
