"""What a recording holds and how far it got. Replacing manifest.json is the moment a block is committed.

Blocks stand in blocks.jsonl, one line each, so that committing stays cheap in long recordings. The manifest says how
many lines count (`blocks`), how many bytes they take (`log_bytes`) and their running digest. So a signature of the
manifest speaks for everything in the recording.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from innerview.errors import DamagedPart, FormatVersionError, StoreError, UnknownName
from innerview.schema import Block, RecordingInfo, from_json, to_json
from innerview.store.files import Stamp, parsed_json, read_at, read_plain, replace_file, write_at
from innerview.store.files import opened as opened_file
from innerview.store.key import NO_SIGNATURE, is_signed, signature
from innerview.store.recordings.arrays.codecs import check_spec
from innerview.store.recordings.tables import check_columns
from innerview.store.seal import body_of, broken_seal, sealed

RECORDING_FORMAT = "innerview recording"
STUDY_FORMAT = "innerview study"
VERSION = 4
MANIFEST = "manifest.json"
LOG = "blocks.jsonl"
MAX_BLOCK_ROWS = 1 << 20
MAX_ARRAYS = 512
_LIMIT = 16 << 20
LOG_LIMIT = 4 << 30
_DIGEST = re.compile(r"[0-9a-f]{64}")
_SHORTEST_LINE = 60
"""Bytes of a line of blocks.jsonl that names no file."""
_SIGNED = ', "signature": "{}"'
_SIGNATURE_BYTES = len(_SIGNED.format(NO_SIGNATURE))


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
    tables: tuple[tuple[str, str, int, str], ...] = ()
    """Path, SHA-256, size and CRC32C of each file in tables/."""

    def block_range(self, block: int) -> tuple[int, int]:
        """First row and the one after the last."""
        return block * self.block_rows, min((block + 1) * self.block_rows, self.rows)


@dataclass(frozen=True, kw_only=True)
class CommittedBlock:
    """A block, and size and CRC32C of each of its files."""

    block: Block
    sizes: Mapping[str, int]
    checksums: Mapping[str, str]


def info_text(info: RecordingInfo) -> str:
    """The part of a manifest that stays the same; a writer makes it once."""
    return json.dumps(to_json(info), ensure_ascii=False)


def save_manifest(folder: Path, manifest: Manifest, info: str | None = None, *, signed: bool) -> None:
    """Commit: replace the manifest at one stroke. What others began is not `signed` by going on with it."""
    counts = {field.name: getattr(manifest, field.name) for field in fields(manifest) if field.name != "info"}
    head = {"format": RECORDING_FORMAT, "version": VERSION, **to_json(counts)}
    lines = [f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in head.items()]
    lines.append(f'"info": {info or info_text(manifest.info)}')
    body = ("{\n" + ",\n".join(lines)).encode()
    replace_file(
        folder / MANIFEST,
        sealed(body + _SIGNED.format(signature(body, folder) if signed else NO_SIGNATURE).encode() + b"}"),
    )


@dataclass(frozen=True, kw_only=True)
class LoadedManifest:
    """A manifest, and whether this user's key signed it in this place."""

    manifest: Manifest
    signed: bool


def load_manifest(folder: Path) -> LoadedManifest:
    """The last committed manifest of a recording. What it declares is borne out by the sizes of files."""
    content = read_plain(folder / MANIFEST, limit=_LIMIT)
    manifest, given = _read(content, folder.name)
    try:
        _check_counts(manifest, folder)
    except StoreError as error:
        raise DamagedPart(f"{_told(folder.name)} is damaged: {error}") from error
    signed = body_of(content).removesuffix(b", ")[:-_SIGNATURE_BYTES]
    return LoadedManifest(manifest=manifest, signed=is_signed(signed, folder, given))


@lru_cache(maxsize=8)
def _read(content: bytes, name: str) -> tuple[Manifest, str]:
    """What these bytes say, and the signature they give; a recording that does not change is read once."""
    told = _told(name)
    if problem := broken_seal(content):
        raise DamagedPart(f"{told} is damaged: {problem}.")
    value = parsed_json(content, told)
    check_format(value, RECORDING_FORMAT, name)
    try:
        kept = {k: v for k, v in value.items() if k not in ("format", "version", "signature", "seal")}
        manifest = from_json(Manifest, kept)
        _check_declared(manifest)
    except (StoreError, UnknownName) as error:
        raise DamagedPart(f"{told} is damaged: {error}") from error
    return manifest, str(value.get("signature"))


def _told(name: str) -> str:
    return f"'{MANIFEST}' of recording '{name}'"


def _check_declared(manifest: Manifest) -> None:
    info = manifest.info
    check_columns(info.columns)
    check_columns(info.group_columns)
    if len(info.arrays) > MAX_ARRAYS:
        raise StoreError(f"It declares {len(info.arrays)} arrays; at most {MAX_ARRAYS} can be read.")
    if len({spec.name for spec in info.arrays}) < len(info.arrays):
        raise StoreError("Two of its arrays have the same name.")
    for spec in info.arrays:
        check_spec(spec)
    info.check()
    if info.played and manifest.groups > len(info.seeds):
        raise StoreError(f"It has {manifest.groups} episodes, and arguments.seeds names {len(info.seeds)}.")


def _check_counts(manifest: Manifest, folder: Path) -> None:
    if manifest.digest and not _DIGEST.fullmatch(manifest.digest):
        raise DamagedPart(f"Its digest is {manifest.digest!r:.100}, not 64 hexadecimal digits.")
    counts = (manifest.blocks, manifest.rows, manifest.groups, manifest.log_bytes, manifest.provisional)
    blocks = -(-manifest.rows // manifest.block_rows) if manifest.block_rows > 0 else -1
    if min(counts) < 0 or manifest.blocks != blocks:
        raise DamagedPart(
            f"It contradicts itself: {manifest.rows} rows in {manifest.blocks} blocks of {manifest.block_rows}."
        )
    if manifest.block_rows > MAX_BLOCK_ROWS or manifest.segment_rows not in range(2 * MAX_BLOCK_ROWS):
        raise DamagedPart(f"Its blocks have {manifest.block_rows} rows; at most {MAX_BLOCK_ROWS} can be read.")
    if manifest.log_bytes > LOG_LIMIT or manifest.blocks * _SHORTEST_LINE > manifest.log_bytes:
        raise DamagedPart(f"It contradicts itself: {manifest.blocks} blocks in {manifest.log_bytes} bytes of '{LOG}'.")


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
    return replace(
        manifest,
        blocks=len(kept),
        rows=kept[-1].block.stop if kept else 0,
        groups=sum(block.block.groups for block in kept),
        log_bytes=sum(map(len, lines)),
        digest=_running(lines),
        provisional=0,
    )


def append_to_log(folder: Path, manifest: Manifest, line: bytes) -> str:
    """Write a line after those that count; gives the running digest."""
    write_at(folder / LOG, manifest.log_bytes, line)
    return hashlib.sha256(manifest.digest.encode() + line).hexdigest()


Log = list[CommittedBlock]


def load_log(folder: Path, manifest: Manifest, before: tuple[Manifest, Log] | None = None) -> Log:
    """Every committed block. Lines are looked at only when their running digest is that of the manifest.

    Of a log that was read `before`, as of an earlier manifest, only what was added is read.
    """
    if manifest.blocks == 0:
        return []
    told = f"'{LOG}' of recording '{folder.name}'"
    earlier, known = before if before and before[0].log_bytes <= manifest.log_bytes else (None, [])
    start, digest = (earlier.log_bytes, earlier.digest) if earlier else (0, "")
    with opened_file(folder / LOG) as descriptor:
        size = min(manifest.log_bytes, os.fstat(descriptor).st_size)
        content = read_at(descriptor, start, max(0, size - start))
    lines = content.splitlines(keepends=True)
    fits = size == manifest.log_bytes and len(known) + len(lines) == manifest.blocks
    if not fits or _running(lines, digest) != manifest.digest:
        if before:
            return load_log(folder, manifest)
        raise DamagedPart(f"{told} does not match its manifest.")
    try:
        return [*known, *(_parse_line(line) for line in lines)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise DamagedPart(f"{told} cannot be read: {error}") from error


def _running(lines: Iterable[bytes], digest: str = "") -> str:
    for line in lines:
        digest = hashlib.sha256(digest.encode() + line).hexdigest()
    return digest


def _parse_line(line: bytes) -> CommittedBlock:
    # By hand: `from_json` takes a second for the thousands of blocks of a long recording.
    value = json.loads(line)
    block, sizes, checksums = Block(**value["block"]), value["sizes"], value["checksums"]
    if not block.digests.keys() == sizes.keys() == checksums.keys():
        raise ValueError("a line does not say of each file how large it is")
    if not all(type(number) is int for number in (block.start, block.stop, block.groups, *sizes.values())):
        raise ValueError("a line holds something that is no number")
    return CommittedBlock(block=block, sizes=sizes, checksums=checksums)


def stamped(block: tuple[int, int], groups: int, stamps: Mapping[str, Stamp]) -> CommittedBlock:
    """The record of a block from what was written for it."""
    digests = {path: stamp.sha256 for path, stamp in stamps.items()}
    made = Block(start=block[0], stop=block[1], groups=groups, digests=digests)
    sizes = {path: stamp.size for path, stamp in stamps.items()}
    return CommittedBlock(block=made, sizes=sizes, checksums={path: stamp.crc32c for path, stamp in stamps.items()})
