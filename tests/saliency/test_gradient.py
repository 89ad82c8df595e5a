"""Gradient saliency against answers that are known."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import innerview as iv
from innerview.errors import LensError, UnknownName
from innerview.saliency.gradient import look
from innerview.testing.subjects import TORCH_CASES


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


def test_the_heat_of_a_linear_value_is_its_weights(linear: iv.Subject) -> None:
    heat = look(linear, {"x": torch.rand(2, 3, 5, 5)}, target="value")
    weights = linear.module.value.weight.detach().abs().view(3, 5, 5).amax(0)  # type: ignore[union-attr, operator]
    for row in heat:
        assert np.allclose(row, weights / weights.max(), atol=1e-6)


def test_times_input_forgets_dark_pixels(linear: iv.Subject) -> None:
    picture = torch.rand(1, 3, 5, 5)
    picture[..., :2] = 0
    heat = look(linear, {"x": picture}, times_input=True)
    assert (heat[..., :2] == 0).all() and heat.max() == pytest.approx(1)


def test_rows_do_not_mix(linear: iv.Subject) -> None:
    pictures = torch.rand(3, 3, 5, 5)
    together = look(linear, {"x": pictures})
    alone = np.concatenate([look(linear, {"x": pictures[i : i + 1]}) for i in range(3)])
    assert np.allclose(together, alone, atol=1e-6)


def test_what_cannot_be_done_is_said(linear: iv.Subject) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'value'"):
        look(linear, {"x": torch.rand(1, 3, 5, 5)}, target="valu")
    mlp = next(case for case in TORCH_CASES if case.name == "mlp")
    blind = mlp.adapt(mlp.build())
    with pytest.raises(LensError, match="no image input"):
        look(blind, {})


def test_nothing_is_left_on_the_module(linear: iv.Subject) -> None:
    look(linear, {"x": torch.rand(1, 3, 5, 5)})
    assert all(p.grad is None for p in linear.module.parameters())
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in linear.module.modules())
