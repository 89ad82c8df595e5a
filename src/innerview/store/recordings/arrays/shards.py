"""One file a block and array: its chunks one after the other, then an index (Zarr's sharding layout)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from innerview.errors import DamagedPart
from innerview.store.files import opened, read_at
from innerview.store.recordings.arrays.codecs import checksum
from innerview.store.recordings.arrays.headers import MAX_CHUNK_BYTES
from innerview.store.recordings.arrays.kinds import Codec

_NO_CHUNK = 2**64 - 1
MAX_STORED_BYTES = MAX_CHUNK_BYTES + (1 << 20)


def shard_name(codec: Codec, block: int) -> str:
    """The file's path inside the recording."""
    zeros = ".0" * len(codec.spec.shape) if codec.spec.kind == "dense" else ""
    return f"arrays/{codec.spec.name}/c.{block}{zeros}"


def pack_shard(codec: Codec, rows: Sequence[Any] | np.ndarray, *, capacity: int | None = None) -> bytes:
    """Bytes of a shard from the rows of a block; `capacity` chunks have a place in its index."""
    chunks = [codec.encode(rows[i : i + codec.chunk_rows]) for i in range(0, len(rows), codec.chunk_rows)]
    index = np.full((capacity or codec.block_rows // codec.chunk_rows, 2), _NO_CHUNK, "<u8")
    sizes = [len(chunk) for chunk in chunks]
    index[: len(chunks), 0] = np.cumsum([0, *sizes[:-1]])
    index[: len(chunks), 1] = sizes
    tail = index.tobytes()
    return b"".join([*chunks, tail, checksum(tail)])


def read_chunk(path: Path, codec: Codec, chunk: int, *, capacity: int | None = None) -> Any:
    """Rows of one chunk of a shard; reads the index and that chunk only."""
    with opened(path) as descriptor:
        content = read_bytes(descriptor, capacity or codec.block_rows // codec.chunk_rows, chunk)
    return codec.decode(content)


def read_bytes(descriptor: int, capacity: int, chunk: int) -> bytes:
    """A chunk as it was written."""
    index_bytes = 16 * capacity
    end = os.fstat(descriptor).st_size - index_bytes - 4
    if end < 0:
        raise DamagedPart("it is cut short")
    tail = os.pread(descriptor, index_bytes + 4, end)
    if checksum(tail[:-4]) != tail[-4:]:
        raise DamagedPart("its index is broken, as in a file that was cut short")
    offset, size = (int(v) for v in np.frombuffer(tail, "<u8", 2, 16 * chunk))
    if offset + size > end:
        raise DamagedPart("its index points outside the file")
    if size > MAX_STORED_BYTES:
        raise DamagedPart(f"a part of it takes {size} bytes; at most {MAX_STORED_BYTES} are read")
    return read_at(descriptor, offset, size)
