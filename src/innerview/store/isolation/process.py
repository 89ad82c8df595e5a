"""Asks a process of its own to decode, starts it when it is first needed and again when it died."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from innerview.errors import DamagedPart
from innerview.schema import ArraySpec, to_json
from innerview.store.isolation.frames import MAX_PAYLOAD_BYTES, receive, send, unpacked_rows
from innerview.store.recordings.arrays.headers import MAX_CHUNK_BYTES
from innerview.store.recordings.tables import TYPES, UNREADABLE

_START = "from innerview.store.isolation.child import main; main()"
_BASE_SECONDS, _BYTES_A_SECOND = 4, 50 << 20
_BASE_MEMORY, _MAX_MEMORY, _COPIES = 256 << 20, 1200 << 20, 4
_CELL_BYTES = 32
_FOREIGN_ROWS = 1 << 18
"""Rows of somebody else's table that are handed over together."""
_WORDS = {kind: word for word, kind in TYPES.items()}
_THREADS = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "BLOSC_NTHREADS"), "1")


class Apart:
    """Decodes in a process of its own: what this user's key did not sign."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        self._end: weakref.finalize[..., Apart] | None = None

    def tables(
        self, paths: Sequence[Path], schema: Mapping[str, pl.DataType], *, names: Sequence[str], heights: Sequence[int]
    ) -> pl.DataFrame:
        """Some columns of several Parquet files, one below the other."""
        if not paths:
            return pl.DataFrame(schema={name: schema[name] for name in names})
        request = {
            "what": "tables",
            "paths": [str(path) for path in paths],
            "schema": {name: _WORDS[kind] for name, kind in schema.items()},
            "names": list(names),
            "heights": list(heights),
        }
        place = f"'{paths[0].parent.name}/{paths[0].name}'" + (f" to '{paths[-1].name}'" if len(paths) > 1 else "")
        _, payload = self._asked(request, place, declared=sum(heights) * len(names) * _CELL_BYTES)
        try:
            return pl.read_ipc(io.BytesIO(payload)).select(names)
        except UNREADABLE as error:
            raise DamagedPart(f"{place} cannot be read: {error}") from error

    def foreign_table(self, path: Path) -> pl.DataFrame:
        """A Parquet file that somebody else wrote, whole, whatever its columns are."""
        place, parts, done, rows = f"'{path.name}'", [], 0, 1
        while done < rows:
            request = {"what": "foreign", "path": str(path), "start": done, "rows": _FOREIGN_ROWS}
            head, payload = self._asked(request, place, declared=MAX_PAYLOAD_BYTES)
            try:
                parts.append(pl.read_ipc(io.BytesIO(payload)))
            except UNREADABLE as error:
                raise DamagedPart(f"{place} cannot be read: {error}") from error
            done, rows = done + max(len(parts[-1]), 1), int(head["rows"])
        return pl.concat(parts)

    def chunk(self, path: Path, spec: ArraySpec, block_rows: int, chunk: int, capacity: int) -> Any:
        """Rows of one chunk of a shard: an array, or a list of them where rows differ in length."""
        request = {
            "what": "chunk",
            "path": str(path),
            "spec": to_json(spec),
            "block_rows": block_rows,
            "chunk": chunk,
            "capacity": capacity,
        }
        row_bytes = prod(spec.shape) * np.dtype(spec.dtype).itemsize
        declared = MAX_CHUNK_BYTES if spec.kind == "ragged" else 2 * row_bytes + (1 << 20)
        head, payload = self._asked(request, f"'{path.name}'", declared=declared)
        return unpacked_rows(head, payload)

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._stop()

    def _asked(self, request: dict[str, Any], place: str, *, declared: int) -> tuple[dict[str, Any], bytes]:
        seconds = _BASE_SECONDS + declared // _BYTES_A_SECOND
        memory = min(_MAX_MEMORY, _BASE_MEMORY + _COPIES * declared)
        with self._lock:
            process = self._running()
            late = threading.Event()
            watch = threading.Timer(2 * seconds, _stop_late, (process, late))
            watch.start()
            try:
                assert process.stdin is not None and process.stdout is not None
                send(process.stdin, {**request, "seconds": seconds, "memory_bytes": memory})  # type: ignore[arg-type]
                head, payload = receive(process.stdout)  # type: ignore[arg-type]
            except (OSError, EOFError, ValueError, DamagedPart) as error:
                raise DamagedPart(self._last_words(place, late.is_set())) from error
            finally:
                watch.cancel()
        if "refused" in head:
            raise DamagedPart(str(head["refused"])[:500])
        return head, payload

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and (self._owner != os.getpid() or self._process.poll() is not None):
            self._process = None
        if self._process is None:
            environment = {**os.environ, **_THREADS, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
            )
            self._owner = os.getpid()
            self._end = weakref.finalize(self, _ended, self._process)
        return self._process

    def _stop(self) -> int | None:
        """End the process; what it ended with."""
        process, self._process = self._process, None
        if self._end is not None:
            self._end.detach()
            self._end = None
        return _ended(process) if process is not None else None

    def _last_words(self, place: str, late: bool) -> str:
        status = self._process.poll() if self._process is not None else None
        if status is None and self._process is not None and not late:
            with suppress(subprocess.TimeoutExpired):
                status = self._process.wait(1)
        self._stop()
        if late or status == -signal.SIGXCPU:
            why = "took too long and was stopped"
        elif status is not None and status < 0:
            why = f"died ({signal.Signals(-status).name})"
        else:
            why = "gave no answer that can be used"
        return (
            f"{place} is damaged or was made to do harm: the process that decodes what was not signed here {why}. "
            "Everything else can be read."
        )


def _stop_late(process: subprocess.Popen[bytes], late: threading.Event) -> None:
    late.set()
    process.kill()


def _ended(process: subprocess.Popen[bytes]) -> int | None:
    process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()
    try:
        return process.wait(5)
    except subprocess.TimeoutExpired:
        return None
