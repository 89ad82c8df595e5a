"""Studies copied for a test that changes them, and signed: else they are decoded in a process of their own."""

from __future__ import annotations

import shutil
from pathlib import Path

import innerview as iv
from innerview.store.sign import sign


def copied(study: Path, to: Path, *, without: str = "") -> iv.Study:
    """A copy of a study that is whole; `without` files of such names."""
    shutil.copytree(study, to, ignore=shutil.ignore_patterns(without) if without else None)
    sign(to)
    return iv.Study.open(to)
