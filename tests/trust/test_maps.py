"""What all figures stand on: strength, ranks, likeness and a map moved elsewhere."""

from __future__ import annotations

import numpy as np
import torch

import innerview as iv
from innerview.saliency import gradient
from innerview.testing.lenses import check_lens
from innerview.trust.edges import KERNELS, look
from innerview.trust.interval import bootstrap
from innerview.trust.maps import (
    is_empty,
    moved,
    rank_correlation,
    ranks,
    signed_strength,
    strength,
    structural_similarity,
)

from .planted import deep, pictures

RNG = np.random.default_rng(0)


def test_strength_is_the_strongest_channel_and_keeps_its_sign_where_asked() -> None:
    heat = np.array([[[[1.0, 0.0]], [[-3.0, 0.5]]]])
    assert strength(heat).tolist() == [[[3.0, 0.5]]]
    assert signed_strength(heat).tolist() == [[[-3.0, 0.5]]]


def test_rank_correlation_is_spearmans_with_ties() -> None:
    from scipy.stats import spearmanr

    one, other = RNG.integers(0, 5, (2, 4, 6, 7)).astype(float)
    found = rank_correlation(ranks(one), ranks(other))
    wanted = [spearmanr(a.ravel(), b.ravel()).statistic for a, b in zip(one, other, strict=True)]
    assert np.allclose(found, wanted)
    assert np.allclose(rank_correlation(ranks(one), ranks(np.exp(one))), 1), "only the order counts"
    assert np.allclose(rank_correlation(ranks(one), ranks(-one)), -1)


def test_an_empty_map_has_no_order_to_share() -> None:
    maps = np.stack([np.zeros((4, 4)), np.full((4, 4), 2.0), RNG.random((4, 4))])
    assert is_empty(maps).tolist() == [True, True, False]
    assert rank_correlation(ranks(maps), ranks(maps)).round(9).tolist() == [0, 0, 1]


def test_structural_similarity_is_one_for_the_same_at_any_scale() -> None:
    maps = RNG.random((3, 12, 12))
    assert np.allclose(structural_similarity(maps, 7 * maps), 1)
    assert structural_similarity(maps, RNG.random((3, 12, 12))).max() < 0.5
    assert np.isfinite(structural_similarity(maps, np.zeros_like(maps))).all()


def test_a_moved_map_keeps_its_values() -> None:
    maps = RNG.random((5, 4, 6))
    there = moved(maps, np.random.default_rng(1))
    assert np.allclose(np.sort(there.reshape(5, -1)), np.sort(maps.reshape(5, -1)))
    assert not np.array_equal(there, maps)


def test_the_bootstrap_holds_the_mean_and_leaves_out_what_is_not_known() -> None:
    found = bootstrap(np.array([0.0, 1.0, np.nan, 0.0, 1.0]))
    assert found is not None and found.mean == 0.5 and found.n == 4 and 0 <= found.low < 0.5 < found.high <= 1
    assert bootstrap(np.array([np.nan])) is None
    alone = bootstrap(np.array([0.3]))
    assert alone is not None and alone.low == alone.high == 0.3


def test_edges_by_hand() -> None:
    picture = torch.zeros(1, 1, 5, 5)
    picture[0, 0, 2, 2] = 1
    from innerview.testing.feeds import fed_rows

    from .planted import Halves

    adapted = iv.subject(Halves(), example=torch.zeros(1, 1, 6, 6), actions=["left", "right"])
    seen = torch.nn.functional.pad(picture, (0, 1, 0, 1))
    for name, kernel in KERNELS.items():
        assert sum(map(sum, kernel)) == 0, "nothing where all is even"
        heat = look(fed_rows(adapted, {"x": seen}), adapted, kernel=name).heat["x"][0, 0]
        assert np.array_equal(heat[1:4, 1:4], np.array(kernel)), "each is its own mirror image"
        assert not heat[0].any() and not heat[5].any()


def test_edges_keep_what_lenses_promise() -> None:
    assert {"lstm", "dict", "frame stack"} <= set(check_lens("laplacian"))


def test_edges_know_nothing_of_the_network() -> None:
    one, rows = deep(), pictures(deep())
    other = one.copied({name: value * 0 for name, value in one.module.named_parameters()}, name="none")
    assert np.array_equal(look(rows, one).heat["x"], look(rows, other).heat["x"])
    assert gradient.look(rows, one, target="value").heat["x"].any()
