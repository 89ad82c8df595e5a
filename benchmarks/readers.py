"""Fifty readers of one service with 300 half-open connections beside them: errors, waiting times and memory over time.

Run: python benchmarks/readers.py [--minutes 2] [--readers 50] [--half-open 300]

Everything stays on loopback. A reader does what a page in playback does: columns once, then slices of frames, pictures
and tiles of the memory, four times a second; a fifth of them hold a live connection as well. A half-open connection
sends nothing, half a request, a byte now and then, half a body, or asks and does not read; whenever the service closes
one, it is opened again.
"""

# ruff: noqa: T201 - a benchmark speaks
from __future__ import annotations

import argparse
import contextlib
import http.client
import random
import re
import resource
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from websockets.sync.client import connect

import innerview as iv
from innerview.schema import ArraySpec, Column, Ordering

ROWS, EPISODE = 20_000, 500
PAUSE_S = 0.25
TIMEOUT_S = 30.0
SAMPLE_S = 10.0
SERVE = """
import sys
from innerview.serve import serve
with serve(sys.argv[1]) as handle:
    print(handle.port, handle.token, flush=True)
    sys.stdin.read()
"""
KINDS = ("silent", "half a request", "a byte now and then", "half a body", "asks and does not read")


def make(folder: Path) -> None:
    """Episodes with pictures of 64 × 64 and a memory of 128 elements."""
    noise = np.random.default_rng(0)
    steps = np.arange(ROWS)
    pictures = np.repeat(noise.integers(0, 255, (ROWS, 8, 8, 3), dtype=np.uint8), 8, axis=1).repeat(8, axis=2)
    iv.write_rows(
        iv.Study.create(folder, "readers"),
        "run",
        ordering=Ordering(),
        columns={"episode": steps // EPISODE, "step": steps % EPISODE, "reward": noise.random(ROWS)},
        arrays={"observation": pictures, "memory": noise.standard_normal((ROWS, 128), dtype=np.float32)},
        specs=[
            Column(name="reward", type="float", kind="reward"),
            ArraySpec(
                name="observation",
                shape=(64, 64, 3),
                dtype="uint8",
                role="observation",
                axes=("height", "width", "channel"),
            ),
            ArraySpec(name="memory", shape=(128,), dtype="float32", role="memory"),
        ],
    )


@dataclass
class Load:
    """What everybody reports to."""

    port: int
    token: str
    waits_s: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    opened: int = 0
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def headers(self) -> dict[str, str]:
        """What opens the service to a script."""
        return {"Authorization": f"Bearer {self.token}"}


def asks(seed: int) -> Iterator[str]:
    """What one page asks for, without end."""
    turn = random.Random(seed)
    root = "/api/recordings/run"
    yield from (
        "/api/study",
        root,
        f"{root}/columns?names=reward&names=step",
        f"{root}/groups",
        "/api/lenses",
        "/api/jobs",
    )
    while True:
        row = turn.randrange(ROWS - 32)
        for _ in range(20):
            yield f"{root}/arrays/observation?start={row}&stop={row + 32}"
            yield f"{root}/tiles/memory?level=0&tile={row // 256}"
            yield f"{root}/images/observation/{row}?format=png"
            row = min(row + 32, ROWS - 32)
        yield "/api/study"


def read(load: Load, seed: int) -> None:
    """One reader, until the end; it takes a new connection only where the service closed a resting one."""
    connection = http.client.HTTPConnection("127.0.0.1", load.port, timeout=TIMEOUT_S)
    for path in asks(seed):
        if load.ended.wait(PAUSE_S * random.uniform(0.5, 1.5)):
            return connection.close()
        began = time.monotonic()
        try:
            status = _get(connection, path, load.headers)
        except (OSError, http.client.HTTPException) as problem:
            load.errors[f"{type(problem).__name__} {path.split('?')[0]}"] += 1
            connection.close()
            continue
        load.waits_s.append(time.monotonic() - began)
        if status != 200:
            load.errors[f"{status} {path.split('?')[0]}"] += 1


def _get(connection: http.client.HTTPConnection, path: str, headers: dict[str, str]) -> int:
    try:
        connection.request("GET", path, headers=headers)
        reply = connection.getresponse()
    except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
        connection.close()  # it rested too long; a browser asks once more, too
        connection.request("GET", path, headers=headers)
        reply = connection.getresponse()
    reply.read()
    return reply.status


def talk(load: Load) -> None:
    """A live connection that stays open."""
    address = f"ws://127.0.0.1:{load.port}/api/live"
    try:
        with connect(address, additional_headers=load.headers, proxy=None, open_timeout=TIMEOUT_S) as talking:
            while not load.ended.wait(1.0):
                talking.send('{"id": 1, "channel": "a", "call": "none"}')
                talking.recv(TIMEOUT_S)
    except Exception as problem:  # noqa: BLE001 - any of them is an error of the service
        load.errors[f"live: {type(problem).__name__}"] += 1


def besiege(load: Load, count: int) -> None:
    """So many half-open connections, opened again whenever they are closed."""
    held: list[tuple[socket.socket, str]] = []
    while not load.ended.wait(0.2):
        held = [(each, kind) for each, kind in held if _still_open(each, kind)]
        while len(held) < count:
            kind = KINDS[load.opened % len(KINDS)]
            with contextlib.suppress(OSError):
                held.append((_half_open(load, kind), kind))
            load.opened += 1
    for each, _ in held:
        each.close()


def _half_open(load: Load, kind: str) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", load.port), timeout=2)
    head = f"HTTP/1.1\r\nHost: 127.0.0.1:{load.port}\r\n"
    said = {
        "half a request": f"GET /api/study {head}X-",
        "a byte now and then": f"GET /api/study {head}X-",
        "half a body": f"PUT /api/selections {head}Authorization: Bearer {load.token}\r\nContent-Length: 900\r\n\r\n[",
        "asks and does not read": f"GET /assets/none {head}\r\n",
    }
    made.sendall(said.get(kind, "").encode())
    made.setblocking(False)
    return made


def _still_open(connection: socket.socket, kind: str) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    closed = bool(poll.poll(0))
    try:
        if kind == "a byte now and then":
            connection.send(b"a")
    except OSError:
        closed = True
    if closed:
        connection.close()
    return not closed


def resident_mb(pid: int) -> float:
    """Memory of a process."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def watch(load: Load, pid: int, seconds: float) -> list[tuple[float, float]]:
    """Minutes and memory, until the time is up."""
    began, memory = time.monotonic(), []
    while (spent := time.monotonic() - began) < seconds:
        load.ended.wait(min(SAMPLE_S, seconds - spent + 0.01))
        memory.append(((time.monotonic() - began) / 60, resident_mb(pid)))
        recent = load.waits_s[-2_000:] or [0.0]
        print(
            f"{memory[-1][0]:5.1f} min  {memory[-1][1]:7.1f} MB  {len(load.waits_s):7,} answers  "
            f"p99 {np.quantile(recent, 0.99) * 1000:6.1f} ms  {sum(load.errors.values())} errors  "
            f"{load.opened:,} half-open ones so far",
            flush=True,
        )
    return memory


def report(load: Load, memory: list[tuple[float, float]]) -> bool:
    """Print what came of it; whether it is as it should be."""
    waits = np.array(load.waits_s)
    later = [mb for minute, mb in memory if minute >= 1] or [memory[-1][1]]
    growth = later[-1] - later[0]
    p50, p99 = (1000 * float(np.quantile(waits, q)) for q in (0.5, 0.99))
    print(f"{len(waits):,} answers, {sum(load.errors.values())} errors {dict(load.errors.most_common(5)) or ''}")
    print(f"p50 {p50:.1f} ms, p99 {p99:.1f} ms, longest {1000 * waits.max():.0f} ms")
    print(
        f"Memory {later[0]:.0f} MB after the first minute, {later[-1]:.0f} MB at the end, {max(later):.0f} MB at most"
    )
    print(f"| p99 of 50 readers beside 300 half-open connections | {p99:.0f} ms | — |")
    return not load.errors and p99 < 1000 and growth < max(20.0, 0.05 * later[0])


def main() -> None:
    """Serve, read and report; the exit code is 1 where something is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--half-open", type=int, default=300)
    given = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder) / "a.study")
        command = [sys.executable, "-c", SERVE, str(Path(folder) / "a.study")]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            port, token = child.stdout.readline().split()
            load = Load(int(port), token)
            threads = [threading.Thread(target=besiege, args=(load, given.half_open))]
            threads += [threading.Thread(target=read, args=(load, seed)) for seed in range(given.readers)]
            threads += [threading.Thread(target=talk, args=(load,)) for _ in range(given.readers // 5)]
            for thread in threads:
                thread.start()
            memory = watch(load, child.pid, 60 * given.minutes)
            load.ended.set()
            for thread in threads:
                thread.join(2 * TIMEOUT_S)
            child.kill()
    sys.exit(0 if report(load, memory) else 1)


if __name__ == "__main__":
    main()
