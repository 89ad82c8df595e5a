"""Layouts: where states lie, which rows they are, and what is shown on the way."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from innerview.errors import LensError
from innerview.projection import pca, tsne, umap
from innerview.projection.sampling import chosen_rows
from innerview.schema import Output, Rows, States


def remembered(states: np.ndarray) -> Rows:
    return Rows(numbers=np.arange(len(states)), memory={"memory": States.of(states)})


def blobs(count: int = 300, seed: int = 0, first: int = 0) -> tuple[Rows, np.ndarray]:
    """Three families of states in 20 dimensions."""
    random = np.random.default_rng(seed)
    family = np.arange(count) % 3
    values = random.normal(size=(3, 20))[family] * 4 + random.normal(size=(count, 20))
    numbers = np.arange(first, first + count)
    return Rows(numbers=numbers, memory={"memory": States.of(values)}, groups=((0, count),)), family


def apart(places: np.ndarray, family: np.ndarray) -> float:
    """Share of states whose nearest neighbour is of the same family."""
    distance = ((places[:, None] - places[None]) ** 2).sum(-1)
    np.fill_diagonal(distance, np.inf)
    return float((family[distance.argmin(1)] == family).mean())


def test_pca_is_the_plane_of_largest_variance() -> None:
    random = np.random.default_rng(1)
    turn = np.linalg.qr(random.normal(size=(6, 6)))[0]
    values = random.normal(size=(500, 6)) * [9, 5, 1, 1, 0.5, 0.5] @ turn
    made = pca.look(remembered(values))
    spread = np.linalg.svd(values - values.mean(0), compute_uv=False) ** 2
    assert np.allclose(made.value["variance"], spread[:2] / spread.sum(), atol=1e-4)
    assert np.allclose(made.places.var(0) * 500, spread[:2], rtol=1e-3)


def test_tsne_puts_like_states_together_and_shows_itself_on_the_way() -> None:
    rows, family = blobs()
    shown: list[tuple[int, int | None, Output | None]] = []

    def watch(done: int, total: int | None, message: str = "", so_far: Output | None = None) -> None:
        shown.append((done, total, so_far))

    made = tsne.look(rows, watch=watch, iterations=100)
    assert apart(made.places, family) > 0.95
    assert made.value["provisional"] is False and made.value["sampled"] == 300
    assert [done for done, _, _ in shown] == [0, *range(25, 351, 25)] and {total for _, total, _ in shown} == {350}
    for _, _, so_far in shown:
        assert so_far is not None and so_far.value["provisional"]
        assert so_far.places.shape == (300, 2) and np.isfinite(so_far.places).all()
    again = tsne.look(rows, iterations=100)
    assert np.allclose(made.places, again.places)


def test_tsne_stops_where_it_is_reported() -> None:
    class Stop(Exception):
        pass

    def watch(done: int, total: int | None, message: str = "", so_far: Output | None = None) -> None:
        if done >= 75:
            raise Stop

    with pytest.raises(Stop):
        tsne.look(blobs()[0], watch=watch)


@pytest.mark.skipif(find_spec("umap") is None, reason="umap-learn is not installed: it is an extra")
@pytest.mark.filterwarnings("ignore")  # umap-learn tells of what else could be installed
def test_umap_puts_like_states_together() -> None:
    rows, family = blobs()
    assert apart(umap.look(rows).places, family) > 0.95


@pytest.mark.skipif(find_spec("umap") is not None, reason="umap-learn is installed")
def test_umap_says_what_is_missing() -> None:
    assert "innerview[umap]" in umap.LENS.settings["missing"]
    with pytest.raises(LensError, match=r"pip install 'innerview\[umap\]'"):
        umap.look(blobs()[0])


@pytest.mark.parametrize("sample", ["stride", "random"])
def test_a_layout_keeps_which_rows_it_shows(sample: str) -> None:
    rows, _ = blobs(first=1000)
    made = pca.look(rows, max_rows=50, sample=sample, seed=4)
    kept = made.rows
    assert len(kept) == 50 and made.value["of"] == 300 and kept.min() >= 1000 and kept.max() < 1300
    assert (np.diff(kept) > 0).all()
    states = rows.memory["memory"].read(kept - 1000)
    alone = pca.look(remembered(states))
    assert np.allclose(made.places, alone.places, atol=1e-3)


def test_only_the_states_that_are_laid_out_are_read() -> None:
    asked: list[int] = []

    def read(places: np.ndarray) -> np.ndarray:
        asked.append(len(places))
        return np.random.default_rng(0).normal(size=(len(places), 8)).astype(np.float32)

    endless = States(rows=10**7, elements=8, read=read)
    assert pca.look(Rows(numbers=np.arange(10**7), memory={"memory": endless}), max_rows=1000).value["sampled"] == 1000
    assert asked == [1000]
    assert chosen_rows(10, max_rows=20, sample="random", seed=0).tolist() == list(range(10))


@pytest.mark.parametrize("look", [pca.look, tsne.look])
def test_states_that_cannot_be_laid_out_are_refused(look: Any) -> None:
    broken = np.ones((20, 4))
    broken[3, 2] = np.nan
    with pytest.raises(LensError, match="no numbers"):
        look(remembered(broken))
    with pytest.raises(LensError, match="3 rows or more"):
        look(remembered(np.ones((2, 4))))
    with pytest.raises(LensError, match="no memory"):
        look(Rows(numbers=np.arange(5)))


def test_equal_states_have_no_layout_of_neighbours() -> None:
    with pytest.raises(LensError, match="the same"):
        tsne.look(remembered(np.ones((20, 4))))
    assert not pca.look(remembered(np.ones((20, 1)))).places.any()
