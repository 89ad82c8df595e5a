"""A set of 10,000 pairs, imported once and then opened: a new process reads its table, its map and 20 rows of pictures.

python benchmarks/many_pairs.py [PAIRS] [SIZE]
"""

# ruff: noqa: T201 - a benchmark speaks
from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from innerview.store import Study, import_pairs

ROUNDS = 5
MAX_OPEN_S = 3.0
_OTHERS = 200
"""Different pictures; the other files are links to them, as only their number matters."""
OPEN = """
import sys
import numpy as np
from innerview.store import Study

recording = Study.open(sys.argv[1]).recording("pairs")
table = recording.columns()
recording.scene(recording.info.scene)
rows = np.random.default_rng(0).integers(0, recording.rows, 20)
for spec in recording.info.arrays:
    recording.array_rows(spec.name, rows)
print(recording.rows, table.width, len(recording.info.arrays))
"""


def make(folder: Path, pairs: int, size: int) -> None:
    """Colour as JPEG and depth as 16-bit PNG in both domains, poses, and a camera."""
    random = np.random.default_rng(0)
    y, x = np.mgrid[0:size, 0:size] / size
    for kind in ("sim/rgb", "real/rgb", "sim/depth", "real/depth"):
        (folder / kind).mkdir(parents=True)
        suffix = "png" if "depth" in kind else "jpg"
        for pair in range(pairs):
            path = folder / kind / f"{pair:06}.{suffix}"
            if pair >= _OTHERS:
                path.hardlink_to(folder / kind / f"{pair % _OTHERS:06}.{suffix}")
                continue
            a, b = random.random(2) * 8
            waves = np.stack([np.sin(a * x + b * y), np.cos(b * x), np.sin(a * y)], axis=-1) * 100 + 128
            colour = np.clip(waves + random.normal(0, 8, waves.shape), 0, 255).astype(np.uint8)
            depth = (2000 + 1500 * np.sin(a * x) * np.cos(b * y) + random.integers(0, 4, x.shape)).astype(np.uint16)
            Image.fromarray(depth if suffix == "png" else colour).save(path)
    lines = [f"{pair:06},{pair % 97 / 5},{pair % 89 / 5},{pair % 360}" for pair in range(pairs)]
    (folder / "poses.csv").write_text("\n".join(["name,x [m],y [m],angle [deg]", *lines]))
    focal = f"[{size}, {size}]"
    camera = f'{{"width_px": {size}, "height_px": {size}, "focal_px": {focal}, "centre_px": [{size / 2}, {size / 2}]}}'
    (folder / "pairs.json").write_text(f'{{"units": {{"depth": "mm"}}, "camera": {camera}}}')


def main() -> int:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 64
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder / "pairs", pairs, size)
        began = time.perf_counter()
        import_pairs(Study.create(folder / "my.study"), folder / "pairs")
        print(
            f"{pairs:,} pairs of {size} × {size}, {4 * pairs:,} files: imported in {time.perf_counter() - began:.2f} s"
        )
        opened = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            words = [sys.executable, "-c", OPEN, str(folder / "my.study")]
            said = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
            opened.append(time.perf_counter() - began)
        assert said == [str(pairs), "4", "4"], said
    middle = sorted(opened)[len(opened) // 2]
    print(f"opened anew: {middle:.2f} s (median of {ROUNDS}, slowest {max(opened):.2f}; at most {MAX_OPEN_S:g})")
    return 0 if middle <= MAX_OPEN_S else 1


if __name__ == "__main__":
    sys.exit(main())
