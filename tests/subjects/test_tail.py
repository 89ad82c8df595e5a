"""The part after a layer, run alone: the same heads and gradients as the whole module, or it says why not."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from innerview.errors import SubjectError, UnknownName
from innerview.subjects import subject, tail
from innerview.testing.subjects import CASES, Case, random_inputs


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    if request.param.needs_sb3:
        pytest.importorskip("stable_baselines3")
        pytest.importorskip("sb3_contrib")
    return request.param


def test_heads_after_every_layer_are_those_of_the_whole_module(case: Case) -> None:
    adapted = case.adapt(case.build())
    inputs = random_inputs(adapted.info, batch=3, seed=1)
    for layer in adapted.info.layers:
        whole = adapted.run(inputs, keep=(layer,))
        if whole.sites[layer].shape[0] != 3:
            continue
        try:
            part = tail(adapted, layer, inputs)
            heads = part.heads(whole.sites[layer].repeat(2, *[1] * (whole.sites[layer].ndim - 1)), inputs)
        except SubjectError as error:
            assert "not one tensor" in str(error)
            continue
        for name, wanted in whole.heads.items():
            torch.testing.assert_close(heads[name].expand(6, -1), wanted.repeat(2, 1), atol=1e-5, rtol=1e-5)


SAW: list[int] = []
"""Kept outside of the module, which is left as it was."""


class Network(nn.Module):
    """Two convolutions; a way past the second where asked for. Counts the rows that each saw."""

    def __init__(self, *, past: bool = False) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.policy = nn.Linear(4, 2)
        self.past = past

    def forward(self, x: Tensor) -> Tensor:
        SAW.append(len(x))
        one = torch.relu(self.first(x))
        two = self.second(one)
        return self.policy((two + one if self.past else two).mean((2, 3)))


def test_the_front_sees_one_row_only() -> None:
    module = Network()
    adapted = subject(module, example=torch.zeros(1, 3, 5, 5), heads="policy")
    inputs = random_inputs(adapted.info, batch=2, seed=0)
    part = tail(adapted, "second", inputs)
    activation = torch.rand(40, 4, 5, 5, requires_grad=True)
    SAW.clear()
    heads = part.heads(activation, inputs)["policy"]
    assert part.alone and SAW == [1] and heads.shape == (40, 2)
    (gradient,) = torch.autograd.grad(heads[:, 0].sum(), [activation])
    wanted = module.policy.weight[0][:, None, None].expand(4, 5, 5) / 25
    torch.testing.assert_close(gradient[7], wanted)
    assert not module.second._forward_hooks


class Particular(nn.Module):
    """Reads its rows as they lie in memory, as many do."""

    def __init__(self, *, picky: bool) -> None:
        super().__init__()
        self.first, self.policy = nn.Conv2d(3, 4, 3, padding=1), nn.Linear(4 * 25, 2)
        self.picky = picky

    def forward(self, x: Tensor) -> Tensor:
        seen = torch.relu(self.first(x))
        return self.policy(seen.view(seen.shape[0], -1) if self.picky else seen.flatten(1))


@pytest.mark.parametrize("picky", [True, False])
def test_activations_lie_as_the_module_takes_them(picky: bool) -> None:
    adapted = subject(Particular(picky=picky), example=torch.zeros(1, 3, 5, 5), heads="policy")
    inputs = random_inputs(adapted.info, batch=2, seed=0)
    part = tail(adapted, "first", inputs)
    assert part.alone and part.layout == (torch.contiguous_format if picky else torch.channels_last)
    whole = adapted.run(inputs, keep=("first",))
    laid = whole.sites["first"].contiguous(memory_format=part.layout)
    torch.testing.assert_close(part.heads(laid, inputs)["policy"], whole.heads["policy"])


def test_a_way_past_the_layer_needs_the_whole_module() -> None:
    adapted = subject(Network(past=True), example=torch.zeros(1, 3, 5, 5), heads="policy")
    inputs = random_inputs(adapted.info, batch=2, seed=0)
    part = tail(adapted, "second", inputs)
    assert not part.alone and "leads past it" in part.why
    whole = adapted.run(inputs, keep=("second",))
    heads = part.heads(torch.cat([whole.sites["second"], torch.zeros(2, 4, 5, 5)]), inputs)
    torch.testing.assert_close(heads["policy"][:2], whole.heads["policy"])
    assert tail(adapted, "policy", inputs).alone


def test_wrong_layers_and_numbers_are_reported() -> None:
    adapted = subject(Network(), example=torch.zeros(1, 3, 5, 5), heads="policy")
    inputs = random_inputs(adapted.info, batch=2, seed=0)
    with pytest.raises(UnknownName, match="second"):
        tail(adapted, "secnd", inputs)
    with pytest.raises(SubjectError, match="3 activations of 'second' do not fit 2 inputs"):
        tail(adapted, "second", inputs).heads(torch.zeros(3, 4, 5, 5), inputs)
