"""The factors of a subject whose layer is known: channels that see red and blue; one raises, one lowers the value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from innerview.errors import LensError
from innerview.features.examples import EACH_ROW, Examples
from innerview.features.factors import look
from innerview.schema import Rows
from innerview.subjects import Subject, attribute, subject
from innerview.testing.feeds import fed_rows

SIZE, ROWS = 16, 40


class Sees(nn.Module):
    """Red squares are worth 2, blue ones −1; a third channel sees green, which counts for nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 3, 1)
        self.second = nn.Conv2d(3, 3, 3, padding=1, stride=2)
        self.value = nn.Linear(3, 1)
        with torch.no_grad():
            self.first.weight.copy_(torch.eye(3)[:, :, None, None])
            self.second.weight.zero_()
            for channel in range(3):
                self.second.weight[channel, channel, 1, 1] = 1
            for layer in (self.first, self.second, self.value):
                layer.bias.zero_()  # type: ignore[union-attr]
            self.value.weight.copy_(torch.tensor([[2.0, 0.0, -1.0]]))

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"value": self.value(torch.relu(self.second(self.first(x))).sum((2, 3)))}


def sees() -> Subject:
    return subject(Sees(), example=torch.zeros(1, 3, SIZE, SIZE))


@pytest.fixture
def places() -> np.ndarray:
    """Cell [row, colour, (y, x)] of a red and a blue square in each row."""
    return np.random.default_rng(0).integers(0, SIZE // 2, (ROWS, 2, 2))


@pytest.fixture
def frames(places: np.ndarray) -> Rows:
    pictures = torch.zeros(ROWS, 3, SIZE, SIZE)
    for row, (red, blue) in enumerate(places):
        pictures[row, 0, 2 * red[0], 2 * red[1]] = 1
        pictures[row, 2, 2 * blue[0], 2 * blue[1]] = 1
    return fed_rows(sees(), {"x": pictures}, first=100)


def test_factors_are_the_things_that_count(frames: Rows, places: np.ndarray) -> None:
    found = look(frames, sees(), layer="second", count=2)
    directions = found.arrays["directions"]
    assert found.value["explained"] > 0.999 and found.value["completeness"]["worst"] < 0.01 and found.value["alone"]
    red, blue = directions[:, 0].argmax(), directions[:, 2].argmax()
    amounts = found.arrays["amounts"] * found.arrays["scale"][:, :1, None, None] / 127
    for row, ((y, x), (v, u)) in enumerate(places):
        assert amounts[row, red, y, x] == pytest.approx(2, abs=0.05)
        assert amounts[row, blue, v, u] == pytest.approx(-1, abs=0.05) or (y, x) == (v, u)
    assert found.arrays["totals"][:, red, 0] == pytest.approx(np.full(ROWS, 2.0), abs=0.05)
    assert found.arrays["totals"][:, red, 1].max() < 0.05


def test_factors_found_before_are_looked_for_in_other_rows(frames: Rows, places: np.ndarray) -> None:
    found = look(frames, sees(), layer="second", count=2)
    found.value["factors"][0]["meaning"] = {"name": "red", "means": "red", "score": 1.0, "classes": []}
    half = frames.part(np.arange(ROWS // 2))
    told: list[tuple[int, int | None, str]] = []
    again = look(half, sees(), factors=found, count=7, watch=lambda *at: told.append(at[:3]))
    assert np.array_equal(again.arrays["directions"], found.arrays["directions"]), "in their order, none fitted"
    assert {message for _, _, message in told} == {"every row", "done"} and told[-1][:2] == (ROWS // 2, ROWS // 2)
    for name in ("layer", "target", "of", "method"):
        assert again.value[name] == found.value[name]
    assert again.value["explained"] > 0.999
    assert [factor["known_as"] for factor in again.value["factors"]] == ["red", ""]
    assert sum(factor["share"] for factor in again.value["factors"]) == pytest.approx(1)
    whole = found.arrays["amounts"] * found.arrays["scale"][:, :1, None, None]
    part = again.arrays["amounts"] * again.arrays["scale"][:, :1, None, None]
    assert part == pytest.approx(whole[: ROWS // 2], abs=2.5)  # a byte's rounding: scale is up to 2
    third = look(half, sees(), factors=again)
    assert [factor["known_as"] for factor in third.value["factors"]] == ["red", ""]


def test_what_factors_found_before_do_not_explain_is_said(frames: Rows) -> None:
    found = look(frames, sees(), layer="second", count=2)
    one = replace(found, arrays=dict(found.arrays), value=dict(found.value))
    one.arrays["directions"] = found.arrays["directions"][:1]
    one.value["factors"] = found.value["factors"][:1]
    assert 0.1 < look(frames, sees(), factors=one).value["explained"] < 0.9
    one.arrays["directions"] = np.ones((1, 7), np.float32)
    with pytest.raises(LensError, match="of 7 channels; the layer has 3"):
        look(frames, sees(), factors=one)
    dark = fed_rows(sees(), {"x": torch.zeros(ROWS, 3, SIZE, SIZE)})
    with pytest.raises(LensError, match="Everything is zero"):
        look(dark, sees(), factors=found)


@pytest.mark.parametrize("room_rows", [0, 5, 1000])
def test_rows_of_the_sample_are_attributed_once_while_there_is_room(
    frames: Rows, room_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def counting(subject: Subject, inputs: Any, *rest: Any, **more: Any) -> Any:
        asked.append(len(inputs["x"]))
        return attribute(subject, inputs, *rest, **more)

    usual = look(frames, sees(), layer="second", count=2, max_rows=17)
    a_row = 3 * (SIZE // 2) ** 2 * 2
    monkeypatch.setattr("innerview.features.factors.MAX_STORED_BYTES", room_rows * a_row)
    monkeypatch.setattr("innerview.subjects.attribute", counting)
    found = look(frames, sees(), layer="second", count=2, max_rows=17)
    assert sum(asked) == ROWS + 17 - min(room_rows, 17)
    assert np.abs(found.arrays["amounts"].astype(int) - usual.arrays["amounts"]).max() <= 1
    assert np.allclose(found.arrays["totals"], usual.arrays["totals"], atol=2e-3)


def test_examples_are_spread_over_rows_and_places(frames: Rows, places: np.ndarray) -> None:
    found = look(frames, sees(), layer="second", count=2)
    red = found.arrays["directions"][:, 0].argmax()
    shown = found.value["factors"][red]["examples"]["good"]
    assert len({one["row"] for one in shown}) == len(shown) > 5
    for one in shown:
        assert (one["y"], one["x"]) == tuple(places[one["row"] - 100, 0])
    cells, rows = found.arrays["cells"][red, 0], found.arrays["cell_rows"][red, 0]
    seen = {tuple(place) for place in places[:, 0].tolist()}
    assert {tuple(place) for place in np.argwhere(cells > 1).tolist()} == seen
    for y, x in seen:
        assert tuple(places[rows[y, x] - 100, 0]) == (y, x)


def test_one_loud_row_does_not_fill_the_map_of_examples() -> None:
    generator = torch.Generator().manual_seed(0)
    amounts = torch.rand(150, 2, 16, 16, generator=generator)
    amounts[5] += 10  # stronger than all others, everywhere
    amounts[:, 1, :2, :2] = 0
    amounts[7:9, 1, :2, :2] = 1.0
    found = Examples()
    for rows in np.split(np.arange(150), [64, 128]):
        found.add(rows + 1000, amounts[rows])
    cells, rows = found.by_place()
    assert cells.shape == rows.shape == (2, 2, 8, 8)
    parts = amounts.unfold(2, 2, 2).unfold(3, 2, 2).amax(dim=(4, 5)).numpy()
    for factor in range(2):
        shown = rows[factor, 0]
        assert np.bincount(shown.ravel()).max() <= EACH_ROW and (shown == 1005).sum() == EACH_ROW
        assert np.allclose(np.take_along_axis(parts[:, factor], shown[None] - 1000, axis=0)[0], cells[factor, 0])
    assert rows[1, 0, 0, 0] == 1007 and not cells[:, 1].any()


def test_where_nothing_else_responds_a_row_stands_all_the_same() -> None:
    amounts = torch.zeros(3, 1, 8, 8)
    amounts[1] = 1
    found = Examples()
    found.add(np.arange(3), amounts)
    cells, rows = found.by_place()
    assert (rows[0, 0] == 1).all() and (cells[0, 0] == 1).all()


def test_factors_are_named_after_what_the_world_says_is_there(frames: Rows, places: np.ndarray) -> None:
    masks = np.zeros((ROWS, SIZE, SIZE), np.uint8)
    for row, (red, blue) in enumerate(places):
        masks[row, 2 * red[0], 2 * red[1]] = 1
        masks[row, 2 * blue[0], 2 * blue[1]] = 2
    told = replace(
        frames,
        mask=lambda rows: masks[rows],
        classes=("nothing", "red", "blue"),
        groups=tuple((start, start + 10) for start in range(0, ROWS, 10)),
    )
    found = look(told, sees(), layer="second", count=2)
    directions = found.arrays["directions"]
    names = {int(directions[f].argmax()): found.value["factors"][f]["meaning"]["name"] for f in range(2)}
    assert names == {0: "red? 100 %", 2: "blue? 100 %"} and found.value["masks"] == ""
    bare = look(frames, sees(), layer="second", count=2)
    assert bare.value["factors"][0]["meaning"] is None and "provides no masks" in bare.value["masks"]


def test_activations_can_be_split_too(frames: Rows) -> None:
    found = look(frames, sees(), layer="second", of="activations", count=2)
    assert found.arrays["totals"][..., 1].max() == 0
    assert found.arrays["totals"][..., 0].sum(axis=1) == pytest.approx(np.full(ROWS, 2.0), abs=0.05)


def test_what_cannot_be_is_reported(frames: Rows) -> None:
    with pytest.raises(LensError, match="4 factors were asked for; a layer of 3 channels has 1 to 3"):
        look(frames, sees(), layer="second", count=4)
    blank = fed_rows(sees(), {"x": torch.zeros(4, 3, SIZE, SIZE)})
    with pytest.raises(LensError, match="Everything is zero"):
        look(blank, sees(), layer="second", count=2)
