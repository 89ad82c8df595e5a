"""Backward rules reach every rectifier, however it is written, and say where they would change nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import innerview as iv
from innerview.errors import SubjectError
from innerview.subjects import Subject

Rectify = Callable[[Tensor], Tensor]
RELU: dict[str, Rectify] = {
    "nn.ReLU": nn.ReLU(),
    "nn.ReLU in place": nn.ReLU(inplace=True),
    "F.relu": functional.relu,
    "torch.relu_": torch.relu_,
    "Tensor.relu": lambda x: x.relu(),
    "clamp": lambda x: x.clamp(min=0),
    "clamp in place": lambda x: x.clamp_(0),
    "torch.clamp": lambda x: torch.clamp(input=x, min=0),
    "clamp_min": lambda x: x.clamp_min(0.0),
    "nn.Threshold": nn.Threshold(0.0, 0.0),
    "F.threshold in place": lambda x: functional.threshold(x, 0.0, 0.0, inplace=True),
}
LEAKY: dict[str, Rectify] = {
    "nn.LeakyReLU": nn.LeakyReLU(0.1),
    "F.leaky_relu in place": lambda x: functional.leaky_relu(x, 0.1, inplace=True),
    "nn.PReLU": nn.PReLU(init=0.1),
    "nn.RReLU": nn.RReLU(0.1, 0.1),
}
SIX: dict[str, Rectify] = {
    "nn.ReLU6": nn.ReLU6(),
    "F.relu6 in place": lambda x: functional.relu6(x, inplace=True),
    "nn.Hardtanh": nn.Hardtanh(0.0, 6.0),
}
CASES = {
    **{name: (made, lambda x: (x > 0).float()) for name, made in RELU.items()},
    **{name: (made, lambda x: torch.where(x > 0, 1.0, 0.1)) for name, made in LEAKY.items()},
    **{name: (made, lambda x: ((x > 0) & (x < 6)).float()) for name, made in SIX.items()},
}


class Rectified(nn.Module):
    """A rectifier between two layers."""

    def __init__(self, rectify: Rectify) -> None:
        super().__init__()
        self.before, self.out, self.rectify = nn.Linear(4, 40), nn.Linear(40, 3), rectify

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.rectify(self.before(x)))


def adapted(rectify: Rectify) -> Subject:
    torch.manual_seed(0)
    return iv.subject(Rectified(rectify), name="rectified", inputs={"x": (4,)}, heads="q")


def gradient(subject: Subject, x: Tensor, rule: str) -> Tensor:
    output = subject.run({"x": x}, grad=True, rule=rule)  # type: ignore[arg-type]
    (found,) = torch.autograd.grad(output.heads["q"][:, 0].sum(), x)
    return found


@pytest.mark.parametrize("name", CASES)
def test_every_rectifier_goes_back_by_the_rule(name: str) -> None:
    rectify, slope = CASES[name]
    subject = adapted(rectify)
    module = subject.module
    assert isinstance(module, Rectified)
    x = (torch.rand(5, 4, generator=torch.Generator().manual_seed(1)) * 20).requires_grad_()
    before = module.before(x).detach()
    assert (before > 6).any() and (before < 0).any()
    positive = module.out.weight[0].clamp(min=0)
    wanted = {
        "plain": module.out.weight[0] * slope(before),
        "guided": positive * slope(before),
        "deconvnet": positive.expand_as(before),
    }
    for rule, back in wanted.items():
        torch.testing.assert_close(gradient(subject, x, rule), back @ module.before.weight)
    plain, guided = (subject.run({"x": x}, grad=True, rule=rule).heads["q"] for rule in ("plain", "guided"))
    assert torch.equal(plain, guided)


@pytest.mark.parametrize("made", [nn.GELU(), nn.SiLU(), nn.ELU(), functional.selu, functional.mish])
def test_a_rule_is_refused_where_it_would_pass_the_plain_gradient(made: Rectify) -> None:
    x = torch.rand(5, 4, requires_grad=True)
    subject = adapted(lambda value: made(value).relu())
    assert gradient(subject, x, "plain").any()
    with pytest.raises(SubjectError, match=r"one of rectifiers, such as ReLU; this model uses (\w+), .*rule='plain'"):
        gradient(subject, x, "guided")


def test_the_rectifiers_within_a_recurrent_kernel_are_not_passed_over() -> None:
    torch.manual_seed(0)
    subject = iv.subject(nn.RNN(4, 8, nonlinearity="relu", batch_first=True), example=torch.zeros(1, 4), heads="q")
    name = subject.info.inputs[0].name
    with pytest.raises(SubjectError, match="this model uses rnn_relu"):
        subject.run({name: torch.rand(2, 4)}, grad=True, rule="guided")


@pytest.mark.parametrize("made", [torch.tanh, nn.Hardtanh(), lambda x: x.clamp(-1, 1), lambda x: x.clamp(0, 1)])
def test_a_rule_is_refused_where_it_changes_nothing(made: Rectify) -> None:
    subject = adapted(made)
    x = torch.rand(5, 4, requires_grad=True)
    with pytest.raises(SubjectError, match="No rectifier ran, so 'guided' would be the plain gradient"):
        gradient(subject, x, "guided")
    assert subject.run({"x": x}, rule="guided").heads["q"].shape == (5, 3)
    assert torch.overrides._get_current_function_mode() is None
