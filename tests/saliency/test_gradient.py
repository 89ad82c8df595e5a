"""Gradient saliency against answers that are known."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import innerview as iv
from innerview.errors import UnknownName
from innerview.saliency.gradient import look
from innerview.testing.feeds import fed_rows


class Linear(nn.Module):
    """Value and two actions that are linear in the picture."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = nn.Linear(3 * 5 * 5, 2)
        self.value = nn.Linear(3 * 5 * 5, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.policy(x.flatten(1)), self.value(x.flatten(1))


@pytest.fixture
def linear() -> iv.Subject:
    torch.manual_seed(0)
    return iv.subject(Linear(), example=torch.zeros(1, 3, 5, 5), heads={"policy": "policy", "value": "value"})


def test_the_heat_of_a_linear_value_is_its_weights_with_their_sign(linear: iv.Subject) -> None:
    heat = look(fed_rows(linear, {"x": torch.rand(2, 3, 5, 5)}), linear, target="value")
    weights = linear.module.value.weight.detach().view(3, 5, 5)  # type: ignore[union-attr, operator]
    for row in heat.heat["x"]:
        assert np.allclose(row, weights, atol=1e-6)
    assert heat.signed and heat.unit == "of 'value' per unit of the input" and heat.rows.tolist() == [0, 1]


def test_times_input_forgets_dark_pixels(linear: iv.Subject) -> None:
    picture = torch.rand(1, 3, 5, 5)
    picture[..., :2] = 0
    heat = look(fed_rows(linear, {"x": picture}), linear, times_input=True).heat["x"]
    assert (heat[..., :2] == 0).all() and heat.any()


def test_what_cannot_be_done_is_said(linear: iv.Subject) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'value'"):
        look(fed_rows(linear, {"x": torch.rand(1, 3, 5, 5)}), linear, target="valu")
