"""Reads a recording: some columns, some rows of an array, groups and scenes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from innerview.errors import DamagedPart, StoreError, UnknownName
from innerview.schema import ArraySpec, RecordingInfo, Scene
from innerview.store.isolation.process import Apart
from innerview.store.paths import confined
from innerview.store.recordings.arrays.keyed import KeyedReader
from innerview.store.recordings.arrays.ragged import padded
from innerview.store.recordings.arrays.reader import ArrayReader
from innerview.store.recordings.blocks import Blocks, Seen
from innerview.store.recordings.damage import Damage, damage_at_a_glance
from innerview.store.recordings.manifest import Manifest, load_manifest
from innerview.store.recordings.scenes import load_map, load_scene
from innerview.store.recordings.tables import key_changes


class Recording:
    """What was committed when it was opened or last refreshed. Needs no lock."""

    def __init__(self, folder: Path, *, apart: Apart | None = None) -> None:
        self.folder = folder
        self._loaded = load_manifest(folder)
        self._apart = apart or Apart()
        self._seen: Seen = {}
        for name in ("rows", "groups", "scenes", "tables"):
            confined(folder, name)
        self._blocks = Blocks(folder, self._loaded, self._apart, self._seen)
        self._arrays = self._readers()

    @property
    def _manifest(self) -> Manifest:
        return self._loaded.manifest

    @property
    def signed(self) -> bool:
        """Whether this user's key signed it here; what it did not sign is decoded in a process of its own."""
        return self._loaded.signed

    @property
    def info(self) -> RecordingInfo:
        """Everything about it but its values."""
        return self._manifest.info

    @property
    def name(self) -> str:
        """Its name in the study."""
        return self.folder.name

    @property
    def rows(self) -> int:
        """How many rows are committed."""
        return self._manifest.rows

    @property
    def group_count(self) -> int:
        """How many groups are committed."""
        return self._manifest.groups

    @property
    def complete(self) -> bool:
        """Whether its recorder came to the end."""
        return self._manifest.complete

    @property
    def digest(self) -> str:
        """Changes whenever rows are committed or the recording is completed."""
        return f"{self._manifest.digest[:32]}-{self.rows}-{int(self.complete)}"

    @property
    def damage(self) -> list[Damage]:
        """Files that are missing or have another size; `check` looks deeper."""
        return damage_at_a_glance(self._blocks)

    def refresh(self) -> bool:
        """Take over what was committed meanwhile; tells whether something was."""
        before, self._loaded = self._loaded, load_manifest(self.folder)
        self.__dict__.pop("bounds", None)
        if before == self._loaded:
            return False
        self._blocks = Blocks(self.folder, self._loaded, self._apart, self._seen, self._blocks)
        # Rows that were provisional may be others now: what was read of them is forgotten.
        self._arrays = self._readers()
        return True

    def columns(self, names: Sequence[str] | None = None, start: int = 0, stop: int | None = None) -> pl.DataFrame:
        """Some columns of a range of rows; the others are not loaded."""
        schema = self._blocks.schema
        names = list(schema) if names is None else list(names)
        for name in names:
            if name not in schema:
                raise UnknownName("column", name, schema)
        stop = self.rows if stop is None else stop
        self._check_range(start, stop)
        return self._blocks.rows(names, start, stop)

    def by_block(self, start: int, stop: int) -> list[tuple[int, int]]:
        """A range of rows in parts of a block each: where one is damaged, the others can be read."""
        size = self._manifest.block_rows
        edges = [start, *range((start // size + 1) * size, stop, size), stop]
        return list(pairwise(edges))

    def groups(self) -> pl.DataFrame:
        """One line per group, in the order in which they ended."""
        return self._blocks.groups()

    def group_rows(self, group: int | str) -> tuple[int, int]:
        """First row of a group and the one after its last, also of one that has not ended yet."""
        ordering = self.info.ordering
        if ordering is None:
            raise StoreError(f"Recording '{self.name}' has rows without episodes or other groups; none can be chosen.")
        keys = self.columns([ordering.group])[ordering.group]
        places = np.flatnonzero((keys.cast(pl.String) == str(group)).fill_null(False).to_numpy())
        if not len(places):
            raise UnknownName(ordering.group, str(group), [str(key) for key in keys.unique(maintain_order=True)])
        return int(places[0]), int(places[-1]) + 1

    @cached_property
    def bounds(self) -> np.ndarray:
        """The first row of every group, also of one that has not ended; row 0 alone where rows have no time."""
        if self.info.ordering is None or not self.rows:
            return np.zeros(1, np.int64)
        if "start" in self._blocks.group_schema:
            try:
                lines = self.groups()
            except DamagedPart:
                lines = pl.DataFrame()  # the rows say the same, only slower; `damage` names the table
            if "start" in lines.columns:
                stops = lines["stop"].to_list()[-1:] if "stop" in lines.columns else []
                open_at = [stop for stop in stops if stop < self.rows]
                return np.unique(np.array([0, *lines["start"].to_list(), *open_at], np.int64))
        keys = self.columns([self.info.ordering.group])[self.info.ordering.group]
        return np.concatenate([[0], key_changes(keys)])

    def group_starts(self, rows: Sequence[int] | np.ndarray) -> np.ndarray:
        """The first row of each row's group."""
        return np.asarray(self.bounds[np.searchsorted(self.bounds, rows, side="right") - 1], np.int64)

    def array(self, name: str, start: int, stop: int, step: int = 1) -> np.ndarray:
        """Rows start, start + step, … of an array, [rows, *shape]."""
        self._check_range(start, stop)
        if step < 1:
            raise StoreError(f"The step between rows must be 1 or more, not {step}.")
        # A step beyond the end is as good as one to the end, and fits a whole number of the machine's.
        return self._values(name, np.arange(start, stop, min(step, max(1, stop - start))))

    def array_rows(self, name: str, rows: Sequence[int] | np.ndarray) -> np.ndarray:
        """Any rows of an array in the order given, [rows, *shape]; ragged ones filled up with zeros."""
        return self._values(name, self._checked_rows(rows))

    def ragged_rows(self, name: str, rows: Sequence[int] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows of a ragged array, [rows, most entries, *shape] filled up with zeros, and how many entries each has."""
        values = self._reader(name).rows(self._checked_rows(rows))
        if isinstance(values, np.ndarray):
            raise StoreError(f"Array '{name}' is not ragged: all its rows have the same shape.")
        return padded(values, self._spec(name))

    def lengths(self, name: str, rows: Sequence[int] | np.ndarray) -> np.ndarray:
        """How many entries rows of a ragged array have."""
        values = self._reader(name).rows(self._checked_rows(rows))
        if isinstance(values, np.ndarray):
            raise StoreError(f"Array '{name}' is not ragged: all its rows have the same shape.")
        return np.array([len(value) for value in values], np.int64)

    def _checked_rows(self, rows: Sequence[int] | np.ndarray) -> np.ndarray:
        wanted = np.asarray(rows, np.int64).reshape(-1)
        if wanted.size and (wanted.min() < 0 or wanted.max() >= self.rows):
            wrong = wanted[(wanted < 0) | (wanted >= self.rows)][0]
            raise StoreError(f"Row {wrong} is not in recording '{self.name}', which has rows 0 to {self.rows - 1}.")
        return wanted

    def scene(self, key: str) -> Scene:
        """The scene of that key, as a group's `scene` column gives it."""
        return load_scene(self.folder, key)

    def map_image(self, key: str) -> bytes:
        """The picture of a scene's map: the bytes of a PNG or JPEG file."""
        return load_map(self.folder, self.scene(key))

    def _readers(self) -> dict[str, ArrayReader | KeyedReader]:
        return {spec.name: self._new_reader(spec) for spec in self.info.arrays}

    def _new_reader(self, spec: ArraySpec) -> ArrayReader | KeyedReader:
        if not spec.key:
            return ArrayReader(self.folder, spec, self._manifest.block_rows, self._blocks.chunk)
        blocks = self._manifest.blocks
        return KeyedReader(
            self.folder, spec, blocks, lambda rows: self._keys(spec.key, rows), self._blocks.chunk, self._blocks.verify
        )

    def _keys(self, column: str, rows: np.ndarray) -> list[str]:
        if not len(rows):
            return []
        low, high = int(rows.min()), int(rows.max()) + 1
        return self.columns([column], low, high)[column].gather(rows - low).to_list()

    def _values(self, name: str, rows: np.ndarray) -> np.ndarray:
        values = self._reader(name).rows(rows)
        return values if isinstance(values, np.ndarray) else padded(values, self._spec(name))[0]

    def _spec(self, name: str) -> ArraySpec:
        return next(spec for spec in self.info.arrays if spec.name == name)

    def _reader(self, name: str) -> ArrayReader | KeyedReader:
        if name not in self._arrays:
            raise UnknownName("array", name, self._arrays)
        return self._arrays[name]

    def _check_range(self, start: int, stop: int) -> None:
        if not 0 <= start <= stop <= self.rows:
            raise StoreError(f"Rows {start} to {stop} are not in recording '{self.name}', which has {self.rows} rows.")
