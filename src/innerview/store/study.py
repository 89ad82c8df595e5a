"""A study: a folder that holds everything the workbench shows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from innerview.errors import DamagedPart, StoreError, UnknownName
from innerview.schema import EditSet, RecordingInfo, Result, ResultInfo, SavedFilter
from innerview.store.annotations.filters import FILTERS
from innerview.store.annotations.reductions import REDUCTIONS
from innerview.store.changes import LOCK, NEXT, changing
from innerview.store.files import (
    STUDY_FILE,
    is_unfinished,
    make_folder,
    read_json,
    remove_folder,
    replace_json,
    writing,
)
from innerview.store.isolation.process import Apart
from innerview.store.models.snapshots import Snapshot, load_snapshot, load_snapshots, save_snapshot, snapshot_digest
from innerview.store.paths import checked_name, confined, is_plain_file, is_there
from innerview.store.predictions import PREDICTIONS, Predictions, prediction_id
from innerview.store.recordings.additions import (
    BESIDE,
    begin_additions,
    begin_again,
    continues,
    grows,
    must_match,
    restore_rest,
    settle,
    take_place,
)
from innerview.store.recordings.damage import Damage, recording_folders
from innerview.store.recordings.lock import WRITER_LOCK, WriterLock
from innerview.store.recordings.manifest import (
    MANIFEST,
    STUDY_FORMAT,
    VERSION,
    LoadedManifest,
    Manifest,
    check_format,
    load_manifest,
    save_manifest,
    without_provisional,
)
from innerview.store.recordings.recording import Recording
from innerview.store.recordings.writer import RecordingWriter
from innerview.store.results.results import (
    check_result,
    drop_result,
    load_result,
    load_result_array,
    load_result_info,
    load_results,
    result_id,
    save_result,
)

if TYPE_CHECKING:
    from torch import Tensor

_HEAD_LIMIT, _NAME_LENGTH = 1 << 20, 80


class Study:
    """An open study. Nothing is loaded before it is asked for."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name
        self.apart = Apart()

    @staticmethod
    def create(path: Path | str, name: str | None = None) -> Study:
        """Make an empty study in a new or empty folder."""
        root = Path(path)
        title = checked_name("study", name if name is not None else root.resolve().name)
        _check_free(root)
        make_folder(root)
        with changing(root):
            _check_free(root)  # now that nobody else makes one there
            make_folder(root / "recordings")
            head = {"format": STUDY_FORMAT, "version": VERSION, "name": title, "created_at": _now()}
            replace_json(root / STUDY_FILE, head, beside=root)
        return Study(root, title)

    def remove_if_empty(self, *, folder: bool) -> None:
        """Remove a study in which nothing was saved yet, and its folder where asked to."""
        with changing(self.path), writing(self.path):
            if _begun_only(self.path, {STUDY_FILE}):
                for entry in (self.path / STUDY_FILE, self.path / "recordings", self.path / LOCK, self.path / NEXT):
                    entry.rmdir() if entry.is_dir() else entry.unlink(missing_ok=True)
                if folder:
                    self.path.rmdir()

    @staticmethod
    def open(path: Path | str) -> Study:
        """Open a study."""
        root = Path(path)
        if not is_there(root / STUDY_FILE):
            raise StoreError(f"There is no study in '{root}': it has no {STUDY_FILE}. Make one by recording into it.")
        value = read_json(root / STUDY_FILE, limit=_HEAD_LIMIT)
        check_format(value, STUDY_FORMAT, root.name)
        with suppress(StoreError):  # a study that is read-only or busy is looked at as it is
            settle(root)
        return Study(root, str(value.get("name", root.name))[:_NAME_LENGTH])

    @staticmethod
    def exists(path: Path | str) -> bool:
        """Whether there is a study in this folder."""
        return (Path(path) / STUDY_FILE).exists()

    @staticmethod
    def open_or_create(path: Path | str) -> Study:
        """Open the study there, or make one."""
        if not Study.exists(path):
            try:
                return Study.create(path)
            except StoreError:
                if not Study.exists(path):  # where somebody else made it at this moment it is there now
                    raise
        return Study.open(path)

    def recordings(self) -> list[str]:
        """Names of the recordings that can be opened."""
        with suppress(StoreError):  # a study that is read-only or busy is looked at as it is
            settle(self.path)
        bad = {damage.part for damage in self.damaged()}
        return [name for name in recording_folders(self.path) if f"recordings/{name}" not in bad]

    def damaged(self) -> list[Damage]:
        """Recordings that cannot be opened, and why; `check` looks into the others."""
        found = []
        for name in recording_folders(self.path):
            try:
                load_manifest(self._folder(name))
            except StoreError as error:
                found.append(Damage(f"recordings/{name}", str(error)))
        return found

    def recording(self, name: str) -> Recording:
        """Open a recording for reading."""
        folder = self._folder(name)
        known = recording_folders(self.path)
        if name not in known:
            raise UnknownName("recording", name, known)
        return Recording(folder, apart=self.apart)

    def writer(self, info: RecordingInfo, *, block_rows: int = 256, overwrite: bool = False) -> RecordingWriter:
        """Begin a recording, continue one that was begun with the same arguments, or add episodes to a complete one.

        What is added to, or to be overwritten, stays as it is until the writer finishes.
        """
        if block_rows < 1:
            raise StoreError(f"A block needs 1 row or more, not {block_rows}.")
        settle(self.path)
        place = self._folder(info.name)
        there = load_manifest(place).manifest if is_plain_file(place / MANIFEST) else None
        adding = there is not None and there.complete and grows(there.info, info)
        if there is None or not (overwrite or adding):
            return self._writer(place, info, block_rows)
        beside = confined(self.path, BESIDE, info.name)
        with changing(self.path):  # so that nobody else begins there meanwhile
            WriterLock(place / WRITER_LOCK).release()  # an error while somebody writes it
            if not continues(beside, info):
                begin_again(self.path, beside)
            if adding and not overwrite:
                block_rows = there.block_rows
                if not beside.exists():
                    begin_additions(place, beside, info)
            since = _now if overwrite else None
            writer = self._writer(beside, info, block_rows, then=lambda: take_place(self.path, beside, place, since))
        if adding and not overwrite:
            restore_rest(self.recording(info.name), writer)
        return writer

    def prediction_writer(self, info: RecordingInfo, *, block_rows: int = 256) -> RecordingWriter:
        """Begin predictions, or continue those that were begun with the same arguments, which make up their name."""
        named = dataclasses.replace(info, name=prediction_id(info))
        return self._writer(confined(self.path, PREDICTIONS, named.name), named, block_rows)

    def prediction(self, id: str) -> Predictions:
        """Open predictions for reading."""
        known = recording_folders(self.path, PREDICTIONS)
        if id not in known:
            raise UnknownName("predictions", id, known)
        return Predictions(confined(self.path, PREDICTIONS, id), apart=self.apart)

    def predictions(self, recording: str | None = None, subject: str | None = None) -> list[Predictions]:
        """What subjects say of rows of recordings, oldest first; of one recording or by one subject where named."""
        opened = []
        for id in recording_folders(self.path, PREDICTIONS):
            with suppress(StoreError):  # `check` names what is damaged
                opened.append(self.prediction(id))
        chosen = [p for p in opened if recording in (None, p.of) and subject in (None, p.subject)]
        return sorted(chosen, key=lambda p: (p.info.created_at, p.id))

    def _writer(
        self, folder: Path, info: RecordingInfo, block_rows: int, then: Callable[[], None] | None = None
    ) -> RecordingWriter:
        info.check()
        for spec in info.arrays:
            checked_name("array", spec.name)
        with changing(self.path):  # while nobody removes the folder of a recording that came to nothing
            make_folder(folder)
            lock = WriterLock(folder / WRITER_LOCK)
        try:
            return RecordingWriter(folder, _begin_or_continue(folder, info, block_rows), lock, then=then)
        except BaseException:
            try:
                if not is_plain_file(folder / MANIFEST) and not any(folder.glob("rows/*.parquet")):
                    with changing(self.path):  # nothing was begun
                        remove_folder(folder, beside=self.path)
            finally:
                lock.release()
            raise

    def check_writable(self) -> None:
        """Raise where nothing could be saved, before hours are spent on it."""
        with changing(self.path):
            return

    def snapshots(self, run: str | None = None) -> list[Snapshot]:
        """What was saved while models were trained, by run and step; of one run where it is named."""
        return load_snapshots(self.path, run)

    def snapshot(self, run: str, step: int) -> tuple[Snapshot, dict[str, Tensor]]:
        """A snapshot and its weights by name; `iv.load_snapshot` makes a subject of them."""
        return load_snapshot(self.path, run, step)

    def snapshot_digest(self, run: str, step: int) -> str:
        """SHA-256 of a snapshot's weights."""
        return snapshot_digest(self.path, run, step)

    def save_snapshot(self, snapshot: Snapshot, weights: Mapping[str, Tensor]) -> None:
        """Save the weights of one moment of a training run."""
        save_snapshot(self.path, snapshot, weights)

    def reductions(self) -> tuple[EditSet, ...]:
        """Named reductions of the memory, oldest first."""
        return REDUCTIONS.load(self.path)

    def save_reduction(self, reduction: EditSet) -> None:
        """Keep a reduction under its name; one of the same name is replaced."""
        REDUCTIONS.save(self.path, reduction)

    def drop_reduction(self, name: str) -> None:
        """Forget a reduction."""
        REDUCTIONS.drop(self.path, name)

    def filters(self) -> tuple[SavedFilter, ...]:
        """Named filters of pictures, oldest first."""
        return FILTERS.load(self.path)

    def save_filter(self, made: SavedFilter) -> None:
        """Keep a filter under its name; one of the same name is replaced."""
        FILTERS.save(self.path, made)

    def drop_filter(self, name: str) -> None:
        """Forget a filter."""
        FILTERS.drop(self.path, name)

    def results(self, kind: str | None = None, recording: str | None = None) -> list[ResultInfo]:
        """What lenses and tables found, oldest first, without the values: see `result`.

        What was found in a recording that another one replaced since says nothing of that one, and is left out.
        """
        found = load_results(self.path, kind=kind, recording=recording)
        begun = {name: self._begun(name) for name in {result.recording for result in found}}
        return [result for result in found if result.created_at >= begun[result.recording]]

    def _begun(self, recording: str) -> str:
        """When a recording was begun, or took the place of another; empty where that cannot be known."""
        try:
            return load_manifest(self._folder(recording)).manifest.info.created_at
        except StoreError:
            return ""

    def result(self, result: str) -> Result:
        """What was found under that id."""
        return load_result(self.path, result)

    def result_info(self, result: str) -> ResultInfo:
        """What a list says of the result of that id."""
        return load_result_info(self.path, result)

    def result_array(self, result: str, name: str, start: int = 0, stop: int | None = None) -> np.ndarray:
        """One array of a result, or rows start to stop of it; no others are read."""
        return load_result_array(self.path, result, name, start, stop)

    def check_result(self, result: str) -> None:
        """Raise where a result or one of its arrays is damaged."""
        check_result(self.path, result)

    def result_id(self, kind: str, recording: str, arguments: Mapping[str, Any], *, version: int = 1) -> str:
        """The id that a result of these arguments has, or will have; `version` is that of the kind of job."""
        digest = self.recording(recording).digest
        return result_id(kind=kind, version=version, recording=recording, digest=digest, arguments=arguments)

    def save_result(
        self,
        kind: str,
        *,
        recording: str,
        arguments: Mapping[str, Any],
        value: Any,
        arrays: Mapping[str, np.ndarray] | None = None,
        type: str = "",
        shown: Mapping[str, Any] | None = None,
        title: str = "",
        provisional: bool = False,
        result: str | None = None,
    ) -> Result:
        """Keep what was found about a recording; the same arguments replace what they gave before.

        `result` is the id it was promised under, where the recording may have grown since.
        """
        made = Result(
            id=result or self.result_id(kind, recording, arguments),
            kind=kind,
            title=title or f"{kind} of {recording}",
            recording=recording,
            arguments=arguments,
            type=type,
            value=value,
            shown=shown or {},
            provisional=provisional,
        )
        return save_result(self.path, made, arrays or {})

    def drop_result(self, result: str) -> None:
        """Remove a result."""
        drop_result(self.path, result)

    def _folder(self, name: str) -> Path:
        return confined(self.path, "recordings", checked_name("recording", name))


def _check_free(root: Path) -> None:
    """Refuse a folder in which something is; what a killed process left of a study that it began is nothing."""
    if (root / STUDY_FILE).exists():
        raise StoreError(f"There is a study in '{root}' already. Open it, or choose another folder.")
    if not root.exists():
        return
    if not root.is_dir() or not _begun_only(root):
        raise StoreError(f"'{root}' is not an empty folder. Choose a new one for the study.")


def _begun_only(root: Path, more: Collection[str] = ()) -> bool:
    """Whether there is nothing in a folder but what a study that is being made has."""
    begun = {LOCK, NEXT, *more}
    others = [entry for entry in root.iterdir() if entry.name not in begun and not is_unfinished(entry)]
    return all(each.name == "recordings" and each.is_dir() and not any(each.iterdir()) for each in others)


def _begin_or_continue(folder: Path, info: RecordingInfo, block_rows: int) -> LoadedManifest:
    if not is_plain_file(folder / MANIFEST):
        if any(folder.glob("rows/*.parquet")):
            raise DamagedPart(f"Recording '{info.name}' has rows but its {MANIFEST} is missing. Choose another name.")
        begun = dataclasses.replace(info, created_at=info.created_at or _now())
        return LoadedManifest(manifest=Manifest(info=begun, block_rows=block_rows), signed=True)
    loaded = load_manifest(folder)
    manifest = loaded.manifest
    before, now = must_match(manifest.info), must_match(info)
    differing = [field for field in now if before[field] != now[field]]
    if differing == ["arguments"] and grows(manifest.info, info):
        manifest, differing = (
            dataclasses.replace(manifest, info=dataclasses.replace(info, created_at=manifest.info.created_at)),
            [],
        )
    if differing:
        told = "; ".join(_difference(field, before[field], now[field]) for field in differing)
        raise StoreError(
            f"Recording '{info.name}' exists and was made differently: {told}. "
            "Use the same arguments to continue it, more episodes to add some, overwrite=True (--overwrite) to replace "
            "it, or another name."
        )
    kept = without_provisional(folder, manifest)
    if kept is not manifest:
        save_manifest(folder, kept, signed=loaded.signed)
    return dataclasses.replace(loaded, manifest=kept)


def _difference(field: str, before: Any, now: Any) -> str:
    if isinstance(before, dict) and isinstance(now, dict):
        keys = [k for k in {**before, **now} if before.get(k) != now.get(k)]
        return ", ".join(_change(f"{field}.{k}", before.get(k), now.get(k)) for k in keys)
    if isinstance(before, list) and isinstance(now, list):
        had, has = [v.get("name") for v in before], [v.get("name") for v in now]
        if had != has:
            return f"{field} were {', '.join(map(str, had))} and are {', '.join(map(str, has))}"
        changed = [b["name"] for b, n in zip(before, now, strict=True) if b != n]
        return f"{field} {', '.join(changed)} are declared differently"
    return _change(field, before, now)


def _change(name: str, before: Any, now: Any) -> str:
    if not isinstance(before, list) or not isinstance(now, list):
        return f"{name} was {before!r:.60} and is {now!r:.60}"
    counts = f"{name} had {len(before)} entries and has {len(now)}"
    places = (place for place, (b, n) in enumerate(zip(before, now, strict=False)) if b != n)
    first = next(places, None)
    if first is None:
        return counts
    return f"{counts} (entry {first + 1} was {before[first]!r:.60} and is {now[first]!r:.60})"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
