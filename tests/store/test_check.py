"""`check` looks at all of a study, not only at its recordings."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from innerview.errors import DamagedPart
from innerview.schema import SubjectInfo
from innerview.store import Card, KeyedLog, Snapshot, Study, check, save_selection, save_subject, write_rows
from innerview.store.check import check_at_a_glance
from innerview.store.models.cards import weights_path


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


def test_what_lost_the_file_that_says_what_it_is_is_named(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "a.study")
    write_rows(study, "run", columns={"x": [1, 2]})
    save_subject(study, Card(info=SubjectInfo(name="agent", family="torch")), {"weight": torch.zeros(3)})
    study.save_snapshot(Snapshot(run="training", step=1), {"weight": torch.zeros(3)})
    result = study.save_result("own", recording="run", arguments={}, value=1, arrays={"a": np.zeros(3)}).id
    assert check(study.path) == []
    for path in ("subjects/agent/card.json", "snapshots/training/1/snapshot.json", f"results/{result}/result.json"):
        (study.path / path).unlink()
        assert [(d.part, "missing" in d.problem) for d in check(study.path)] == [(path, True)], "nothing else is"
        (study.path / path).symlink_to("nowhere")
        assert [damage.part for damage in check(study.path)] == [path]
        assert [damage.part for damage in check_at_a_glance(Study.open(study.path))] == [path]
        shutil.rmtree((study.path / path).parent)
    assert check(study.path) == []


def test_every_line_of_what_was_played_is_named_but_one_that_a_crash_cut_short(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "a.study")
    log = KeyedLog(study, {"world": "tiny"})
    log.add([{"key": str(n), "length": n} for n in range(3)])
    (path,) = (study.path / "played").iterdir()
    whole = path.read_bytes()
    for cut in range(1, 80):
        path.write_bytes(whole[:-cut] + b"\n" + whole.splitlines()[-1])
        assert check(study.path) == [], "a crash, and the line again"
    lines = whole.split(b"\n")
    for number in range(1, len(lines)):
        for damaged in (b"Infinity", b"x", lines[number][1:]):
            path.write_bytes(b"\n".join([*lines[:number], damaged, *lines[number + 1 :]]))
            assert [d.part for d in check(study.path)] == [f"played/{path.name}"], (number, damaged)
    for content in (b"", b"\n", whole[:20]):
        path.write_bytes(content)
        assert [d.part for d in check(study.path)] == [f"played/{path.name}"], content


def test_what_is_larger_than_it_was_is_named_unread(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "a.study")
    write_rows(study, "run", columns={"x": [1, 2]})
    save_subject(study, Card(info=SubjectInfo(name="agent", family="torch")), {"weight": torch.zeros(3)})
    study.save_result("own", recording="run", arguments={}, value=1, arrays={"a": np.zeros(3)})
    patterns = (
        "recordings/run/rows/*.parquet",
        "subjects/agent/*.safetensors",
        "results/*/value.*.json",
        "results/*/a.*",
    )
    large = [path for pattern in patterns for path in study.path.glob(pattern)]
    assert len(large) == 4
    for path in large:
        with path.open("r+b") as file:  # with a hole: it takes no room
            file.truncate(1 << 36)
    began = time.monotonic()
    found = check(study.path)
    assert len(found) == 3 and time.monotonic() - began < 30, "to read them takes minutes"
    with pytest.raises(DamagedPart):
        study.recording("run").columns()
    with pytest.raises(DamagedPart):
        weights_path(study, "agent")
