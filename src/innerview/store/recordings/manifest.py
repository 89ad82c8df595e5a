"""What a recording holds and how far it got. Replacing manifest.json is the moment a block is committed.

Blocks stand in blocks.jsonl, one line each, so that committing stays cheap in long recordings. The manifest says how
many lines count (`blocks`), how many bytes they take (`log_bytes`) and their running digest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from innerview.errors import DamagedPart, FormatVersionError, StoreError, UnknownName
from innerview.schema import Block, RecordingInfo, from_json, to_json
from innerview.store.files import Stamp, read_json, replace_file, write_at
from innerview.store.recordings.tables import table_schema

RECORDING_FORMAT = "innerview recording"
STUDY_FORMAT = "innerview study"
VERSION = 2
MANIFEST = "manifest.json"
LOG = "blocks.jsonl"


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The state of a recording after its last commit."""

    info: RecordingInfo
    block_rows: int
    blocks: int = 0
    rows: int = 0
    groups: int = 0
    complete: bool = False
    log_bytes: int = 0
    digest: str = ""
    """Changes with every commit; two recordings with the same digest hold the same rows."""
    provisional: int = 0
    """How many of the last blocks hold rows of episodes that an error cut short; continuing replaces them."""
    segment_rows: int = 0
    """Where not 0, tables/ holds the same rows again in files of so many rows, quicker to read."""
    tables: tuple[tuple[str, str, int], ...] = ()
    """Path, SHA-256 and size of each file in tables/."""

    def block_range(self, block: int) -> tuple[int, int]:
        """First row and the one after the last."""
        return block * self.block_rows, min((block + 1) * self.block_rows, self.rows)


@dataclass(frozen=True, kw_only=True)
class CommittedBlock:
    """A block and the size of each of its files."""

    block: Block
    sizes: Mapping[str, int]


def info_text(info: RecordingInfo) -> str:
    """The part of a manifest that stays the same; a writer makes it once."""
    return json.dumps(to_json(info), ensure_ascii=False)


def save_manifest(folder: Path, manifest: Manifest, info: str | None = None) -> None:
    """Commit: replace the manifest at one stroke."""
    counts = {field.name: getattr(manifest, field.name) for field in fields(manifest) if field.name != "info"}
    head = {"format": RECORDING_FORMAT, "version": VERSION, **to_json(counts)}
    lines = [f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in head.items()]
    lines.append(f'"info": {info or info_text(manifest.info)}')
    replace_file(folder / MANIFEST, ("{\n" + ",\n".join(lines) + "\n}\n").encode())


def load_manifest(folder: Path) -> Manifest:
    """The last committed manifest of a recording."""
    value = read_json(folder / MANIFEST)
    check_format(value, RECORDING_FORMAT, folder.name)
    try:
        manifest = from_json(Manifest, {k: v for k, v in value.items() if k not in ("format", "version")})
        table_schema(manifest.info.columns)
        table_schema(manifest.info.group_columns)
    except (StoreError, UnknownName, TypeError, ValueError) as error:
        raise DamagedPart(f"'{MANIFEST}' of recording '{folder.name}' is damaged: {error}") from error
    counts = (manifest.block_rows, manifest.blocks, manifest.rows, manifest.log_bytes)
    fits = all(isinstance(n, int) and n >= 0 for n in counts) and manifest.block_rows > 0
    if not fits or manifest.blocks != -(-manifest.rows // manifest.block_rows):
        raise DamagedPart(
            f"'{MANIFEST}' of recording '{folder.name}' contradicts itself: {manifest.rows} rows in "
            f"{manifest.blocks} blocks of {manifest.block_rows}."
        )
    return manifest


def check_format(value: Any, expected: str, where: str) -> None:
    """Refuse what is something else, older or newer."""
    if not isinstance(value, dict) or value.get("format") != expected:
        raise DamagedPart(f"'{where}' is not an {expected}.")
    version = value.get("version")
    if version == VERSION:
        return
    if isinstance(version, int) and version > VERSION:
        advice = "Update innerview (pip install --upgrade innerview) to read it."
    else:
        advice = "Read it with the innerview that wrote it and export it, or record it again."
    raise FormatVersionError(
        f"'{where}' has format version {version}; this innerview reads version {VERSION}. {advice}"
    )


def log_line(committed: CommittedBlock) -> bytes:
    """One block as a line of blocks.jsonl."""
    return (json.dumps(to_json(committed), separators=(",", ":")) + "\n").encode()


def without_provisional(folder: Path, manifest: Manifest) -> Manifest:
    """The manifest as it was before the provisional blocks."""
    return without_last(folder, manifest, manifest.provisional) if manifest.provisional else manifest


def without_last(folder: Path, manifest: Manifest, count: int) -> Manifest:
    """The manifest as it was before the last blocks."""
    kept = load_log(folder, manifest)[: manifest.blocks - count]
    lines = [log_line(block) for block in kept]
    digest = ""
    for line in lines:
        digest = hashlib.sha256(digest.encode() + line).hexdigest()
    return replace(
        manifest,
        blocks=len(kept),
        rows=kept[-1].block.stop if kept else 0,
        groups=sum(block.block.groups for block in kept),
        log_bytes=sum(map(len, lines)),
        digest=digest,
        provisional=0,
    )


def append_to_log(folder: Path, manifest: Manifest, line: bytes) -> str:
    """Write a line after those that count; gives the running digest."""
    write_at(folder / LOG, manifest.log_bytes, line)
    return hashlib.sha256(manifest.digest.encode() + line).hexdigest()


def load_log(folder: Path, manifest: Manifest) -> list[CommittedBlock]:
    """Every committed block."""
    if manifest.blocks == 0:
        return []
    try:
        with (folder / LOG).open("rb") as file:
            content = file.read(manifest.log_bytes)
        lines = content.splitlines(keepends=True)
        blocks = [_parse_line(line) for line in lines]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DamagedPart(f"'{LOG}' of recording '{folder.name}' cannot be read: {error}") from error
    digest = ""
    for line in lines:
        digest = hashlib.sha256(digest.encode() + line).hexdigest()
    if len(blocks) != manifest.blocks or digest != manifest.digest:
        raise DamagedPart(f"'{LOG}' of recording '{folder.name}' does not match its manifest.")
    return blocks


def _parse_line(line: bytes) -> CommittedBlock:
    # By hand: `from_json` takes a second for the thousands of blocks of a long recording.
    value = json.loads(line)
    return CommittedBlock(block=Block(**value["block"]), sizes=value["sizes"])


def stamped(block: tuple[int, int], groups: int, stamps: Mapping[str, Stamp]) -> CommittedBlock:
    """The record of a block from what was written for it."""
    digests = {path: stamp.sha256 for path, stamp in stamps.items()}
    sizes = {path: stamp.size for path, stamp in stamps.items()}
    return CommittedBlock(block=Block(start=block[0], stop=block[1], groups=groups, digests=digests), sizes=sizes)
