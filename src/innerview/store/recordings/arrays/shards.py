"""One file a block and array: its chunks one after the other, then an index (Zarr's sharding layout)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from innerview.errors import DamagedPart
from innerview.store.files import Stamp, opened, read_at, write_file
from innerview.store.recordings.arrays.codecs import checksum
from innerview.store.recordings.arrays.headers import MAX_CHUNK_BYTES
from innerview.store.recordings.arrays.kinds import Codec
from innerview.store.seal import crc32c

_NO_CHUNK = 2**64 - 1
MAX_STORED_BYTES = MAX_CHUNK_BYTES + (1 << 20)


def shard_name(codec: Codec, block: int) -> str:
    """The file's path inside the recording."""
    zeros = ".0" * len(codec.spec.shape) if codec.spec.kind == "dense" else ""
    return f"arrays/{codec.spec.name}/c.{block}{zeros}"


def write_shard(path: Path, codec: Codec, rows: Sequence[Any] | np.ndarray, *, capacity: int | None = None) -> Stamp:
    """Write the rows of a block; `capacity` chunks have a place in the index. CRC32C is that of `shard_checksum`."""
    chunks = [codec.encode(rows[i : i + codec.chunk_rows]) for i in range(0, len(rows), codec.chunk_rows)]
    index = np.full((capacity or codec.block_rows // codec.chunk_rows, 2), _NO_CHUNK, "<u8")
    sizes = [len(chunk) for chunk in chunks]
    index[: len(chunks), 0] = np.cumsum([0, *sizes[:-1]])
    index[: len(chunks), 1] = sizes
    tail = index.tobytes() + checksum(index.tobytes())
    stamp = write_file(path, b"".join([*chunks, tail]))
    return replace(stamp, crc32c=crc32c(b"".join([*(chunk[-4:] for chunk in chunks), tail])))


def shard_checksum(path: Path, capacity: int) -> str:
    """CRC32C of the checksums of all chunks and of the index: which content this is, without a look at all of it."""
    with opened(path) as descriptor:
        tail, end = _tail(descriptor, capacity)
        index = np.frombuffer(tail, "<u8", 2 * capacity).reshape(capacity, 2)
        places = [int(offset) + int(size) - 4 for offset, size in index.tolist() if offset != _NO_CHUNK]
        if places and not 0 <= min(places) <= max(places) <= end - 4:
            raise DamagedPart("its index points outside the file")
        return crc32c(b"".join([*(os.pread(descriptor, 4, place) for place in places), tail]))


def read_chunk(path: Path, codec: Codec, chunk: int, capacity: int) -> Any:
    """Rows of one chunk of a shard; reads the index and that chunk only."""
    with opened(path) as descriptor:
        content = read_bytes(descriptor, capacity, chunk)
    return codec.decode(content)


def read_bytes(descriptor: int, capacity: int, chunk: int) -> bytes:
    """A chunk as it was written."""
    tail, end = _tail(descriptor, capacity)
    offset, size = (int(v) for v in np.frombuffer(tail, "<u8", 2, 16 * chunk))
    if offset + size > end:
        raise DamagedPart("its index points outside the file")
    if size > MAX_STORED_BYTES:
        raise DamagedPart(f"a part of it takes {size} bytes; at most {MAX_STORED_BYTES} are read")
    return read_at(descriptor, offset, size)


def _tail(descriptor: int, capacity: int) -> tuple[bytes, int]:
    """The index with its checksum, and where it begins."""
    index_bytes = 16 * capacity
    end = os.fstat(descriptor).st_size - index_bytes - 4
    if end < 0:
        raise DamagedPart("it is cut short")
    tail = read_at(descriptor, end, index_bytes + 4)
    if checksum(tail[:-4]) != tail[-4:]:
        raise DamagedPart("its index is broken, as in a file that was cut short")
    return tail, end
