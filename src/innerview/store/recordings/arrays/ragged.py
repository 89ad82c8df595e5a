"""Rows with different numbers of entries: offsets and values of a few rows at a time, compressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numcodecs  # type: ignore[import-untyped]
import numpy as np

from innerview.errors import DamagedPart, StoreError
from innerview.schema import ArraySpec
from innerview.store.recordings.arrays.codecs import check_spec, checksum
from innerview.store.recordings.arrays.headers import check_blosc

_MAX_CHUNK_ROWS = 64
_MAX_PADDED_BYTES = 1 << 30
_LAYOUT = (
    "c.N holds block N: chunks of chunk_rows rows, then an index (offset and size of each, uint64, little-endian) "
    "and its CRC32C. A chunk is Blosc of offsets (uint64 [chunk_rows + 1], counted in entries) and values, then CRC32C."
)


@dataclass(frozen=True)
class RaggedCodec:
    """Encodes and decodes rows [entries, *shape] whose number of entries differs."""

    spec: ArraySpec
    block_rows: int
    head_file = "array.json"

    def __post_init__(self) -> None:
        check_spec(self.spec)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Little-endian on every machine."""
        return np.dtype(self.spec.dtype).newbyteorder("<")

    @cached_property
    def chunk_rows(self) -> int:
        """Rows decoded together."""
        return next(n for n in range(min(_MAX_CHUNK_ROWS, self.block_rows), 0, -1) if self.block_rows % n == 0)

    def encode(self, rows: Sequence[np.ndarray]) -> bytes:
        """Bytes of one chunk; rows that are not there yet are empty."""
        lengths = [len(row) for row in rows] + [0] * (self.chunk_rows - len(rows))
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype("<u8")
        values = [np.ascontiguousarray(row, self.dtype).tobytes() for row in rows]
        packed = bytes(_COMPRESSOR.encode(b"".join([offsets.tobytes(), *values])))
        return packed + checksum(packed)

    def decode(self, content: bytes) -> list[np.ndarray]:
        """The rows of one chunk, [entries, *shape] each."""
        packed = content[:-4]
        if checksum(packed) != content[-4:]:
            raise DamagedPart("its checksum does not match")
        try:
            check_blosc(packed, item_bytes=1)
            flat = bytes(_COMPRESSOR.decode(packed))
            offsets = np.frombuffer(flat, "<u8", self.chunk_rows + 1).astype(np.int64)
            values = np.frombuffer(flat, self.dtype, offset=offsets.nbytes).reshape(-1, *self.spec.shape)
        except (RuntimeError, ValueError) as error:
            raise DamagedPart(f"it cannot be unpacked ({error})") from error
        if (np.diff(offsets) < 0).any() or offsets[0] != 0 or offsets[-1] != len(values):
            raise DamagedPart("its offsets do not fit its values")
        return [values[offsets[i] : offsets[i + 1]] for i in range(self.chunk_rows)]

    def check(self, values: Sequence[Any] | np.ndarray) -> str:
        """What is wrong with rows that somebody wants to write; empty where nothing is."""
        for value in values:
            fits = isinstance(value, np.ndarray) and value.shape[1:] == self.spec.shape and value.ndim >= 1
            if not fits or value.dtype != self.spec.dtype:
                got = f"{value.shape} and {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
                return f"takes rows of shape {('entries', *self.spec.shape)} and {self.spec.dtype}; got {got}"
        return ""

    def head(self, rows: int) -> dict[str, Any]:
        """What stands beside the values, for whoever reads them without innerview."""
        return {
            "format": "innerview ragged array",
            "shape": [rows, None, *self.spec.shape],
            "data_type": self.spec.dtype,
            "block_rows": self.block_rows,
            "chunk_rows": self.chunk_rows,
            "layout": _LAYOUT,
        }


_COMPRESSOR = numcodecs.Blosc(cname="zstd", clevel=1, shuffle=1)


def padded(values: Sequence[np.ndarray], spec: ArraySpec) -> tuple[np.ndarray, np.ndarray]:
    """[rows, most entries, *shape] filled up with zeros, and how many entries each row has."""
    lengths = np.array([len(value) for value in values], np.int64)
    size = len(values) * int(lengths.max(initial=0)) * spec.size * np.dtype(spec.dtype).itemsize
    if size > _MAX_PADDED_BYTES:
        raise StoreError(
            f"{len(values)} rows of array '{spec.name}' filled up to the longest, of {lengths.max()} entries, take "
            f"{size} bytes; at most {_MAX_PADDED_BYTES} are made. Ask for fewer rows."
        )
    whole = np.zeros((len(values), int(lengths.max(initial=0)), *spec.shape), spec.dtype)
    for place, value in enumerate(values):
        whole[place, : len(value)] = value
    return whole, lengths
