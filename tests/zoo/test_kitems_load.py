"""The k-items agents are adapted with whatever weights stand beside them, also those kept in half precision."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from innerview_zoo.models.doom.kitems import adapt
from innerview_zoo.models.doom.kitems.agent import Agent
from innerview_zoo.worlds.kitems.game import ACTIONS
from innerview_zoo.worlds.kitems.mazes import FIRST_TEST_SEED
from safetensors.torch import save_file

from innerview.capture import Plan, layout, rollout
from innerview.errors import SubjectError

pytest.importorskip("vizdoom")


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    torch.manual_seed(3)
    path = tmp_path / "weights.safetensors"
    save_file({name: value.half().contiguous() for name, value in Agent(8).state_dict().items()}, path)
    return path


def test_half_precision_weights_run_in_single_precision(weights: Path) -> None:
    subject, world = adapt(weights, name="some agent", memory=8)
    assert subject.info.name == "some agent"
    assert [site.shape for site in subject.info.memory] == [(8,)]
    assert {p.dtype for p in subject.module.parameters()} == {torch.float32}
    assert {head.name: head.names for head in subject.info.heads}["policy"] == tuple(ACTIONS)
    assert world.info.name == "kitems"


def test_it_plays_in_its_mazes(weights: Path) -> None:
    subject, world = adapt(weights, name="some agent", memory=8)
    form = layout(subject, world.info)
    pieces = list(rollout(subject, world, Plan(seeds=(FIRST_TEST_SEED,), lanes=1, max_steps=20), form))
    assert sum(len(piece.rows["step"]) for piece in pieces) == 20
    assert {piece.arrays["memory"].shape[1:] for piece in pieces} == {(8,)}
    assert {"gathered", "next_item", "objects", "wrong_item"} <= set(pieces[0].rows)


def test_weights_of_another_size_are_refused(weights: Path) -> None:
    with pytest.raises(SubjectError, match="shape"):
        adapt(weights, name="some agent", memory=16)
