"""`check` looks at all of a study, not only at its recordings."""

from __future__ import annotations

from pathlib import Path

import torch

from innerview.store import Snapshot, Study, check, save_selection


def test_damaged_snapshots_and_selections_are_named_and_hide_nothing(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "a.study")
    for step in (0, 10, 20):
        study.save_snapshot(Snapshot(run="training", step=step), {"weight": torch.zeros(3)})
    save_selection(study, "low", {})
    assert check(study.path) == []
    (study.path / "snapshots/training/10/snapshot.json").write_text("{")
    (study.path / "snapshots/training/20/weights.safetensors").write_bytes(b"\x80\x04K\x01.")
    (study.path / "selections.json").write_text("[]")
    assert [damage.part for damage in check(study.path)] == [
        "snapshots/training/10/snapshot.json",
        "snapshots/training/20/weights.safetensors",
        "selections.json",
    ]
    assert [snapshot.step for snapshot in study.snapshots()] == [0, 20]
