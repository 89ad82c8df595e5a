"""Weights go to disk and back, and a digest tells versions apart."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from innerview.errors import SubjectError
from innerview.subjects import Subject, from_sb3, subject
from innerview.testing import subject_sb3
from innerview.testing.subject_modules import Dueling


def dueling(seed: int) -> Subject:
    torch.manual_seed(seed)
    return subject(Dueling(), example=torch.zeros(1, 6))


@pytest.mark.parametrize("how", ["safetensors", "torch"])
def test_weights_come_back_equal(tmp_path: Path, how: str) -> None:
    one, other = dueling(0), dueling(1)
    path = tmp_path / "weights"
    if how == "torch":
        torch.save(one.module.state_dict(), path)
    else:
        one.save_weights(path)
    assert one.info.weights_digest != other.info.weights_digest
    other.load_weights(path)
    assert one.info.weights_digest == other.info.weights_digest == other.weights_digest()
    x = {"x": torch.ones(2, 6)}
    assert torch.equal(one.run(x).heads["q"], other.run(x).heads["q"])


def test_a_digest_follows_training() -> None:
    one = dueling(0)
    with torch.no_grad():
        next(one.module.parameters()).add_(1)
    assert one.weights_digest() != one.info.weights_digest


def test_layers_with_several_names_are_saved_once(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    one, other = (from_sb3(subject_sb3.model("PPO", "image")) for _ in range(2))
    one.save_weights(tmp_path / "weights.safetensors")
    size = sum(p.numel() * p.element_size() for p in one.module.parameters())
    assert (tmp_path / "weights.safetensors").stat().st_size < 1.05 * size
    other.load_weights(tmp_path / "weights.safetensors")
    assert one.info.weights_digest == other.info.weights_digest


def test_weights_of_another_module_are_named(tmp_path: Path) -> None:
    one = dueling(0)
    torch.save(nn.Linear(2, 2).state_dict(), tmp_path / "other")
    with pytest.raises(SubjectError, match=r"Missing: trunk\.weight.*Not known here: weight, bias"):
        one.load_weights(tmp_path / "other")
    state = one.module.state_dict() | {"trunk.weight": torch.zeros(2, 2)}
    torch.save(state, tmp_path / "shape")
    with pytest.raises(SubjectError, match=r"'trunk\.weight' in .* has shape \[2, 2\], expected \[8, 6\]"):
        one.load_weights(tmp_path / "shape")
    with pytest.raises(SubjectError, match="There are no weights at"):
        one.load_weights(tmp_path / "nowhere")
    torch.save([1, 2], tmp_path / "list")
    with pytest.raises(SubjectError, match="holds list, not a table of named tensors"):
        one.load_weights(tmp_path / "list")


def test_a_truncated_file_is_damaged(tmp_path: Path) -> None:
    one = dueling(0)
    path = tmp_path / "weights.safetensors"
    one.save_weights(path)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(SubjectError, match="are damaged"):
        one.load_weights(path)
    for rest in (40, 4, 0):
        path.write_bytes(path.read_bytes()[:rest])
        with pytest.raises(SubjectError, match=rf"\({rest} bytes\) are damaged or cut short"):
            one.load_weights(path)
