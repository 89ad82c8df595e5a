"""Lenses of the sim2real gap on the office: domain occlusion of one picture, back-projection of 500, bytes of a map.

Run: python benchmarks/transfer.py [--rounds N] [--threads N]
Time of the processor (user and system) beside that on the clock, as the machine may be shared; medians over the
rounds. A plain loop, a forward pass for each of the 36 patches, and one over single pixels stand beside ours.
"""

# ruff: noqa: T201 - a benchmark speaks
from __future__ import annotations

import argparse
import statistics
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import innerview_zoo as zoo
import numpy as np
import torch
from innerview_zoo.worlds.office import Camera as OfficeCamera
from innerview_zoo.worlds.office import office_floor, places_of, sample_poses

import innerview as iv
from innerview.lenses.discovery import as_loaded_lens
from innerview.lenses.look import given_rows, run_lens
from innerview.lenses.rows.recorded import recorded_rows
from innerview.schema import Camera
from innerview.serve.encoding.small import quantised
from innerview.transfer.ground import Gathering, Grid

WANTED_OCCLUSION_S, WANTED_PROJECTION_S, WANTED_BYTES = 0.3, 1.0, 100_000
ORIGINAL_PROJECTION_S = 56
FRAMES, ROWS, SIZE = 500, 4, 256


def timed(work: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Seconds on the clock and of the processor: medians."""
    work()
    found = []
    for _ in range(rounds):
        began, busy = time.perf_counter(), time.process_time()
        work()
        found.append((time.perf_counter() - began, time.process_time() - busy))
    return statistics.median(wall for wall, _ in found), statistics.median(cpu for _, cpu in found)


def occluded(rounds: int, study: iv.Study) -> None:
    """One picture with 6 × 6 patches, as a live call makes it: read, run, and laid over the picture."""
    subject, _ = zoo.load("office_vanilla")
    lens, recording = as_loaded_lens("domain-occlusion"), study.recording("office")
    given = given_rows(lens.lens, recording, subject, {})
    rows = recorded_rows(study, recording, np.array([1]), given)
    ours = timed(lambda: run_lens(lens, rows, subject, {}), rounds)
    own, other = (rows.in_domain(side).inputs(np.array([0]))["rgbd"] for side in ("real", "sim"))
    boxes = [(top, left) for top in range(0, SIZE, 43) for left in range(0, SIZE, 43)]

    def one_by_one() -> None:
        for top, left in boxes:
            patched = own.clone()
            patched[:, :, top : top + 43, left : left + 43] = other[:, :, top : top + 43, left : left + 43]
            subject.run({"rgbd": patched})

    plain = timed(one_by_one, rounds)
    what = f"domain occlusion, one picture, {len(boxes)} patches: s on the clock"
    print(f"| {what} (wanted: {WANTED_OCCLUSION_S}) | {ours[0]:.2f} | {plain[0]:.2f} (a run a patch) |")
    print(f"| {what.replace('on the clock', 'of the processor, both cores')} | {ours[1]:.2f} | {plain[1]:.2f} |")


def projected(rounds: int) -> None:
    """500 frames of heat onto the map."""
    rng, camera = np.random.default_rng(0), OfficeCamera(size=SIZE)

    floor = office_floor(0)
    poses = sample_poses(floor, FRAMES, seed=1).numpy()
    depth = rng.uniform(0.5, 8, (FRAMES, SIZE, SIZE)).astype(np.float32)
    heat = rng.random((FRAMES, SIZE, SIZE), np.float32)
    middle = (SIZE / 2, SIZE / 2)
    known = Camera(
        width_px=SIZE, height_px=SIZE, focal_px=(camera.focal_px,) * 2, centre_px=middle, pitch_deg=camera.pitch_deg
    )
    for cell in (0.1, 0.05):
        grid = Grid.over((0.0, 0.0), floor.size_m, cell)

        def ours(grid: Grid = grid, combine: str = "mean") -> np.ndarray:
            gathering = Gathering(grid, known, combine=combine)  # type: ignore[arg-type]
            gathering.add(depth, poses, heat)
            return gathering.gathered.values

        for combine in ("mean", "sum", "maximum"):
            wall, cpu = timed(lambda c=combine: ours(combine=c), rounds)  # type: ignore[misc]
            what = (
                f"back-projection, {FRAMES} pictures of {SIZE} × {SIZE}, {combine}, cells of {cell} m: s on the clock"
            )
            print(f"| {what} (wanted: {WANTED_PROJECTION_S}) | {wall:.2f} | {ORIGINAL_PROJECTION_S} (Sim2RealViz) |")
            print(f"  of the processor: {cpu:.2f} s")
        raw = ours().astype(np.float32)
        small, _ = quantised(raw)
        print(f"a map of {grid.width} × {grid.height}, every cell seen: {raw.nbytes:,} bytes raw, ", end="")
        print(f"{len(zlib.compress(small.tobytes(), 6)):,} as it is sent (wanted: {WANTED_BYTES:,})")
    began = time.process_time()
    at = places_of(torch.from_numpy(depth[:8]), torch.from_numpy(poses[:8]), camera).numpy()
    for frame in range(8):
        total = np.zeros((220, 220))
        for x, y, value in zip(
            *(at[frame, ..., axis].ravel()[::16] for axis in (0, 1)), heat[frame].ravel()[::16], strict=True
        ):
            if 0 <= x < 22 and 0 <= y < 22:
                total[int(y / 0.1), int(x / 0.1)] += value
    print(f"pixel by pixel, estimated from 1/16 of 8 frames: {(time.process_time() - began) * 16 * FRAMES / 8:.0f} s")


def sent(study: iv.Study) -> None:
    """Bytes of a real map: heat of a few rows."""
    subject, _ = zoo.load("office_vanilla")
    heat = iv.look(study, "feature-distance", "office", subject=subject, other=True, progress=False)
    found = iv.look(study, "back-projection", "office", heat=heat.id, progress=False)
    total = 0
    for name in ("values", "counts"):
        small, _ = quantised(study.result_array(found.id, name))
        total += len(zlib.compress(small.tobytes(), 6))
    what = f"a map of {ROWS} pictures, values and counts: bytes sent (wanted: under {WANTED_BYTES:,})"
    print(f"| {what} | {total:,} | 1.5 MB (Sim2RealViz) |")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    with tempfile.TemporaryDirectory() as folder:
        study = iv.Study.create(Path(folder) / "office.study")
        zoo.office_pairs(study, ROWS)
        occluded(asked.rounds, study)
        sent(study)
    projected(asked.rounds)


if __name__ == "__main__":
    main()
