"""How much disk and time a recorded Doom step takes: codecs side by side, then the whole writer.

Run: python benchmarks/store_size.py [--frames N]
"""

# ruff: noqa: T201 - a benchmark speaks
from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numcodecs
import numpy as np
import vizdoom
from PIL import Image

from innerview.schema import ArraySpec, Column, RecordingInfo
from innerview.store import Study
from innerview.store.recordings.arrays.codecs import ArrayCodec

HEIGHT, WIDTH = 64, 112
MEMORY = 512
CHUNK = 16


def doom_frames(count: int) -> np.ndarray:
    """Frames of health_gathering_supreme under random actions, [frames, height, width, channel]."""
    game = vizdoom.DoomGame()
    game.load_config(str(Path(vizdoom.scenarios_path) / "health_gathering_supreme.cfg"))
    game.set_screen_resolution(vizdoom.ScreenResolution.RES_320X180)
    game.set_screen_format(vizdoom.ScreenFormat.RGB24)
    game.set_window_visible(False)
    game.set_seed(1)
    game.init()
    choose = np.random.default_rng(0)
    frames: list[np.ndarray] = []
    action: list[int] = []
    while len(frames) < count:
        if game.is_episode_finished():
            game.new_episode()
        picture = Image.fromarray(game.get_state().screen_buffer)
        frames.append(np.asarray(picture.resize((WIDTH, HEIGHT), Image.Resampling.BILINEAR)))
        if len(frames) % 6 == 1:
            action = choose.integers(0, 2, game.get_available_buttons_size()).tolist()
        game.make_action(action, 4)
    game.close()
    return np.stack(frames)


def gru_states(frames: np.ndarray) -> np.ndarray:
    """States of an untrained GRU that saw the frames, [frames, 512]."""
    import torch

    torch.manual_seed(0)
    see = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 8, 4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(128)
    )
    remember = torch.nn.GRU(128, MEMORY)
    with torch.no_grad():
        seen = see(torch.from_numpy(frames).permute(0, 3, 1, 2).float() / 255)
        states, _ = remember(seen[:, None] * 3)
    return states[:, 0].numpy()


def measure(name: str, rows: np.ndarray, encode: Callable[[np.ndarray], bytes], chunk: int) -> None:
    """Print size and time a row of one way to encode."""
    encode(rows[:chunk])
    begin = time.perf_counter()
    size = sum(len(encode(rows[i : i + chunk])) for i in range(0, len(rows), chunk))
    spent = time.perf_counter() - begin
    print(f"{name:42s} {size / len(rows) / 1000:7.2f} kB {spent / len(rows) * 1e6:8.1f} µs")


def compare_codecs(frames: np.ndarray, states: np.ndarray) -> None:
    """What was tried, and what is used."""
    print(f"{'a frame, ' + str(CHUNK) + ' a chunk':42s} {'size':>10s} {'encoding':>11s}")
    measure("raw", frames, lambda a: a.tobytes(), CHUNK)
    for level in (1, 3):
        measure(f"zstd-{level}", frames, numcodecs.Zstd(level=level).encode, CHUNK)
        planes = numcodecs.Zstd(level=level)
        measure(f"planes, zstd-{level}", frames, lambda a, z=planes: z.encode(a.transpose(0, 3, 1, 2).copy()), CHUNK)
    picture = ArrayCodec(ArraySpec(name="o", shape=frames.shape[1:], dtype="uint8"), 256)
    measure("planes, delta, zstd-1, crc (used)", frames, picture.encode, picture.chunk_rows)
    print(f"\n{'512 float32 of memory':42s} {'size':>10s} {'encoding':>11s}")
    measure("zstd-3", states, numcodecs.Zstd(level=3).encode, 256)
    measure("blosc zstd-1 shuffle", states, numcodecs.Blosc("zstd", 1, 1).encode, 256)
    memory = ArrayCodec(ArraySpec(name="m", shape=(MEMORY,), dtype="float32"), 256)
    measure("time last, blosc zstd-1 bitshuffle (used)", states, memory.encode, memory.chunk_rows)


def whole_writer(frames: np.ndarray, states: np.ndarray) -> None:
    """Record the frames step by step and look at the folder."""
    numbers = ("episode", "step", "action")
    floats = ("reward", "value", "entropy", "x", "y", "angle", "health")
    info = RecordingInfo(
        name="doom",
        columns=(
            *(Column(name=n, type="int") for n in numbers),
            *(Column(name=n, type="float") for n in floats),
            Column(name="objects", type="objects"),
        ),
        arrays=(
            ArraySpec(name="observation", shape=frames.shape[1:], dtype="uint8"),
            ArraySpec(name="memory", shape=(MEMORY,), dtype="float32"),
            ArraySpec(name="probabilities", shape=(6,), dtype="float32"),
        ),
    )
    noise = np.random.default_rng(0)
    probabilities = noise.dirichlet(np.ones(6), len(frames)).astype(np.float32)
    facts = noise.normal(size=(len(frames), len(floats))).tolist()
    near = [
        {"name": "Medikit", "x_px": 3, "y_px": 9, "width_px": 5, "height_px": 4, "distance": d, "x": d, "y": d}
        for d in noise.normal(size=5).tolist()
    ]
    with tempfile.TemporaryDirectory() as folder:
        study = Study.create(Path(folder) / "study")
        cpu, appending, begin = time.process_time(), 0.0, time.perf_counter()
        with study.writer(info) as writer:
            for i in range(len(frames)):
                row = {n: [i] for n in numbers} | {n: [v] for n, v in zip(floats, facts[i], strict=True)}
                values = {"observation": frames[i : i + 1], "memory": states[i : i + 1]}
                mark = time.thread_time()
                writer.append(row | {"objects": [near]}, values | {"probabilities": probabilities[i : i + 1]})
                appending += time.thread_time() - mark
        wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
        size = sum(path.stat().st_size for path in study.path.rglob("*") if path.is_file())
        recording = study.recording("doom")
        mark = time.perf_counter()
        for i in noise.integers(0, recording.rows, 100):
            recording.array_rows("observation", [i])
        reading = (time.perf_counter() - mark) / 100
    steps = len(frames)
    print(f"\nwhole recording, everything on disk        {size / steps / 1000:7.2f} kB a step (DRLViz: 34 kB, lossy)")
    print(
        f"CPU of both threads {cpu / steps * 1e6:.0f} µs a step, of it in append {appending / steps * 1e6:.0f} µs; ",
        end="",
    )
    print(f"{steps / wall:.0f} steps/s; a frame at random is read in {reading * 1e3:.1f} ms")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--frames", type=int, default=2048)
    frames = doom_frames(parser.parse_args().frames)
    states = gru_states(frames)
    compare_codecs(frames, states)
    whole_writer(frames, states)


if __name__ == "__main__":
    main()
