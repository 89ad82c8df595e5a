"""Optimised pictures of a subject whose layer is known: what sees red is optimised red, where its cell looks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from innerview.errors import LensError
from innerview.features.visualisation.canvas import palette_of
from innerview.features.visualisation.lens import look
from innerview.schema import Output, Rows
from innerview.subjects import Subject, subject
from innerview.testing.feeds import fed_rows

SIZE, ROWS, MIDDLE = 16, 24, 8
PLAIN: dict[str, Any] = {"held": "pixels", "jitter": 0, "l2": 0.0, "tv": 0.0, "steps": 100}
"""Nothing holds the gradient back."""


class Sees(nn.Module):
    """Channel 0 sees red, 1 green, 2 blue, each in one pixel of every second line and column."""

    def __init__(self) -> None:
        super().__init__()
        self.eye = nn.Conv2d(3, 3, 3, padding=1, stride=2, bias=False)
        self.value = nn.Linear(3, 1)
        with torch.no_grad():
            self.eye.weight.zero_()
            for channel in range(3):
                self.eye.weight[channel, channel, 1, 1] = 1

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"value": self.value(self.eye(x).sum((2, 3)))}


def sees() -> Subject:
    return subject(Sees(), example=torch.zeros(1, 3, SIZE, SIZE))


def frames(*, most: float = 0.5) -> Rows:
    """Noise of any colour up to `most`; row 7 is the brightest in red, at cell (3, 5)."""
    pictures = torch.rand(ROWS, 3, SIZE, SIZE, generator=torch.Generator().manual_seed(0)) * most * 0.9
    pictures[7, 0, 6, 10] = most
    ends = {"x": (torch.zeros(3, SIZE, SIZE), torch.ones(3, SIZE, SIZE))}
    return fed_rows(sees(), {"x": pictures}, first=100, ends=ends)


@pytest.mark.parametrize("held", ["pixels", "fourier"])
def test_what_sees_red_is_visualised_red_where_it_looks(held: str) -> None:
    found = look(frames(), sees(), unit=0, **(PLAIN | {"held": held}))
    optimised = found.pictures[0]
    assert optimised.shape == (SIZE, SIZE, 3) and optimised.dtype == np.uint8
    assert optimised[MIDDLE, MIDDLE, 0] > 235, "the pixel that the middle cell looks at"
    line = found.value["pictures"][0]
    assert line["reached"] == pytest.approx(optimised[MIDDLE, MIDDLE, 0] / 255, abs=1e-6)
    if held == "pixels":
        others = np.delete(optimised[..., 0].ravel(), MIDDLE * SIZE + MIDDLE)
        assert np.ptp(others) < 8, "nothing else matters, so nothing else is optimised"


def test_it_stands_beside_the_strongest_row_and_says_how_far_beyond_it_is() -> None:
    near, far = (look(frames(most=most), sees(), unit=0, **PLAIN).value["pictures"][0] for most in (1.0, 0.25))
    assert near["strongest"] == {"row": 107, "y": 3, "x": 5, "amount": pytest.approx(1.0)}
    assert near["times"] == pytest.approx(1.0, abs=0.05) and not near["beyond"]
    wanted = (far["reached"] - far["baseline"]) / (far["strongest"]["amount"] - far["baseline"])
    assert far["times"] == pytest.approx(wanted) and far["times"] > 5 and far["beyond"]


def test_a_factor_is_visualised_as_the_mixture_of_channels_that_it_is() -> None:
    directions = np.array([[0.0, 0.6, 0.8], [1.0, 0.0, 0.0]], np.float32)
    factors = Output(value={"layer": "eye"}, arrays={"directions": directions})
    found = look(frames(), sees(), factors=factors, **PLAIN)
    assert [(line["kind"], line["unit"]) for line in found.value["pictures"]] == [("factor", 0), ("factor", 1)]
    mixed, red = found.pictures[:, MIDDLE, MIDDLE].astype(int)
    assert min(mixed[1], mixed[2], red[0]) > 225
    assert found.value["pictures"][0]["reached"] == pytest.approx((0.6 * mixed[1] + 0.8 * mixed[2]) / 255, abs=1e-5)
    assert found.arrays["way"].shape == (2, 100)


def test_the_whole_layer_is_visualised_everywhere_it_looks() -> None:
    optimised = look(frames(), sees(), unit=2, objective="layer", **PLAIN).pictures[0]
    assert optimised[::2, ::2, 2].min() > 200 and np.ptp(optimised[1::2, 1::2, 2]) < 8


def test_a_caricature_exaggerates_what_was_there() -> None:
    given = frames()
    found = look(given, sees(), objective="caricature", row=107, **PLAIN)
    (line,) = found.value["pictures"]
    assert (line["kind"], line["unit"], line["strongest"]["row"]) == ("row", 107, 107)
    seen = given.inputs(np.array([7]))["x"][0, :, ::2, ::2].numpy()
    optimised = found.pictures[0].transpose(2, 0, 1)[:, ::2, ::2]
    assert line["beyond"] and np.corrcoef(seen.ravel(), optimised.ravel())[0, 1] > 0.2


def test_the_strongest_channels_are_taken_where_none_is_chosen() -> None:
    given = frames()
    faint = torch.tensor([1, 0.1, 1])[:, None, None]
    dull = fed_rows(sees(), {"x": given.inputs(np.arange(ROWS))["x"] * faint}, ends=given.ends)
    found = look(dull, sees(), count=2, **(PLAIN | {"steps": 8}))
    assert [line["unit"] for line in found.value["pictures"]] == [0, 2]


def test_penalties_and_a_reach_hold_it_back() -> None:
    free = look(frames(), sees(), unit=0, **PLAIN)
    dear = look(frames(), sees(), unit=0, **(PLAIN | {"l2": 50.0}))
    calm = look(frames(), sees(), unit=0, **(PLAIN | {"tv": 50.0}))
    enough = look(frames(), sees(), unit=0, **(PLAIN | {"reach": 1.0, "l2": 0.1}))
    reached = [found.value["pictures"][0]["times"] for found in (free, dear, calm, enough)]
    assert reached[0] > 2 and reached[1] < 0.5 and reached[2] < 0.5 and reached[3] == pytest.approx(1, abs=0.25)


def test_rare_colours_cost_more_than_common_ones() -> None:
    grey = torch.rand(20, 1, 8, 8, generator=torch.Generator().manual_seed(1)).expand(-1, 3, -1, -1)
    palette = palette_of(grey, None)
    common, rare = (palette.rarity @ (torch.tensor(colour) / 3**0.5) for colour in ([1.0, 1, 1], [1.0, -1, 0]))
    assert float(rare.norm()) > 5 * float(common.norm())
    assert palette.low[0, 0, 0] == grey.min() and palette.high[0, 0, 0] == grey.max()


class Remembers(nn.Module):
    """A picture and a vector in, with a memory; the picture has four channels."""

    def __init__(self) -> None:
        super().__init__()
        self.eye = nn.Conv2d(4, 2, 3, padding=1)
        self.cell = nn.GRUCell(2 + 5, 6)
        self.policy = nn.Linear(6, 3)

    def forward(self, image: Tensor, goal: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        h = self.cell(torch.cat([self.eye(image).mean((2, 3)), goal], 1), h)
        return self.policy(h), h


def test_other_inputs_are_blank_and_memory_is_fresh() -> None:
    remembers = subject(Remembers(), example=(torch.zeros(1, 4, 12, 20), torch.zeros(1, 5)))
    image = torch.rand(6, 4, 12, 20, generator=torch.Generator().manual_seed(0))
    given = {"image": image, "goal": torch.ones(6, 5)}
    fed = fed_rows(remembers, given)
    found = look(fed, remembers, steps=8, turn=5.0, zoom=0.1)
    assert found.value["input"] == "image" and found.pictures.shape == (2, 12, 20, 4)


def test_what_cannot_be_is_reported() -> None:
    with pytest.raises(LensError, match=r"'value' puts out \[1\] per row.*have both: eye"):
        look(frames(), sees(), layer="value")
    with pytest.raises(LensError, match="no channel 3; they are counted from 0 to 2"):
        look(frames(), sees(), unit=3)
    with pytest.raises(LensError, match="Row 3 is not among those that are looked at: 100 to 123"):
        look(frames(), sees(), objective="caricature", row=3)
    odd = Output(value={"layer": "eye"}, arrays={"directions": np.ones((2, 5), np.float32)})
    with pytest.raises(LensError, match="of 5 channels; 'eye' has 3"):
        look(frames(), sees(), factors=odd)
    with pytest.raises(LensError, match="no factor 2"):
        look(frames(), sees(), factors=Output(value={"layer": "eye"}, arrays={"directions": np.eye(3)[:2]}), unit=2)
