"""Targets: what saliency can be taken of, in words."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from innerview.errors import LensError, UnknownName
from innerview.subjects import Subject, scorer, subject, targets


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.policy, self.value = nn.Linear(4, 3), nn.Linear(4, 1)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"policy": self.policy(x), "value": self.value(x)}


def adapted() -> Subject:
    return subject(Net(), example=torch.zeros(1, 4), actions=["left", "stay", "right"])


HEADS = {"policy": torch.tensor([[1.0, 2.0, 0.0], [0.0, 0.0, 5.0]]), "value": torch.tensor([[0.5], [-1.0]])}


@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        ("value", [0.5, -1.0]),
        ("left of policy", [1.0, 0.0]),
        ("right over left", [-1.0, 5.0]),
        ("log stay", HEADS["policy"].log_softmax(1)[:, 1].tolist()),
        ("action", HEADS["policy"].log_softmax(1).amax(1).tolist()),
    ],
)
def test_targets_are_read_off_the_heads(target: str, wanted: list[float]) -> None:
    assert scorer(adapted(), HEADS, target)(HEADS).tolist() == pytest.approx(wanted)


def test_the_chosen_action_stays_the_chosen_one() -> None:
    turned = {"policy": HEADS["policy"].flip(1), "value": HEADS["value"]}
    got = scorer(adapted(), HEADS, "action")({n: torch.cat([HEADS[n], turned[n]]) for n in HEADS})
    assert got[2:].tolist() == pytest.approx(turned["policy"].log_softmax(1)[[0, 1], [1, 2]].tolist())


def test_every_target_that_is_listed_can_be_read() -> None:
    for target in targets(adapted().info):
        assert scorer(adapted(), HEADS, target)(HEADS).shape == (2,)


def test_unknown_targets_are_reported() -> None:
    with pytest.raises(UnknownName, match="log left"):
        scorer(adapted(), HEADS, "lft")
    with pytest.raises(UnknownName, match=r"part of head 'policy'.*left"):
        scorer(adapted(), HEADS, "lft over right")
    located = subject(nn.Linear(4, 3), example=torch.zeros(1, 4), heads="pose")
    assert targets(located.info) == ("0 of pose", "1 of pose", "2 of pose")
    with pytest.raises(LensError, match="no value head"):
        scorer(located, {"pose": torch.zeros(1, 3)}, "value")
