"""Turns heads into action probabilities and actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from innerview.errors import SubjectError
from innerview.schema import Head

EPSILON = 0.05
"""How often a sampled action of a q head is any action."""


def head_probabilities(head: Head | None, values: Mapping[str, Tensor]) -> np.ndarray | None:
    """[batch, actions]: the softmax of logits, or of q values; None where actions are not discrete."""
    if head is None or head.kind == "gaussian":
        return None
    table: np.ndarray = torch.softmax(values[head.name].detach().double(), dim=1).cpu().numpy()
    return table


def choose(
    head: Head | None, values: Mapping[str, Tensor], *, greedy: bool, generators: Sequence[np.random.Generator]
) -> np.ndarray:
    """[batch] whole numbers or [batch, dimensions]; each row draws from its own generator alone."""
    if head is None:
        raise SubjectError("The subject has no head that decides (policy, q or gaussian): it cannot act.")
    numbers = values[head.name].detach()
    if not greedy and len(generators) != numbers.shape[0]:
        raise SubjectError(f"{numbers.shape[0]} rows need as many random generators, not {len(generators)}.")
    if head.kind == "gaussian":
        return _continuous(head, values, None if greedy else generators)
    best: np.ndarray = numbers.argmax(dim=1).cpu().numpy()
    if greedy:
        return best
    if head.kind in ("q", "advantage"):
        return np.array([_maybe_any(b, head.size, g) for b, g in zip(best, generators, strict=True)], dtype=np.int64)
    table = head_probabilities(head, values)
    assert table is not None
    return np.array([_draw(row, g) for row, g in zip(table, generators, strict=True)], dtype=np.int64)


def _draw(row: np.ndarray, generator: np.random.Generator) -> int:
    total = np.cumsum(row)
    return min(int(np.searchsorted(total, generator.random() * total[-1], side="right")), len(row) - 1)


def _maybe_any(best: int, size: int, generator: np.random.Generator) -> int:
    return int(generator.integers(size)) if generator.random() < EPSILON else int(best)


def _continuous(
    head: Head, values: Mapping[str, Tensor], generators: Sequence[np.random.Generator] | None
) -> np.ndarray:
    mean: np.ndarray = values[head.name].detach().double().cpu().numpy()
    if generators is None:
        return mean
    spread = values.get(f"{head.name}.log_std")
    if spread is None:
        raise SubjectError(
            f"Head '{head.name}' has no spread, so actions cannot be sampled. Act greedily, or return log_std from "
            f"forward and declare it: heads={{'{head.name}': 'gaussian', '{head.name}.log_std': 'other'}}."
        )
    std: np.ndarray = spread.detach().double().exp().cpu().numpy()
    noise = np.stack([generator.standard_normal(head.size) for generator in generators])
    drawn: np.ndarray = mean + std * noise
    return drawn
