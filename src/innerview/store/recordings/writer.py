"""Writes a recording: rows come in one by one or many at a time, blocks go out through a thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, KeysView, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import polars as pl

from innerview.errors import StoreError, UnknownName
from innerview.schema import ArraySpec, RecordingInfo, Scene
from innerview.store.changes import changing
from innerview.store.files import remove_folder
from innerview.store.recordings.arrays.keyed import shared_places
from innerview.store.recordings.committer import Committer, RowBlock
from innerview.store.recordings.lock import WriterLock
from innerview.store.recordings.manifest import LoadedManifest
from innerview.store.recordings.scenes import save_scene

Buffer = np.ndarray | list[Any]
_WAITING_BLOCKS = 2


class RecordingWriter:
    """Appends rows to a recording. Used from one thread; leaving it with an error keeps what was committed."""

    def __init__(
        self, folder: Path, loaded: LoadedManifest, lock: WriterLock, *, then: Callable[[], None] | None = None
    ) -> None:
        manifest = loaded.manifest
        _check_key_columns(manifest.info)
        self._committer = Committer(folder, loaded)
        self._folder, self._lock, self._info = folder, lock, manifest.info
        self._then = then
        self.restored = (0, 0)
        """Rows and groups that were in no whole block of the recording that is added to, and are in hand again."""
        self.block_rows = manifest.block_rows
        self._committer.prepare()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="innerview writer")
        self._waiting: deque[tuple[Future[None], dict[str, Buffer]]] = deque()
        self._spare: list[dict[str, Buffer]] = []
        self._closed = self._provisional = False
        self._known = {
            name: set(shared_places(folder, codec.spec, manifest.blocks))
            for name, codec in self._committer.codecs.items()
            if codec.spec.key
        }
        self._begin_block()

    @property
    def name(self) -> str:
        """Of what is written."""
        return self._info.name

    @property
    def folder(self) -> Path:
        """Where it is written."""
        return self._folder

    @property
    def rows_committed(self) -> int:
        """Rows that are safe on disk."""
        return self._committer.manifest.rows

    @property
    def groups_committed(self) -> int:
        """Groups that are safe on disk."""
        return self._committer.manifest.groups

    @property
    def complete(self) -> bool:
        """Whether the recording was finished already."""
        return self._committer.manifest.complete

    def append(self, rows: Mapping[str, Sequence[Any]] | pl.DataFrame, arrays: Mapping[str, Any]) -> None:
        """Add rows: a sequence of values per column, and per array [rows, *shape], a list of arrays where it is ragged,
        or a list of the files' bytes where it is encoded. Values that rows share are given to `share`."""
        self._check_usable()
        if self.complete:
            raise StoreError(f"Recording '{self._info.name}' is complete; nothing can be added. Choose another name.")
        columns = _as_lists(rows)
        count = self._checked_count(columns, arrays)
        taken = 0
        while taken < count:
            if self._filled == self.block_rows:
                self._hand_over()
            taken += self._fill(columns, arrays, taken, min(count - taken, self.block_rows - self._filled))

    def share(self, name: str, values: Mapping[str, Any]) -> None:
        """Values of an array that rows share, by key; given before the rows that use them. Known keys are left out."""
        self._check_usable()
        if name not in self._known:
            raise UnknownName("array with shared values", name, self._known)
        codec, new = self._committer.codecs[name], {k: v for k, v in values.items() if k not in self._known[name]}
        for key, value in new.items():
            if problem := codec.check([value] if codec.spec.kind != "dense" else np.asarray(value)[None]):
                raise StoreError(f"Array '{name}', key {key!r:.60}: it {problem}.")
        self._known[name] |= new.keys()
        self._shared[name] |= new

    def end_group(self, line: Mapping[str, Any]) -> None:
        """Close the group whose last row was appended just now; `line` has a value per group column."""
        self._check_usable()
        _same_names("group column", line, {c.name: None for c in self._info.group_columns}.keys())
        if not self._filled:
            raise StoreError(
                "A group ended before any row was appended here. Groups whose rows are committed are committed too: "
                f"there are {self.groups_committed}."
            )
        self._groups.append(dict(line))

    def add_scene(self, scene: Scene, picture: bytes = b"") -> str:
        """Keep a scene, with the picture of its map, and give its key; the same scene has the same key."""
        self._check_usable()
        return save_scene(self._folder, scene, picture)

    def finish(self) -> None:
        """Commit what is in hand, mark the recording complete and close."""
        self._check_usable()
        if self._filled:
            self._hand_over()
        while self._waiting:
            self._settle_first()
        try:
            if not self.complete:
                self._committer.complete()
            if self._then is not None:
                with changing(self._folder.parents[1]):  # nobody begins there between the two
                    self.close()
                    self._then()
        finally:
            self.close()

    def provisional(self) -> None:
        """From here on rows are kept to be looked at only: whoever continues the recording replaces them."""
        self._provisional = True

    def close(self, *, keep: bool = False) -> None:
        """Commit the full blocks and let others write. The unfinished block is dropped, or kept provisionally."""
        if not self._closed:
            if keep and self._filled:
                self._provisional = True
                self._hand_over()
                while self._waiting:
                    self._settle_first()
            self._closed = True
            self._thread.shutdown(wait=True)
            try:
                if not (self.complete or self.rows_committed):
                    self._remove()  # nothing was begun that could be continued
            finally:
                self._lock.release()

    def _remove(self) -> None:
        study = self._folder.parents[1]
        with changing(study):
            remove_folder(self._folder, beside=study)

    def __enter__(self) -> RecordingWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None and not self._closed:
            self.finish()
        else:
            self.close()

    def _begin_block(self) -> None:
        self._filled = 0
        self._columns: dict[str, list[Any]] = {c.name: [] for c in self._info.columns}
        # Buffers are used again: fresh memory costs more than the copy into it.
        self._buffers = self._spare.pop() if self._spare else self._new_buffers()
        for buffer in self._buffers.values():
            if isinstance(buffer, list):
                buffer.clear()
        self._groups: list[dict[str, Any]] = []
        self._shared: dict[str, dict[str, Any]] = {name: {} for name in self._known}

    def _new_buffers(self) -> dict[str, Buffer]:
        own = [codec.spec for codec in self._committer.codecs.values() if not codec.spec.key]
        return {s.name: np.empty((self.block_rows, *s.shape), s.dtype) if s.kind == "dense" else [] for s in own}

    def _fill(self, columns: dict[str, list[Any]], arrays: Mapping[str, Any], start: int, count: int) -> int:
        for name, values in columns.items():
            self._columns[name].extend(values[start : start + count])
        for name, buffer in self._buffers.items():
            buffer[self._filled : self._filled + count] = arrays[name][start : start + count]
        self._filled += count
        return count

    def _hand_over(self) -> None:
        arrays = {name: buffer[: self._filled] for name, buffer in self._buffers.items()}
        block = RowBlock(
            rows=self._filled,
            columns=self._columns,
            arrays=arrays,
            shared=self._shared,
            groups=tuple(self._groups),
            provisional=self._provisional,
        )
        if len(self._waiting) == _WAITING_BLOCKS:
            self._settle_first()
        before = self._waiting[-1][0] if self._waiting else None
        self._waiting.append((self._thread.submit(_commit, self._committer, block, before), self._buffers))
        self._begin_block()

    def _settle_first(self) -> None:
        """Wait for the oldest block; its error closes the writer and is raised here."""
        commit, buffers = self._waiting[0]
        try:
            commit.result()
        except BaseException:
            self.close()
            raise
        self._waiting.popleft()
        self._spare.append(buffers)

    def _check_usable(self) -> None:
        if self._closed:
            raise StoreError(f"The writer of recording '{self._info.name}' is closed.")
        while self._waiting and self._waiting[0][0].done():
            self._settle_first()

    def _check_keys(self, spec: ArraySpec, columns: Mapping[str, Sequence[Any]]) -> None:
        missing = next((key for key in columns[spec.key] if key not in self._known[spec.name]), "")
        if missing != "":
            raise StoreError(f"Array '{spec.name}' has no value for key {missing!r:.60}. Give it with share first.")

    def _checked_count(self, columns: Mapping[str, Sequence[Any]], arrays: Mapping[str, Any]) -> int:
        _same_names("column", columns, self._columns.keys())
        _same_names("array", arrays, self._buffers.keys())
        for name, codec in self._committer.codecs.items():
            if codec.spec.key:
                self._check_keys(codec.spec, columns)
                continue
            if problem := codec.check(arrays[name]):
                raise StoreError(f"Array '{name}' {problem}.")
        counts = {len(values) for values in (*columns.values(), *arrays.values())}
        if len(counts) > 1:
            each = (
                f"{what} '{n}' has {len(v)}"
                for what, of in (("column", columns), ("array", arrays))
                for n, v in of.items()
            )
            raise StoreError(f"All columns and arrays of an append need the same number of rows: {', '.join(each)}.")
        return next(iter(counts), 0)


def _check_key_columns(info: RecordingInfo) -> None:
    words = {column.name for column in info.columns if column.type == "text"}
    for spec in info.arrays:
        if spec.key and spec.key not in words:
            raise UnknownName("column of words", spec.key, words, f"Array '{spec.name}' is shared by it.")


def _commit(committer: Committer, block: RowBlock, before: Future[None] | None) -> None:
    # After a block that failed nothing may follow: rows would stand in the wrong place.
    if before is not None:
        before.result()
    committer.commit(block)


def _as_lists(rows: Mapping[str, Sequence[Any]] | pl.DataFrame) -> dict[str, list[Any]]:
    if isinstance(rows, pl.DataFrame):
        return rows.to_dict(as_series=False)
    return {n: v.tolist() if isinstance(v, np.ndarray) else list(v) for n, v in rows.items()}


def _same_names(what: str, given: Mapping[str, Any], known: KeysView[str]) -> None:
    if given.keys() == known:
        return
    for name in given:
        if name not in known:
            raise UnknownName(what, name, known, "The recording was declared without it.")
    missing = ", ".join(n for n in known if n not in given)
    raise StoreError(f"Every {what} needs a value; {missing} is missing. None stands for unknown in a column.")
