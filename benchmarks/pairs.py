"""Imports a folder of image pairs beside `cp -r` and a SHA-256 of the same files: time as a ratio, growth on disk.

python benchmarks/pairs.py [PAIRS]
"""

# ruff: noqa: T201 - a benchmark speaks
from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from innerview.store import Study, import_pairs

SIZE = 256
ROUNDS = 3
MAX_RATIO, MAX_GROWTH = 3.0, 0.10


def make(folder: Path, pairs: int) -> None:
    """A JPEG photograph and a 16-bit PNG of depth a pair, noisy as a camera is."""
    random = np.random.default_rng(0)
    y, x = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    for kind in ("real/rgb", "sim/depth"):
        (folder / kind).mkdir(parents=True)
    for pair in range(pairs):
        a, b, c = random.random(3) * 8
        waves = np.stack([np.sin(a * x + b * y), np.cos(b * x), np.sin(c * y)], axis=-1) * 100 + 128
        colours = np.clip(waves + random.normal(0, 8, waves.shape), 0, 255).astype(np.uint8)
        Image.fromarray(colours).save(folder / "real/rgb" / f"{pair:06}.jpg", quality=90)
        metres = (2000 + 1500 * np.sin(a * x) * np.cos(b * y) + random.integers(0, 4, x.shape)).astype(np.uint16)
        Image.fromarray(metres).save(folder / "sim/depth" / f"{pair:06}.png", compress_level=3)


def copied_and_digested(source: Path, target: Path) -> float:
    """Seconds that `cp -r` and SHA-256 of every file take, on disk as an import is."""
    began = time.perf_counter()
    subprocess.run(["cp", "-r", str(source), str(target)], check=True)
    digest = hashlib.sha256()
    for path in sorted(target.rglob("*")):
        if path.is_file():
            digest.update(path.read_bytes())
    return time.perf_counter() - began


def imported(source: Path, target: Path) -> float:
    """Seconds that the import takes."""
    began = time.perf_counter()
    import_pairs(Study.create(target), source)
    return time.perf_counter() - began


def size(folder: Path) -> int:
    """Bytes of all files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> int:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder / "pairs", pairs)
        ratios = []
        for _ in range(ROUNDS):
            baseline = copied_and_digested(folder / "pairs", folder / "copy")
            own = imported(folder / "pairs", folder / "my.study")
            ratios.append(own / baseline)
            growth = size(folder / "my.study") / size(folder / "pairs") - 1
            print(f"{pairs} pairs: import {own:.2f} s, cp and digest {baseline:.2f} s, ratio {own / baseline:.2f}")
            shutil.rmtree(folder / "copy")
            shutil.rmtree(folder / "my.study")
    ratio = sorted(ratios)[len(ratios) // 2]
    print(f"ratio {ratio:.2f} (median of {ROUNDS}; at most {MAX_RATIO}), growth {growth:+.2%} (under {MAX_GROWTH:.0%})")
    return 0 if ratio <= MAX_RATIO and growth < MAX_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
