"""How the rows of an array become bytes: a chain of standard Zarr codecs, applied without Zarr's per-chunk machinery.

Zarr itself reads what is written here (the chain stands in zarr.json); a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import google_crc32c
import numcodecs  # type: ignore[import-untyped]
import numpy as np

from innerview.errors import DamagedPart, StoreError
from innerview.schema import ArraySpec
from innerview.store.recordings.arrays.headers import MAX_CHUNK_BYTES, check_blosc, check_zstd

_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_DTYPES = ("bool", *_INTEGERS, "float16", "float32", "float64")
_CHUNK_BYTES = 1 << 20
_IMAGES_PER_CHUNK = 16
MAX_AXES = 16


@dataclass(frozen=True)
class ArrayCodec:
    """Encodes and decodes chunks of `chunk_rows` rows of one array."""

    spec: ArraySpec
    block_rows: int

    head_file = "zarr.json"

    def __post_init__(self) -> None:
        check_spec(self.spec)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Little-endian on every machine."""
        return np.dtype(self.spec.dtype).newbyteorder("<")

    @cached_property
    def picture(self) -> bool:
        """Whether neighbours along a line resemble each other: bytes with at least two axes."""
        return self.spec.dtype == "uint8" and len(self.spec.shape) >= 2

    @cached_property
    def chunk_rows(self) -> int:
        """Rows decoded together: few for pictures, so that one of them is quickly at hand."""
        row_bytes = max(1, prod(self.spec.shape) * self.dtype.itemsize)
        most = max(1, _CHUNK_BYTES // row_bytes)
        most = min(most, _IMAGES_PER_CHUNK if self.picture else self.block_rows)
        return next(n for n in range(min(most, self.block_rows), 0, -1) if self.block_rows % n == 0)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Pictures as colour planes; anything else with time last, where a state changes slowly."""
        rank = 1 + len(self.spec.shape)
        if not self.picture:
            return (*range(1, rank), 0)
        planes = len(self.spec.shape) >= 3 and self.spec.shape[-1] <= 4
        return (*range(rank - 3), rank - 1, rank - 3, rank - 2) if planes else tuple(range(rank))

    def encode(self, rows: np.ndarray) -> bytes:
        """Bytes of one chunk; fewer rows than a chunk holds are filled up with zeros, as Zarr wants."""
        if len(rows) < self.chunk_rows:
            rows = np.concatenate([rows, np.zeros((self.chunk_rows - len(rows), *self.spec.shape), self.dtype)])
        flat = np.ascontiguousarray(rows.astype(self.dtype, copy=False).transpose(self.order)).reshape(-1)
        if self.picture:
            difference = np.empty_like(flat)
            difference[0] = flat[0]
            np.subtract(flat[1:], flat[:-1], out=difference[1:])
            flat = difference
        packed = bytes(self._compressor.encode(flat))
        return packed + checksum(packed)

    def decode(self, content: bytes) -> np.ndarray:
        """Rows of one chunk, [chunk_rows, *shape]; a view, as mostly a few rows are copied out of it."""
        packed = content[:-4]
        if checksum(packed) != content[-4:]:
            raise DamagedPart("its checksum does not match")
        full = (self.chunk_rows, *self.spec.shape)
        size = prod(full) * self.dtype.itemsize
        if self.picture:
            check_zstd(packed, size=size)
        else:
            check_blosc(packed, item_bytes=self.dtype.itemsize, size=size)
        try:
            flat = np.frombuffer(self._compressor.decode(packed), self.dtype)
        except (RuntimeError, ValueError) as error:
            raise DamagedPart(f"it cannot be unpacked ({error})") from error
        if self.picture:
            flat = np.cumsum(flat, dtype=self.dtype)
        if flat.size != prod(full):
            raise DamagedPart(f"it holds {flat.size} values instead of {prod(full)}")
        turned = flat.reshape([full[axis] for axis in self.order])
        return turned.transpose(np.argsort(self.order))

    @cached_property
    def _compressor(self) -> Any:
        return numcodecs.Zstd(level=1) if self.picture else numcodecs.Blosc(cname="zstd", clevel=1, shuffle=2)

    def check(self, values: Sequence[Any] | np.ndarray) -> str:
        """What is wrong with rows that somebody wants to write; empty where nothing is."""
        given = values if isinstance(values, np.ndarray) else np.asarray(values)
        if given.shape[1:] == self.spec.shape and given.dtype == self.spec.dtype:
            return ""
        return f"takes rows of shape {self.spec.shape} and {self.spec.dtype}; got {given.shape[1:]} and {given.dtype}"

    def head(self, rows: int) -> dict[str, Any]:
        """Zarr v3 metadata of the array when it has that many rows."""
        shape = list(self.spec.shape)
        little = {"name": "bytes", "configuration": {"endian": "little"}}
        crc = {"name": "crc32c"}
        sharding = {
            "chunk_shape": [self.chunk_rows, *shape],
            "codecs": [*self._filters(), little, self._zarr_compressor(), crc],
            "index_codecs": [little, crc],
            "index_location": "end",
        }
        return {
            "zarr_format": 3,
            "node_type": "array",
            "shape": [rows, *shape],
            "data_type": self.spec.dtype,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [self.block_rows, *shape]}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
            "fill_value": False if self.spec.dtype == "bool" else 0,
            "codecs": [{"name": "sharding_indexed", "configuration": sharding}],
            "attributes": {"role": self.spec.role, "unit": self.spec.unit},
            "dimension_names": ["row", *(self.spec.axes if len(self.spec.axes) == len(shape) else [None] * len(shape))],
        }

    def _filters(self) -> list[dict[str, Any]]:
        turn = {"name": "transpose", "configuration": {"order": list(self.order)}}
        delta = {"name": "numcodecs.delta", "configuration": {"dtype": "|u1"}}
        turned = [turn] if self.order != tuple(range(len(self.order))) else []
        return [*turned, delta] if self.picture else turned

    def _zarr_compressor(self) -> dict[str, Any]:
        if self.picture:
            return {"name": "zstd", "configuration": {"level": 1, "checksum": False}}
        settings = {"cname": "zstd", "clevel": 1, "shuffle": "bitshuffle", "blocksize": 0}
        return {"name": "blosc", "configuration": {"typesize": self.dtype.itemsize, **settings}}


def check_spec(spec: ArraySpec) -> None:
    """Refuse a type or shape that cannot be written."""
    if spec.dtype not in _DTYPES:
        raise StoreError(f"Array '{spec.name}' has dtype '{spec.dtype}'. Known: {', '.join(_DTYPES)}.")
    if any(not isinstance(n, int) or n < 1 for n in spec.shape):
        raise StoreError(f"Array '{spec.name}' has shape {spec.shape}; every size must be 1 or more.")
    if len(spec.shape) > MAX_AXES or prod(spec.shape) * np.dtype(spec.dtype).itemsize > MAX_CHUNK_BYTES:
        raise StoreError(
            f"Array '{spec.name}' has rows of shape {spec.shape}; they have at most {MAX_AXES} axes and "
            f"{MAX_CHUNK_BYTES} bytes."
        )


def checksum(content: bytes) -> bytes:
    """CRC-32C, as Zarr's codec of that name writes it."""
    value: int = google_crc32c.value(content)
    return value.to_bytes(4, "little")
