"""A sample of what scripts/kill_points does in full: other points are chosen when other seeds are given to it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.killed.savers import SAVES, save_at_once
from tests.killed.scenarios import SCENARIOS

ROOT = Path(__file__).parents[2]
ALONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
"""Threads do not outlive a fork."""


def test_killed_before_any_operation_on_a_file_it_goes_on_and_keeps_what_was_accepted(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.killed", *SCENARIOS, "--sample", "2", "--seed", "7", "--workers", "2"]
    asked = [*command, "--folder", str(tmp_path)]
    done = subprocess.run(asked, cwd=ROOT, env=os.environ | ALONE, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith(": 0 went wrong.\n") and done.stdout.count(" points, ") == len(SCENARIOS)


def test_every_save_that_is_accepted_is_there_whoever_else_saves(tmp_path: Path) -> None:
    assert save_at_once(tmp_path / "a.study", processes=2, threads=4) == []
    assert sorted(path.name for path in (tmp_path / "a.study").iterdir() if path.name.startswith(".")) == []
    assert len(SAVES) == 7
