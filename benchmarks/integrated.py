"""Integrated gradients at a hidden layer, beside Captum's: frames a second on the platformer's network.

Run: python benchmarks/integrated.py [--frames N] [--steps N] [--rounds N] [--device cuda]
Both attribute the value of the same frames to the same layer, from the same baseline, by the same rule with as many
steps, in one process, turn by turn. Captum is given the size of pieces that suits it best, and is measured with
pictures as torch usually keeps them and with channels together, which suits processors. On a busy machine the times of
the processor say more than those of the clock; both are told.
"""

# ruff: noqa: T201 - a benchmark speaks
from __future__ import annotations

import os

# Threads that wait must not keep a core busy: beside other work that would be measured too, for both sides alike.
os.environ |= {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import innerview_zoo as zoo
import torch
from captum.attr import LayerIntegratedGradients
from innerview_zoo.worlds.platformer import FIRST_TEST_LEVEL, Platformer, PlatformerSettings
from torch import Tensor

from innerview.subjects import Subject, attribute

LAYER, WANTED = "conv2b", 3
PIECES = (32, 64, 128, 256)
Work = Callable[[], Tensor]


def frames_of(agent: Subject, count: int, device: str) -> Tensor:
    """What the agent saw in so many levels that it was not trained on, some steps after the start."""
    game = Platformer(count, settings=PlatformerSettings(), device=device, seed=0)
    seeds = torch.arange(FIRST_TEST_LEVEL, FIRST_TEST_LEVEL + count, device=device)
    frames = game.reset(level_seeds=seeds)
    name = agent.info.inputs[0].name
    for _ in range(20):
        action = agent.run({name: frames.float() / 255}).heads["policy"].argmax(dim=1)
        frames = game.step(action).frames
    return frames.float() / 255


def ways(agent: Subject, frames: Tensor, steps: int) -> tuple[Work, dict[str, Callable[[int], Tensor]]]:
    """Ours, and Captum's by how pictures lie in memory, given the size of pieces."""
    name, module = agent.info.inputs[0].name, agent.module
    blank = torch.zeros_like(frames[:1])
    begin = agent.run({name: blank}, keep=(LAYER,)).sites[LAYER][0]
    captum: Any = LayerIntegratedGradients(lambda x: module(x)[1][:, 0], module.get_submodule(LAYER))

    def ours() -> Tensor:
        return attribute(agent, {name: frames}, layer=LAYER, target="value", steps=steps, baseline=begin).values

    def theirs(layout: torch.memory_format) -> Callable[[int], Tensor]:
        given = frames.contiguous(memory_format=layout)

        def work(pieces: int) -> Tensor:
            found: Tensor = captum.attribute(given, baselines=blank, n_steps=steps, internal_batch_size=pieces)
            return found

        return work

    return ours, {"usual": theirs(torch.contiguous_format), "channels together": theirs(torch.channels_last)}


def seconds(work: Callable[[], object], device: str) -> tuple[float, float]:
    """By the clock, and of the processor."""
    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
    wait()
    began, spent = time.perf_counter(), time.process_time()
    work()
    wait()
    return time.perf_counter() - began, time.process_time() - spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=64)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    agent, _ = zoo.load("platformer")
    agent.module.to(args.device)
    frames = frames_of(agent, args.frames, args.device)
    ours, captum = ways(agent, frames, args.steps)
    apart = float((ours() - captum["usual"](PIECES[1])).abs().max())
    known = PIECES if args.device == "cpu" else (*PIECES, 1024, 4096)
    sizes = [size for size in known if size >= args.frames] or [args.frames]  # Captum takes no smaller ones
    best = {}
    for layout, work in captum.items():
        # A graphics card is waited for, so there the clock tells; a processor may be shared with others.
        measured = 1 if args.device == "cpu" else 0
        work(sizes[0])
        tried = {size: seconds(lambda w=work, s=size: w(s), args.device)[measured] for size in sizes}
        best[layout] = min(tried, key=lambda size: tried[size])
    times: dict[str, list[tuple[float, float]]] = {"innerview": [], **{layout: [] for layout in captum}}
    for _ in range(args.rounds):
        times["innerview"].append(seconds(ours, args.device))
        for layout, work in captum.items():
            times[layout].append(seconds(lambda w=work, s=best[layout]: w(s), args.device))
    print(f"{args.frames} frames, {args.steps} steps, layer {LAYER}, {args.device}, {torch.get_num_threads()} threads")
    print(f"largest difference between the two: {apart:.1e}; load of the machine {os.getloadavg()[0]:.1f}")
    tell(times, best, args.frames, args.device)


def tell(times: dict[str, list[tuple[float, float]]], best: dict[str, int], frames: int, device: str) -> None:
    """The rates, and how many times Captum's ours is: medians over the rounds."""
    rate = {name: frames / statistics.median(clock for clock, _ in took) for name, took in times.items()}
    print(f"innerview                 {rate['innerview']:8.1f} frames/s")
    for layout, size in best.items():
        pairs = list(zip(times["innerview"], times[layout], strict=True))
        ratio, by_processor = (statistics.median(b[i] / a[i] for a, b in pairs) for i in (0, 1))
        print(
            f"Captum, {layout:17} {rate[layout]:8.1f} frames/s in pieces of {size}: {ratio:.2f} times, "
            f"{by_processor:.2f} by the processor's time"
        )
        wanted = f"wanted: {WANTED} times Captum's" if layout == "usual" else f"Captum with {layout}"
        row = f"integrated gradients, {device}: frames/s ({wanted})"
        print(f"| {row} | {rate['innerview']:.1f} ({ratio:.1f} times) | {rate[layout]:.1f} (Captum) |")


if __name__ == "__main__":
    main()
