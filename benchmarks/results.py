"""How long one row of a large result takes to read, and a long list of results.

Run: python benchmarks/results.py
"""

# ruff: noqa: T201 - a benchmark speaks
from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import innerview as iv
from innerview.store import Study

SHAPE = (640, 3, 256, 256)
RESULTS, VALUE_NUMBERS = 1000, 5000
ROW_LIMIT_MS, LIST_LIMIT_MS = 20.0, 100.0


def time_ms(act: Callable[[], object], times: int) -> tuple[float, float]:
    """Median and slowest of several runs."""
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        act()
        taken.append((time.perf_counter() - begun) * 1000)
    return statistics.median(taken), max(taken)


def main() -> int:
    """Both figures, and whether they are within their limits."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        study = Study.create(Path(folder) / "a.study")
        iv.write_rows(study, "rows", columns={"x_m": np.arange(10.0)})
        heat = rng.random(SHAPE, np.float32)
        large = study.save_result(
            "guided", recording="rows", arguments={}, value={}, type="heat", arrays={"heat.x": heat}
        )
        for number in range(RESULTS - 1):
            value = rng.random(VALUE_NUMBERS).tolist()
            study.save_result("pca", recording="rows", arguments={"seed": number}, value=value, type="layout")
        again = Study.open(study.path)
        rows = iter(rng.integers(0, SHAPE[0], 50).tolist())

        def read() -> None:
            row = next(rows)
            assert again.result_array(large.id, "heat.x", row, row + 1).shape == (1, *SHAPE[1:])

        row, slowest_row = time_ms(read, 50)
        whole, slowest_list = time_ms(lambda: len(again.results()), 5)
        assert len(again.results()) == RESULTS
    print(f"one row of a result of {heat.nbytes / 1e6:.0f} MB: {row:.2f} ms (slowest {slowest_row:.2f} ms)")
    print(f"{RESULTS} results listed: {whole:.1f} ms (slowest {slowest_list:.1f} ms)")
    return 0 if row < ROW_LIMIT_MS and whole < LIST_LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
