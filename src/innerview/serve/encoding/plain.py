"""Values that JSON can carry and a browser can read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from innerview.schema import to_json


def plain(value: Any) -> Any:
    """Plain JSON values; numbers that JSON does not know become null, as does what is no data at all."""
    value = to_json(value)
    if isinstance(value, Mapping):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | bool) else None
