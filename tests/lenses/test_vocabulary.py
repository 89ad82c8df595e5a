"""The names that get a colour each: of all recordings, in an order that another recording only adds to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from innerview.lenses.columns.derived import derived
from innerview.lenses.columns.vocabulary import MAX_SCENES, vocabulary
from innerview.schema import ArraySpec, Column, Ordering, RecordingInfo, Scene, SubjectInfo
from innerview.store import Study, write_rows

ROWS = 6


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study.create(tmp_path / "names.study", "names")


def info(name: str, actions: tuple[str, ...]) -> RecordingInfo:
    return RecordingInfo(
        name=name,
        ordering=Ordering(),
        subject=SubjectInfo(name=f"player of {name}", family="tests"),
        columns=(
            Column(name="episode", type="int", kind="index"),
            Column(name="step", type="int", kind="index"),
            Column(name="x", type="float", pose="x"),
            Column(name="value", type="float", kind="value"),
            Column(name="health", type="float"),
            Column(name="action", type="int", kind="action", categories=actions),
            Column(name="door", type="int", categories=("open", "shut")),
            Column(name="room", type="text", kind="category"),
            Column(name="objects", type="objects", kind="objects"),
        ),
        arrays=(
            ArraySpec(name="probabilities", shape=(3,), dtype="float32", role="probabilities"),
            ArraySpec(
                name="mask",
                shape=(2, 2),
                dtype="uint8",
                role="mask",
                axes=("height", "width"),
                elements=("background", "wall"),
            ),
            ArraySpec(name="seen", shape=(3,), dtype="float32", role="observation", elements=("near", "far")),
        ),
        group_columns=(
            Column(name="episode", type="int", kind="index"),
            Column(name="outcome", type="text", kind="category"),
            Column(name="scene", type="text"),
        ),
    )


def record(study: Study, given: RecordingInfo, *, things: list[str], outcomes: list[str], scenes: int = 1) -> None:
    numbers = dict.fromkeys(("x_px", "y_px", "width_px", "height_px", "distance", "x", "y"), 1.0)
    rows = {
        "step": list(range(ROWS)),
        "x": [0.0] * ROWS,
        "value": [0.0] * ROWS,
        "health": [1.0] * ROWS,
        "action": [0] * ROWS,
        "door": [1] * ROWS,
        "room": ["kitchen", "hall", "hall", None, "hall", "kitchen"],
        "objects": [[{"name": thing, **numbers}] for thing in (things * ROWS)[:ROWS]],
    }
    arrays = {spec.name: np.zeros((ROWS, *spec.shape), spec.dtype) for spec in given.arrays}
    with study.writer(given) as writer:
        keys = [writer.add_scene(Scene(objects=((f"lamp {n}", 0.0, 0.0),))) for n in range(scenes)]
        for episode, (outcome, key) in enumerate(zip(outcomes * scenes, keys * len(outcomes), strict=True)):
            writer.append({**rows, "episode": [episode] * ROWS}, arrays)
            writer.end_group({"episode": episode, "outcome": outcome, "scene": key})
        writer.finish()


def names(study: Study, *recordings: str) -> dict[str, list[str]]:
    return vocabulary(derived(study, name) for name in recordings)


def test_names_by_kind(study: Study) -> None:
    record(study, info("first", ("left", "right")), things=["saw", "coin"], outcomes=["won", "died"])
    found = names(study, "first")
    assert found["action"] == ["action 0", "action 1", "action 2", "left", "right"]
    assert found["object"] == ["wall", "coin", "saw", "lamp 0"]
    assert found["outcome"] == ["died", "won"]
    assert found["subject"] == ["player of first"]
    assert found["words of door"] == ["open", "shut"]
    assert found["words of room"] == ["hall", "kitchen"]
    facts = found["fact"]
    assert facts[:4] == ["near", "far", "seen 2", "health"]
    assert facts[-1] == "x", "a map shows where it was better than a line"
    assert not {"value", "step", "episode", "action", "room", "door", "coin in view"} & set(facts)


def test_another_recording_adds_its_names_at_the_end(study: Study) -> None:
    record(study, info("first", ("left", "right")), things=["saw", "coin"], outcomes=["won"])
    record(study, info("second", ("jump", "left")), things=["apple", "saw"], outcomes=["died", "won"])
    one, both = names(study, "first"), names(study, "first", "second")
    assert {kind: both[kind][: len(words)] for kind, words in one.items()} == one
    assert both["action"][-1] == "jump"
    assert both["object"][-1] == "apple"
    assert both["outcome"] == ["won", "died"]


def test_names_of_the_action_space_are_taken_from_the_probabilities(study: Study) -> None:
    given = info("named", ("left", "right", "jump"))
    spec = replace(given.arrays[0], elements=("left", "right", "jump"))
    record(study, replace(given, arrays=(spec, *given.arrays[1:])), things=["saw"], outcomes=["won"])
    assert names(study, "named")["action"] == ["left", "right", "jump"]


def test_maps_are_looked_through_up_to_a_bound(study: Study) -> None:
    record(study, info("many", ("left",)), things=["saw"], outcomes=["won"], scenes=MAX_SCENES + 4)
    lamps = [name for name in names(study, "many")["object"] if name.startswith("lamp")]
    assert len(lamps) == MAX_SCENES


def test_a_recording_whose_scenes_are_damaged_keeps_its_other_names(study: Study) -> None:
    record(study, info("hurt", ("left",)), things=["saw"], outcomes=["won"])
    for scene in (study.path / "recordings" / "hurt" / "scenes").iterdir():
        scene.write_text("{")
    found = names(study, "hurt")
    assert "saw" in found["object"]
    assert "left" in found["action"]


def test_domains_are_named_by_arrays_and_columns(study: Study) -> None:
    picture = ArraySpec(name="a", shape=(2, 2), dtype="uint8", domain="thermal")
    write_rows(
        study,
        "pairs",
        columns={"x": [1.0]},
        arrays={"a": np.zeros((1, 2, 2), np.uint8)},
        specs=[picture, Column(name="x", type="float", domain="map")],
    )
    assert vocabulary([derived(study, study.recording("pairs"))])["domain"] == ["thermal", "map"]
