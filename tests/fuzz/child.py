"""What is tried runs in here: the service, and what is told line by line. It may die; its parent sees that."""

from __future__ import annotations

import faulthandler
import json
import logging
import os
import resource
import shutil
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from innerview.errors import InnerviewError
from innerview.serve import Handle
from innerview.store import ImportOptions, Study, check, import_files
from tests.fuzz.corpus import serving

MEMORY_LIMIT = 6 << 30
"""What asks for more is refused by the system, before the machine suffers."""


def opened(folder: str, **_: Any) -> str:
    """A study opened from nothing."""
    return Study.open(folder).name


def checked(folder: str, **_: Any) -> list[str]:
    """What `check` names."""
    return [damage.part for damage in check(folder)]


def imported(folder: str, file: str, format: str | None = None, images: dict[str, str] | None = None) -> int:
    """A file brought into a new study; how many rows it made."""
    target = Path(folder)
    try:
        return import_files(target, [file], ImportOptions(name="x", format=format, images=images)).rows
    finally:
        shutil.rmtree(target, ignore_errors=True)


CALLS: dict[str, Callable[..., Any]] = {"open": opened, "check": checked, "import": imported}


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """What came of a call: a value, a refusal in words, or a failure that nobody foresaw."""
    call = CALLS[asked.pop("call")]
    try:
        return {"value": call(**asked)}
    except InnerviewError as refused:
        return {"refused": f"{type(refused).__name__}: {refused}"}
    except Exception:  # noqa: BLE001 -- that is what is looked for
        return {"failed": traceback.format_exc()}


def main() -> None:
    """Serve the study that is named, and answer calls until the parent is gone."""
    faulthandler.enable()
    # Answers go where stdout led; whatever else prints goes to stderr.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.basicConfig(level=logging.ERROR)
    served: Handle = serving(Path(sys.argv[1]))
    replies.write(json.dumps({"port": served.port, "token": served.token}) + "\n")
    replies.flush()
    for line in sys.stdin:
        replies.write(json.dumps(answer(json.loads(line))) + "\n")
        replies.flush()
    served.close()


if __name__ == "__main__":
    main()
