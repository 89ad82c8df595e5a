"""Several decisions at once as one: every combination of choices, the last decision counting fastest."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import torch
from torch import Tensor

from innerview.errors import SubjectError

MANY = 4096
"""More combinations cannot be shown, nor told from each other."""


def check_combinations(sizes: Sequence[int]) -> None:
    """An error where there are too many."""
    if prod(sizes) > MANY:
        raise SubjectError(
            f"Decisions with {' × '.join(map(str, sizes))} choices have {prod(sizes):,} combinations; innerview takes "
            f"up to {MANY:,}. Adapt the network that makes one of the decisions, with heads={{…: 'policy'}}."
        )


def joint_logits(logits: Tensor, sizes: Sequence[int]) -> Tensor:
    """[batch, combinations] of the logits of independent decisions [batch, sum of sizes]: they add up."""
    check_combinations(sizes)
    joint = logits.new_zeros((len(logits), 1))
    for part in torch.split(logits, list(sizes), dim=1):
        own = torch.log_softmax(part, dim=1)
        joint = (joint[:, :, None] + own[:, None, :]).flatten(1)
    return joint


def joint_bits(logits: Tensor) -> Tensor:
    """[batch, 2 ** bits] of the logits of independent bits [batch, bits]: no before yes."""
    pairs = torch.stack((torch.zeros_like(logits), logits), dim=2).flatten(1)
    return joint_logits(pairs, (2,) * logits.shape[1])
