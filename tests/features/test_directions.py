"""Factors: planted directions are found, amounts keep their sign, and what is left over is told."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from innerview.errors import LensError
from innerview.features import directions
from innerview.features.directions import MAX_CELLS, METHODS, Factors, cells

PLANTED = torch.tensor([[1.0, 0, 0, 0, 1, 0], [0, 1.0, 0, 0, 0, 0], [0, 0, 1.0, 2, 0, 0]])


def planted(noise: float = 0.0) -> tuple[torch.Tensor, torch.Tensor]:
    """Amounts [rows, 3, 5, 5], mostly nothing, with both signs, and the values [rows, 6, 5, 5] they make."""
    generator = torch.Generator().manual_seed(0)
    amounts = torch.randn(40, 3, 5, 5, generator=generator)
    amounts *= torch.rand(40, 3, 5, 5, generator=generator) < 0.2
    directions = PLANTED / PLANTED.norm(dim=1, keepdim=True)
    values = torch.einsum("rfhw,fc->rchw", amounts, directions)
    return amounts, values + noise * torch.randn(values.shape, generator=generator)


def fit(values: torch.Tensor, *, count: int, method: str = "nmf", seed: int = 0) -> Factors:
    """Fitted to both signs of [rows, channel, height, width]."""
    places = cells(values, signed=True, max_cells=MAX_CELLS, seed=seed)
    return directions.fit(places, count=count, method=method, seed=seed)


@pytest.mark.parametrize("method", METHODS)
def test_planted_directions_are_found(method: str) -> None:
    _, values = planted()
    found = fit(values, count=3, method=method)
    likeness = found.directions @ (PLANTED / PLANTED.norm(dim=1, keepdim=True)).numpy().T
    assert sorted(likeness.argmax(axis=1)) == [0, 1, 2] and likeness.max(axis=1).min() > 0.98
    assert found.explained > (0.999 if method == "nmf" else 0.9)


def test_amounts_are_given_back_with_their_sign() -> None:
    amounts, values = planted()
    found = fit(values, count=3)
    likeness = found.directions @ (PLANTED / PLANTED.norm(dim=1, keepdim=True)).numpy().T
    got = found.amounts(values)[:, np.argsort(likeness.argmax(axis=1))]
    alone = (amounts != 0).sum(dim=1, keepdim=True) <= 1  # two signs in one place are told apart only by their channels
    torch.testing.assert_close(got * alone, amounts * alone, atol=0.02, rtol=0.02)
    assert float(found.residual(values, found.amounts(values)).max()) < 0.02


def test_what_too_few_factors_leave_out_is_reported() -> None:
    _, values = planted(noise=0.01)
    whole, part = fit(values, count=3), fit(values, count=1)
    assert whole.explained > 0.99 > 0.7 > part.explained
    assert part.residual(values, part.amounts(values)).mean() > whole.residual(values, whole.amounts(values)).mean()


def test_the_same_seed_gives_the_same_factors() -> None:
    _, values = planted(noise=0.1)
    assert np.array_equal(fit(values, count=2, seed=5).directions, fit(values, count=2, seed=5).directions)


def test_what_cannot_be_split_is_reported() -> None:
    _, values = planted()
    with pytest.raises(LensError, match="7 factors were asked for; a layer of 6 channels has 1 to 6"):
        fit(values, count=7)
    with pytest.raises(LensError, match="Everything is zero"):
        fit(values * 0, count=2)
    with pytest.raises(LensError, match="need a layer with channels"):
        fit(values[:, :, 0, 0], count=2)
    with pytest.raises(LensError, match="of 6 channels; the layer has 3"):
        fit(values, count=2).amounts(values[:, :3])
