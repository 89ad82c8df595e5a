"""Makes a recording anew beside the one that is there: to replace it, or to add episodes to one that is complete.

Whatever happens meanwhile, the one that is there stays as it was; at the end they change places. Blocks that stay as
they are become further names of the same files, so that adding costs no room for what is there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from innerview.schema import RecordingInfo, to_json
from innerview.store.changes import changing
from innerview.store.files import clear_unfinished, make_folder, read_plain, remove_folder, write_file, writing
from innerview.store.paths import confined, is_plain_file, is_there
from innerview.store.recordings.lock import WRITER_LOCK, WriterLock
from innerview.store.recordings.manifest import (
    LOG,
    LOG_LIMIT,
    MANIFEST,
    load_manifest,
    save_manifest,
    without_last,
)
from innerview.store.recordings.recording import Recording
from innerview.store.recordings.writer import RecordingWriter

BESIDE = "growing"
"""The folder of a study in which recordings are made that will take the place of others."""
_OLD = ".old"
_MUST_MATCH = ("arguments", "columns", "arrays", "group_columns", "ordering", "row")


def must_match(info: RecordingInfo) -> dict[str, Any]:
    """What must be the same for a recording to go on, in plain values: how it is made, by whom, where, and its form."""
    whole = to_json(info)
    return {
        **{field: whole[field] for field in _MUST_MATCH},
        "subject": info.subject.identity if info.subject else None,
        "world": info.world.identity if info.world else None,
    }


def grows(before: RecordingInfo, now: RecordingInfo) -> bool:
    """Whether a recording is asked for as it was, with further episodes."""
    then, after = before.played, now.played
    if then is None or after is None or len(after.seeds) <= len(then.seeds):
        return False
    if after.seeds[: len(then.seeds)] != then.seeds:
        return False
    return must_match(replace(now, arguments=replace(after, seeds=then.seeds))) == must_match(before)


def begin_additions(old: Path, beside: Path, info: RecordingInfo) -> None:
    """Begin with the whole blocks of a complete recording; `info` asks for more episodes."""
    loaded = load_manifest(old)
    manifest = loaded.manifest
    partial = manifest.rows % manifest.block_rows != 0
    kept = without_last(old, manifest, 1) if partial else manifest
    make_folder(beside)
    for path in sorted(old.rglob("*")):
        place = path.relative_to(old)
        if path.is_dir() or not _belongs(place, kept.blocks):
            continue
        target = confined(beside, *place.parts)
        make_folder(target.parent)
        _link(path, target)
    content = read_plain(old / LOG, limit=LOG_LIMIT)[: kept.log_bytes] if kept.blocks else b""
    write_file(beside / LOG, content)
    about = replace(info, created_at=manifest.info.created_at, note=manifest.info.note)
    begun = replace(kept, info=about, complete=False, segment_rows=0, tables=())
    save_manifest(beside, begun, signed=loaded.signed)


def restore_rest(old: Recording, writer: RecordingWriter) -> None:
    """Give a writer the rows of a complete recording that are in no whole block, and the groups that end in them."""
    first = writer.rows_committed
    if first >= old.rows:
        return
    lines = [line for line in old.groups().iter_rows(named=True) if line["stop"] > first]
    for line in lines:
        start, stop = max(first, line["start"]), line["stop"]
        arrays = {spec.name: old.array(spec.name, start, stop) for spec in old.info.arrays}
        writer.append(old.columns(None, start, stop), arrays)
        writer.end_group(line)
    writer.restored = (old.rows - first, len(lines))


def begin_again(study: Path, beside: Path) -> None:
    """Remove what was begun with other arguments; an error while somebody writes it. The study is held."""
    if beside.exists():
        WriterLock(beside / WRITER_LOCK).release()
        remove_folder(beside, beside=study)


def take_place(study: Path, beside: Path, place: Path, now: Callable[[], str] | None = None) -> None:
    """Put a finished recording in its place; one that replaces another counts from `now`, as what was found in the
    other is older."""
    old = beside.with_name(beside.name + _OLD)
    with changing(study), writing(place):
        if not beside.exists():
            return  # another process finished the same and put it there
        clear_unfinished(beside)  # what was left when this was killed before
        if now is not None:
            done = load_manifest(beside)
            about = replace(done.manifest.info, created_at=now())
            save_manifest(beside, replace(done.manifest, info=about), signed=done.signed)
        if old.exists():
            remove_folder(old, beside=study)
        if place.exists():
            WriterLock(place / WRITER_LOCK).release()  # an error while somebody writes it
            place.rename(old)
        beside.rename(place)
        if old.exists():
            remove_folder(old, beside=study)
        with suppress(OSError):
            beside.parent.rmdir()  # unless another recording grows


def settle(study: Path) -> None:
    """Bring back what a process took away that was killed before it put the new recording in its place, and remove
    what it had replaced."""
    if not _replaced(study):
        return
    with changing(study), writing(study / BESIDE):
        for old in _replaced(study):
            place = study / "recordings" / old.name.removesuffix(_OLD)
            if is_plain_file(place / MANIFEST):
                remove_folder(old, beside=study)
            elif not is_there(place) and is_plain_file(old / MANIFEST):
                old.rename(place)
        with suppress(OSError):
            (study / BESIDE).rmdir()  # unless another recording grows


def _replaced(study: Path) -> list[Path]:
    """Folders of recordings that were taken away; a link is none."""
    beside = study / BESIDE
    if beside.is_symlink() or not beside.is_dir():
        return []
    return [path for path in sorted(beside.glob(f"*{_OLD}")) if path.is_dir() and not path.is_symlink()]


def continues(folder: Path, info: RecordingInfo) -> bool:
    """Whether what was begun in a folder goes on with these arguments; a loop of one's own begins anew."""
    if not is_plain_file(folder / MANIFEST) or info.origin.kind == "logged":
        return False
    before = load_manifest(folder).manifest.info
    return must_match(before) == must_match(info)


def _belongs(place: Path, blocks: int) -> bool:
    """Whether a file is one of the first blocks, of scenes, or says what an array is."""
    room = place.parts[0]
    if room in ("rows", "groups"):
        return place.stem.isdigit() and int(place.stem) < blocks
    if room == "arrays" and place.name.startswith(("c.", "k.")):
        number = place.name.split(".")[1]
        return number.isdigit() and int(number) < blocks
    return room in ("arrays", "scenes")


def _link(path: Path, target: Path) -> None:
    """Another name for a file; a copy where the disk has no such thing, and of what is replaced later."""
    if path.suffix != ".json":
        with suppress(OSError):
            os.link(path, target)
            return
    with writing(target):
        shutil.copyfile(path, target)
