"""Targets: what saliency can be taken of, in words."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from innerview.errors import LensError, UnknownName
from innerview.schema import Head, targets_of
from innerview.subjects import Subject, scorer, subject


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
    for target in targets_of(adapted().info.heads):
        assert scorer(adapted(), HEADS, target)(HEADS).shape == (2,)


def test_heads_that_do_not_act_have_targets_too() -> None:
    answers = Head(name="answer", kind="answer", size=2, names=("yes", "no"))
    assert targets_of((answers,)) == ("yes of answer", "no of answer")
    q = Head(name="q", kind="q", size=2)
    assert targets_of((q, answers))[:6] == ("value", "action", "0 of q", "1 of q", "yes of answer", "no of answer")
    assert targets_of((q,))[-2:] == ("0 over 1", "1 over 0")
    assert not [each for each in targets_of((Head(name="p", kind="policy", size=15),)) if " over " in each]


def test_the_head_that_decides_is_a_policy_before_q_values_whatever_comes_first() -> None:
    q, policy = Head(name="q", kind="q", size=2), Head(name="p", kind="policy", size=1, names=("jump",))
    assert targets_of((q, policy)) == ("value", "action", "0 of q", "1 of q", "log jump")


def test_unknown_targets_are_reported() -> None:
    with pytest.raises(UnknownName, match="log left"):
        scorer(adapted(), HEADS, "lft")
    with pytest.raises(UnknownName, match=r"part of head 'policy'.*left"):
        scorer(adapted(), HEADS, "lft over right")
    located = subject(nn.Linear(4, 3), example=torch.zeros(1, 4), heads="pose")
    assert targets_of(located.info.heads) == ("x of pose", "y of pose", "angle of pose")
    with pytest.raises(LensError, match="no value head"):
        scorer(located, {"pose": torch.zeros(1, 3)}, "value")
