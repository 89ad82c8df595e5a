"""Reads the tables of a recording: each file is compared with its checksum before anything in it is decoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from innerview.errors import DamagedPart
from innerview.schema import ArraySpec
from innerview.store.files import file_crc32c, plain_stat
from innerview.store.isolation.decoding import Decoder, Here
from innerview.store.isolation.process import Apart
from innerview.store.recordings.arrays.shards import shard_checksum
from innerview.store.recordings.manifest import CommittedBlock, LoadedManifest, load_log
from innerview.store.recordings.tables import table_schema

Seen = dict[str, tuple[int, int, int]]
"""Files whose checksum was compared, and what they looked like then; one that changes is compared again."""


class Blocks:
    """Rows and groups as one version of the manifest has them."""

    def __init__(
        self, folder: Path, loaded: LoadedManifest, apart: Apart, seen: Seen, before: Blocks | None = None
    ) -> None:
        self._before = before
        self.folder, self.manifest, self._apart, self._seen = folder, loaded.manifest, apart, seen
        self.decoder: Decoder = Here() if loaded.signed else apart
        self.schema = table_schema(self.manifest.info.columns)
        self.group_schema = table_schema(self.manifest.info.group_columns)

    def rows(self, names: list[str], start: int, stop: int) -> pl.DataFrame:
        """Some columns of a range of rows; from the larger copies where there are any and they are whole."""
        if start == stop or not names:
            return pl.DataFrame(schema={name: self.schema[name] for name in names})
        if self.manifest.segment_rows:
            try:
                return self._rows("tables/rows.{:08d}.parquet", self.manifest.segment_rows, names, (start, stop))
            except DamagedPart:
                # The blocks hold the same rows; `damage` names the table.
                pass
        return self._rows("rows/{:08d}.parquet", self.manifest.block_rows, names, (start, stop))

    def groups(self) -> pl.DataFrame:
        """One line per group, in the order in which they ended."""
        names = list(self.group_schema)
        if any(path == "tables/groups.parquet" for path, *_ in self.manifest.tables):
            try:
                return self._read(["tables/groups.parquet"], self.group_schema, names, [self.manifest.groups])
            except DamagedPart:
                # The blocks hold the same lines; `damage` names the table.
                pass
        ended = [(n, committed.block.groups) for n, committed in enumerate(self.log) if committed.block.groups]
        files = [f"groups/{number:08d}.parquet" for number, _ in ended]
        return self._read(files, self.group_schema, names, [groups for _, groups in ended])

    def chunk(self, file: str, spec: ArraySpec, block_rows: int, chunk: int, capacity: int) -> Any:
        """Rows of one chunk of an array, of a file that is the one that was committed."""
        decoder = self.decoder if self.verify(file, capacity) else self._apart
        return decoder.chunk(self.folder / file, spec, block_rows, chunk, capacity)

    def scene_keys(self) -> set[str]:
        """Keys of the scenes of all groups whose table can be read."""
        keys: set[str] = set()
        for number, committed in enumerate(self.log if "scene" in self.group_schema else ()):
            if not committed.block.groups:
                continue
            with suppress(DamagedPart):  # its file is named as damaged
                file = f"groups/{number:08d}.parquet"
                lines = self._read([file], self.group_schema, ["scene"], [committed.block.groups])
                keys |= set(lines["scene"].drop_nulls().cast(pl.String))
        return keys

    def read_log(self) -> list[CommittedBlock]:
        """Every committed block, as the file says now: it may have been damaged since it was read."""
        vars(self)["log"] = found = load_log(self.folder, self.manifest)
        return found

    @cached_property
    def log(self) -> list[CommittedBlock]:
        """Every committed block."""
        before, self._before = self._before, None
        known = (before.manifest, before.log) if before is not None and "log" in vars(before) else None
        return load_log(self.folder, self.manifest, known)

    def _rows(self, pattern: str, each: int, names: list[str], wanted: tuple[int, int]) -> pl.DataFrame:
        start, stop = wanted
        numbers = range(start // each, -(-stop // each))
        try:
            # Of rows that a manifest made up not even the first file is there.
            self.verify(pattern.format(numbers[0]))
            files = [pattern.format(number) for number in numbers]
            heights = [min((n + 1) * each, self.manifest.rows) - n * each for n in numbers]
            table = self._read(files, self.schema, names, heights)
        except DamagedPart as error:
            raise DamagedPart(f"Recording '{self.folder.name}', rows {start} to {stop - 1}: {error}") from error
        return table.slice(start - numbers[0] * each, stop - start)

    def _read(
        self, files: Sequence[str], schema: Mapping[str, pl.DataType], names: Sequence[str], heights: Sequence[int]
    ) -> pl.DataFrame:
        known = [self.verify(file) for file in files]
        # What cannot be compared with a checksum could be anything.
        decoder = self.decoder if all(known) else self._apart
        return decoder.tables([self.folder / file for file in files], schema, names=names, heights=heights)

    def verify(self, file: str, chunks: int = 0) -> bool:
        """Compare a file's checksum, once for as long as it stays as it is; whether there was one to compare.

        A shard of so many `chunks` has one for its chunks' checksums: each of these is compared when it is decoded.
        """
        path = self.folder / file
        looks = plain_stat(path)
        if self._seen.get(file) == looks:
            return True
        expected = self._copies.get(file) or self._committed.get(file)
        if expected is None:
            return False
        size, checksum = expected
        # The size first: what has another one need not be read, however large it is.
        if size != looks[0] or checksum != (shard_checksum(path, chunks) if chunks else file_crc32c(path)):
            raise DamagedPart(f"'{file}' was changed after it was written: its checksum (CRC32C) does not match.")
        self._seen[file] = looks
        return True

    @cached_property
    def _copies(self) -> dict[str, tuple[int, str]]:
        """Size and CRC32C of the larger copies, by path."""
        return {path: (size, checksum) for path, _, size, checksum in self.manifest.tables}

    @cached_property
    def _committed(self) -> dict[str, tuple[int, str]]:
        """Size and CRC32C of the files of all blocks; nothing where the list of blocks is damaged, which is told."""
        try:
            log = self.log
        except DamagedPart:
            return {}
        return {path: (size, each.checksums[path]) for each in log for path, size in each.sizes.items()}
