"""How fast the platformer is: many games in a batch on one core, one game at a time, and on a GPU where there is one.

Run: python benchmarks/platformer.py [--seconds S]
Every step paints a frame; actions are random; games that end begin anew in fresh levels.
"""

# ruff: noqa: T201 - a benchmark speaks
from __future__ import annotations

import argparse
import importlib.util
import statistics
import time

import torch
from innerview_zoo.worlds.platformer import ACTIONS, Platformer, PlatformerSettings

WANTED_CORE, WANTED_GPU = 3_000, 500_000
ROUNDS = 5


def speed(count: int, device: str, seconds: float, *, auto_reset: bool = True) -> float:
    """Steps a second of all games together: the median of some rounds."""
    game = Platformer(count, settings=PlatformerSettings(auto_reset=auto_reset), device=device, seed=1)
    game.reset()
    actions = torch.randint(0, len(ACTIONS), (64, count), device=device)
    for row in actions[:32]:
        game.step(row)
    return statistics.median(_round(game, actions, seconds / ROUNDS) for _ in range(ROUNDS))


def _round(game: Platformer, actions: torch.Tensor, seconds: float) -> float:
    wait = torch.cuda.synchronize if game.device.type == "cuda" else lambda: None
    wait()
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        for row in actions[:16]:  # as many steps as it takes until levels are made afresh
            game.step(row)
        wait()
        steps += 16
    return game.count * steps / (time.perf_counter() - began)


def single(seconds: float) -> float | None:
    """One game at a time through Gymnasium, as a plain loop would play it; None where Gymnasium is not installed."""
    if importlib.util.find_spec("gymnasium") is None:
        return None
    import gymnasium

    env = gymnasium.make("innerview/Platformer-v0", disable_env_checker=True)
    env.reset(seed=0)
    rates = []
    for _ in range(ROUNDS):
        began, steps = time.perf_counter(), 0
        while time.perf_counter() - began < seconds / ROUNDS:
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            steps += 1
            if terminated or truncated:
                env.reset()
        rates.append(steps / (time.perf_counter() - began))
    return statistics.median(rates)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10, help="for each measure")
    args = parser.parse_args()
    torch.set_num_threads(1)
    alone = single(args.seconds)
    peer = "" if alone is None else f"{alone:,.0f} (a game at a time)"
    if alone is not None:
        print(f"one game at a time through Gymnasium: {alone:,.0f} steps/s")
    core = {count: speed(count, "cpu", args.seconds) for count in (16, 64, 256)}
    for count, rate in core.items():
        print(f"{count:6} games on one core: {rate:,.0f} steps/s")
    best = max(core.values())
    wanted = f"wanted: {WANTED_CORE:,} or more"
    print(f"| platformer with rendering, one core: steps/s ({wanted}) | {best:,.0f} | {peer} |")
    if not torch.cuda.is_available():
        print("no GPU here: the rate on one is not measured")
        return
    many = {count: speed(count, "cuda", args.seconds) for count in (256, 1024, 4096, 16384)}
    for count, rate in many.items():
        print(f"{count:6} games on {torch.cuda.get_device_name()}: {rate:,.0f} steps/s")
    best, wanted = max(many.values()), f"wanted: {WANTED_GPU:,} or more"
    print(f"| platformer with rendering, one GPU: steps/s ({wanted}) | {best:,.0f} | |")


if __name__ == "__main__":
    main()
