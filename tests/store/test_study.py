"""Names, paths, selections, subjects and snapshots of a study."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
import torch

from innerview.errors import DamagedPart, StoreError, UnknownName
from innerview.schema import SubjectInfo
from innerview.store import (
    Card,
    Snapshot,
    Study,
    check,
    drop_selection,
    load_card,
    load_selections,
    load_weights,
    read_weights,
    save_selection,
    save_subject,
    subjects,
)
from innerview.store.files import json_bytes

from .samples import arrays, folder_of, forge, info, played_info, record, rows

BAD_NAMES = ["", ".", "..", "../other", "a/b", "/etc/passwd", "a\\b", ".hidden", "a\0b", "a" * 81, "ä", "a\n", "%2e%2e"]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study.create(tmp_path / "study", "My study")


def test_a_study_keeps_its_name(study: Study) -> None:
    assert Study.open(study.path).name == "My study" and study.recordings() == []
    assert Study.open_or_create(study.path).name == "My study"
    with pytest.raises(StoreError, match=r"a study in .* already"):
        Study.create(study.path)


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_are_paths_are_refused(study: Study, name: str) -> None:
    with pytest.raises(StoreError, match="cannot be the name"):
        study.recording(name)
    with pytest.raises(StoreError, match="cannot be the name"):
        study.writer(info(name))
    with pytest.raises(StoreError, match="cannot be the name"):
        load_weights(study, name)
    with pytest.raises(StoreError, match="cannot be the name"):
        study.save_snapshot(Snapshot(run=name, step=1), {})
    assert list((study.path / "recordings").iterdir()) == []


def test_links_that_leave_the_study_are_refused(study: Study, tmp_path: Path) -> None:
    other = Study.create(tmp_path / "other")
    record(other, 40)
    (study.path / "recordings" / "link").symlink_to(folder_of(other))
    with pytest.raises(StoreError, match="leads out of"):
        study.recording("link")
    with pytest.raises(StoreError, match="leads out of"):
        study.writer(info("link"))
    assert study.recordings() == [] and "leads out" in check(study.path)[0].problem


def test_links_inside_a_recording_are_refused(study: Study, tmp_path: Path) -> None:
    other = Study.create(tmp_path / "other")
    for each in (study, other):
        record(each, 40)
    part = folder_of(study) / "rows" / "00000000.parquet"
    part.unlink()
    part.symlink_to(folder_of(other) / "rows" / "00000000.parquet")
    chunk = folder_of(study) / "arrays" / "memory" / "c.0.0"
    chunk.unlink()
    chunk.symlink_to(folder_of(other) / "arrays" / "memory" / "c.0.0")
    recording = study.recording("run")
    with pytest.raises(DamagedPart):
        recording.columns(["step"])
    with pytest.raises(DamagedPart):
        recording.array("memory", 0, 1)
    assert len(check(study.path)) == 2
    scenes = folder_of(study) / "scenes"
    scenes.rename(tmp_path / "scenes")
    scenes.symlink_to(tmp_path / "scenes")
    with pytest.raises(StoreError, match="leads out of"):
        study.recording("run")


@pytest.mark.parametrize("name", ["../../../other/recordings/run/arrays/memory", "/etc"])
def test_a_forged_manifest_cannot_name_paths_outside(study: Study, name: str) -> None:
    record(study, 40)
    path = folder_of(study) / "manifest.json"
    forge(path, lambda told: told["info"]["arrays"][1].update(name=name))
    forge(path, lambda told: told.update(tables=[["../../study.json", "0", 0, ""], ["/etc/passwd", "0", 0, ""]]))
    with pytest.raises(StoreError, match="leads out of"):
        study.recording("run")
    assert all("leads out" in damage.problem for damage in check(study.path))


def test_other_seeds_are_reported_by_their_number_and_the_first_that_differs(study: Study) -> None:
    seeds = list(range(60))
    with study.writer(played_info(seeds), block_rows=32) as writer:
        writer.append(rows(0, 5), arrays(0, 5))
        writer.close(keep=True)
    for other, told in (
        (seeds[:59], r"arguments\.seeds had 60 entries and has 59\."),
        ([*seeds[:40], 99, *seeds[41:]], r"arguments\.seeds had 60 entries and has 60 \(entry 41 was 40 and is 99\)"),
    ):
        with pytest.raises(StoreError, match=told):
            study.writer(played_info(other))


def test_an_unknown_recording_names_the_nearest(study: Study) -> None:
    record(study, 10, name="evening run")
    with pytest.raises(UnknownName, match="Did you mean 'evening run'"):
        study.recording("evening rum")


def test_selections_are_saved_and_bounded(study: Study) -> None:
    assert load_selections(study) == {}
    save_selection(study, "hits <b>", {"rows": [1, 2, 3]})
    assert save_selection(study, "überall", None) == {"hits <b>": {"rows": [1, 2, 3]}, "überall": None}
    wrong: tuple[tuple[str, Any], ...] = (("big", "x" * (5 << 20)), ("", 1), ("a", {1, 2}), ("a", float("nan")))
    for name, value in wrong:
        with pytest.raises(StoreError):
            save_selection(study, name, value)
    assert load_selections(study) == {"hits <b>": {"rows": [1, 2, 3]}, "überall": None}
    with pytest.raises(UnknownName, match="Did you mean 'überall'"):
        drop_selection(study, "uberall")
    assert drop_selection(study, "überall") == load_selections(study) == {"hits <b>": {"rows": [1, 2, 3]}}
    many = {"selections": {str(number): 0 for number in range(500)}}
    (study.path / "selections.json").write_bytes(json_bytes(many))
    with pytest.raises(StoreError, match="at most 500"):
        save_selection(study, "one more", 0)


def test_subjects_and_snapshots(study: Study) -> None:
    net = torch.nn.Linear(3, 2)
    card = Card(info=SubjectInfo(name="net", family="torch"), text="A net.", facts={"score": 4.5})
    save_subject(study, card, net.state_dict())
    assert subjects(study) == ["net"] and load_card(study, "net") == card
    assert torch.equal(load_weights(study, "net")["weight"], net.weight)
    for step in (1000, 200):
        study.save_snapshot(Snapshot(run="a", step=step, recording=f"a {step}"), net.state_dict())
    assert [(s.step, s.recording) for s in study.snapshots("a")] == [(200, "a 200"), (1000, "a 1000")]
    assert torch.equal(study.snapshot("a", 200)[1]["bias"], net.bias)
    with pytest.raises(UnknownName, match=r"step of a snapshot of 'a' '100'.*200, 1000"):
        study.snapshot("a", 100)
    with pytest.raises(UnknownName, match="training run 'b'"):
        study.snapshot("b", 200)


def test_pickle_in_the_place_of_weights_is_never_loaded(study: Study, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple:
            return (Path.touch, (tmp_path / "sprung",))

    save_subject(study, Card(info=SubjectInfo(name="net", family="torch")), {})
    (study.path / "subjects" / "net" / "weights.safetensors").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(DamagedPart, match="checksum"):
        load_weights(study, "net")
    with pytest.raises(DamagedPart, match="never loaded"):
        read_weights(study.path / "subjects" / "net" / "weights.safetensors")
    assert not (tmp_path / "sprung").exists()
