"""Recordings in the shapes that DRLViz and MemRed wrote, quirks included, become recordings like our own."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from innerview.errors import InnerviewError, StoreError, UnknownName
from innerview.schema import entropy, entropy_column
from innerview.store import ImportOptions, Study, check, import_files, write_rows

STEPS, ELEMENTS = 9, 6


def jpeg(shape: tuple[int, ...], shade: int) -> str:
    buffer = io.BytesIO()
    Image.fromarray(np.full(shape, shade, np.uint8)).save(buffer, format="JPEG")
    return base64.b64encode(buffer.getvalue()).decode()


def strings(numbers: np.ndarray) -> list[list[str]]:
    return [[str(number) for number in row] for row in numbers]


def hiddens(steps: int = STEPS) -> np.ndarray:
    return np.random.default_rng(1).uniform(-1, 1, (steps, ELEMENTS)).astype(np.float32)


def probabilities(steps: int = STEPS) -> np.ndarray:
    chances = np.random.default_rng(2).random((steps, 5))
    return np.asarray(chances / chances.sum(1, keepdims=True))


def drlviz(steps: int = STEPS, **changes: Any) -> dict[str, Any]:
    """As DRLViz's script writes an episode: numbers as strings, and a thing in view at each step."""
    barrel = {
        "object_id": 3,
        "object_name": "Barrel",
        "object_position_x": 30.0,
        "object_position_y": "40",
        "object_x": 96,
    }
    itself = {
        "object_id": 0,
        "object_name": "DoomPlayer",
        "object_position_x": 0,
        "object_position_y": 2,
        "object_x": 9,
    }
    return {
        "actions": [str(step % 5) for step in range(steps)],
        "fov": [[itself, barrel] if step else [] for step in range(steps)],
        "health": [100.0 - step for step in range(steps)],
        "hiddens": strings(hiddens(steps)),
        "inputs": [jpeg((36, 64, 3), 20 * step) for step in range(steps)],
        "items": [0.0] * steps,
        "orientations": [350.0 + step for step in range(steps)],
        "positions": [[float(step), 0.0] for step in range(steps)],
        "probabilities": strings(probabilities(steps)),
        "saliencies": [jpeg((18, 32), 100) for _ in range(steps)],
        "scores": [str(round(0.5 * step, 2)) for step in range(steps)],
        "velocities": [[1.0, -2.0]] * steps,
    } | changes


def memred(**changes: Any) -> dict[str, Any]:
    """As MemRed's data: no actions, and the mask of the reduction."""
    return {
        "inputs": [jpeg((36, 64, 3), 20 * step) for step in range(STEPS)],
        "positions": [[float(step), 1.0] for step in range(STEPS)],
        "hiddens": strings(hiddens()),
        "orientations": [90.0] * STEPS,
        "probabilities": probabilities().tolist(),
        "mask": [1, 0, 1, 1, 0, 1],
    } | changes


def write(folder: Path, name: str, value: Any) -> Path:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def bring(folder: Path, *values: Any, **options: Any) -> Any:
    """Import some values, each from a file of its own, and give the recording."""
    files = [write(folder, f"part{n}.json", value) for n, value in enumerate(values)]
    made = import_files(folder / "a.study", files, ImportOptions(**options))
    return Study.open(folder / "a.study").recording(made.recording)


def test_drlviz_becomes_a_whole_recording(tmp_path: Path) -> None:
    recording = bring(tmp_path, {"episode0": drlviz()})
    table = recording.columns([c.name for c in recording.info.columns])
    assert table["episode"].to_list() == [0] * STEPS and table["step"].to_list() == list(range(STEPS))
    assert table["action"].to_list() == [step % 5 for step in range(STEPS)]
    assert table["x"].to_list() == list(range(STEPS)) and table["health"].to_list() == [100 - s for s in range(STEPS)]
    assert table["angle"].to_list()[9:] == [] and table["angle"][0] == 350
    assert table["score"].to_list() == [0.5 * step for step in range(STEPS)]
    assert table["reward"].to_list() == [0.5] * (STEPS - 1) + [None]
    assert table["velocity_y"].to_list() == [-2.0] * STEPS
    assert np.array_equal(recording.array("memory", 0, STEPS), hiddens())
    assert np.allclose(recording.array("probabilities", 0, STEPS), probabilities(), atol=1e-6)
    assert np.array_equal(table["entropy"].to_numpy(), entropy(probabilities()))
    assert entropy_column("entropy") in recording.info.columns
    pictures = recording.array("observation", 0, STEPS)
    assert pictures.shape == (STEPS, 36, 64, 3) and [int(p.mean()) for p in pictures] == [20 * s for s in range(STEPS)]
    assert recording.array("saliency", 0, 1).shape == (1, 18, 32)
    roles = {spec.name: spec.role for spec in recording.info.arrays}
    assert roles["memory"] == "memory" and roles["saliency"] == "attribution" and roles["observation"] == "observation"
    assert recording.info.columns[2].categories == ("left", "right", "forward", "forward+left", "forward+right")
    assert recording.groups()["return"].to_list() == [4.0]
    assert check(tmp_path / "a.study") == []


def test_things_in_view_have_a_place_and_a_distance_and_the_agent_is_none_of_them(tmp_path: Path) -> None:
    recording = bring(tmp_path, drlviz())
    objects = recording.columns(["objects"])["objects"].to_list()
    assert objects[0] == []
    assert [thing["name"] for thing in objects[1]] == ["Barrel"]
    assert (objects[1][0]["x"], objects[1][0]["y"], objects[1][0]["x_px"]) == (30, 40, 96)
    assert objects[1][0]["distance"] == pytest.approx(np.hypot(29, 40), abs=0.01)
    assert objects[1][0]["width_px"] is None, "it was never written down"


def test_memred_takes_the_most_likely_action_and_keeps_the_mask(tmp_path: Path) -> None:
    recording = bring(tmp_path, memred())
    assert recording.columns(["action"])["action"].to_list() == probabilities().argmax(1).tolist()
    assert "most likely" in next(c.description for c in recording.info.columns if c.name == "action")
    assert np.array_equal(recording.array("mask", 0, STEPS), np.tile([1, 0, 1, 1, 0, 1], (STEPS, 1)))
    assert recording.columns(["y"])["y"].to_list() == [1.0] * STEPS


def test_memred_without_pictures_and_mask_and_with_rounded_probabilities(tmp_path: Path) -> None:
    rounded = [[0.0, 0.2, 0.0, 0.0, 0.7]] * STEPS
    given = memred(probabilities=rounded)
    del given["inputs"], given["mask"]
    recording = bring(tmp_path, given)
    assert {spec.name for spec in recording.info.arrays} == {"memory", "probabilities"}
    share = np.array([2, 7]) / 9
    expected = -(share * np.log(share)).sum() / np.log(5)
    assert recording.columns(["entropy"])["entropy"][0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("mask", "kind"),
    [([[1, 0, 1, 1, 0, 1]] * STEPS, "array"), ([0.5] * STEPS, "column"), ([0.5] * (STEPS + 1), "column")],
)
def test_a_mask_may_change_at_each_step(tmp_path: Path, mask: list[Any], kind: str) -> None:
    recording = bring(tmp_path, memred(mask=mask))
    if kind == "array":
        assert np.array_equal(recording.array("mask", 0, STEPS), np.array(mask))
    else:
        assert recording.columns(["mask"])["mask"].to_list() == [0.5] * STEPS


def test_files_and_numbered_episodes_make_one_recording(tmp_path: Path) -> None:
    both = {"episode10": drlviz(4), "episode2": drlviz(7)}
    recording = bring(tmp_path, both, drlviz(5), name="all of it")
    groups = recording.groups()
    assert groups["length"].to_list() == [7, 4, 5] and groups["start"].to_list() == [0, 7, 11]
    assert groups["source"].to_list() == ["part0.json episode2", "part0.json episode10", "part1.json"]
    assert recording.columns(["step"])["step"].to_list() == [*range(7), *range(4), *range(5)]
    assert recording.info.name == "all of it"


def test_lists_that_differ_by_one_are_cut_and_that_is_said(tmp_path: Path) -> None:
    given = drlviz()
    given["positions"].append([9.0, 9.0])
    made = import_files(tmp_path / "a.study", [write(tmp_path, "long.json", given)])
    assert made.rows == STEPS and made.remarks == ("'long.json': cut to 9 steps: positions had 10",)
    assert (
        Study.open(tmp_path / "a.study").recording("long").groups()["remark"][0] == "cut to 9 steps: positions had 10"
    )


def test_wide_pictures_stay_as_they_come_unless_asked_otherwise(tmp_path: Path) -> None:
    wide = drlviz(2, inputs=[jpeg((360, 640, 3), 50)] * 2)
    made = import_files(tmp_path / "a.study", [write(tmp_path, "wide.json", wide)], ImportOptions(width=320))
    study = Study.open(tmp_path / "a.study")
    assert study.recording("wide").array("observation", 0, 2).shape == (2, 180, 320, 3)
    assert study.recording("wide").columns(["objects"])["objects"][1][0]["x_px"] == 48, "places on the screen follow"
    assert made.remarks == ("observation: 640×360 pixels made 320×180",)
    import_files(tmp_path / "a.study", [tmp_path / "wide.json"], ImportOptions(name="as it was"))
    assert study.recording("as it was").array("observation", 0, 2).shape == (2, 360, 640, 3)


def test_actions_beyond_the_probabilities_are_kept_and_what_the_probabilities_lack_is_said(tmp_path: Path) -> None:
    """The real agent had eight actions; its tool wrote the probabilities of five."""
    whole = probabilities(4)
    more = drlviz(4, actions=["0", "4", "2", "1"], probabilities=whole.tolist())
    beyond = drlviz(4, actions=["7", "4", "5", "0"], probabilities=(0.85 * whole).tolist())
    files = [write(tmp_path, f"part{n}.json", one) for n, one in enumerate((more, beyond))]
    made = import_files(tmp_path / "a.study", files, ImportOptions(name="real"))
    recording = Study.open(tmp_path / "a.study").recording("real")
    action = next(column for column in recording.info.columns if column.name == "action")
    assert action.categories[7] == "backward+right" and len(action.categories) == 8
    assert recording.columns(["action"])["action"].to_list() == [0, 4, 2, 1, 7, 4, 5, 0]
    spec = next(spec for spec in recording.info.arrays if spec.name == "probabilities")
    assert (spec.shape, spec.elements) == ((5,), action.categories[:5])
    np.testing.assert_allclose(recording.array("probabilities", 4, 8), 0.85 * whole, rtol=1e-6)
    assert made.remarks == ("'part1.json': probabilities add up to 0.85 to 0.85: not all were written",)
    known = recording.columns(["entropy"])["entropy"].is_not_nan().to_list()
    assert known == [True] * 4 + [False] * 4, "of what is not whole nobody knows the entropy"


def test_other_numbers_of_actions_are_counted_or_named(tmp_path: Path) -> None:
    three = drlviz(2, probabilities=[[0.2, 0.3, 0.5]] * 2, actions=["2", "1"])
    assert bring(tmp_path, three).info.columns[2].categories == ("action 0", "action 1", "action 2")
    named = bring(tmp_path, three, name="named", actions=("wait", "jump", "run"))
    assert named.info.columns[2].categories == ("wait", "jump", "run")
    with pytest.raises(StoreError, match=r"2 actions are named, but 'part0\.json' has probabilities of 3"):
        bring(tmp_path, three, name="short", actions=("wait", "jump"))


def test_saliencies_that_are_no_pictures_and_unknown_keys_are_left_out_and_named(tmp_path: Path) -> None:
    made = import_files(
        tmp_path / "a.study", [write(tmp_path, "odd.json", drlviz(3, saliencies=[[1, 2]] * 3, weather=["fine"]))]
    )
    assert made.remarks == ("'odd.json': left out: saliencies, weather",)


def broken(key: str, step: int, value: Any) -> dict[str, Any]:
    given = drlviz()
    given[key][step] = value
    return given


BAD = [
    ("{", "'part0.json' cannot be read as JSON"),
    ("[1, 2]", "'part0.json' should be an object of lists, not list"),
    ({"a": []}, "it has a. DRLViz writes actions"),
    ({"episode0": 3}, "'episode0' of 'part0.json' should be an object"),
    ({k: v for k, v in drlviz().items() if k != "hiddens"}, "'part0.json' lacks hiddens; it has actions"),
    (drlviz(health=100), "'health' of 'part0.json' should be a list"),
    (drlviz(health=[1.0] * (STEPS - 3)), "differ by more than one step: .*'health' has 6"),
    (drlviz(0), "has no steps"),
    (
        broken("hiddens", 4, ["0.1"] * 5 + ["cat"]),
        "'hiddens' of 'part0.json' at step 4 holds 'cat', which is not a number",
    ),
    (broken("hiddens", 4, ["0.1"] * 5), "'hiddens' of 'part0.json' at step 4 has 5 numbers, and 6 at step 0"),
    (broken("hiddens", 4, ["nan"] * 6), "'hiddens' of 'part0.json' at step 4 holds 'nan'"),
    (broken("health", 2, None), "'health' of 'part0.json' at step 2 holds None"),
    (broken("positions", 2, [1.0]), "'positions' of 'part0.json' at step 2 has 1 numbers, and 2 at step 0"),
    (broken("actions", 3, "5000"), "'actions' of 'part0.json' at step 3 is 5000; an action is a whole number from 0"),
    (broken("probabilities", 3, [0.5] * 5), "at step 3 holds .*: no probabilities"),
    (broken("actions", 3, "left"), "'actions' of 'part0.json' at step 3 holds 'left'"),
    (
        broken("probabilities", 3, [-1.0, 0, 0, 0, 1]),
        "'probabilities' of 'part0.json' at step 3 holds .*no probabilities",
    ),
    (broken("inputs", 5, jpeg((36, 64, 3), 9)[:300]), "'inputs' of 'part0.json' at step 5"),
    (broken("inputs", 5, "no picture!"), "'inputs' of 'part0.json' at step 5 is not base64"),
    (
        broken("inputs", 5, base64.b64encode(b"no picture").decode()),
        "'inputs' of 'part0.json' at step 5 is not a picture",
    ),
    (broken("inputs", 5, jpeg((8, 8, 3), 9)), "'inputs' of 'part0.json' at step 5 is 8×8, the first one 64×36"),
    (broken("inputs", 5, 7), "'inputs' of 'part0.json' at step 5 should be a text"),
    (broken("fov", 5, [{"object_name": "x"}]), "'fov' of 'part0.json' at step 5 has a thing without 'object_x'"),
    (broken("fov", 5, "nothing"), "'fov' of 'part0.json' at step 5 should be a list"),
    (memred(mask=[1, 0]), "'mask' of 'part0.json' has 2 entries"),
]


@pytest.mark.parametrize(("value", "said"), BAD, ids=[said[:50] for _, said in BAD])
def test_a_bad_file_gets_one_clear_message_and_leaves_nothing(tmp_path: Path, value: Any, said: str) -> None:
    with pytest.raises(StoreError, match=said):
        bring(tmp_path, value)
    assert not (tmp_path / "a.study").exists()


def test_a_bad_second_file_leaves_what_was_there(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "a.study")
    write_rows(study, "before", columns={"n": [1, 2]})
    there = sorted(path.name for path in study.path.iterdir())
    with pytest.raises(StoreError, match=r"'part1\.json' at step 4"):
        bring(tmp_path, drlviz(), broken("inputs", 4, "x"))
    assert study.recordings() == ["before"] and sorted(path.name for path in study.path.iterdir()) == there
    with pytest.raises(StoreError, match=r"'part1\.json' was written by MemRed, not by DRLViz"):
        bring(tmp_path, drlviz(), memred())
    with pytest.raises(StoreError, match=r"'hiddens' of 'part1\.json' at step 0 has 3 numbers; 6 are expected"):
        bring(tmp_path, drlviz(), drlviz(hiddens=[[1.0, 2.0, 3.0]] * STEPS))
    with pytest.raises(StoreError, match=r"'part1\.json' lacks velocities"):
        bring(tmp_path, drlviz(), {k: v for k, v in drlviz().items() if k != "velocities"})


def test_a_name_is_taken_once(tmp_path: Path) -> None:
    bring(tmp_path, drlviz(), name="one")
    with pytest.raises(StoreError, match="a recording 'one' already"):
        bring(tmp_path, drlviz(), name="one")


@pytest.mark.parametrize(
    ("file", "options", "said"),
    [
        ("there_is_none.json", {}, "no file"),
        ("data.xyz", {}, "kind of file '.xyz'"),
        ("part0.json", {"format": "drlvis"}, "Did you mean 'drlviz'"),
        ("part0.json", {"format": "memred", "name": "../x"}, "cannot be the name"),
        ("part0.json", {"width": -1}, "not -1"),
    ],
)
def test_options_that_cannot_be_met(tmp_path: Path, file: str, options: dict[str, Any], said: str) -> None:
    write(tmp_path, "part0.json", drlviz())
    with pytest.raises((StoreError, UnknownName, InnerviewError), match=said):
        import_files(tmp_path / "a.study", [tmp_path / file], ImportOptions(**options))
    assert not (tmp_path / "a.study").exists()


def test_a_format_that_is_said_is_taken(tmp_path: Path) -> None:
    recording = bring(tmp_path, drlviz(), format="memred")
    assert recording.info.note == "Imported from MemRed."
    assert recording.columns(["action"])["action"].to_list() == probabilities().argmax(1).tolist()


def test_a_16_bit_picture_in_json_stays_16_bit(tmp_path: Path) -> None:
    deep = (np.arange(48).reshape(6, 8) * 1300).astype(np.uint16)
    buffer = io.BytesIO()
    Image.fromarray(deep).save(buffer, format="PNG")
    episode = drlviz()
    key = next(key for key, value in episode.items() if isinstance(value[0], str) and len(value[0]) > 100)
    episode[key] = [base64.b64encode(buffer.getvalue()).decode()] * STEPS
    (tmp_path / "deep.json").write_text(json.dumps(episode))
    import_files(tmp_path / "a.study", [tmp_path / "deep.json"], ImportOptions(width=0))
    recording = Study.open(tmp_path / "a.study").recording("deep")
    spec = next(spec for spec in recording.info.arrays if spec.is_image)
    assert np.array_equal(recording.array(spec.name, 2, 3)[0], deep)
