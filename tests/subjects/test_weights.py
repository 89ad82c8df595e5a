"""Weights go to disk and back, and a digest tells versions apart."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from innerview.errors import SubjectError
from innerview.subjects import Subject, from_sb3, subject
from innerview.subjects.weights import MIN_PACKED, load_weights, save_weights
from innerview.testing.subjects import sb3
from innerview.testing.subjects.modules import Dueling


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
    assert one.info.identity != other.info.identity
    other.load_weights(path)
    assert one.info.identity == other.info.identity == other.identity()
    x = {"x": torch.ones(2, 6)}
    assert torch.equal(one.run(x).heads["q"], other.run(x).heads["q"])


def test_a_digest_follows_training() -> None:
    one = dueling(0)
    with torch.no_grad():
        next(one.module.parameters()).add_(1)
    assert one.identity() != one.info.identity


def test_layers_with_several_names_are_saved_once(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    one, other = (from_sb3(sb3.model("PPO", "image")) for _ in range(2))
    one.save_weights(tmp_path / "weights.safetensors")
    size = sum(p.numel() * p.element_size() for p in one.module.parameters())
    assert (tmp_path / "weights.safetensors").stat().st_size < 1.05 * size
    other.load_weights(tmp_path / "weights.safetensors")
    assert one.info.identity == other.info.identity


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


def test_eight_bits_a_weight_are_near_and_small(tmp_path: Path) -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(3, 8, 5), nn.Flatten(), nn.Linear(128, 64))
    save_weights(module, tmp_path / "plain.safetensors")
    save_weights(module, tmp_path / "small.safetensors", bits=8)
    other = nn.Sequential(nn.Conv2d(3, 8, 5), nn.Flatten(), nn.Linear(128, 64))
    load_weights(other, tmp_path / "small.safetensors")
    for name, value in module.state_dict().items():
        got = other.state_dict()[name]
        if value.numel() < MIN_PACKED:
            assert torch.equal(got, value), "what is small is kept as it is"
        else:
            step = value.flatten(1).abs().amax(1) / 127
            assert ((got - value).flatten(1).abs() <= step[:, None] * 0.501).all()
    assert (tmp_path / "small.safetensors").stat().st_size < 0.35 * (tmp_path / "plain.safetensors").stat().st_size
    with pytest.raises(SubjectError, match="not with 4"):
        save_weights(module, tmp_path / "odd.safetensors", bits=4)


def test_a_scale_that_does_not_fit_is_named(tmp_path: Path) -> None:
    save_file(
        {"weight": torch.zeros(4, 3, dtype=torch.int8), "weight::scale": torch.ones(3)}, tmp_path / "w.safetensors"
    )
    with pytest.raises(SubjectError, match=r"The scale of 'weight' does not fit: \[3\] for \[4, 3\]"):
        load_weights(nn.Linear(3, 4, bias=False), tmp_path / "w.safetensors")
