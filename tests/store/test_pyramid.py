"""Means over many rows are those of the rows, at every level, also at ragged ends and around damage."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from innerview.errors import DamagedPart, RequestError, UnknownName
from innerview.schema import ArraySpec, Ordering
from innerview.store import Recording, Study, check, write_rows
from innerview.store.results.pyramid import BINS, Pyramid, check_tile, exact_tile, is_stored, levels, mean_tile

from .samples import flip

ELEMENTS = 3


def states(rows: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1, 1, (rows, ELEMENTS)).astype(np.float32)


def recording(folder: Path, values: np.ndarray) -> Recording:
    study = Study.create(folder / "s.study")
    write_rows(
        study,
        "run",
        ordering=Ordering(),
        columns={"episode": np.zeros(len(values), int), "step": np.arange(len(values))},
        arrays={"memory": values},
        specs=[ArraySpec(name="memory", shape=values.shape[1:], dtype="float32", role="memory")],
    )
    return study.recording("run")


def by_hand(values: np.ndarray, level: int) -> np.ndarray:
    flat = values.reshape(len(values), -1)
    return np.stack([flat[i : i + 2**level].mean(axis=0) for i in range(0, len(flat), 2**level)])


@pytest.mark.parametrize(("rows", "expected"), [(1, 1), (256, 1), (257, 2), (512, 2), (513, 3), (1_000_000, 13)])
def test_levels_end_where_one_tile_holds_everything(rows: int, expected: int) -> None:
    assert levels(rows) == expected
    check_tile(rows, expected - 1, 0)
    with pytest.raises(RequestError, match=f"levels 0 to {expected - 1}"):
        check_tile(rows, expected, 0)
    with pytest.raises(RequestError, match="no tile"):
        check_tile(rows, expected - 1, 1)


def test_the_first_level_is_exact(tmp_path: Path) -> None:
    values = states(300)
    run = recording(tmp_path, values)
    assert np.array_equal(exact_tile(run, "memory", tile=1, start=0, stop=300), values[256:])
    assert np.array_equal(exact_tile(run, "memory", tile=0, start=40, stop=90), values[40:90])


def test_means_do_not_reach_over_the_border_of_an_episode(tmp_path: Path) -> None:
    values = states(700)
    run = recording(tmp_path, values)
    tile = mean_tile(run, "memory", level=3, tile=0, start=101, stop=680)
    assert tile.dtype == np.float16
    np.testing.assert_allclose(tile, by_hand(values[101:680], 3), atol=1e-3)


@pytest.mark.parametrize("rows", [4096, 9_999, 70_001])
def test_every_stored_level_holds_the_means_of_its_rows(tmp_path: Path, rows: int) -> None:
    values = states(rows)
    pyramid = Pyramid(recording(tmp_path, values), "memory")
    assert not pyramid.ready
    pyramid.build()
    assert pyramid.ready
    for level in filter(is_stored, range(levels(rows))):
        tiles = -(-rows // (BINS << level))
        found = np.concatenate([pyramid.tile(level, tile) for tile in range(tiles)])
        np.testing.assert_allclose(found, by_hand(values, level), atol=1e-3)
        direct = mean_tile(pyramid.recording, "memory", level=level, tile=tiles - 1, start=0, stop=rows)
        np.testing.assert_allclose(direct, by_hand(values, level)[(tiles - 1) * BINS :], atol=1e-3)


def test_states_of_any_shape_are_flat(tmp_path: Path) -> None:
    values = states(600).reshape(300, 2, ELEMENTS)
    run = recording(tmp_path, values)
    assert exact_tile(run, "memory", tile=0, start=0, stop=300).shape == (256, 6)
    np.testing.assert_allclose(
        mean_tile(run, "memory", level=1, tile=0, start=0, stop=300), by_hand(values, 1), atol=1e-3
    )


def test_a_damaged_tile_is_never_shown_and_made_again(tmp_path: Path) -> None:
    run = recording(tmp_path, states(5_000))
    Pyramid(run, "memory").build()
    assert check(tmp_path / "s.study") == []
    (kept,) = (run.folder / "pyramid").iterdir()
    flip(kept / "4.f16", 20)
    (found,) = check(tmp_path / "s.study")
    assert found.part.endswith("4.f16") and "made again" in found.advice
    with pytest.raises(DamagedPart, match="Level 4"):
        Pyramid(run, "memory").tile(4, 0)
    assert Pyramid(run, "memory").tile(4, 1).size
    Pyramid(run, "memory").forget()
    Pyramid(run, "memory").build()
    assert check(tmp_path / "s.study") == []


def test_who_stops_it_leaves_nothing_behind(tmp_path: Path) -> None:
    run = recording(tmp_path, states(20_000))
    told: list[float] = []
    Pyramid(run, "memory").build(lambda share: told.append(share) or len(told) < 3)
    assert told == sorted(told)
    assert len(told) == 3
    assert not Pyramid(run, "memory").ready
    assert list((run.folder / "pyramid").iterdir()) == []


def test_damaged_rows_are_unknown_and_the_others_are_drawn(tmp_path: Path) -> None:
    values = states(200_000)
    run = recording(tmp_path, values)
    (run.folder / "arrays/memory/c.1.0").write_bytes(b"broken")
    again = Study.open(tmp_path / "s.study").recording("run")
    Pyramid(again, "memory").build()
    level = 10
    found = Pyramid(again, "memory").tile(level, 0)
    unknown = np.isnan(found).all(axis=1)
    assert 0 < unknown.sum() < len(found)
    np.testing.assert_allclose(found[~unknown][0], by_hand(values, level)[~unknown][0], atol=1e-3)


def test_an_array_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="memory"):
        Pyramid(recording(tmp_path, states(4)), "memroy")
