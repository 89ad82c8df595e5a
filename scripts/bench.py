"""Runs benchmarks/*.py, each in a process of its own, and writes benchmarks/RESULTS.md.

A benchmark prints what it likes. A line of the form `| measure | innerview | peer |` joins the table on top; everything
else is kept under the benchmark's own heading.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"
RESULTS = FOLDER / "RESULTS.md"
AGAINST = "against"
"""What `scripts/bench against` said, which is measured apart."""
HEAD = ("| measure | innerview | peer |", "| --- | --- | --- |")


def benchmarks(names: list[str]) -> list[Path]:
    """Those asked for, or all."""
    known = {file.stem: file for file in sorted(FOLDER.glob("*.py")) if not file.stem.startswith("_")}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"Unknown benchmark {', '.join(unknown)}. Known: {', '.join(known)}.")
    return [known[name] for name in names or known]


def run(file: Path) -> tuple[list[str], list[str]]:
    """Rows for the table and the other lines of one benchmark, shown while it runs."""
    rows, lines = [], []
    with subprocess.Popen([sys.executable, str(file)], stdout=subprocess.PIPE, text=True, cwd=FOLDER.parent) as process:
        assert process.stdout is not None
        for line in map(str.rstrip, process.stdout):
            print(line, flush=True)
            is_row = line.startswith("| ") and line.endswith(" |") and line.count(" | ") == 2
            (rows if is_row else lines).append(line)
    if process.returncode != 0:
        raise SystemExit(
            f"{file.name} failed (exit status {process.returncode}); {FOLDER.name}/{RESULTS.name} is unchanged."
        )
    return rows, lines


def machine() -> str:
    """What it ran on."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("torch", "numpy", "polars", "zarr"))
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{os.cpu_count()} cores, {system}, {packages}"


def measured_before() -> tuple[dict[str, str], dict[str, str]]:
    """Rows of the table by what they measure, and the text of each benchmark, as they were last written."""
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    top, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    rows = [line for line in top.splitlines() if line.startswith("| ") and line not in HEAD]
    named = (section.partition("\n") for section in sections)
    return {row.split(" | ")[0]: row for row in rows}, {name: body.strip("\n") for name, _, body in named}


def main() -> None:
    """Run, then write; benchmarks that were not asked for keep what was measured before."""
    asked = sys.argv[1:]
    table, parts = measured_before()
    if not asked:
        table, parts = {}, {name: text for name, text in parts.items() if name == AGAINST}
    for file in benchmarks(asked):
        print(f"\n== {file.stem}", flush=True)
        rows, lines = run(file)
        table |= {row.split(" | ")[0]: row for row in rows}
        parts[file.stem] = "\n".join(["", "```", *"\n".join(lines).strip("\n").split("\n"), "```"]).strip("\n")
    top = [*HEAD, *table.values(), ""] if table else []
    sections = [line for name in sorted(parts) for line in (f"## {name}", "", parts[name], "")]
    text = ["# Benchmarks", "", f"Made by `scripts/bench` on {machine()}.", "", *top, *sections]
    RESULTS.write_text("\n".join(text).rstrip() + "\n", encoding="utf-8")
    print(f"\nWritten to {FOLDER.name}/{RESULTS.name}.")


if __name__ == "__main__":
    main()
