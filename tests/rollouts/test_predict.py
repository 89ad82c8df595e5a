"""Predictions: any subject over any rows, kept in the study."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.errors import RequestError, SubjectError, UnknownName
from innerview.schema import ArraySpec, Column, Ordering, RecordingInfo, RowKind
from innerview.store import Study, check, write_rows
from innerview.subjects import Subject
from tests.rollouts.players import Pose

QUESTIONS, TOKENS, BOXES, FEATURES, ANSWERS = 70, 6, 5, 4, 3


class Attention(nn.Module):
    """Words of a question attend to boxes of an image."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(20, 8)
        self.boxes = nn.Linear(4 + FEATURES, 8)
        self.cross = nn.MultiheadAttention(8, 2, batch_first=True)
        self.answer = nn.Linear(8, ANSWERS)

    def forward(self, tokens: Tensor, known: Tensor, boxes: Tensor, there: Tensor, features: Tensor) -> Tensor:
        places = torch.cat([boxes, features], dim=-1)
        seen, _ = self.cross(self.words(tokens), self.boxes(places), self.boxes(places), key_padding_mask=there < 0.5)
        mean = (seen * known[..., None]).sum(1) / known.sum(1, keepdim=True)
        return self.answer(mean)


@pytest.fixture
def module() -> Attention:
    torch.manual_seed(0)
    return Attention().eval()


@pytest.fixture
def subject(module: Attention) -> Subject:
    example = (
        torch.zeros(1, TOKENS, dtype=torch.int64),
        torch.ones(1, TOKENS),
        torch.zeros(1, BOXES, 4),
        torch.ones(1, BOXES),
        torch.zeros(1, BOXES, FEATURES),
    )
    return iv.subject(module, name="asker", example=example, heads="answer")


def words(row: int) -> np.ndarray:
    return np.random.default_rng(row).integers(0, 20, 2 + row % 5)


def things(image: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1000 + image)
    return random.random((1 + image % 5, 4), np.float32), random.random((BOXES, FEATURES), np.float32)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = Study.create(tmp_path / "questions.study")
    info = RecordingInfo(
        name="questions",
        row=RowKind(one="question", many="questions"),
        columns=(Column(name="image", type="text", kind="index"),),
        arrays=(
            ArraySpec(name="tokens", shape=(), dtype="int64", kind="ragged"),
            ArraySpec(name="boxes", shape=(4,), dtype="float32", kind="ragged", key="image"),
            ArraySpec(name="features", shape=(BOXES, FEATURES), dtype="float32", key="image"),
        ),
    )
    with made.writer(info, block_rows=16) as writer:
        for image in range(QUESTIONS // 10):
            boxes, features = things(image)
            writer.share("boxes", {f"image {image}": boxes})
            writer.share("features", {f"image {image}": features})
            rows = range(image * 10, image * 10 + 10)
            writer.append({"image": [f"image {image}"] * 10}, {"tokens": [words(row) for row in rows]})
    return made


BOUND = {"known": "tokens | mask", "there": "boxes | mask"}


def by_hand(module: Attention, row: int) -> np.ndarray:
    tokens, (boxes, features) = words(row), things(row // 10)
    padded = np.zeros((1, TOKENS), np.int64)
    padded[0, : len(tokens)] = tokens
    placed = np.zeros((1, BOXES, 4), np.float32)
    placed[0, : len(boxes)] = boxes
    known, there = (np.arange(n) < length for n, length in ((TOKENS, len(tokens)), (BOXES, len(boxes))))
    given = (padded, known[None].astype(np.float32), placed, there[None].astype(np.float32), features[None])
    with torch.no_grad():
        return np.asarray(module(*map(torch.from_numpy, given))[0])


def test_questions_are_answered_as_the_module_answers_them(study: Study, subject: Subject, module: Attention) -> None:
    made = iv.predict(study, subject, "questions", inputs=BOUND, keep=["cross"], progress=False)
    assert made.rows == QUESTIONS
    said = made.array(f"head.{subject.info.heads[0].name}", 0, QUESTIONS)
    np.testing.assert_allclose(said, [by_hand(module, row) for row in range(QUESTIONS)], atol=1e-6)
    head = subject.info.heads[0].name
    assert made.columns([head])[head].to_list() == said.argmax(axis=1).tolist()
    assert made.array("site.cross", 0, 2).shape == (2, TOKENS, 8)
    assert {c.name for c in made.info.columns} == {"row", head, f"{head}_probability"}
    assert "there ← boxes | mask" in str(made.binding)
    assert not check(study.path)


def with_uniform_head(module: Attention, row: int, head: int) -> np.ndarray:
    """The answer where one head of the attention looks at all boxes alike, from a module whose attention is redone."""
    tokens, (boxes, features) = words(row), things(row // 10)
    padded, placed = np.zeros((1, TOKENS), np.int64), np.zeros((1, BOXES, 4), np.float32)
    padded[0, : len(tokens)], placed[0, : len(boxes)] = tokens, boxes
    with torch.no_grad():
        seen = module.boxes(torch.from_numpy(np.concatenate([placed, features[None]], axis=-1)))
        query, key, value = (
            torch.nn.functional.linear(given, weight, bias).unflatten(-1, (2, 4)).transpose(1, 2)
            for given, weight, bias in zip(
                (module.words(torch.from_numpy(padded)), seen, seen),
                module.cross.in_proj_weight.chunk(3),
                module.cross.in_proj_bias.chunk(3),
                strict=True,
            )
        )
        there = torch.arange(BOXES) < len(boxes)
        maps = (query @ key.transpose(-2, -1) / 2).masked_fill(~there, -torch.inf).softmax(-1)
        maps[:, head] = there / there.sum()
        mixed = module.cross.out_proj((maps @ value).transpose(1, 2).flatten(2))
        return np.asarray(module.answer(mixed[0, : len(tokens)].mean(0)))


def test_maps_are_saved_and_one_head_is_changed_as_in_a_patched_module(
    study: Study, subject: Subject, module: Attention
) -> None:
    maps = "cross/attention"
    with torch.no_grad():
        module.cross.in_proj_weight.mul_(5)  # so that heads look at some boxes and not at others
    plain = iv.predict(study, subject, "questions", inputs=BOUND, keep=[maps], progress=False)
    edit = iv.SiteEdit(site=f"{maps}[1]", op="uniform")
    changed = iv.predict(study, subject, "questions", inputs=BOUND, keep=[maps], edits=edit, progress=False)
    assert changed.id != plain.id
    before, after = (made.array("site.cross+attention", 0, QUESTIONS) for made in (plain, changed))
    assert before.shape == (QUESTIONS, 2, TOKENS, BOXES)
    np.testing.assert_allclose(before.sum(-1), 1, atol=1e-5)
    np.testing.assert_array_equal(after[:, 0], before[:, 0])
    boxes = len(things(3)[0])
    np.testing.assert_allclose(after[30, 1], np.tile(np.arange(BOXES) < boxes, (TOKENS, 1)) / boxes, atol=1e-6)
    said = changed.array("head.answer", 0, QUESTIONS)
    wanted = [with_uniform_head(module, row, 1) for row in range(QUESTIONS)]
    np.testing.assert_allclose(said, wanted, atol=1e-6)
    assert np.abs(said - plain.array("head.answer", 0, QUESTIONS)).max() > 1e-3


def test_it_is_saved_by_recording_subject_and_binding(study: Study, subject: Subject) -> None:
    whole = iv.predict(study, subject, "questions", inputs=BOUND, progress=False)
    assert iv.predict(study, subject, "questions", inputs=BOUND, progress=False).id == whole.id
    some = iv.predict(study, subject, "questions", inputs=BOUND, rows=np.array([31, 4, 4]), progress=False)
    assert some.source_rows.tolist() == [4, 31]
    assert [p.id for p in study.predictions("questions", "asker")] == sorted(
        [whole.id, some.id], key=lambda id: (study.prediction(id).info.created_at, id)
    )
    assert study.predictions("questions", "somebody else") == []
    np.testing.assert_allclose(some.array("head.answer", 0, 2), whole.array_rows("head.answer", [4, 31]), atol=1e-6)
    with torch.no_grad():
        subject.module.answer.bias.add_(1.0)  # type: ignore[union-attr,operator]
    assert iv.predict(study, subject, "questions", inputs=BOUND, progress=False).id != whole.id


def test_an_input_without_an_array_names_the_choices(study: Study, subject: Subject) -> None:
    with pytest.raises(RequestError, match=r"Input 'known' .* tokens .* boxes .*inputs=\{'known'"):
        iv.predict(study, subject, "questions", progress=False)
    with pytest.raises(UnknownName, match="Did you mean 'boxes'"):
        iv.predict(study, subject, "questions", inputs={"there": "boxs | mask"}, progress=False)
    with pytest.raises(UnknownName, match="step 'flip'"):
        iv.predict(study, subject, "questions", inputs={"there": "boxes | flip"}, progress=False)


class Recurrent(nn.Module):
    """A state that is carried, read by a value and a pose."""

    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRUCell(3, 4)
        self.value, self.pose = nn.Linear(4, 1), nn.Linear(4, 3)

    def forward(self, seen: Tensor, state: Tensor) -> tuple[dict[str, Tensor], Tensor]:
        state = self.gru(seen, state)
        return {"value": self.value(state), "pose": self.pose(state)}, state


def recurrent() -> Subject:
    torch.manual_seed(1)
    module = Recurrent().eval()
    heads = {"value": "value", "pose": "pose"}
    return iv.subject(module, name="carrier", inputs={"seen": (3,)}, memory={"state": (4,)}, heads=heads)


def rows_of(study: Study, name: str, lengths: list[int] | None, rows: int = 40) -> np.ndarray:
    seen = np.random.default_rng(3).random((rows, 3), np.float32)
    columns: dict[str, list[int]] = {"number": list(range(rows))}
    if lengths:
        columns |= {"walk": [n for n, length in enumerate(lengths) for _ in range(length)]}
        columns |= {"at": [step for length in lengths for step in range(length)]}
    ordering = Ordering(group="walk", time="at") if lengths else None
    write_rows(study, name, columns=columns, arrays={"seen": seen}, ordering=ordering)
    return seen


def test_a_memory_is_carried_where_rows_have_time_and_fresh_where_they_have_none(tmp_path: Path) -> None:
    study, subject = Study.create(tmp_path / "s.study"), recurrent()
    lengths = [7, 1, 20, 12]
    seen = rows_of(study, "walks", lengths)
    rows_of(study, "single", None)
    carried = iv.predict(study, subject, "walks", progress=False)
    fresh = iv.predict(study, subject, "single", progress=False)
    expected, row = [], 0
    for length in lengths:
        state = torch.zeros(1, 4)
        for _ in range(length):
            with torch.no_grad():
                heads, state = subject.module(torch.from_numpy(seen[row : row + 1]), state)
            expected.append(heads["pose"][0].numpy())
            row += 1
    np.testing.assert_allclose(carried.array("head.pose", 0, 40), expected, atol=1e-6)
    np.testing.assert_allclose(fresh.array("head.pose", 7, 8), carried.array("head.pose", 7, 8), atol=1e-6)
    assert np.abs(fresh.array("head.pose", 6, 7) - carried.array("head.pose", 6, 7)).max() > 1e-3
    assert [c.name for c in fresh.info.columns] == ["row", "value", "pose_x", "pose_y", "pose_angle"]
    chosen = iv.predict(study, subject, "walks", rows=np.array([12, 39]), progress=False)
    np.testing.assert_allclose(chosen.array("head.pose", 0, 2), [expected[12], expected[39]], atol=1e-6)


@pytest.mark.parametrize("lengths", [None, [2500]])
def test_what_was_interrupted_goes_on_to_the_same_end(tmp_path: Path, lengths: list[int] | None) -> None:
    study, subject = Study.create(tmp_path / "s.study"), recurrent()
    rows_of(study, "single", lengths, rows=2500)
    seen: list[int] = []

    def stop(done: int, total: int | None, message: str = "") -> None:
        seen.append(done)
        if done > 2200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        iv.predict(study, subject, "single", progress=stop)
    left = study.predictions("single")[0]
    assert 0 < left.rows < 2500
    assert not left.complete
    seen.clear()
    whole = iv.predict(study, subject, "single", progress=lambda done, total, message="": seen.append(done))
    assert seen[0] == left.rows and seen == sorted(seen)
    assert whole.complete
    assert whole.source_rows.tolist() == list(range(2500))
    other = Study.create(tmp_path / "t.study")
    rows_of(other, "single", lengths, rows=2500)
    again = iv.predict(other, subject, "single", progress=False)
    np.testing.assert_array_equal(whole.array("head.pose", 0, 2500), again.array("head.pose", 0, 2500))


def test_two_subjects_say_something_of_the_same_rows_of_a_side_that_is_named(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "s.study")
    random = np.random.default_rng(0)
    arrays = {f"{side}.rgb": random.integers(0, 255, (9, 8, 10, 3)).astype(np.uint8) for side in ("sim", "real")}
    write_rows(study, "pairs", columns={"x": np.arange(9.0)}, arrays=arrays)
    first, second = (
        iv.subject(Pose(bias), name=f"pose {bias}", inputs={"rgb": (3, 8, 10)}, heads="pose") for bias in (0.0, 1.0)
    )
    with pytest.raises(RequestError, match=r"sim\.rgb \(8 × 10 × 3 uint8\), real\.rgb"):
        iv.predict(study, first, "pairs", progress=False)
    made = [iv.predict(study, s, "pairs", inputs={"rgb": "real.rgb"}, progress=False) for s in (first, second)]
    assert made[0].source_rows.tolist() == made[1].source_rows.tolist() == list(range(9))
    assert {p.subject for p in study.predictions("pairs")} == {"pose 0.0", "pose 1.0"}
    with torch.no_grad():
        asked = first.module(torch.from_numpy(arrays["real.rgb"]).permute(0, 3, 1, 2) / 255)
    np.testing.assert_allclose(made[0].array("head.pose", 0, 9), asked.numpy(), atol=1e-6)
    small = iv.subject(Pose(0.0), name="small", inputs={"rgb": (3, 4, 5)}, heads="pose")
    with pytest.raises(SubjectError, match="Resize"):
        iv.predict(study, small, "pairs", inputs={"rgb": "real.rgb"}, progress=False)
    resized = iv.predict(study, small, "pairs", inputs={"rgb": "real.rgb | resize 5x4"}, progress=False)
    assert resized.binding.inputs[0].text == "real.rgb | resize 5x4"


def test_nothing_is_left_of_predictions_that_failed_before_their_first_rows(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "s.study")
    write_rows(study, "pairs", columns={"x": np.arange(9.0)}, arrays={"rgb": np.zeros((9, 8, 10, 3), np.uint8)})
    torch.manual_seed(0)
    pose = iv.subject(Pose(0.0), name="pose", inputs={"rgb": (3, 8, 10)}, heads="pose")

    def stop(done: int, total: int | None, message: str = "") -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        iv.predict(study, pose, "pairs", progress=stop)
    assert study.predictions() == [] and check(study.path) == []
    assert iv.predict(study, pose, "pairs", progress=False).complete


def test_a_recording_without_rows_has_nothing_to_predict(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "s.study")
    write_rows(study, "empty", columns={"x": np.zeros(0)}, arrays={"rgb": np.zeros((0, 8, 10, 3), np.uint8)})
    pose = iv.subject(Pose(0.0), name="pose", inputs={"rgb": (3, 8, 10)}, heads="pose")
    with pytest.raises(RequestError, match="there are no rows"):
        iv.predict(study, pose, "empty", progress=False)
    with pytest.raises(RequestError, match="there are no rows"):
        iv.look(study, "gradient", "empty", subject=pose, target="x of pose", progress=False)
