"""Kill innerview before every operation on a file, give the same command again, and compare; then save at once."""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

import torch

from tests.killed.operations import Point
from tests.killed.points import problems
from tests.killed.savers import SAVES, save_at_once
from tests.killed.scenarios import SCENARIOS, subject

SAVERS = "savers"


def main() -> int:
    asked = _arguments()
    torch.set_num_threads(1)
    subject()
    chance, failed, count, begun = random.Random(asked.seed), 0, 0, time.monotonic()

    def choose(points: list[Point]) -> list[Point]:
        return points if asked.sample is None else chance.sample(points, min(asked.sample, len(points)))

    with tempfile.TemporaryDirectory(prefix="innerview-kills-", dir=asked.folder) as folder:
        for name in asked.scenario or (*SCENARIOS, SAVERS):
            if name == SAVERS:
                failed += _save(Path(folder), asked.savers, asked.processes)
                continue
            before, since = count, time.monotonic()
            for point, operation, problem in problems(name, Path(folder) / name, choose=choose, workers=asked.workers):
                count += 1
                if problem:
                    failed += 1
                    where = (
                        f"in the middle of operation {point.operation}" if point.torn else f"before {point.operation}"
                    )
                    _say(f"{name}, {where} ({operation}): {problem}")
            _say(f"{name}: {count - before} points, {time.monotonic() - since:.1f} s")
    _say(f"{count} points in {time.monotonic() - begun:.0f} s: {failed} went wrong.")
    return 1 if failed else 0


def _save(folder: Path, savers: int, processes: int) -> int:
    begun = time.monotonic()
    missing = save_at_once(folder / "savers.study", processes=processes, threads=-(-savers // processes))
    _say(
        "".join(f"{each}\n" for each in missing[:20]) or f"Every one of {savers * len(SAVES)} accepted saves is there."
    )
    _say(f"{savers} savers in {processes} processes: {time.monotonic() - begun:.1f} s")
    return len(missing)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/kill_points", description=__doc__)
    parser.add_argument("scenario", nargs="*", help=f"some of {', '.join(SCENARIOS)}, {SAVERS}; all where left out")
    parser.add_argument("--sample", type=int, help="so many points of each, chosen by the seed; all where left out")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--savers", type=int, default=200)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--folder", type=Path, help="where studies are made; the system's folder for temporary files")
    return parser.parse_args()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


sys.exit(main())
