"""Agents of a library that knows nothing of torch: a table of weights by action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

import innerview as iv


@dataclass
class TableAgent:
    """Chooses the action with the largest product of weights and what it sees."""

    weights: np.ndarray
    """[action, number seen]."""


def adapt(model: Any, **settings: Any) -> iv.Subject | None:
    """A subject of a table; nothing of what is none."""
    if not isinstance(model, TableAgent):
        return None
    actions, width = model.weights.shape
    module = nn.Linear(width, actions, bias=False)
    with torch.no_grad():
        module.weight.copy_(torch.as_tensor(model.weights))
    return iv.subject(module, **{"inputs": {"seen": (width,)}, "heads": "q", "name": "table", **settings})
