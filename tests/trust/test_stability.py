"""Whether a highlight stays, on videos that were drawn by hand."""

from __future__ import annotations

import numpy as np

from innerview.trust.stability import highlight, seen_again, stability

SIDE, STEPS = 50, 12


def video(places: list[tuple[int, int]]) -> np.ndarray:
    """A spot of 5 × 5 pixels at each step, before nothing: as many pixels as a highlight has."""
    maps = np.zeros((len(places), SIDE, SIDE))
    for frame, (down, across) in zip(maps, places, strict=True):
        frame[down : down + 5, across : across + 5] = 1
    return maps


def test_what_stands_still_or_drifts_is_seen_again() -> None:
    still = stability(video([(10, 10)] * STEPS), ((0, STEPS),))
    assert still is not None and still.seen_again.mean == 1 and still.steps == STEPS - 1 and still.word == "stable"
    assert still.reach_px == 2 and still.by_chance < 0.2
    drifting = stability(video([(10 + step, 10 + 2 * step) for step in range(STEPS)]), ((0, STEPS),))
    assert drifting is not None and drifting.seen_again.mean == 1 and drifting.word == "stable"


def test_what_jumps_flickers() -> None:
    places = [(5, 5) if step % 2 else (35, 35) for step in range(STEPS)]
    found = stability(video(places), ((0, STEPS),))
    assert found is not None and found.seen_again.mean == 0 and found.word == "flickers"


def test_the_share_is_counted_pixel_by_pixel() -> None:
    lit = video([(10, 10)]) > 0
    assert seen_again(lit, video([(10, 14)]) > 0, 1)[0] == 10 / 25, "two of its five columns are within reach"
    assert seen_again(lit, video([(10, 14)]) > 0, 0)[0] == 5 / 25
    assert seen_again(lit, video([(30, 30)]) > 0, 2)[0] == 0


def test_only_steps_that_follow_each_other_count() -> None:
    maps = video([(5, 5)] * 4 + [(35, 35)] * 4)
    apart = stability(maps, ((0, 4), (4, 8)))
    joined = stability(maps, ((0, 8),))
    assert apart is not None and joined is not None
    assert (apart.steps, apart.seen_again.mean) == (6, 1) and (joined.steps, joined.seen_again.mean) == (7, 6 / 7)


def test_empty_maps_are_left_out() -> None:
    maps = video([(5, 5)] * 6)
    maps[2] = 0
    found = stability(maps, ((0, 6),))
    assert found is not None and found.steps == 3
    assert stability(np.zeros((4, SIDE, SIDE)), ((0, 4),)) is None and stability(maps, ()) is None


def test_the_highlight_is_the_strongest_hundredth_and_never_nothing() -> None:
    maps = np.random.default_rng(0).random((2, SIDE, SIDE))
    lit = highlight(maps)
    assert lit.sum(axis=(1, 2)).tolist() == [25, 25]
    assert maps[0][lit[0]].min() > np.sort(maps[0].ravel())[-26]
    few = np.zeros((1, SIDE, SIDE))
    few[0, 3, 4] = 1
    assert np.argwhere(highlight(few)[0]).tolist() == [[3, 4]]
