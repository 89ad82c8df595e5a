"""Influence against gradients that are known: of a linear recurrence, and of any subject by small changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.errors import LensError, UnknownName
from innerview.memory.influence import look
from innerview.schema import Column
from innerview.testing.feeds import fed_rows
from innerview.testing.subjects import TORCH_CASES, Case, random_inputs
from tests.subjects.memory_changes import memory_changes

RECURRENT = [case for case in TORCH_CASES if case.memory]
STEPS = 9


class Line(nn.Module):
    """h(t) = A h(t-1) + B x(t), value = c · h(t): every gradient is c times a power of A."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.RNN(2, 3, nonlinearity="relu", bias=False, batch_first=True)
        self.value = nn.Linear(3, 1, bias=False)
        with torch.no_grad():
            for weights in (self.cell.weight_hh_l0, self.cell.weight_ih_l0):
                weights.copy_(torch.rand_like(weights) * 0.6 + 0.1)  # all positive, so that nothing is cut off

    def forward(self, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        out, after = self.cell(x[:, None], h[None])
        return self.value(out[:, -1]), after[0]


@pytest.fixture
def line() -> iv.Subject:
    torch.manual_seed(0)
    return iv.subject(Line(), example=torch.zeros(1, 2), heads="value")


def inputs(subject: iv.Subject, steps: int = STEPS) -> list[Mapping[str, Tensor]]:
    return [random_inputs(subject.info, batch=1, seed=step) for step in range(steps)]


def test_a_linear_recurrence_has_powers_of_its_matrix_as_gradients(line: iv.Subject) -> None:
    made = look(fed_rows(line, inputs(line)), line, target="value", lags=4)
    matrix = line.module.cell.weight_hh_l0.detach().double().numpy()  # type: ignore[union-attr, operator]
    read = line.module.value.weight.detach().double().numpy()[0]  # type: ignore[union-attr, operator]
    for step in range(STEPS):
        for lag in range(5):
            wanted = read @ np.linalg.matrix_power(matrix, lag) if lag <= step else np.zeros(3)
            assert np.allclose(made.arrays["influence"][step, lag], wanted, atol=1e-5)
    by_lag = [np.abs(read @ np.linalg.matrix_power(matrix, lag)) for lag in range(5)]
    assert np.allclose(made.value["elements"], np.sum(by_lag, axis=0), atol=1e-4)
    assert np.allclose(made.value["by_lag"], np.sum(by_lag, axis=1), atol=1e-4)
    assert made.value["order"] == np.argsort(-np.sum(by_lag, axis=0)).tolist()


def test_fewer_lags_and_less_of_the_episode_say_the_same(line: iv.Subject) -> None:
    whole = look(fed_rows(line, inputs(line, 30)), line, target="value", lags=7).arrays["influence"]
    fewer = look(fed_rows(line, inputs(line, 30)[:12]), line, target="value", lags=2).arrays["influence"]
    assert np.allclose(whole[:12, :3], fewer, atol=1e-6)
    alone = look(fed_rows(line, inputs(line, 1)), line, target="value", lags=7).arrays["influence"]
    assert alone.shape == (1, 1, 3)


def score(subject: iv.Subject, steps: Sequence[Mapping[str, Tensor]], site: str, at: int, nudge: Tensor) -> float:
    """The log-probability (or q) of the best action of the last step, with a state nudged at one step."""
    memory: Mapping[str, Tensor] = subject.initial_memory(1)
    for step, given in enumerate(steps):

        def change(name: str, state: Tensor, step: int = step) -> Tensor:
            return state + nudge if name == site and step == at else state

        output = subject.run(given, memory, edits=memory_changes(subject, change))
        memory = output.memory
    head = subject.acting_head
    assert head is not None
    scores = output.heads[head.name][0]
    return float((scores.log_softmax(0) if head.kind == "policy" else scores).max())


@pytest.mark.parametrize("case", RECURRENT, ids=lambda case: case.name)
def test_any_memory_moves_the_decision_as_its_gradient_says(case: Case) -> None:
    subject = case.adapt(case.build())
    subject.module.double()
    site = subject.info.memory[0]
    steps = [{n: v.double() for n, v in given.items()} for given in inputs(subject, 4)]
    array = "memory" if len(subject.info.memory) == 1 else f"memory.{site.name}"
    made = look(fed_rows(subject, steps), subject, array=array, lags=2)
    gradients = made.arrays["influence"][3]
    for lag in range(3):
        for element in range(2):
            nudge = torch.zeros((1, *site.shape), dtype=torch.float64)
            nudge.view(-1)[element] = 1e-5
            up, down = (score(subject, steps, site.name, 3 - lag, move) for move in (nudge, -nudge))
            slope = (up - down) / 2e-5
            assert slope == pytest.approx(gradients[lag, element], abs=1e-4)
    assert all(p.grad is None for p in subject.module.parameters())
    assert not any(m._forward_hooks for m in subject.module.modules())


def test_the_action_that_was_taken_is_asked_about() -> None:
    case = RECURRENT[0]
    subject = case.adapt(case.build())
    steps = inputs(subject)
    taken = np.array([0, 1, 2] * 3, float)
    specs = {"move": Column(name="move", type="int", kind="action")}
    made = look(fed_rows(subject, steps, first=40, columns={"move": taken}, specs=specs), subject, lags=0)
    assert made.value["rows"] == [40, 49]
    weights = subject.module.policy.weight.detach()  # type: ignore[union-attr, operator]
    memory: Mapping[str, Tensor] = subject.initial_memory(1)
    for step, given in enumerate(steps):
        output = subject.run(given, memory)
        memory = output.memory
        chances = output.heads["policy"][0].softmax(0)
        by_hand = weights[int(taken[step])] - chances @ weights
        assert np.allclose(made.arrays["influence"][step, 0], by_hand.numpy(), atol=1e-5)


class Both(nn.Module):
    """A memory that Q values and a value are read off."""

    def __init__(self) -> None:
        super().__init__()
        self.core, self.q, self.value = nn.GRUCell(2, 3), nn.Linear(3, 4), nn.Linear(3, 1)

    def forward(self, x: Tensor, h: Tensor) -> dict[str, Tensor]:
        h = self.core(x, h)
        return {"q": self.q(h), "value": self.value(h), "h": h}


def test_the_value_is_that_of_every_other_lens() -> None:
    torch.manual_seed(0)
    subject = iv.subject(Both(), example=torch.zeros(1, 2))
    assert [head.name for head in subject.info.heads] == ["q", "value"]
    made = look(fed_rows(subject, inputs(subject)), subject, target="value", lags=0)
    wanted = subject.module.value.weight.detach().numpy()  # type: ignore[union-attr, operator]
    assert np.allclose(made.arrays["influence"][:, 0], wanted, atol=1e-6)


def test_what_cannot_be_done_is_said(line: iv.Subject) -> None:
    with pytest.raises(LensError, match="no head that acts"):
        look(fed_rows(line, inputs(line)), line)
    with pytest.raises(UnknownName, match="Did you mean 'value'"):
        look(fed_rows(line, inputs(line)), line, target="valu")
    with pytest.raises(UnknownName, match="memory array"):
        look(fed_rows(line, inputs(line)), line, array="memory.other", target="value")
    blind = next(case for case in TORCH_CASES if case.name == "mlp")
    with pytest.raises(LensError, match="no memory"):
        adapted = blind.adapt(blind.build())
        look(fed_rows(adapted, inputs(adapted)), adapted)
