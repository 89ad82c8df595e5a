"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import torch
from hypothesis import HealthCheck, settings

# A slow machine is no failure, and what fails is to fail again: the same examples every time.
settings.register_profile("innerview", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("innerview")


@pytest.fixture(scope="session", autouse=True)
def own_key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests sign with a key of their own, also in the processes that they start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("APPDATA" if os.name == "nt" else "XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    """A training that takes threads gives them back: more of them than cores made later tests six times as slow."""
    before = torch.get_num_threads()
    yield
    if torch.get_num_threads() != before:
        torch.set_num_threads(before)
