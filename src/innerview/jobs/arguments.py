"""Reads numbers out of a request, with an error that says what would do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from innerview.errors import RequestError


def whole(arguments: Mapping[str, Any], name: str, *, usual: int, least: int, most: int) -> int:
    """A whole number of a request, within its bounds."""
    value = arguments.get(name)
    value = usual if value is None else value
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise RequestError(f"{name} must be a number from {least} to {most}, not {value!r:.40}.")
    return value
