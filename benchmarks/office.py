"""How fast the office is rendered: on one core, on a GPU where there is one, and if every pixel tested every solid.

Run: python benchmarks/office.py [--seconds S]
Images are 256 × 256 with colour, depth and ids, from poses drawn over the whole floor.
"""

# ruff: noqa: T201 - a benchmark speaks
from __future__ import annotations

import argparse
import statistics
import time

import innerview_zoo.worlds.office.rendering.cast as caster
import torch
from innerview_zoo.worlds.office import Camera, Conditions, Floor, office_floor, render, sample_poses
from innerview_zoo.worlds.office.rendering.camera import raster_of
from innerview_zoo.worlds.office.rendering.render import stage_of
from innerview_zoo.worlds.office.things.parts import BALL, BOX, CYLINDER, RING

WANTED_CORE, WANTED_GPU = 10, 2_000
PAPER = "33 (60,000 in half an hour, Sim2RealViz)"
ROUNDS = 5


def speed(floor: Floor, *, batch: int, device: str, seconds: float, when: Conditions) -> float:
    """Images a second: the median of some rounds."""
    poses = sample_poses(floor, batch, seed=1)
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    render(floor, poses, conditions=when, device=device)
    rates = []
    for _ in range(ROUNDS):
        wait()
        began, done = time.perf_counter(), 0
        while time.perf_counter() - began < seconds / ROUNDS:
            render(floor, poses, conditions=when, device=device)
            wait()
            done += batch
        rates.append(done / (time.perf_counter() - began))
    return statistics.median(rates)


def brute(floor: Floor) -> float:
    """Images a second if every ray were tested against every solid, without any shading: from a band of one image."""
    stage, camera = stage_of(floor, torch.device("cpu")), Camera()
    raster, pose = raster_of(camera, torch.device("cpu")), sample_poses(floor, 1, seed=1)[0]
    eyes = torch.tensor([[float(pose[0]), float(pose[1]), camera.height_m]])
    solids, angles, rays = stage.solids, pose[2:], raster.rays[: raster.across]
    began = time.perf_counter()
    for shape in (BOX, CYLINDER, BALL, RING):
        which = (solids.shape == shape).nonzero()[:, 0].to(torch.int32)
        shown = caster._Shown(
            torch.zeros_like(which, dtype=torch.int64), which, torch.zeros(len(which)), torch.empty(0)
        )
        to_local, origin = caster._local_frames(solids, shown, eyes, angles)
        for i in range(len(which)):
            many = len(rays)
            inner = solids.inner[which[i : i + 1]].expand(many) if shape == RING else None
            caster._hit(shape, to_local[i : i + 1].expand(many, 3, 3), origin[i : i + 1].expand(many, 3), rays, inner)
    return 1 / ((time.perf_counter() - began) * raster.down)


def main() -> None:
    """Measure, and print rows for the table of results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    seconds = parser.parse_args().seconds
    torch.set_num_threads(1)
    floor = office_floor(0)
    began = time.perf_counter()
    stage = stage_of(floor, torch.device("cpu"))
    ready = time.perf_counter() - began
    print(f"{len(floor.things)} things of {len(stage.solids.shape)} solids, made ready in {ready:.1f} s")
    sim, real = (
        speed(floor, batch=8, device="cpu", seconds=seconds, when=w) for w in (Conditions(), Conditions.real(1))
    )
    slow = brute(floor)
    print(f"one core: {sim:.1f} images/s simulated, {real:.1f} as the stand-in; {slow:.2f} if every solid were tested")
    peer = f"{slow:.1f} (every solid tested)"
    print(f"| office, 256 × 256 RGB-D, one core: images/s (wanted: {WANTED_CORE}) | {sim:.0f} | {peer} |")
    print(f"| office, stand-in for reality, one core: images/s | {real:.0f} | |")
    if torch.cuda.is_available():
        fast = max(speed(floor, batch=b, device="cuda", seconds=seconds, when=Conditions()) for b in (256, 1024))
        print(f"| office, 256 × 256 RGB-D, GPU: images/s (wanted: {WANTED_GPU:,}) | {fast:,.0f} | {PAPER} |")
    else:
        print("No GPU here: the row for it is left out.")


if __name__ == "__main__":
    main()
