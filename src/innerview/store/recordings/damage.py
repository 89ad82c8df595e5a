"""Finds what is damaged: at a glance (sizes) or in depth (digests)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from innerview.errors import DamagedPart, StoreError
from innerview.store.files import file_digest, read_json
from innerview.store.paths import confined, is_plain_file
from innerview.store.recordings.arrays.kinds import codec_for
from innerview.store.recordings.manifest import Manifest, load_log
from innerview.store.recordings.scenes import load_map, load_scene


@dataclass(frozen=True)
class Damage:
    """One part that cannot be read, and why."""

    part: str
    problem: str


@dataclass(frozen=True)
class _Expected:
    path: str
    sha256: str
    size: int
    holds: str


def damage_at_a_glance(folder: Path, manifest: Manifest) -> list[Damage]:
    """Files of a recording that are missing or have another size."""
    return list(_file_damage(folder, manifest, deep=False))


def damage_in_depth(folder: Path, manifest: Manifest) -> list[Damage]:
    """Everything in a recording whose content is not what was committed."""
    found = list(_file_damage(folder, manifest, deep=True))
    found += _head_damage(folder, manifest)
    found += _scene_damage(folder, manifest)
    return found


def _file_damage(folder: Path, manifest: Manifest, *, deep: bool) -> Iterator[Damage]:
    try:
        expected = _expected_files(folder, manifest)
    except DamagedPart as error:
        yield Damage(f"{folder.parent.name}/{folder.name}/blocks.jsonl", str(error))
        return
    for file in expected:
        problem = _problem(f"{folder}/{file.path}", file, deep=deep)
        if problem:
            yield Damage(f"{folder.parent.name}/{folder.name}/{file.path}", f"{problem} It holds {file.holds}.")


def _expected_files(folder: Path, manifest: Manifest) -> list[_Expected]:
    files = []
    for committed in load_log(folder, manifest):
        block = committed.block
        holds = f"rows {block.start} to {block.stop - 1}"
        files += [_Expected(p, d, committed.sizes.get(p, -1), holds) for p, d in block.digests.items()]
    files += [_Expected(p, d, s, "a quicker copy; the rows themselves stand elsewhere") for p, d, s in manifest.tables]
    return files


def _problem(path: str, file: _Expected, *, deep: bool) -> str:
    if file.path.startswith("/") or ".." in file.path.split("/"):
        return "It leads out of the recording."
    try:
        found = os.lstat(path)
    except OSError as error:
        return f"It cannot be read ({error.strerror})."
    if not stat.S_ISREG(found.st_mode):
        return "It is not a plain file."
    if found.st_size != file.size:
        return f"It has {found.st_size} bytes instead of {file.size}."
    if deep and file_digest(Path(path)) != file.sha256:
        return "Its content was changed: the SHA-256 digest differs."
    return ""


def _head_damage(folder: Path, manifest: Manifest) -> Iterator[Damage]:
    for spec in manifest.info.arrays:
        codec = codec_for(spec, manifest.block_rows)
        part = f"{folder.parent.name}/{folder.name}/arrays/{spec.name}/{codec.head_file}"
        try:
            found = read_json(confined(folder, "arrays", spec.name, codec.head_file))
        except StoreError as error:
            yield Damage(part, str(error))
            continue
        shape = found.get("shape") if isinstance(found, dict) else None
        rows = shape[0] if isinstance(shape, list) and shape else -1
        # A killed writer may have set the shape for blocks that it did not commit, or was about to replace.
        fits = rows == manifest.rows or (rows > manifest.rows and not manifest.complete)
        if not fits or found != codec.head(rows):
            yield Damage(part, f"It does not describe {manifest.rows} rows of '{spec.name}' as they were written.")


def _scene_damage(folder: Path, manifest: Manifest) -> Iterator[Damage]:
    of_groups = any(column.name == "scene" for column in manifest.info.group_columns)
    keys = set(_scene_keys(folder, manifest) if of_groups else ()) | {manifest.info.scene}
    for key in sorted(keys - {""}):
        try:
            scene = load_scene(folder, key)
            if scene.image is not None:
                load_map(folder, scene)
        except StoreError as error:
            yield Damage(f"{folder.parent.name}/{folder.name}/scenes/{key[:40]}.json", str(error))


def _scene_keys(folder: Path, manifest: Manifest) -> list[str]:
    keys: set[str] = set()
    for path in sorted((folder / "groups").glob("*.parquet")):
        if path.stem.isdigit() and int(path.stem) < manifest.blocks and is_plain_file(path):
            try:
                keys |= set(pl.read_parquet(path, columns=["scene"])["scene"].drop_nulls())
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
                continue  # its digest differs, which is told already
    return sorted(keys - {""})


def damage_named(found: Sequence[Damage]) -> str:
    """What is damaged, to be put behind a sentence; nothing where nothing is."""
    return "".join(f" Damaged: {damage.part}: {damage.problem}" for damage in found)


def recording_folders(root: Path, inside: str = "recordings") -> list[str]:
    """Names of folders that hold a recording, whole or damaged. One that was only just begun holds none yet."""
    folders = sorted((root / inside).iterdir()) if (root / inside).is_dir() else []
    return [f.name for f in folders if is_plain_file(f / "manifest.json") or any(f.glob("rows/*.parquet"))]
