"""What has to be decoded to read a recording: tables and chunks of arrays. Here, or in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from innerview.schema import ArraySpec
from innerview.store.recordings.arrays.kinds import Codec, codec_for
from innerview.store.recordings.arrays.shards import read_chunk
from innerview.store.recordings.tables import read_tables

ReadChunk = Callable[[str, ArraySpec, int, int, int], Any]
"""Gives rows of a chunk of a file of a recording: path inside it, array, rows of a block, chunk, chunks of the file."""


class Decoder(Protocol):
    """Reads files of a recording; DamagedPart says what is wrong with one."""

    def tables(
        self, paths: Sequence[Path], schema: Mapping[str, pl.DataType], *, names: Sequence[str], heights: Sequence[int]
    ) -> pl.DataFrame:
        """Some columns of several Parquet files, one below the other."""
        ...

    def chunk(self, path: Path, spec: ArraySpec, block_rows: int, chunk: int, capacity: int) -> Any:
        """Rows of one chunk of a shard: an array, or a list of them where rows differ in length."""
        ...


class Here:
    """Decodes in this process: what this user's key signed."""

    def tables(
        self, paths: Sequence[Path], schema: Mapping[str, pl.DataType], *, names: Sequence[str], heights: Sequence[int]
    ) -> pl.DataFrame:
        """Some columns of several Parquet files, one below the other."""
        return read_tables(paths, schema, names=names, heights=heights)

    def chunk(self, path: Path, spec: ArraySpec, block_rows: int, chunk: int, capacity: int) -> Any:
        """Rows of one chunk of a shard."""
        return read_chunk(path, _codec(spec, block_rows), chunk, capacity)


@lru_cache(maxsize=256)
def _codec(spec: ArraySpec, block_rows: int) -> Codec:
    return codec_for(spec, block_rows)
