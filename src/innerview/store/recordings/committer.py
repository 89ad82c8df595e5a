"""Puts blocks on disk: arrays, rows, groups, then the manifest."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from innerview.errors import DamagedPart
from innerview.store.files import (
    Stamp,
    is_unfinished,
    make_folder,
    replace_file,
    sync_folder,
    write_file,
    writing,
)
from innerview.store.isolation.process import Apart
from innerview.store.paths import confined
from innerview.store.recordings.arrays.keyed import write_shared
from innerview.store.recordings.arrays.kinds import codec_for, head_bytes
from innerview.store.recordings.arrays.shards import shard_name, write_shard
from innerview.store.recordings.blocks import Blocks
from innerview.store.recordings.manifest import (
    MANIFEST,
    LoadedManifest,
    append_to_log,
    info_text,
    log_line,
    save_manifest,
    stamped,
)
from innerview.store.recordings.tables import build_table, parquet_bytes, table_schema

_SEGMENT_ROWS = 65_536
_WORTH_MERGING = 16  # blocks


@dataclass(frozen=True, kw_only=True)
class RowBlock:
    """The values of one block."""

    rows: int
    columns: Mapping[str, Sequence[Any]]
    arrays: Mapping[str, np.ndarray | list[Any]]
    shared: Mapping[str, Mapping[str, Any]]
    """Values that came with this block, by array and key."""
    groups: tuple[Mapping[str, Any], ...]
    provisional: bool = False


class Committer:
    """Owns a recording's folder while it is written; used by one thread at a time."""

    def __init__(self, folder: Path, loaded: LoadedManifest) -> None:
        self.folder = folder
        self.manifest, self._signed = loaded.manifest, loaded.signed
        info = self.manifest.info
        self._info = info_text(info)
        self.codecs = {spec.name: codec_for(spec, self.manifest.block_rows) for spec in info.arrays}
        self.schema = table_schema(info.columns)
        self.group_schema = table_schema(info.group_columns)

    def prepare(self) -> None:
        """Make the folders and clear away what a killed writer left behind."""
        for name in ("rows", "groups", "scenes", *(f"arrays/{a}" for a in self.codecs)):
            make_folder(confined(self.folder, name))
        if self.manifest.complete:
            return
        with writing(self.folder):
            for path in list(self.folder.rglob("*")):
                if not path.is_dir() and (is_unfinished(path) or self._is_left_over(path)):
                    path.unlink()
            if confined(self.folder, "tables").exists():
                shutil.rmtree(self.folder / "tables")
        self._set_shapes(self.manifest.rows, durable=False)
        if not (self.folder / MANIFEST).exists():
            save_manifest(self.folder, self.manifest, self._info, signed=self._signed)

    def _is_left_over(self, path: Path) -> bool:
        if path.parent.name in ("rows", "groups") and path.suffix == ".parquet":
            return not path.stem.isdigit() or int(path.stem) >= self.manifest.blocks
        if path.parent.parent.name == "arrays" and path.name.startswith(("c.", "k.")):
            number = path.name.split(".")[1]
            return not number.isdigit() or int(number) >= self.manifest.blocks
        return False

    def commit(self, block: RowBlock) -> None:
        """Write a block; it counts from the moment the manifest is replaced."""
        number, start = self.manifest.blocks, self.manifest.rows
        stamps: dict[str, Stamp] = {}
        for name, codec in self.codecs.items():
            if codec.spec.key:
                stamps |= write_shared(self.folder, codec.spec, number, block.shared.get(name, {}))
                continue
            path = shard_name(codec, number)
            stamps[path] = write_shard(self.folder / path, codec, block.arrays[name])
        stamps |= self._write_tables(number, block)
        for name in {str(Path(path).parent) for path in stamps}:
            sync_folder(self.folder / name)
        rows = start + block.rows
        self._set_shapes(rows, durable=False)
        line = log_line(stamped((start, rows), len(block.groups), stamps))
        digest = append_to_log(self.folder, self.manifest, line)
        self._replace(
            blocks=number + 1,
            rows=rows,
            groups=self.manifest.groups + len(block.groups),
            log_bytes=self.manifest.log_bytes + len(line),
            digest=digest,
            provisional=self.manifest.provisional + block.provisional,
        )

    def complete(self) -> None:
        """Mark the recording as finished."""
        self._set_shapes(self.manifest.rows, durable=True)
        merged: dict[str, Any] = {}
        if self.manifest.blocks >= _WORTH_MERGING:
            try:
                merged = self._merge_tables()
            except DamagedPart:
                # The blocks stay what is read, and `check` names the damaged one.
                merged = {}
        self._replace(complete=True, **merged)

    def _write_tables(self, number: int, block: RowBlock) -> dict[str, Stamp]:
        name = f"{number:08d}.parquet"
        content = parquet_bytes(build_table(block.columns, self.schema))
        stamps = {f"rows/{name}": write_file(self.folder / "rows" / name, content)}
        if block.groups:
            lines = {c: [line[c] for line in block.groups] for c in self.group_schema}
            content = parquet_bytes(build_table(lines, self.group_schema))
            stamps[f"groups/{name}"] = write_file(self.folder / "groups" / name, content)
        return stamps

    def _merge_tables(self) -> dict[str, Any]:
        blocks_a_segment = max(1, _SEGMENT_ROWS // self.manifest.block_rows)
        make_folder(self.folder / "tables")
        stamps: dict[str, Stamp] = {}
        blocks = Blocks(self.folder, LoadedManifest(manifest=self.manifest, signed=self._signed), Apart(), {})
        for segment, first in enumerate(range(0, self.manifest.blocks, blocks_a_segment)):
            numbers = range(first, min(first + blocks_a_segment, self.manifest.blocks))
            start, stop = self.manifest.block_range(first)[0], self.manifest.block_range(numbers[-1])[1]
            table = blocks.rows(list(self.schema), start, stop)
            name = f"tables/rows.{segment:08d}.parquet"
            stamps[name] = write_file(self.folder / name, parquet_bytes(table))
        if self.manifest.groups:
            content = parquet_bytes(blocks.groups())
            stamps["tables/groups.parquet"] = write_file(self.folder / "tables/groups.parquet", content)
        sync_folder(self.folder / "tables")
        tables = tuple((path, stamp.sha256, stamp.size, stamp.crc32c) for path, stamp in stamps.items())
        return {"segment_rows": blocks_a_segment * self.manifest.block_rows, "tables": tables}

    def _set_shapes(self, rows: int, *, durable: bool) -> None:
        for name, codec in self.codecs.items():
            replace_file(self.folder / "arrays" / name / codec.head_file, head_bytes(codec, rows), durable=durable)

    def _replace(self, **changes: Any) -> None:
        changed = replace(self.manifest, **changes)
        save_manifest(self.folder, changed, self._info, signed=self._signed)
        self.manifest = changed
