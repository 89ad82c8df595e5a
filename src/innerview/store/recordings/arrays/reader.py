"""Reads rows of one array, a chunk at a time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from innerview.errors import DamagedPart
from innerview.schema import ArraySpec
from innerview.store.isolation.decoding import ReadChunk
from innerview.store.paths import confined
from innerview.store.recordings.arrays.kinds import codec_for
from innerview.store.recordings.arrays.shards import shard_name

_MAX_CHUNKS = 8
_MAX_KEPT_BYTES = 64 << 20


class ArrayReader:
    """Rows of an array; keeps the last few chunks, as playing asks for one row after the other."""

    def __init__(self, folder: Path, spec: ArraySpec, block_rows: int, read: ReadChunk) -> None:
        self._folder, self._read_chunk = folder, read
        self._codec = codec_for(spec, block_rows)
        confined(folder, "arrays", spec.name)
        self._cached: OrderedDict[int, Any] = OrderedDict()
        self._guard = threading.Lock()
        chunk_bytes = self._codec.chunk_rows * spec.size * self._codec.dtype.itemsize
        self._kept_chunks = max(1, min(_MAX_CHUNKS, _MAX_KEPT_BYTES // max(1, chunk_bytes)))

    def rows(self, wanted: np.ndarray) -> np.ndarray | list[np.ndarray]:
        """Those rows in that order: [rows, *shape], or a list for a ragged array."""
        codec = self._codec
        if codec.spec.kind == "ragged":
            return [self._chunk(row // codec.chunk_rows)[row % codec.chunk_rows] for row in wanted.tolist()]
        result = np.empty((len(wanted), *codec.spec.shape), codec.dtype)
        chunks = wanted // codec.chunk_rows
        order = np.argsort(chunks, kind="stable")
        bounds = np.flatnonzero(np.diff(chunks[order])) + 1
        for places in np.split(order, bounds) if len(order) else ():
            chunk = int(chunks[places[0]])
            result[places] = self._chunk(chunk)[wanted[places] - chunk * codec.chunk_rows]
        return result

    def _chunk(self, chunk: int) -> Any:
        with self._guard:
            if chunk in self._cached:
                self._cached.move_to_end(chunk)
                return self._cached[chunk]
        values = self._read(chunk)
        with self._guard:
            self._cached[chunk] = values
            while len(self._cached) > self._kept_chunks:
                self._cached.popitem(last=False)
        return values

    def _read(self, chunk: int) -> Any:
        codec = self._codec
        block, inside = divmod(chunk, codec.block_rows // codec.chunk_rows)
        name = shard_name(codec, block)
        try:
            capacity = codec.block_rows // codec.chunk_rows
            return self._read_chunk(name, codec.spec, codec.block_rows, inside, capacity)
        except DamagedPart as error:
            first, last = block * codec.block_rows, (block + 1) * codec.block_rows - 1
            raise DamagedPart(
                f"Recording '{self._folder.name}': '{name}', which holds rows {first} to {last} of "
                f"array '{codec.spec.name}', is damaged: {str(error).rstrip('.')}. The other rows can be read."
            ) from error
