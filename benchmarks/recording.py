"""What recording costs: the same subject in the same world, played bare and recorded, in turns.

Run: python benchmarks/recording.py [--rounds N] [--steps N]
The world is Doom (112×64 RGB with all its facts), the subject the zoo's health agent (512 elements of memory).
"""

# ruff: noqa: T201 - a benchmark speaks
from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from innerview_zoo import load

import innerview as iv
from innerview.schema import WorldInfo
from innerview.worlds import Lanes

LANES = 4
DRLVIZ_KB = 34.0


class OpenFiles:
    """A world whose games stay open between runs: starting engines is not what is measured."""

    def __init__(self, world: iv.World) -> None:
        self._world, self.info = world, world.info
        self._lanes = world.open(LANES)

    info: WorldInfo

    def open(self, lanes: int) -> Lanes:
        assert lanes == LANES
        return _Borrowed(self._lanes)

    def close(self) -> None:
        self._lanes.close()


class _Borrowed:
    """Lanes that closing leaves open."""

    def __init__(self, lanes: Lanes) -> None:
        self.count, self.reset, self.step = lanes.count, lanes.reset, lanes.step

    def close(self) -> None:
        """Left to whoever opened them."""


@torch.no_grad()
def bare(subject: iv.Subject, world: OpenFiles, steps: int, seed: int) -> float:
    """Seconds for the loop that anybody would write."""
    began = time.perf_counter()
    lanes = world.open(LANES)
    moments = [lanes.reset(lane, seed + lane) for lane in range(LANES)]
    generators = [np.random.default_rng(seed + lane) for lane in range(LANES)]
    memory = subject.initial_memory(LANES)
    for _ in range(steps):
        frames = np.stack([moment.observation["observation"] for moment in moments])
        output = subject.run(subject.inputs({"observation": frames}), memory)
        actions = subject.act(output, greedy=False, generators=generators)
        memory = output.memory
        for lane, moment in lanes.step(dict(enumerate(actions))).items():
            moments[lane] = lanes.reset(lane, seed + LANES + lane) if moment.ended else moment
    return time.perf_counter() - began


def recorded(subject: iv.Subject, world: OpenFiles, steps: int, seed: int) -> tuple[float, float]:
    """Seconds for the same steps recorded, and kB a step on disk."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        made = iv.record(
            Path(folder) / "s", subject, world, episodes=LANES, seeds=seed, max_steps=steps, progress=False
        )
        seconds = time.perf_counter() - began
        size = sum(file.stat().st_size for file in (Path(folder) / "s").rglob("*") if file.is_file())
        return seconds * steps * LANES / made.rows, size / made.rows / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=300, help="steps in each of the four lanes")
    args = parser.parse_args()
    torch.set_num_threads(max(1, torch.get_num_threads() // 2))  # as recording does, so that both play alike
    subject, doom = load("doom_health")
    world = OpenFiles(doom)
    ratios, speeds, sizes = [], [], []
    for number in range(args.rounds + 1):
        seed = 3_000_000 + 100 * number
        plain = bare(subject, world, args.steps, seed)
        kept, size = recorded(subject, world, args.steps, seed)
        after = bare(subject, world, args.steps, seed)  # before and after, so that a drift of the machine cancels out
        if number:  # the first round warms everything up
            ratios.append(2 * kept / (plain + after))
            speeds.append((2 * LANES * args.steps / (plain + after), LANES * args.steps / kept))
            sizes.append(size)
    world.close()
    free, busy = (statistics.median(column) for column in zip(*speeds, strict=True))
    overhead = (statistics.median(ratios) - 1) * 100
    print(f"overhead per round: {', '.join(f'{(r - 1) * 100:.1f} %' for r in sorted(ratios))}")
    print(f"| recording a Doom step, overhead over the bare loop | {overhead:.1f} % | 0 % (bare loop) |")
    print(f"| steps/s, {LANES} games | {busy:,.0f} | {free:,.0f} (bare loop) |")
    print(f"| disk for a step | {statistics.median(sizes):.2f} kB, lossless | {DRLVIZ_KB:.0f} kB, lossy (DRLViz) |")


if __name__ == "__main__":
    main()
