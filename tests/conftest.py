"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import HealthCheck, settings

# A slow machine is no failure, and what fails is to fail again: the same examples every time.
settings.register_profile("innerview", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("innerview")


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    """A training that takes threads gives them back: more of them than cores made later tests six times as slow."""
    before = torch.get_num_threads()
    yield
    if torch.get_num_threads() != before:
        torch.set_num_threads(before)
