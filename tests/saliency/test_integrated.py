"""Integrated gradients at a hidden layer: exact where the tail is linear, complete, and clear about what cannot be."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from innerview.errors import LensError, UnknownName
from innerview.saliency.integrated import look
from innerview.schema import SiteEdit, SiteOperation
from innerview.subjects import Editor, Subject, attribute, subject
from innerview.testing.feeds import fed_rows


class Agent(nn.Module):
    """Two convolutions and two heads; a linear tail, or one that bends."""

    def __init__(self, *, linear: bool = False, past: bool = False) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 5, 3, padding=1)
        self.dense = nn.Linear(5 * 64, 16)
        self.policy, self.value = nn.Linear(16, 3), nn.Linear(16, 1)
        self.bend = nn.Identity() if linear else nn.Tanh()
        self.past = past

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        one = torch.relu(self.first(x))
        two = self.bend(self.second(one))
        two = two + one.mean(1, keepdim=True) if self.past else two
        out = self.bend(self.dense(two.flatten(1)))
        return {"policy": self.policy(out), "value": self.value(out)}


def adapted(**how: bool) -> Subject:
    torch.manual_seed(3)
    return subject(Agent(**how), example=torch.zeros(1, 3, 8, 8))


INPUTS = {"x": torch.rand(4, 3, 8, 8, generator=torch.Generator().manual_seed(1))}


def test_a_linear_tail_is_attributed_exactly() -> None:
    agent = adapted(linear=True)
    found = attribute(agent, INPUTS, layer="second", target="value", steps=2)
    module = agent.module
    weight = (module.value.weight @ module.dense.weight).view(5, 8, 8)  # type: ignore[union-attr,operator]
    activation = agent.run(INPUTS, keep=("second",)).sites["second"]
    torch.testing.assert_close(found.values, activation * weight, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("past", [False, True])
@pytest.mark.parametrize("target", ["value", "action"])
def test_the_parts_sum_to_the_whole(past: bool, target: str) -> None:
    found = attribute(adapted(past=past), INPUTS, layer="second", target=target, steps=50)
    assert found.tail.alone is not past
    assert float(found.error.max()) < 0.01


class Remembering(nn.Module):
    """The value is the sum of what it remembers."""

    def __init__(self) -> None:
        super().__init__()
        self.see, self.keep, self.value = nn.Conv2d(3, 4, 3), nn.GRUCell(4 * 36, 6), nn.Linear(6, 1)

    def forward(self, x: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        memory = self.keep(self.see(x).flatten(1), memory)
        return self.value(memory), memory


@pytest.mark.parametrize("mode", ["zero", "freeze"])
def test_what_is_changed_in_the_memory_is_changed_on_the_whole_path(mode: SiteOperation) -> None:
    torch.manual_seed(1)
    agent = subject(Remembering(), example=torch.zeros(1, 3, 8, 8), heads={"value": "value"})
    seen = {"x": INPUTS["x"][:1]}
    memory = {name: torch.randn_like(value) for name, value in agent.initial_memory(1).items()}
    for elements, some in (((0, 1, 2), True), (tuple(range(6)), False)):
        editor = Editor([[SiteEdit(elements=elements, op=mode)]], agent.info)
        changed = agent.with_edits(editor.changes(memory, [3], [0]))
        found = attribute(changed, seen, memory, layer="see", target="value")
        assert found.tail.alone and bool(found.values.any()) is some
        torch.testing.assert_close(found.score, changed.run(seen, memory).heads["value"][:, 0])
        torch.testing.assert_close(
            found.values.flatten(1).sum(1), found.score - found.baseline_score, atol=1e-4, rtol=0
        )


def test_another_baseline_is_where_the_path_begins() -> None:
    agent = adapted()
    activation = agent.run(INPUTS, keep=("second",)).sites["second"]
    found = attribute(agent, INPUTS, layer="second", baseline=activation[0])
    assert float(found.values[0].abs().max()) == 0.0
    torch.testing.assert_close(found.baseline_score, found.score[:1].expand(4))


def test_a_heat_has_the_size_of_the_picture_and_keeps_its_sign() -> None:
    agent = adapted()
    heat = look(fed_rows(agent, INPUTS), agent).heat["x"]
    assert heat.shape == (4, 1, 8, 8) and heat.min() < 0 < heat.max() and np.isfinite(heat).all()


def test_what_cannot_be_attributed_is_reported() -> None:
    agent = adapted()
    with pytest.raises(LensError, match=r"'dense' puts out \[16\] per row.*first, second"):
        attribute(agent, INPUTS, layer="dense")
    with pytest.raises(UnknownName, match="second"):
        attribute(agent, INPUTS, layer="secnd")
    with pytest.raises(LensError, match=r"\[5, 2, 2\].*\[5, 8, 8\]"):
        attribute(agent, INPUTS, layer="second", baseline=torch.zeros(5, 2, 2))
