"""Calls a function of the user's own script, named as FILE.py:FUNCTION on the command line."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from innerview.errors import InnerviewError, UnknownName


def is_script(text: str) -> bool:
    """Whether this names a function in a file."""
    return ".py:" in text


def from_script(text: str) -> Any:
    """What the function returns."""
    file, function = text.rsplit(":", 1)
    path = Path(file).expanduser().resolve()
    if not path.is_file():
        raise InnerviewError(f"There is no file {file}.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None, "a .py file always has a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    if not callable(getattr(module, function, None)):
        names = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_")]
        raise UnknownName(f"function in {path.name}", function, names)
    return getattr(module, function)()
