"""Tries for so many minutes, and prints what went wrong: python -m tests.fuzz [minutes] [--seed N]."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from tests.fuzz.campaign import MEMORY, campaign
from tests.fuzz.findings import Findings

OUT = Path(__file__).resolve().parents[2] / ".fuzz"


def say(words: str) -> None:
    """Print at once, also into a file."""
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run and report; the exit code is 1 where anything went wrong."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument("minutes", nargs="?", type=float, default=5.0, help="how long; 5 unless said")
    parser.add_argument("--seed", type=int, default=0, help="another seed tries other things")
    asked = parser.parse_args()
    shutil.rmtree(OUT, ignore_errors=True)
    findings = Findings(OUT)
    place = MEMORY if MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="innerview-fuzz-", dir=place) as folder:
        with campaign(Path(folder), findings, seed=asked.seed) as tried:
            tried.for_seconds(60 * asked.minutes, say)
        peak = tried.peak_bytes
    say(findings.text())
    say(f"Peak memory of the service and what it started: {peak / 1e6:,.0f} MB.")
    sys.exit(1 if findings.wrong else 0)


if __name__ == "__main__":
    main()
