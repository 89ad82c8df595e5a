"""The sample package as if it were installed: its entry points are found while the block lasts."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from innerview.lenses.discovery import all_lenses

PACKAGE = Path(__file__).parent / "package"
LENSES = {
    "brightest": "gallery",
    "columns": "table",
    "depth": "chart",
    "rectified": "heat",
    "restless": "per element",
    "said": "layout",
    "surety": "per row",
}


@contextmanager
def installed() -> Iterator[None]:
    """Put the package on the path, and take it away again."""
    sys.path.insert(0, str(PACKAGE))
    importlib.invalidate_caches()
    all_lenses.cache_clear()
    try:
        yield
    finally:
        sys.path.remove(str(PACKAGE))
        for name in [name for name in sys.modules if name.split(".")[0] == "innerview_sample"]:
            del sys.modules[name]
        all_lenses.cache_clear()
