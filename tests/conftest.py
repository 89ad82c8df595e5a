"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# A slow machine is no failure.
settings.register_profile("innerview", deadline=None)
settings.load_profile("innerview")
