"""From rows of a recording to what a subject is given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

import innerview as iv
from innerview.lenses.rows.inputs import RowInputs
from innerview.store import Study, write_rows


class Mean(nn.Module):
    def forward(self, seen: Tensor) -> Tensor:
        return seen.mean((2, 3))


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_each_channel_is_resized_by_itself(tmp_path: Path, channels: int, dtype: str) -> None:
    study = Study.create(tmp_path / "s.study")
    pictures = np.random.default_rng(0).random((3, 25, 16, channels)) * (1 if dtype == "float32" else 250)
    pictures = pictures.astype(dtype)
    planes = {f"plane {c}": pictures[..., c] for c in range(channels)}
    write_rows(study, "pictures", columns={"row": np.arange(3)}, arrays={"picture": pictures, **planes})
    recording = study.recording("pictures")

    def given(array: str, count: int, steps: str = "resize 12x10") -> Tensor:
        subject = iv.subject(Mean(), name="mean", inputs={"seen": (count, 10, 12)}, heads="pose")
        return RowInputs(subject, recording, {"seen": f"{array} | {steps}"}).inputs(np.arange(3))["seen"]

    whole = given("picture", channels, "resize 12x10 | channels first")
    assert torch.equal(whole, torch.cat([given(f"plane {c}", 1) for c in range(channels)], dim=1))
    scale = 255 if dtype == "uint8" else 1
    exact = torch.from_numpy(pictures.astype(np.float32)).permute(0, 3, 1, 2)
    expected = interpolate(exact, (10, 12), mode="bilinear", antialias=True)
    assert float((whole * scale - expected).abs().max()) <= (1e-5 if dtype == "float32" else 1.01)
