"""Blame names what was done to pictures, and says how sure it is."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.errors import LensError
from innerview.schema import Column, Head, Rows
from innerview.testing.feeds import GivenFeed, fed_rows
from innerview.testing.lenses import check_lens
from innerview.transfer import blame
from innerview.transfer.factors import FACTORS, Look, blurred, carried, grain_of, median

ROWS, SIZE = 8, 48


class Reads(nn.Module):
    """A pose of numbers that change with every factor: means, spreads, differences of neighbours, depth."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Conv2d(4, 4, 1, bias=False)
        self.scale.weight.data = torch.eye(4).view(4, 4, 1, 1)

    def forward(self, rgbd: Tensor) -> Tensor:
        seen = self.scale(rgbd)
        colour, grey = seen[:, :3], seen[:, :3].mean(1)
        x = 4 * grey.mean((1, 2)) + 5 * grey.std((1, 2))
        y = 6 * (colour[:, 0] - colour[:, 2]).mean((1, 2)) + 400 * (grey[:, 1:] - grey[:, :-1]).square().mean((1, 2))
        return torch.stack([x, y, seen[:, 3].mean((1, 2))], 1)


@pytest.fixture(scope="module")
def sim() -> Tensor:
    """Squares in colour, and depth."""
    squares = torch.rand(ROWS, 4, SIZE // 8, SIZE // 8, generator=torch.Generator().manual_seed(0))
    return squares.repeat_interleave(8, 2).repeat_interleave(8, 3) * 0.6 + 0.15


def rows_of(subject: iv.Subject, sim: Tensor, real: Tensor) -> Rows:
    truth = subject.run({"rgbd": sim}).heads["pose"].double().numpy()
    parts = ("x", "y", "angle")
    return fed_rows(
        subject,
        {"rgbd": real},
        domains={"sim": GivenFeed(subject, {"rgbd": sim}), "real": GivenFeed(subject, {"rgbd": real})},
        channels={"rgbd": ("colour", "colour", "colour", "depth")},
        columns={part: truth[:, place] for place, part in enumerate(parts)},
        specs={p: Column(name=p, type="float", pose=p, unit="rad" if p == "angle" else "m") for p in parts},  # type: ignore[arg-type]
    )


def adapted() -> iv.Subject:
    head = Head(name="pose", kind="pose", size=3, units=("m", "m", "rad"))
    return iv.subject(Reads(), example={"rgbd": torch.zeros(1, 4, SIZE, SIZE)}, heads={"pose": head})


def planted(name: str, sim: Tensor) -> Tensor:
    colour, depth = sim[:, :3], sim[:, 3:]
    mean = colour.mean((1, 2, 3), keepdim=True)
    made = {
        "brightness": colour * 0.8,
        "contrast": mean + (colour - mean) * 0.6,
        "white balance": colour * torch.tensor([1.15, 1.0, 0.85]).view(1, 3, 1, 1),
        "blur": blurred(colour, 1.2),
        "noise": colour + 0.06 * torch.randn(colour.shape, generator=torch.Generator().manual_seed(1)),
    }
    return torch.cat([made.get(name, colour), depth * 0.7 if name == "depth" else depth], 1).clamp(0, 1)


@pytest.mark.parametrize("factor", FACTORS)
def test_the_planted_factor_is_named_first(sim: Tensor, factor: str) -> None:
    subject = adapted()
    found = blame.look(rows_of(subject, sim, planted(factor, sim)), subject)
    assert found.value["first"] == found.lines[0][0] == factor
    assert len(found.lines) == len(FACTORS) and found.value["rows"] == ROWS
    assert found.value["gap"]["value"] > 0
    _, value, low, high = found.lines[0][:4]
    assert low <= value <= high


def test_figures_are_those_of_the_errors() -> None:
    errors = {
        ("sim", ""): np.array([0.0, 0, 0, 0]),
        ("real", ""): np.array([4.0, 4, 4, 4]),
        ("sim", "a"): np.array([3.0, 3, 3, 3]),
        ("real", "a"): np.array([1.0, 1, 1, 1]),
        ("sim", "b"): np.array([0.0, 0, 0, 2]),
        ("real", "b"): np.array([4.0, 4, 4, 4]),
    }
    said = {key: value[:, None] for key, value in errors.items()}
    found = blame.table(errors, said, ("b", "a"), unit="m", measure="x")
    assert [line[0] for line in found.lines] == ["a", "b"]
    assert found.lines[0][1:] == [3, 3, 3, 3, 3, 3, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75]
    assert found.lines[1][1] == 0.5 and found.lines[1][4] == 0 and found.lines[1][7] == 0.0625
    alone = {key: value for key, value in errors.items() if key != ("real", "a")}
    only = blame.table(alone, {key: said[key] for key in alone}, ("a",), unit="m", measure="x")
    assert only.lines[0][4:7] == [None, None, None] and only.lines[0][7] == 0.75
    same = blame.table(
        {k: v * 0 for k, v in errors.items()}, {k: v * 0 for k, v in said.items()}, ("a",), unit="m", measure="x"
    )
    assert same.lines[0][7:] == [None] * 6  # no gap: there is nothing to share


def test_a_factor_is_measured_and_carried_over(sim: Tensor) -> None:
    colour = sim[:, :3]
    own, other = Look.of(colour), Look.of(planted("white balance", sim)[:, :3])
    depth = (False, False, False, True)
    made = carried(sim, planted("white balance", sim), "white balance", depth, (own, other))
    assert torch.allclose(
        Look.of(made[:, :3]).means / Look.of(made[:, :3]).means.mean(), other.means / other.means.mean(), atol=0.01
    )
    assert torch.equal(made[:, 3:], sim[:, 3:])
    flat = torch.full((1, 1, 64, 64), 0.5) + 0.05 * torch.randn(
        1, 1, 64, 64, generator=torch.Generator().manual_seed(0)
    )
    assert grain_of(flat) == pytest.approx(0.05, rel=0.05)
    assert grain_of(median(flat)) < 0.03
    assert torch.equal(carried(sim, 1 - sim, "depth", depth, (own, own))[:, 3:], 1 - sim[:, 3:])


def test_it_keeps_what_lenses_promise_and_wants_several_pairs(sim: Tensor) -> None:
    assert check_lens("blame") == ("pairs",)
    subject = adapted()
    with pytest.raises(LensError, match="at least two"):
        blame.look(rows_of(subject, sim[:1], sim[:1]), subject)
