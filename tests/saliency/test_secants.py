"""Paths that are followed by secants, strided convolutions gone back through as plain ones, and pictures laid anew."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import innerview as iv
from innerview.saliency import gradcam, gradient, integrated_input
from innerview.subjects import Secants, laid, stem_of
from innerview.subjects.sites.convolution import quick_passes
from innerview.testing.feeds import fed_rows


class Strided(nn.Module):
    """Two convolutions with strides and two dense layers; `smooth` bends elsewhere than at rectifiers."""

    def __init__(self, *, smooth: bool = False, in_place: bool = False) -> None:
        super().__init__()
        self.one, self.two = nn.Conv2d(2, 6, 4, 2), nn.Conv2d(6, 8, 3, 2)
        self.dense, self.q = nn.Linear(8 * 9, 12), nn.Linear(12, 3)
        self.relu, self.smooth = nn.ReLU(inplace=in_place), smooth

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        seen = self.relu(self.two(self.relu(self.one(x)))).flatten(1)
        dense = self.dense(seen)
        return {"q": self.q(torch.tanh(5 * dense) if self.smooth else self.relu(dense))}


@pytest.fixture
def pictures() -> Tensor:
    return torch.rand(5, 2, 16, 16, generator=torch.Generator().manual_seed(1))


def adapted(module: nn.Module) -> iv.Subject:
    return iv.subject(module, example=torch.zeros(1, 2, 16, 16), actions=["left", "stay", "right"])


def strided(**how: bool) -> iv.Subject:
    torch.manual_seed(3)
    return adapted(Strided(**how))


@pytest.mark.parametrize("in_place", [False, True])
def test_secants_add_up_and_come_to_what_many_steps_find(pictures: Tensor, in_place: bool) -> None:
    subject = strided(in_place=in_place)
    rows = fed_rows(subject, {"x": pictures})
    fine = integrated_input.look(rows, subject, steps=500, rule="gauss").heat["x"]

    def off(**how: object) -> float:
        found = integrated_input.look(rows, subject, **how)  # type: ignore[arg-type]
        assert how["rule"] == "gauss" or found.arrays["error"].max() < 1e-4
        return float(np.linalg.norm(found.heat["x"] - fine) / np.linalg.norm(fine))

    assert off(rule="secants", steps=16) < 0.5 * off(rule="gauss", steps=16)
    assert off(rule="secants", steps=200) < 0.005


def test_one_layer_of_rectifiers_is_exact_in_two_steps(pictures: Tensor) -> None:
    class Shallow(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.see, self.q = nn.Conv2d(2, 4, 4, 2), nn.Linear(4 * 49, 3)

        def forward(self, x: Tensor) -> dict[str, Tensor]:
            return {"q": self.q(functional.relu(self.see(x)).flatten(1))}

    torch.manual_seed(0)
    subject = adapted(Shallow())
    module = subject.module
    heat = integrated_input.look(fed_rows(subject, {"x": pictures}), subject, steps=2, target="stay of q").heat["x"]
    # Where a unit crosses zero on its way from its bias, it passes on the share of the way that it is above.
    begin, end = module.see(pictures * 0), module.see(pictures)  # type: ignore[operator]
    share = (end.relu() - begin.relu()) / (end - begin)
    weight = module.q.weight[1].view(1, 4, 7, 7)  # type: ignore[union-attr, index, operator]
    back = functional.conv_transpose2d(weight * share, module.see.weight, stride=2)  # type: ignore[union-attr, arg-type]
    assert np.allclose(heat, (back * pictures).detach(), atol=1e-6)


def test_where_something_else_bends_points_of_gauss_are_taken(pictures: Tensor) -> None:
    subject = strided(smooth=True)
    rows = fed_rows(subject, {"x": pictures})
    heat = integrated_input.look(rows, subject, steps=8).heat["x"]
    assert np.allclose(heat, integrated_input.look(rows, subject, steps=16, rule="gauss").heat["x"], atol=1e-6)


def test_a_unit_that_does_not_move_keeps_its_own_slope() -> None:
    value = torch.tensor([[1.0, -1.0, 0.5], [1.0, -1.0, -0.5]], requires_grad=True)
    with Secants(1):
        said = functional.relu(value)
    said.backward(torch.tensor([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]))
    assert value.grad is not None and value.grad[0].tolist() == [1.0, 0.0, 0.5] and not value.grad[1].any()


@pytest.mark.parametrize(("kernel", "stride", "padding"), [(8, 4, 0), (3, 2, 1), ((5, 3), (2, 3), (2, 0)), (2, 3, 0)])
def test_the_quick_way_back_is_torchs(kernel: int, stride: int, padding: int) -> None:
    torch.manual_seed(0)
    layer, given = nn.Conv2d(3, 5, kernel, stride, padding), torch.rand(2, 3, 21, 18, requires_grad=True)
    wanted = torch.autograd.grad(layer(given).square().sum(), [given, layer.weight, layer.bias])
    with quick_passes(True):
        said = layer(given)
    assert "_Back" in type(said.grad_fn).__name__
    for mine, torchs in zip(
        torch.autograd.grad(said.relu_().square().sum(), [given, layer.weight, layer.bias]),
        torch.autograd.grad(layer(given).relu().square().sum(), [given, layer.weight, layer.bias]),
        strict=True,
    ):
        assert torch.allclose(mine, torchs, atol=1e-4)
    assert wanted[0].shape == given.shape


@pytest.mark.parametrize("bias", [True, False])
def test_a_large_linear_layer_as_a_convolution_says_the_same(bias: bool) -> None:
    torch.manual_seed(0)
    layer, given = nn.Linear(1024, 130, bias=bias), torch.randn(20, 1024, requires_grad=True)
    with quick_passes(True):
        said, few = layer(given), layer(given[:15])
    assert "Addmm" not in type(said.grad_fn).__name__ and "Mm" not in type(said.grad_fn).__name__
    assert torch.equal(few, layer(given[:15]))
    usual = layer(given)
    assert torch.allclose(said, usual, atol=1e-5)
    wanted = [given, *layer.parameters()]
    for mine, torchs in zip(
        torch.autograd.grad(said.square().sum(), wanted),
        torch.autograd.grad(usual.square().sum(), wanted),
        strict=True,
    ):
        assert mine.shape == torchs.shape and torch.allclose(mine, torchs, rtol=1e-4, atol=1e-4)


def test_a_module_that_takes_no_other_layout_is_given_the_usual(pictures: Tensor) -> None:
    class Views(Strided):
        def forward(self, x: Tensor) -> dict[str, Tensor]:
            seen = self.relu(self.two(self.relu(self.one(x))))
            return {"q": self.q(self.relu(self.dense(seen.view(len(x), -1))))}

    torch.manual_seed(3)
    views, flat = adapted(Views()), strided()
    assert laid(views, {"x": pictures})["x"].is_contiguous()
    assert laid(flat, {"x": pictures})["x"].is_contiguous(memory_format=torch.channels_last)
    for lens in (gradient, gradcam, integrated_input):
        found = [lens.look(fed_rows(each, {"x": pictures}), each).heat["x"] for each in (views, flat)]
        assert np.allclose(*found, atol=1e-5)


def test_a_way_past_the_first_layer_leaves_no_stem(pictures: Tensor) -> None:
    class Past(Strided):
        def forward(self, x: Tensor) -> dict[str, Tensor]:
            return {"q": super().forward(x)["q"] + x.mean((1, 2, 3))[:, None]}

    given, memory = {"x": pictures}, dict[str, Tensor]()
    start = {"x": pictures * 0}
    assert stem_of(adapted(Past()), given, memory, start) is None
    assert stem_of(strided(), given, memory, start) is not None
