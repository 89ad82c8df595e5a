"""Finds what is damaged: at a glance (sizes) or in depth (digests)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from innerview.errors import DamagedPart, StoreError
from innerview.store.files import file_digest, parsed_json, read_plain
from innerview.store.isolation.process import Apart
from innerview.store.paths import confined, is_plain_file
from innerview.store.recordings.arrays.kinds import codec_for, head_bytes
from innerview.store.recordings.blocks import Blocks
from innerview.store.recordings.manifest import LoadedManifest, Manifest
from innerview.store.recordings.scenes import load_map, load_scene

_HEAD_LIMIT = 1 << 20
DERIVED = ("tables", "pyramid", "derived")
_PARTS = ("recordings", "predictions")
_ADVICE = {
    "study.json": "Put it back from a copy.",
    "recordings": "Put it back from a copy, or record again. What it does not hold can be read.",
    "predictions": "Delete its folder and predict again.",
    "results": "Delete its folder and run the lens again.",
    "subjects": "Put it back from a copy, or save the subject again.",
    "snapshots": "Put it back from a copy, or save the snapshot again.",
    "played": "Nothing: what the line held is computed again. Delete the file to hear no more of it.",
}


@dataclass(frozen=True)
class Damage:
    """One part that cannot be read, and why."""

    part: str
    problem: str

    def __post_init__(self) -> None:
        # A file's name need not be text, what is told of it is.
        object.__setattr__(self, "part", os.fsencode(self.part).decode("utf-8", "replace"))
        object.__setattr__(self, "problem", self.problem.encode("utf-8", "replace").decode())

    @property
    def advice(self) -> str:
        """What to do about it."""
        folder, _, rest = self.part.partition("/")
        if folder in _PARTS and any(f"/{derived}/" in rest for derived in DERIVED):
            return "Delete it: it is made again when it is needed."
        return _ADVICE.get(folder, "Put it back from a copy, or delete it to begin anew.")


@dataclass(frozen=True)
class _Expected:
    path: str
    sha256: str
    size: int
    holds: str


def damage_at_a_glance(blocks: Blocks) -> list[Damage]:
    """Files of a recording that are missing or have another size."""
    return list(_file_damage(blocks, deep=False))


def damage_in_depth(folder: Path, loaded: LoadedManifest, apart: Apart) -> list[Damage]:
    """Everything in a recording whose content is not what was committed."""
    blocks = Blocks(folder, loaded, apart, {})
    found = list(_file_damage(blocks, deep=True))
    found += _head_damage(folder, loaded.manifest)
    found += _scene_damage(blocks)
    return found


def _file_damage(blocks: Blocks, *, deep: bool) -> Iterator[Damage]:
    folder = blocks.folder
    try:
        expected = _expected_files(blocks)
    except DamagedPart as error:
        yield Damage(f"{folder.parent.name}/{folder.name}/blocks.jsonl", str(error))
        return
    for file in expected:
        problem = _problem(f"{folder}/{file.path}", file, deep=deep)
        if problem:
            yield Damage(f"{folder.parent.name}/{folder.name}/{file.path}", f"{problem} It holds {file.holds}.")


def _expected_files(blocks: Blocks) -> list[_Expected]:
    files = []
    for committed in blocks.read_log():
        block = committed.block
        holds = f"rows {block.start} to {block.stop - 1}"
        files += [_Expected(p, d, committed.sizes.get(p, -1), holds) for p, d in block.digests.items()]
    copy = "a quicker copy; the rows themselves stand elsewhere"
    files += [_Expected(path, digest, size, copy) for path, digest, size, _ in blocks.manifest.tables]
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
            content = read_plain(confined(folder, "arrays", spec.name, codec.head_file), limit=_HEAD_LIMIT)
            found = parsed_json(content, f"'{codec.head_file}' of array '{spec.name}'")
        except StoreError as error:
            yield Damage(part, str(error))
            continue
        shape = found.get("shape") if isinstance(found, dict) else None
        rows = shape[0] if isinstance(shape, list) and shape and type(shape[0]) is int else -1
        # A killed writer may have set the shape for blocks that it did not commit, or was about to replace.
        fits = rows == manifest.rows or (rows > manifest.rows and not manifest.complete)
        if not fits or content != head_bytes(codec, rows):
            yield Damage(part, f"It does not describe {manifest.rows} rows of '{spec.name}' as they were written.")


def _scene_damage(blocks: Blocks) -> Iterator[Damage]:
    folder = blocks.folder
    try:
        keys = blocks.scene_keys()
    except DamagedPart:
        keys = set()  # the list of blocks is named as damaged
    for key in sorted((keys | {blocks.manifest.info.scene}) - {""}):
        try:
            scene = load_scene(folder, key)
            if scene.image is not None:
                load_map(folder, scene)
        except StoreError as error:
            yield Damage(f"{folder.parent.name}/{folder.name}/scenes/{key[:40]}.json", str(error))


def damage_named(found: Sequence[Damage]) -> str:
    """What is damaged, to be put behind a sentence; nothing where nothing is."""
    return "".join(f" Damaged: {damage.part}: {damage.problem}" for damage in found)


def recording_folders(root: Path, inside: str = "recordings") -> list[str]:
    """Names of folders that hold a recording, whole or damaged. One that was only just begun holds none yet."""
    folders = sorted((root / inside).iterdir()) if (root / inside).is_dir() else []
    return [f.name for f in folders if is_plain_file(f / "manifest.json") or any(f.glob("rows/*.parquet"))]
