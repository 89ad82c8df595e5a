"""What the two processes say to each other: a JSON head, then bytes. Nothing that is said can run code."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np

from innerview.errors import DamagedPart

MAX_HEAD_BYTES = 16 << 20
MAX_PAYLOAD_BYTES = 512 << 20
_SIZES = struct.Struct("<QQ")


def send(stream: BinaryIO, head: dict[str, Any], payload: bytes | memoryview = b"") -> None:
    """Write one message."""
    said = json.dumps(head).encode()
    stream.write(_SIZES.pack(len(said), len(payload)) + said)
    stream.write(payload)
    stream.flush()


def receive(stream: BinaryIO, *, limit: int = MAX_PAYLOAD_BYTES) -> tuple[dict[str, Any], bytes]:
    """Read one message; EOFError where the other side is gone."""
    head_bytes, payload_bytes = _SIZES.unpack(_exactly(stream, _SIZES.size))
    if head_bytes > MAX_HEAD_BYTES or payload_bytes > limit:
        raise DamagedPart(f"It takes {payload_bytes} bytes once decoded; at most {limit} are taken")
    head: dict[str, Any] = json.loads(_exactly(stream, head_bytes))
    return head, _exactly(stream, payload_bytes)


def _exactly(stream: BinaryIO, size: int) -> bytes:
    content = stream.read(size)
    if len(content) != size:
        raise EOFError
    return content


def packed_rows(rows: np.ndarray | Sequence[np.ndarray]) -> tuple[dict[str, Any], bytes | memoryview]:
    """Rows of a chunk as a head and bytes."""
    if isinstance(rows, np.ndarray):
        plain = np.ascontiguousarray(rows)
        return {"shape": plain.shape, "dtype": plain.dtype.str}, plain.reshape(-1).view(np.uint8).data
    first = rows[0]
    head = {"lengths": [len(row) for row in rows], "shape": first.shape[1:], "dtype": first.dtype.str}
    return head, b"".join(np.ascontiguousarray(row).tobytes() for row in rows)


def unpacked_rows(head: dict[str, Any], payload: bytes) -> Any:
    """The rows again."""
    values, shape = np.frombuffer(payload, np.dtype(head["dtype"])), tuple(head["shape"])
    if "lengths" not in head:
        return values.reshape(shape)
    bounds = np.cumsum([0, *head["lengths"]])
    rows = values.reshape(int(bounds[-1]), *shape)
    return [rows[bounds[i] : bounds[i + 1]] for i in range(len(bounds) - 1)]
