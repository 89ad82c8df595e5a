"""Runs the benchmarks of another checkout and of this one by turns: how many times as slow or as large is this one?

    git worktree add ../before COMMIT
    scripts/bench against ../before                    all of those that both have
    scripts/bench against ../before recording vision   only these

Both run with the packages that are installed here. Where others use the machine, times by the clock say little, so
benchmarks are shown the processor's time instead, user and system, with one thread of arithmetic; only what a browser
draws is by the clock. Each figure is the median over the rounds. For the memory timeline the other checkout needs its
built page (`npm run build` in its `web/`).
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
ROUNDS = 3
MAX_RATIO = 1.1
ARGUMENTS = {
    "integrated": ("--rounds", "3"),
    "memory_timeline": (),
    "office": ("--seconds", "5"),
    "platformer": ("--seconds", "3"),
    "recording": ("--rounds", "4"),
    "store_size": ("--frames", "4096"),
    "vision": ("--shown", "1024", "--further", "1024"),
}
BY_THE_CLOCK = {"memory_timeline"}
LINES = {
    "disk for a step of the writer: kB": r"everything on disk\s+([\d.]+) kB",
    "writer: µs a step": r"CPU of both threads (\d+) µs",
    "writer, append: µs a step": r"in append (\d+) µs",
    "first complete picture, WebGL2: s": r"webgl: first complete picture after ([\d.]+) s",
    "first complete picture, plain canvas: s": r"canvas: first complete picture after ([\d.]+) s",
}
"""What a benchmark says outside its rows, by how it is found."""
SHOW_PROCESSOR_TIME = "time.perf_counter = time.process_time; "
RUN = "import runpy, sys, time; {clock}sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"


@dataclass(frozen=True)
class Figure:
    """One thing that a benchmark measures, before and now."""

    name: str
    before: float
    now: float

    @property
    def ratio(self) -> float:
        """How many times as slow or large; rates are turned around."""
        return self.before / self.now if "/s" in self.name else self.now / self.before


def run(tree: Path, name: str) -> dict[str, float]:
    """What one benchmark of a checkout measures, with the processor's time and the most memory of the whole process."""
    code = RUN.format(clock="" if name in BY_THE_CLOCK else SHOW_PROCESSOR_TIME)
    command = [sys.executable, "-c", code, str(tree / "benchmarks" / f"{name}.py"), *ARGUMENTS[name]]
    paths = os.pathsep.join(str(tree / part) for part in ("src", "zoo/src"))
    environment = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tree, env=environment) as process:
        assert process.stdout is not None
        text = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{name} of {tree} failed (exit status {process.returncode}).")
    found = dict(re.findall(r"^\| (.+?) \| ([\d.,]+)", text, re.MULTILINE))
    found |= {what: seen[1] for what, pattern in LINES.items() if (seen := re.search(pattern, text))}
    whole = {"whole benchmark: s": used.ru_utime + used.ru_stime, "whole benchmark: MB": used.ru_maxrss / 1000}
    return {what: float(value.replace(",", "")) for what, value in found.items()} | whole


def compare(before: Path, name: str) -> list[Figure]:
    """Medians of the rounds; who comes first changes from round to round."""
    seen: dict[Path, dict[str, list[float]]] = {before: defaultdict(list), HERE: defaultdict(list)}
    for number in range(ROUNDS):
        for tree in (before, HERE) if number % 2 == 0 else (HERE, before):
            for what, value in run(tree, name).items():
                seen[tree][what].append(value)
    both = [what for what in seen[before] if what in seen[HERE]]
    return [Figure(what, *(statistics.median(seen[tree][what]) for tree in (before, HERE))) for what in both]


def main() -> int:
    """Print a table; the exit status is 1 where something is slower or larger than it may be."""
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    before, names = Path(sys.argv[1]).resolve(), sys.argv[2:] or sorted(ARGUMENTS)
    slower = []
    print(f"{'measure':78} {'before':>9} {'now':>9} {'ratio':>6}")
    for name in names:
        for figure in compare(before, name):
            what = f"{name}: {figure.name}"
            print(f"{what:78} {figure.before:9,.2f} {figure.now:9,.2f} {figure.ratio:6.2f}", flush=True)
            slower += [what] if figure.ratio > MAX_RATIO else []
    print(f"more than {MAX_RATIO} times: {', '.join(slower) or 'none'}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
