"""Whether methods say the same: rank correlation of their maps, each with each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from innerview.trust.maps import is_empty, rank_correlation, ranks


def agreement(maps: Mapping[str, np.ndarray]) -> dict[str, dict[str, float | None]]:
    """Mean rank correlation of strengths [row, height, width] of the same rows, over those where neither is empty."""
    ranked = {name: ranks(each) for name, each in maps.items()}
    known = {name: ~is_empty(each) for name, each in maps.items()}
    found: dict[str, dict[str, float | None]] = {}
    for one in maps:
        for other in maps:
            both = known[one] & known[other]
            value = rank_correlation(ranked[one][both], ranked[other][both])
            found.setdefault(one, {})[other] = float(value.mean()) if both.any() else None
    return found
