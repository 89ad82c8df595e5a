"""Errors of poses, against answers that are known."""

from __future__ import annotations

import numpy as np

from innerview.metrics.pose import heading_errors, position_errors


def test_a_distance_is_that_of_the_plane() -> None:
    x, y = np.array([3.0, 0.0, np.nan]), np.array([4.0, 0.0, 1.0])
    np.testing.assert_array_equal(position_errors(x, y, np.zeros(3), np.zeros(3)), [5.0, 0.0, np.nan])


def test_headings_wrap_around() -> None:
    said, true = np.array([359.0, 10.0, -170.0, 540.0, 0.0]), np.array([1.0, 350.0, 170.0, 0.0, np.nan])
    np.testing.assert_allclose(heading_errors(said, true), [2.0, 20.0, 20.0, 180.0, np.nan])
