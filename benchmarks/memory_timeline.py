"""A memory of a million steps and 512 elements: how smoothly the timeline pans and zooms, and what it takes.

Run: python benchmarks/memory_timeline.py [--rows N] [--elements N] [--study FOLDER]
"""

# ruff: noqa: T201 - a benchmark speaks
from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import polars as pl
from playwright.sync_api import CDPSession, Page, sync_playwright

from innerview.schema import ArraySpec, Column, Ordering, RecordingInfo
from innerview.store import Study
from innerview.store.recordings.bulk import write_table

EPISODE = 500
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FRAMES = """async ([seconds, move]) => {
    const at = document.querySelector('[data-testid="memory-plane"]').getBoundingClientRect();
    const plane = document.querySelector('[data-testid="memory-plane"]');
    const wheel = (options) => plane.dispatchEvent(new WheelEvent("wheel", {bubbles: true, cancelable: true,
        clientX: at.left + at.width / 2, clientY: at.top + at.height / 2, ...options}));
    const times = [];
    const end = performance.now() + 1000 * seconds;
    let turn = 0;
    await new Promise((done) => {
        const tick = (now) => {
            times.push(now);
            turn += 1;
            const back = Math.floor(turn / 60) % 2 ? -1 : 1;
            if (move === "pan") wheel({deltaX: back * 24});
            if (move === "zoom") wheel({deltaY: back * -48});
            if (move === "lines") wheel({deltaY: back * -30, shiftKey: true});
            if (now < end) requestAnimationFrame(tick); else done();
        };
        requestAnimationFrame(tick);
    });
    return times;
}"""


def states(start: int, stop: int, pattern: np.ndarray) -> np.ndarray:
    """Rows of a made-up memory, [rows, elements]: slow waves with steps in them, the same each time."""
    rows = np.arange(start, stop)
    drift = np.cos(rows / 20_000)[:, None].astype(np.float32)
    return pattern[rows % len(pattern)] * drift


def write_study(folder: Path, *, rows: int, elements: int) -> None:
    """A recording in blocks, without ever holding it whole."""
    random = np.random.default_rng(0)
    walk = random.standard_normal((8192, elements), dtype=np.float32).cumsum(axis=0) / 24
    pattern = (np.round(np.tanh(walk) * 128) / 128).astype(np.float32)
    step = np.arange(rows) % EPISODE
    table = pl.DataFrame({"episode": np.arange(rows) // EPISODE, "step": step, "health": 100.0 - step / 5})
    info = RecordingInfo(
        name="long",
        ordering=Ordering(),
        columns=(
            Column(name="episode", type="int", kind="index"),
            Column(name="step", type="int", kind="index"),
            Column(name="health", type="float", unit="points"),
        ),
        arrays=(ArraySpec(name="memory", shape=(elements,), dtype="float32", role="memory"),),
    )
    study = Study.create(folder, "long")
    write_table(
        study, info, table, lambda start, stop: {"memory": states(start, stop, pattern)}, heights={"memory": rows}
    )


@contextmanager
def served(study: Path) -> Iterator[tuple[str, int]]:
    """The service in a process of its own: its address and process number."""
    innerview = Path(sys.executable).with_name("innerview")
    command = [str(innerview), "serve", str(study), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.search(r"http://\S+", line):
                break
        else:
            raise SystemExit("The service did not start.")
        try:
            yield found[0], process.pid
        finally:
            process.terminate()


def memory_mb(pid: int, what: str = "VmHWM") -> float:
    """Most memory a process ever held, in MB."""
    found = re.search(rf"{what}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


def page_mb(session: CDPSession) -> float:
    """What the page's own process holds resident, in MB: the largest renderer of this browser."""
    session.send("HeapProfiler.collectGarbage")
    parents = dict(_processes())
    ours = [pid for pid in parents if _descends(pid, os.getpid(), parents) and _is_renderer(pid)]
    return max((memory_mb(pid, "VmRSS") for pid in ours), default=float("nan"))


def _processes() -> Iterator[tuple[int, int]]:
    """Every process and its parent."""
    for entry in Path("/proc").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            if entry.name.isdigit():
                yield int(entry.name), int((entry / "stat").read_text().rpartition(")")[2].split()[1])


def _descends(pid: int, ancestor: int, parents: dict[int, int]) -> bool:
    while pid in parents and pid != ancestor:
        pid = parents[pid]
    return pid == ancestor


def _is_renderer(pid: int) -> bool:
    with suppress(FileNotFoundError, ProcessLookupError):
        return b"--type=renderer" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def measure(page: Page, move: str, seconds: float = 6.0) -> tuple[float, float]:
    """Frames a second while the timeline moves: on average, and in the slowest twentieth."""
    times = np.diff(page.evaluate(FRAMES, [seconds, move]))
    return 1000 / times.mean(), 1000 / np.percentile(times, 95)


def moved(page: Page, url: str, painter: str) -> float:
    """Frames a second of the slowest kind of move, with one of the two painters."""
    begin = time.perf_counter()
    page.goto("about:blank")
    page.goto(f"{url}#/memory/long?scope=recording&draw={painter}")
    page.wait_for_selector(COMPLETE, timeout=300_000)
    spent = time.perf_counter() - begin
    print(f"{painter}: first complete picture after {spent:.1f} s (the overview is built once)")
    page.evaluate(ZOOM_IN)
    page.wait_for_selector(COMPLETE)
    results = {move: measure(page, move) for move in ("zoom", "pan", "lines")}
    for move, (mean, slow) in results.items():
        print(f"  {move:6s} {mean:5.1f} frames/s, slowest twentieth {slow:5.1f}")
    return min(mean for mean, _ in results.values())


def look(url: str, server: int) -> None:
    """Open the timeline over the whole recording, move it, and print what that took."""
    browser_path = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        again = url.partition("?")[0]  # the code in an address lets a browser in once; from then on it is known
        slowest = {painter: moved(page, at, painter) for painter, at in (("webgl", url), ("canvas", again))}
        print(f"WebGL2 by {page.evaluate(RENDERER)}")
        used, most = page_mb(page.context.new_cdp_session(page)), memory_mb(server)
        print(f"server {most:.0f} MB at most, page {used:.0f} MB, load of the machine {os.getloadavg()[0]:.1f}")
        for painter, title in (("webgl", "WebGL2"), ("canvas", "plain canvas")):
            what = f"memory timeline, 1M × 512, {title}: frames/s (wanted: 30 or more)"
            print(f"| {what} | {slowest[painter]:.0f} | |")
        print(f"| memory timeline, 1M × 512: server MB (wanted: under 1000) | {most:.0f} | |")
        print(f"| memory timeline, 1M × 512: page MB (wanted: under 500) | {used:.0f} | |")
        browser.close()


COMPLETE = '[data-testid="memory-canvas"][data-complete="true"]'
RENDERER = """() => {
    const gl = document.createElement("canvas").getContext("webgl2");
    const known = gl?.getExtension("WEBGL_debug_renderer_info");
    return known ? gl.getParameter(known.UNMASKED_RENDERER_WEBGL) : "nobody";
}"""
ZOOM_IN = """() => {
    const plane = document.querySelector('[data-testid="memory-plane"]');
    const at = plane.getBoundingClientRect();
    for (let i = 0; i < 12; i++) plane.dispatchEvent(new WheelEvent("wheel", {bubbles: true, cancelable: true,
        deltaY: -120, clientX: at.left + at.width / 2, clientY: at.top + 20}));
}"""


def main() -> None:
    """Write the study unless there is one, then look at it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--elements", type=int, default=512)
    parser.add_argument("--study", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = asked.study or Path(folder) / "long.study"
        if not study.exists():
            begin = time.perf_counter()
            write_study(study, rows=asked.rows, elements=asked.elements)
            print(f"{asked.rows:,} rows of {asked.elements} elements written in {time.perf_counter() - begin:.0f} s")
        with served(study) as (url, pid):
            look(url, pid)


if __name__ == "__main__":
    main()
