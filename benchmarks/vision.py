"""The whole Vision interface: 8 × 512 steps and 4,096 further observations of the platformer, 8 factors, as jobs.

Run: python benchmarks/vision.py [--shown N] [--further N] [--device cuda] [--profile]
It records levels that nobody trained on, with masks and pictures, fits factors to as many observations as there are
further ones, and says for every row where each factor is and whether it is good or bad news: all that the page draws.
Seconds are of both jobs, one after the other; memory is the most that the process ever held.
"""

# ruff: noqa: T201 - a benchmark speaks
from __future__ import annotations

import os

# Threads that wait must not keep a core busy: beside other work that would be measured too, for both sides alike.
os.environ |= {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}

import argparse
import cProfile
import pstats
import resource
import tempfile
import time
from collections.abc import Callable

import innerview_zoo as zoo
from innerview_zoo.worlds.platformer import FIRST_TEST_LEVEL

import innerview as iv

WANTED_MINUTES, WANTED_GB = 4, 3
STEPS_A_LEVEL = 70
"""Fewer than a level takes on average, so that enough are recorded."""


def seconds(work: Callable[[], object], what: str, *, profiled: bool) -> float:
    """How long it takes; with a profile, where the time goes."""
    watch = cProfile.Profile() if profiled else None
    began = time.perf_counter()
    if watch:
        watch.runcall(work)
    else:
        work()
    took = time.perf_counter() - began
    print(f"{what}: {took:.0f} s; at most {gigabytes():.2f} GB so far", flush=True)
    if watch:
        pstats.Stats(watch).sort_stats("tottime").print_stats(25)
    return took


def gigabytes() -> float:
    """The most memory that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shown", type=int, default=8 * 512, help="rows to look at")
    parser.add_argument("--further", type=int, default=4096, help="further rows, and rows that factors are fitted to")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    agent, world = zoo.load("platformer")
    agent.module.to(args.device)
    rows, heard = args.shown + args.further, [0]
    seeds = list(range(FIRST_TEST_LEVEL, FIRST_TEST_LEVEL + 8 + rows // STEPS_A_LEVEL))

    def progress(done: int, total: int | None, message: str = "") -> None:
        heard[0] += 1

    with tempfile.TemporaryDirectory() as folder:
        study = f"{folder}/vision.study"

        def record() -> None:
            made = iv.record(study, agent, world, seeds=seeds, lanes=16, name="levels", progress=progress)
            if made.rows < rows:
                raise SystemExit(f"{len(seeds)} levels gave {made.rows:,} rows; {rows:,} were wanted.")

        def factors() -> None:
            iv.look(
                study,
                "factors",
                "levels",
                rows=(0, rows),
                subject=agent,
                count=8,
                max_rows=args.further,
                progress=progress,
            )

        print(f"{rows:,} rows of {len(seeds)} levels on {args.device}, load of the machine {os.getloadavg()[0]:.1f}")
        took = seconds(record, "recorded", profiled=args.profile)
        took += seconds(factors, "8 factors, and where they are in every row", profiled=args.profile)
    print(f"progress was told {heard[0]} times; load of the machine {os.getloadavg()[0]:.1f}")
    told = f"{args.shown:,} steps + {args.further:,} observations, {args.device}"
    print(f"| Vision, {told}: minutes (wanted: {WANTED_MINUTES} at most) | {took / 60:.1f} | hours (the paper) |")
    print(f"| Vision, {told}: GB (wanted: under {WANTED_GB}) | {gigabytes():.2f} | 34 (the paper) |")


if __name__ == "__main__":
    main()
