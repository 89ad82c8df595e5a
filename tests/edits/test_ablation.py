"""Ablation: what lies along a direction is not seen any more, everything else as before."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from innerview.edits.ablation import ablate, projected_out, random_directions
from innerview.errors import EditError, SubjectError, UnknownName
from innerview.schema import WeightEdit
from innerview.subjects import Subject, subject


class Eye(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 5, 3, padding=1)
        self.dense = nn.Linear(5 * 36, 8)
        self.policy, self.value = nn.Linear(8, 2), nn.Linear(8, 1)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        seen = torch.relu(self.second(torch.relu(self.first(x)))).flatten(1)
        out = torch.relu(self.dense(seen))
        return {"policy": self.policy(out), "value": self.value(out)}


@pytest.fixture
def eye() -> Subject:
    torch.manual_seed(0)
    return subject(Eye(), example=torch.zeros(1, 3, 6, 6), name="eye")


PICTURES = {"x": torch.rand(4, 3, 6, 6, generator=torch.Generator().manual_seed(2))}


@pytest.mark.parametrize(("layer", "channels"), [("first", 4), ("second", 5)])
def test_what_lies_along_the_direction_changes_nothing_any_more(eye: Subject, layer: str, channels: int) -> None:
    direction = np.random.default_rng(0).random(channels)
    ablated = ablate(eye, WeightEdit(layer=layer, directions=(tuple(direction),)))
    seen = eye.run(PICTURES, keep=(layer,)).sites[layer].relu()
    along = torch.as_tensor(direction, dtype=torch.float32)[:, None, None]
    for agent, same in ((ablated, True), (eye, False)):
        before = agent.run_after(layer, seen, PICTURES)["value"]
        after = agent.run_after(layer, seen + 3 * along, PICTURES)["value"]
        assert torch.allclose(before, after, atol=1e-4) is same


class Dueling(nn.Module):
    """Two streams read the same layer, and each goes on through a layer of that size."""

    def __init__(self) -> None:
        super().__init__()
        self.see = nn.Conv2d(3, 4, 3, padding=1)
        self.left, self.right = nn.Linear(4 * 36, 4 * 36), nn.Linear(4 * 36, 4 * 36)
        self.value, self.advantage = nn.Linear(4 * 36, 1), nn.Linear(4 * 36, 2)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        seen = torch.relu(self.see(x)).flatten(1)
        deeper = torch.relu(self.right(torch.relu(self.left(seen))))
        return {"value": self.value(deeper), "policy": self.advantage(seen)}


def test_every_layer_that_reads_it_directly_is_ablated() -> None:
    torch.manual_seed(0)
    agent = subject(Dueling(), example=torch.zeros(1, 3, 6, 6))
    direction = tuple(np.random.default_rng(0).random(4))
    ablated = ablate(agent, WeightEdit(layer="see", directions=(direction,)))
    seen = agent.run(PICTURES, keep=("see",)).sites["see"].relu()
    along = torch.tensor(direction, dtype=torch.float32)[:, None, None]
    before, after = (ablated.run_after("see", given, PICTURES) for given in (seen, seen + 3 * along))
    for head in ("value", "policy"):
        torch.testing.assert_close(before[head], after[head], atol=1e-4, rtol=0)
    old, new = agent.module.state_dict(), ablated.module.state_dict()
    assert {name for name in old if not torch.equal(old[name], new[name])} == {"left.weight", "advantage.weight"}


def test_the_original_stays_as_it_is(eye: Subject) -> None:
    digest, before = eye.identity(), eye.run(PICTURES).heads["policy"]
    ablated = ablate(eye, WeightEdit(layer="first", directions=((1.0, 0, 0, 0),)))
    assert eye.identity() == digest == eye.info.identity
    assert ablated.info.identity == ablated.identity() != digest
    assert torch.equal(eye.run(PICTURES).heads["policy"], before)
    assert ablated.info.name == "eye - ablated" and ablated.module is not eye.module


def test_a_direction_of_one_channel_zeroes_its_slice() -> None:
    weight = torch.rand(5, 4, 3, 3)
    got = projected_out(weight, [[0.0, 2.0, 0.0, 0.0]], 4)
    assert float(got[:, 1].abs().max()) < 1e-7 and torch.allclose(got[:, [0, 2, 3]], weight[:, [0, 2, 3]])


def test_several_directions_go_together_in_any_order_and_twice() -> None:
    weight, one, two = torch.rand(5, 4, 3, 3), [1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0]
    got = projected_out(weight, [one, two], 4)
    torch.testing.assert_close(got, projected_out(weight, [two, one, one], 4))
    torch.testing.assert_close(got, projected_out(got, [one, two], 4))
    flat = got.permute(0, 2, 3, 1)
    for direction in (one, two):
        assert float((flat @ torch.tensor(direction)).abs().max()) < 1e-6


def test_directions_that_others_make_up_take_nothing_more_away_and_hide_no_later_one() -> None:
    generator = torch.Generator().manual_seed(1)
    weight, one, two = torch.rand(5, 6, 3, 3, generator=generator), torch.rand(6, generator=generator), torch.eye(6)[2]
    wanted = projected_out(weight, [one.tolist(), two.tolist()], 6)
    nearly = (one * 0.3).tolist()  # the same but for its last bits
    for more in ([one, one, two], [one, torch.tensor(nearly), two], [one, two, one + two], [two, two, two, one]):
        torch.testing.assert_close(projected_out(weight, [each.tolist() for each in more], 6), wanted)
    everything = torch.cat((torch.eye(6), torch.rand(3, 6, generator=generator)))
    assert float(projected_out(weight, everything.tolist(), 6).abs().max()) < 1e-6


def test_controls_are_as_sparse_as_what_they_stand_in_for() -> None:
    like = [[0.0, 0.9, 0.1, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0, 0.0]]
    made = random_directions(like, seed=1)
    assert made.shape == (2, 5) and np.allclose(np.sort(made, axis=1), np.sort(like, axis=1))


def test_a_control_is_never_the_edit_itself_nor_one_direction_twice() -> None:
    like = np.eye(5)[:2]
    for seed in range(50):
        channels = random_directions(like.tolist(), seed=seed).argmax(axis=1)
        assert channels.min() >= 2 and len(set(channels.tolist())) == 2
    assert random_directions([[1.0, 1.0]], seed=0).tolist() == [[1.0, 1.0]]  # there is no other


@pytest.mark.parametrize("norm", [nn.BatchNorm2d(4), nn.GroupNorm(2, 4), nn.LayerNorm([4, 6, 6])])
def test_directions_do_not_go_through_a_normalisation(norm: nn.Module) -> None:
    module = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), norm, nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
    agent = subject(module, example=torch.zeros(1, 3, 6, 6), heads="policy", actions=["left", "right"])
    with pytest.raises(EditError, match="No convolution or dense layer after '0' reads its 4 channels directly"):
        ablate(agent, WeightEdit(layer="0", directions=((1.0, 0, 0, 0),)))
    ablate(agent, WeightEdit(layer="1", directions=((1.0, 0, 0, 0),)))


def test_what_cannot_be_ablated_is_reported(eye: Subject) -> None:
    with pytest.raises(UnknownName, match="first"):
        ablate(eye, WeightEdit(layer="frst", directions=((1.0,),)))
    with pytest.raises(EditError, match="'first' has 4 channels; the directions have 3"):
        ablate(eye, WeightEdit(layer="first", directions=((1.0, 0, 0),)))
    with pytest.raises(EditError, match="nothing but zeros"):
        ablate(eye, WeightEdit(layer="first", directions=((0.0, 0, 0, 0),)))
    with pytest.raises(EditError, match="at least one direction"):
        ablate(eye, WeightEdit(layer="first", directions=()))
    with pytest.raises(EditError, match="No convolution or dense layer after 'value'"):
        ablate(eye, WeightEdit(layer="value", directions=((1.0,),)))
    with pytest.raises(UnknownName, match=r"first\.weight"):
        eye.copied({"frst.weight": torch.zeros(1)}, name="x")
    with pytest.raises(SubjectError, match="has shape"):
        eye.copied({"first.weight": torch.zeros(1)}, name="x")


class Apart(nn.Module):
    """A network for what it does and one for what it expects."""

    def __init__(self) -> None:
        super().__init__()
        self.actor, self.critic = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(3, 4, 3, padding=1)
        self.policy, self.value = nn.Linear(4 * 36, 2), nn.Linear(4 * 36, 1)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"policy": self.policy(self.actor(x).flatten(1)), "value": self.value(self.critic(x).flatten(1))}


class Skipping(nn.Module):
    """What the stem says goes into a branch and past it."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.branch = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.down = nn.Conv2d(4, 5, 3)
        self.policy = nn.Linear(5 * 16, 2)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        seen = self.stem(x)
        return {"policy": self.policy(self.down(seen + self.branch(torch.relu(seen))).flatten(1))}


def test_a_layer_that_decides_nothing_is_refused_with_those_that_do() -> None:
    apart = subject(Apart(), example=torch.zeros(1, 3, 6, 6), name="apart")
    with pytest.raises(EditError, match=r"'policy' does not depend on that layer.*depends on: actor"):
        ablate(apart, WeightEdit(layer="critic", directions=((1.0, 0, 0, 0),)))
    ablate(apart, WeightEdit(layer="actor", directions=((1.0, 0, 0, 0),)))


def test_what_goes_round_the_kernel_is_named_and_nothing_is_edited_by_half() -> None:
    skipping = subject(Skipping(), example=torch.zeros(1, 3, 6, 6), name="skipping")
    with pytest.raises(EditError, match="what branch reads of 'stem', but policy also gets it another way"):
        ablate(skipping, WeightEdit(layer="stem", directions=((1.0, 0, 0, 0),)))
    ablate(skipping, WeightEdit(layer="branch", directions=((1.0, 0, 0, 0),)))
