"""Which convolutions a head depends on, and the one that is looked at unless another is asked for."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from innerview.errors import LensError, SubjectError
from innerview.subjects import Subject, attribute, head_of, middle_for, reaching_layers, subject


class Apart(nn.Module):
    """Three convolutions for the policy, one for the value, which runs last."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = (nn.Conv2d(3, 3, 3, padding=1) for _ in range(3))
        self.critic = nn.Conv2d(3, 3, 3, padding=1)
        self.policy, self.value = nn.Linear(108, 2), nn.Linear(108, 1)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        told = self.policy(self.c(self.b(self.a(x))).flatten(1))
        return {"policy": told, "value": self.value(self.critic(x).flatten(1))}


@pytest.fixture
def apart() -> Subject:
    return subject(Apart(), example=torch.zeros(1, 3, 6, 6), name="apart")


def test_each_head_knows_its_own_convolutions(apart: Subject) -> None:
    assert reaching_layers(apart, head_of(apart, "action")) == ("a", "b", "c")
    assert reaching_layers(apart, head_of(apart, "value")) == ("critic",)
    assert reaching_layers(apart, head_of(apart, "action"), ("a",), without=("b",)) == ()
    assert reaching_layers(apart, None) == apart.convolutions
    apart.module.requires_grad_(requires_grad=False)
    assert reaching_layers(apart, head_of(apart, "value")) == ("critic",)


def test_the_default_layer_is_the_middle_one_of_those_that_the_target_depends_on(apart: Subject) -> None:
    assert [middle_for(apart), middle_for(apart, "value"), middle_for(apart, "1 of policy")] == ["b", "critic", "b"]
    blind = subject(nn.Linear(4, 2), example=torch.zeros(1, 4), name="blind", heads="policy")
    with pytest.raises(SubjectError, match="has no convolution"):
        middle_for(blind)


def test_nothing_is_attributed_to_a_layer_that_the_target_does_not_depend_on(apart: Subject) -> None:
    pictures = {"x": torch.rand(2, 3, 6, 6)}
    assert attribute(apart, pictures, target="value").values.abs().sum() > 0
    with pytest.raises(LensError, match=r"'value' does not depend on layer 'b'.* depends on: critic"):
        attribute(apart, pictures, layer="b", target="value")
    with pytest.raises(LensError, match=r"'action' does not depend on layer 'critic'.* depends on: a, b, c"):
        attribute(apart, pictures, layer="critic", target="action")


class Shared(nn.Module):
    """One rectifier after each of two convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.act = nn.Conv2d(3, 4, 3), nn.Conv2d(4, 2, 3), nn.ReLU()
        self.policy = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"policy": self.policy(self.act(self.b(self.act(self.a(x)))).flatten(1))}


def test_a_layer_that_runs_twice_cannot_be_gone_on_from() -> None:
    shared = subject(Shared(), example=torch.zeros(1, 3, 6, 6), name="shared")
    with pytest.raises(SubjectError, match=r"'act' runs 2 times in one run. Choose a call: act@0, act@1"):
        attribute(shared, {"x": torch.rand(2, 3, 6, 6)}, layer="act", target="action")
    assert attribute(shared, {"x": torch.rand(2, 3, 6, 6)}, layer="b", target="action").values.shape == (2, 2, 2, 2)
