"""Pointing and mass against masks that were drawn by hand, and agreement between methods."""

from __future__ import annotations

import numpy as np

from innerview.trust.agreement import agreement
from innerview.trust.pointing import as_large_as, pointing

CLASSES = ("ground", "coin", "saw", "never")


def masks(count: int = 3) -> np.ndarray:
    found = np.zeros((count, 10, 10), np.uint8)
    found[:, :2, :5] = 1
    found[0, 8:, 8:] = 2
    return found


def test_mass_and_hits_by_hand() -> None:
    maps = np.zeros((3, 10, 10))
    maps[:, 0, 0], maps[:, 5, 5] = 3.0, 1.0
    found = pointing(maps, masks(), CLASSES)
    assert found is not None and found.hits.mean == 1 and np.isclose(found.mass.mean, 0.75)
    assert np.isclose(found.area, (14 + 10 + 10) / 300)
    assert np.isclose(found.beyond.mean, 0.75 - found.area)
    assert [(each.name, each.rows) for each in found.classes] == [("coin", 3), ("saw", 1)], (
        "what is not seen is left out"
    )
    coin, saw = found.classes
    assert np.isclose(coin.mass, 0.75) and np.isclose(coin.area, 0.1) and saw.mass == 0 and np.isclose(saw.area, 0.04)


def test_an_even_share_is_what_chance_gives() -> None:
    maps = np.ones((3, 10, 10))
    maps[:, 9, 0] = 1.001  # not empty
    found = pointing(maps, masks(), CLASSES)
    assert found is not None and np.isclose(found.mass.mean, found.area, atol=1e-3) and found.hits.mean == 0


def test_equal_peaks_count_in_part_and_empty_maps_not_at_all() -> None:
    maps = np.zeros((3, 10, 10))
    maps[0, 0, 0] = maps[0, 5, 5] = 1.0
    maps[1, 5, 5] = 1.0
    found = pointing(maps, masks(), CLASSES)
    assert found is not None and found.hits.n == 2 and found.hits.mean == 0.25
    assert pointing(np.zeros((3, 10, 10)), masks(), CLASSES) is None


def test_masks_of_another_size_are_brought_to_the_map() -> None:
    small = np.array([[[0, 1], [2, 0]]])
    large = as_large_as(small, (4, 6))
    assert large.shape == (1, 4, 6) and (large[0, :2, 3:] == 1).all() and (large[0, 2:, :3] == 2).all()
    assert np.array_equal(as_large_as(large, (2, 2)), small)


def test_agreement_is_the_mean_rank_correlation() -> None:
    one = np.random.default_rng(0).random((3, 4, 4))
    empty = np.zeros_like(one)
    found = agreement({"a": one, "b": 2 * one, "c": -one, "d": empty})
    assert np.isclose(found["a"]["a"], 1) and np.isclose(found["a"]["b"], 1) and np.isclose(found["a"]["c"], -1)  # type: ignore[arg-type]
    assert found["a"]["d"] is None and found["d"]["d"] is None
    partly = np.concatenate([one[:2], empty[2:]])
    assert np.isclose(agreement({"a": one, "b": partly})["a"]["b"], 1), "over the rows where both show something"  # type: ignore[arg-type]
