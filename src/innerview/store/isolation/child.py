"""The process that decodes: answers one request after the other until nobody asks any more."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from innerview.errors import DamagedPart, InnerviewError
from innerview.schema import ArraySpec, from_json
from innerview.store.isolation.decoding import Here
from innerview.store.isolation.frames import MAX_PAYLOAD_BYTES, packed_rows, receive, send
from innerview.store.recordings.tables import TYPES, UNREADABLE

_DECODER = Here()


def main() -> None:
    """Answer requests from standard input on standard output."""
    asked, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no reply
    while True:
        try:
            request, _ = receive(asked)
        except EOFError:
            return
        _answer(request, replies)


def _answer(request: dict[str, Any], replies: BinaryIO) -> None:
    _limit(memory=int(request["memory_bytes"]), seconds=int(request["seconds"]))
    try:
        head, payload = _decoded(request)
        if len(payload) > MAX_PAYLOAD_BYTES:
            raise DamagedPart(f"It takes {len(payload)} bytes once decoded; at most {MAX_PAYLOAD_BYTES} are taken")
    except MemoryError:
        head, payload = {"refused": "decoding it takes more memory than what it declares"}, b""
    except (InnerviewError, *UNREADABLE, ValueError, TypeError, RuntimeError) as problem:
        head, payload = {"refused": str(problem) or type(problem).__name__}, b""
    send(replies, head, payload)


def _decoded(request: dict[str, Any]) -> tuple[dict[str, Any], bytes | memoryview]:
    if request["what"] == "chunk":
        spec = from_json(ArraySpec, request["spec"])
        place = (Path(request["path"]), spec, request["block_rows"], request["chunk"])
        return packed_rows(_DECODER.chunk(*place, request["capacity"]))
    if request["what"] == "foreign":
        found = pl.scan_parquet(request["path"], glob=False)
        rows = found.select(pl.len()).collect().item()
        return {"rows": rows}, _packed_table(found.slice(request["start"], request["rows"]).collect())
    schema = {name: TYPES[word] for name, word in request["schema"].items()}
    paths, heights = [Path(path) for path in request["paths"]], request["heights"]
    for path, height in zip(paths, heights, strict=True):
        declared = pl.scan_parquet(path, schema=schema, glob=False).select(pl.len()).collect().item()
        if declared != height:
            raise DamagedPart(f"'{path.parent.name}/{path.name}' holds {declared} rows instead of {height}.")
    return {}, _packed_table(_DECODER.tables(paths, schema, names=request["names"], heights=heights))


def _packed_table(table: pl.DataFrame) -> memoryview:
    buffer = io.BytesIO()
    # Every text in full: rows that share one long text would take its size many times over later.
    table.write_ipc(buffer, compat_level=pl.CompatLevel.oldest())
    return buffer.getbuffer()


def _limit(*, memory: int, seconds: int) -> None:
    """Let this request take so much memory and processor time more than what was taken before it."""
    if sys.platform == "win32":
        return
    import resource

    spent = resource.getrusage(resource.RUSAGE_SELF)
    used = int(spent.ru_utime + spent.ru_stime) + 1
    _lower(resource.RLIMIT_CPU, used + seconds)
    _lower(resource.RLIMIT_CORE, 0)
    if taken := _data_bytes():
        _lower(resource.RLIMIT_DATA, taken + memory)


def _lower(kind: int, wanted: int) -> None:
    """Set the limit that holds now, within the one that this process may not raise, as a container sets it."""
    import resource

    _, most = resource.getrlimit(kind)
    resource.setrlimit(kind, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))


def _data_bytes() -> int:
    """Memory that this process has for data, where the system tells."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData")), 0)
