"""Filters of pictures against figures made by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from innerview.edits.filters.chain import filtered
from innerview.edits.filters.view import Seen
from innerview.errors import RequestError
from innerview.schema import Camera, parse_filters

CAMERA = Camera(width_px=64, height_px=64, focal_px=(40.0, 40.0), centre_px=(32.0, 32.0))


def coloured(steps: str, *colours: tuple[int, int, int]) -> list[tuple[int, ...]]:
    """One line of pixels through filters."""
    picture = np.array([[list(colours)]], np.uint8)
    made = filtered(Seen(colours=picture), parse_filters(steps)).colours
    assert made is not None
    assert made.dtype == np.uint8
    return [tuple(pixel) for pixel in made[0, 0].tolist()]


def test_brightness_multiplies_and_cuts_off() -> None:
    assert coloured("brightness 1.5", (10, 100, 200)) == [(15, 150, 255)]
    assert coloured("brightness 0", (10, 100, 200)) == [(0, 0, 0)]


def test_contrast_is_about_the_mean_of_each_picture() -> None:
    assert coloured("contrast 0.5", (0, 0, 0), (100, 100, 100)) == [(25, 25, 25), (75, 75, 75)]


def test_temperature_moves_red_and_blue_apart() -> None:
    assert coloured("temperature 1", (50, 50, 50)) == [(100, 50, 25)]
    assert coloured("temperature -0.5", (100, 80, 100)) == [(71, 80, 141)]


def test_blur_spreads_a_line_as_a_gaussian_does() -> None:
    line = np.zeros((1, 1, 41, 1), np.float32)
    line[0, 0, 20] = 1
    made = filtered(Seen(colours=line), parse_filters("blur 2")).colours
    assert made is not None
    expected = np.exp(-(np.arange(-6, 7) ** 2) / 8)
    np.testing.assert_allclose(made[0, 0, 14:27, 0], expected / expected.sum(), atol=1e-6)


def test_filters_are_made_in_their_order() -> None:
    assert coloured("brightness 2 | contrast 0", (0, 0, 0), (200, 200, 200)) == [(128,) * 3] * 2
    assert coloured("contrast 0 | brightness 2", (0, 0, 0), (200, 200, 200)) == [(200,) * 3] * 2


def test_what_changes_nothing_gives_the_same_bytes() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (2, 64, 64, 3), np.uint8)
    steps = "brightness 1 | contrast 1 | temperature 0 | blur 0 | pitch 0 | field of view 1 | height 0"
    made = filtered(Seen(colours=picture, camera=CAMERA), parse_filters(steps)).colours
    assert made is picture


def test_depth_out_of_range_was_not_measured() -> None:
    depth = np.array([[[0.2, 1.0, 8.0]]])
    made = filtered(Seen(depth_m=depth), parse_filters("depth range 0.35 7")).depth_m
    assert made is not None
    assert made.tolist() == [[[0.0, 1.0, 0.0]]]


def dot(line: int, column: int, away: float) -> Seen:
    """A white dot at a distance before a black wall at twice that."""
    colours = np.zeros((1, 64, 64, 3), np.uint8)
    colours[0, line, column] = 255
    depth = np.full((1, 64, 64), 2 * away)
    depth[0, line, column] = away
    return Seen(colours=colours, depth_m=depth, camera=CAMERA)


def whitest(seen: Seen) -> tuple[int, int]:
    assert seen.colours is not None
    line, column = np.unravel_index(seen.colours[0].sum(-1).argmax(), (64, 64))
    return int(line), int(column)


def test_a_camera_that_looks_up_sees_things_further_down_by_its_focal_length_times_the_tangent() -> None:
    degrees = math.degrees(math.atan(8 / 40))
    made = filtered(dot(32, 32, 3.0), parse_filters(f"pitch {degrees:.6f}"))
    assert whitest(made) == (40, 32)


def test_depth_is_along_the_axis_of_the_turned_camera() -> None:
    wall = Seen(depth_m=np.full((1, 64, 64), 4.0), camera=CAMERA)
    made = filtered(wall, parse_filters("pitch 10")).depth_m
    assert made is not None
    # A wall before the recorded camera; the ray of a pixel leaves the turned one at its own angle plus ten degrees.
    up = -(np.arange(64) + 0.5 - 32) / 40
    expected = 4.0 / (math.cos(math.radians(10)) - up * math.sin(math.radians(10)))
    seen = made[0, :, 32] > 0
    assert seen.sum() > 40
    np.testing.assert_allclose(made[0, seen, 32], expected[seen], rtol=0.005)


def test_half_the_field_of_view_is_twice_as_large() -> None:
    made = filtered(dot(36, 24, 3.0), parse_filters("field of view 0.5"))
    line, column = whitest(made)
    assert (line, column) in {(40, 16), (40, 17), (41, 16), (41, 17)}
    wide = filtered(dot(36, 24, 3.0), parse_filters("field of view 2")).colours
    assert wide is not None
    assert not wide[0, :15].any(), "what the recorded camera did not see is black"


def test_a_camera_that_stands_higher_sees_near_things_move_most() -> None:
    made = filtered(dot(20, 30, 2.0), parse_filters("height 0.5"))
    assert whitest(made) == (30, 30)  # 40 px * 0.5 m / 2 m further down
    assert made.depth_m is not None
    assert made.depth_m[0, 30, 30] == 2.0
    assert made.depth_m[0, 0, 0] == 0.0, "above there is nothing that was seen"
    assert (made.depth_m[0, 10:, 10] == 4.0).all()


@pytest.mark.parametrize(
    ("seen", "steps", "told"),
    [
        (Seen(colours=np.zeros((1, 64, 64, 3), np.uint8)), "pitch 2", "scene has no camera"),
        (Seen(colours=np.zeros((1, 64, 64, 3), np.uint8), camera=CAMERA), "height 0.1", "needs depth"),
        (Seen(colours=np.zeros((1, 8, 8, 3), np.uint8), camera=CAMERA), "pitch 2", "64 × 64 pixels; these have 8 × 8"),
        (Seen(colours=np.zeros((1, 8, 8, 1), np.uint8)), "temperature 0.2", "have 1 channels"),
    ],
)
def test_what_is_missing_is_said(seen: Seen, steps: str, told: str) -> None:
    with pytest.raises(RequestError, match=told):
        filtered(seen, parse_filters(steps))
