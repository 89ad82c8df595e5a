"""Recorded inputs run again for many states: the short way says what the whole module says."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from innerview.errors import SubjectError
from innerview.subjects import Changes, subject
from innerview.subjects.memory.replay import Replay
from innerview.testing.subjects import CASES, Case, random_inputs
from tests.subjects.memory_changes import memory_changes

RECURRENT = [case for case in CASES if case.memory and not case.needs_sb3]


def halved(name: str, state: Tensor) -> Tensor:
    return torch.where(torch.arange(state.shape[-1]) % 2 == 0, 0.0, state)


@pytest.mark.parametrize("case", RECURRENT, ids=lambda case: case.name)
def test_every_shape_says_what_a_run_says(case: Case) -> None:
    adapted = case.adapt(case.build())
    inputs = random_inputs(adapted.info, batch=4, seed=1)
    replay = Replay(adapted, inputs)
    assert replay.shortcut == (case.name != "declared memory")
    head = adapted.acting_head
    assert head is not None
    memory = whole = adapted.initial_memory(5)
    for row in range(4):
        said = replay.run(row, memory, memory_changes(adapted, halved))
        memory = said.memory
        one = {name: value[row : row + 1].expand(5, *value.shape[1:]) for name, value in inputs.items()}
        output = adapted.run(one, whole, edits=memory_changes(adapted, halved))
        whole = output.memory
        torch.testing.assert_close(said.heads[head.name], output.heads[head.name], atol=1e-5, rtol=1e-5)
        for name, value in whole.items():
            torch.testing.assert_close(memory[name], value, atol=1e-5, rtol=1e-5)
    assert not any(len(layer._forward_hooks) + len(layer._forward_pre_hooks) for layer in adapted.module.modules())


class Skipping(torch.nn.Module):
    """Its head reads what it saw beside what it remembers: the short way would not do."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.policy = torch.nn.GRUCell(6, 6), torch.nn.Linear(6, 3)

    def forward(self, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        h = self.cell(x, h)
        return self.policy(h + x), h


def test_a_module_that_goes_round_its_memory_is_run_whole() -> None:
    adapted = subject(Skipping(), example=torch.zeros(1, 6))
    inputs = random_inputs(adapted.info, batch=3, seed=2)
    replay = Replay(adapted, inputs)
    assert not replay.shortcut
    said = replay.run(1, adapted.initial_memory(2), Changes())
    wanted = adapted.run({"x": inputs["x"][1:2].expand(2, -1)}).heads["policy"]
    torch.testing.assert_close(said.heads["policy"], wanted)


def test_without_a_head_that_acts_there_is_nothing_to_compare() -> None:
    adapted = subject(Skipping(), example=torch.zeros(1, 6), heads={"0": "other"})
    with pytest.raises(SubjectError, match="no head that acts"):
        Replay(adapted, random_inputs(adapted.info, batch=3, seed=2))
