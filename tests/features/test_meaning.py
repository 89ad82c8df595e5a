"""Meaning: a factor that sits on a class is named after it; one that is everywhere or does not follow it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from innerview.errors import LensError
from innerview.features.meaning import Meaning
from innerview.subjects import ReceptiveField

CLASSES = ("nothing", "floor", "saw")
ROWS, SIZE, GRID = 60, 32, 16


@pytest.fixture
def masks() -> np.ndarray:
    """Floor at the bottom of every picture, and a saw somewhere above it."""
    found = np.zeros((ROWS, SIZE, SIZE), np.uint8)
    found[:, 28:] = 1
    for row, (y, x) in enumerate(np.random.default_rng(0).integers(2, 22, (ROWS, 2))):
        found[row, y : y + 4, x : x + 4] = 2
    return found


@pytest.fixture
def amounts(masks: np.ndarray) -> torch.Tensor:
    """One factor on saws, as bad news; one at the bottom of every picture; one anywhere."""
    saw = torch.as_tensor(masks == 2).float()
    pooled = torch.nn.functional.avg_pool2d(saw[:, None], 2)
    bottom = torch.zeros(ROWS, 1, GRID, GRID)
    bottom[:, :, 14:] = 1
    anywhere = torch.rand(ROWS, 1, GRID, GRID, generator=torch.Generator().manual_seed(0))
    return torch.cat([-pooled, bottom, anywhere], dim=1)


def told(amounts: torch.Tensor, masks: np.ndarray, classes: tuple[str, ...] = CLASSES) -> list[dict[str, object]]:
    meaning = Meaning(classes, amounts.shape[1], 6)
    groups = np.arange(ROWS) % 6
    for first in range(0, ROWS, 20):
        part = slice(first, first + 20)
        meaning.add(amounts[part], masks[part], np.roll(masks, 7, axis=0)[part], groups[part])
    return meaning.summary()


def test_a_factor_on_a_class_is_named_after_it(amounts: torch.Tensor, masks: np.ndarray) -> None:
    saw = told(amounts, masks)[0]
    assert saw["name"] == "saw? 100 %" and saw["score"] > 0.8
    line = saw["classes"][0]  # type: ignore[index]
    assert (line["class"], line["consistency"], line["groups"]) == ("saw", 1.0, 6)
    assert line["share"] == pytest.approx(1.0) and line["chance"] < 0.3


def test_responding_always_at_the_same_place_is_no_meaning(amounts: torch.Tensor, masks: np.ndarray) -> None:
    for row in range(ROWS):  # a floor of which another half is there each time
        masks[row, 28:, 16 * (row % 2) :][:, :16] = 0
    _, bottom, anywhere = told(amounts, masks)
    floor = next(line for line in bottom["classes"] if line["class"] == "floor")  # type: ignore[attr-defined]
    assert floor["share"] > 0.5 and floor["excess"] < 0.1 and not floor["fixed"]
    assert bottom["name"] == anywhere["name"] == ""


def test_what_never_moves_is_compared_with_its_size_and_said_to_be_fixed(
    amounts: torch.Tensor, masks: np.ndarray
) -> None:
    saw, bottom, anywhere = told(amounts, masks)
    floor = next(line for line in bottom["classes"] if line["class"] == "floor")  # type: ignore[attr-defined]
    assert bottom["name"] == "floor? 100 %" and floor["fixed"] and floor["chance"] == pytest.approx(3 / 16)
    assert saw["name"] == "saw? 100 %" and anywhere["name"] == ""


def test_a_factor_that_might_be_several_things_is_named_after_each_with_its_share() -> None:
    """Enemies of two kinds and saws, each a third of what it responds to: no one of them is its name."""
    classes = ("nothing", "left", "right", "saw")
    masks = np.zeros((90, SIZE, SIZE), np.uint8)
    amounts = torch.zeros(90, 1, GRID, GRID)
    for row, (y, x) in enumerate(np.random.default_rng(0).integers(0, 7, (90, 2)) * 4):
        kind = 1 + (row // 6) % 3
        masks[row, y : y + 4, x : x + 4] = kind
        amounts[row, 0, y // 2, x // 2] = (0.0, 1.05, 1.0, 0.95)[kind]
    (factor,) = _told(amounts, masks, classes)
    assert factor["name"].startswith("left? 3") and ", right? 3" in factor["name"] and "saw? 3" in factor["name"]


def _told(amounts: torch.Tensor, masks: np.ndarray, classes: tuple[str, ...]) -> list[dict[str, Any]]:
    meaning = Meaning(classes, amounts.shape[1], 6)
    meaning.add(amounts, masks, np.roll(masks, 7, axis=0), np.arange(len(masks)) % 6)
    return meaning.summary()


def test_what_is_nearly_everywhere_gives_nothing_its_name(amounts: torch.Tensor, masks: np.ndarray) -> None:
    everywhere = np.where(masks == 2, 2, 1).astype(np.uint8)
    everywhere[:, :1, :1] = 0
    for factor in told(amounts, everywhere):
        lines = {line["class"]: line for line in factor["classes"]}  # type: ignore[attr-defined]
        assert lines["floor"]["chance"] > 0.98 and lines["floor"]["excess"] == 0.0
        assert all(-1 <= line["excess"] <= 1 for line in lines.values()) and factor["name"] in ("", "saw? 100 %")


def test_a_layer_of_one_cell_reports_no_places(masks: np.ndarray) -> None:
    (all_of_it,) = told(torch.rand(ROWS, 1, 1, 1, generator=torch.Generator().manual_seed(0)), masks)
    assert all_of_it["name"] == "" and all_of_it["score"] == 0.0


def test_cells_are_compared_with_what_they_look_at(masks: np.ndarray) -> None:
    """Cells that look at the middle half of the picture only, one of them where each saw is."""
    receptive_field = ReceptiveField(8, (9 / 32, 9 / 32), (2 / 32, 2 / 32))
    amounts = torch.zeros(ROWS, 1, 8, 8)
    for row, mask in enumerate(masks):
        y, x = np.argwhere(mask == 2).mean(axis=0)
        inside = [round((place + 0.5 - 9) / 2) for place in (y, x)]
        if all(0 <= cell < 8 for cell in inside):
            amounts[row, 0, inside[0], inside[1]] = 1
    scores = []
    for where in (receptive_field, None):
        meaning = Meaning(CLASSES, 1, 1, where)
        meaning.add(amounts, masks, np.roll(masks, 7, axis=0), np.zeros(ROWS, int))
        scores.append(next(line["share"] for line in meaning.summary()[0]["classes"] if line["class"] == "saw"))
    assert scores[0] == pytest.approx(1.0) and scores[1] < 0.9


def test_masks_that_do_not_fit_are_reported(amounts: torch.Tensor, masks: np.ndarray) -> None:
    with pytest.raises(LensError, match="Masks of 8 × 8 are coarser than the layer's 16 × 16"):
        told(amounts, masks[:, ::4, ::4])
    with pytest.raises(LensError, match="class 2; there are 2"):
        told(amounts, masks, CLASSES[:2])
    with pytest.raises(LensError, match=r"\[rows, height, width\]"):
        told(amounts, masks[:, None])
