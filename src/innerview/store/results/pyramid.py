"""Means of an array over ever longer stretches of rows, so that a million steps can be drawn without reading them all.

Level L holds a bin per 2**L rows; a tile is 256 bins. Fine levels are read off the rows, coarse ones are kept in the
recording's folder, with a CRC32C for each tile. They are derived: what is deleted or damaged is made again.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from innerview.errors import DamagedPart, RequestError, StoreError, UnknownName
from innerview.store.files import json_bytes, make_folder, opened, read_at, read_json, write_file, writing
from innerview.store.locks import FileLock
from innerview.store.paths import confined
from innerview.store.recordings.recording import Recording
from innerview.store.seal import crc32c

FOLDER, CHECKSUMS = "pyramid", "checksums.json"
BINS = 256
_FINEST_STORED = 4
_PIECE = BINS << _FINEST_STORED
"""Rows read at once: one tile of the finest level that is kept."""
_SMALL = 256
_LARGEST_HALF = 65504.0


def levels(rows: int) -> int:
    """How many levels there are until one tile holds everything."""
    return max(0, (max(1, rows) - 1).bit_length() - 8) + 1


def check_tile(rows: int, level: int, tile: int) -> None:
    """Refuse a tile that is not there."""
    if not 0 <= level < levels(rows):
        raise RequestError(f"There is no level {level}; {rows} rows have levels 0 to {levels(rows) - 1}.")
    count = -(-rows // (BINS << level))
    if not 0 <= tile < count:
        raise RequestError(f"There is no tile {tile}; level {level} has tiles 0 to {count - 1}.")


def elements_of(recording: Recording, array: str) -> int:
    """How many numbers a row of the array holds."""
    specs = {spec.name: spec for spec in recording.info.arrays}
    if array not in specs:
        raise UnknownName("array", array, specs)
    return prod(specs[array].shape)


def exact_tile(recording: Recording, array: str, *, tile: int, start: int, stop: int) -> np.ndarray:
    """Rows as they were recorded, float32 [rows, elements]; `start` and `stop` bound the rows that tiles divide."""
    first = start + tile * BINS
    values = recording.array(array, first, min(stop, first + BINS))
    return values.reshape(len(values), -1).astype(np.float32)


def mean_tile(recording: Recording, array: str, *, level: int, tile: int, start: int, stop: int) -> np.ndarray:
    """A tile computed from the rows themselves, float16 [bins, elements]."""
    first = start + tile * (BINS << level)
    last = min(stop, first + (BINS << level))
    width = 1 << level
    step = max(_PIECE, width)
    parts = [_piece_means(recording, array, (at, min(last, at + step)), width) for at in range(first, last, step)]
    return _halves(np.concatenate(parts))


class Pyramid:
    """The coarse levels of one array, kept beside the recording (or below `root` where that cannot be written)."""

    def __init__(self, recording: Recording, array: str, *, root: Path | None = None) -> None:
        self.recording, self.array = recording, array
        self.elements = elements_of(recording, array)
        self._root = root or recording.folder / FOLDER
        self._folder = confined(self._root, f"{array}-{recording.digest}")

    @property
    def ready(self) -> bool:
        """Whether it was built for the recording as it is now."""
        return self._folder.is_dir() and not self._folder.is_symlink()

    def tile(self, level: int, tile: int) -> np.ndarray:
        """A tile of a level that is kept, float16 [bins, elements]."""
        bins = -(-self.recording.rows // (1 << level))
        first = tile * BINS
        row_bytes = 2 * self.elements
        wanted = (min(bins, first + BINS) - first) * row_bytes
        with opened(self._folder / f"{level}.f16") as descriptor:
            content = read_at(descriptor, first * row_bytes, wanted)
        known = self._checksums().get(str(level))
        if not isinstance(known, str) or len(content) != wanted or crc32c(content) != known[8 * tile : 8 * tile + 8]:
            raise DamagedPart(f"Level {level} of '{self.array}' was changed after it was written.")
        return np.frombuffer(content, "<f2").reshape(-1, self.elements)

    def forget(self) -> None:
        """Remove it, so that it is built again."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _checksums(self) -> dict[str, Any]:
        return read_json(self._folder / CHECKSUMS)

    def build(self, report: Callable[[float], bool] = lambda _: True) -> None:
        """Read all rows once and keep the means; `tell` hears how far it is and says whether to go on."""
        making = self._root / f"making-{self.array}"
        make_folder(making)
        lock = FileLock(making / "owner.lock")
        if not lock.acquire():
            return  # another process makes it
        try:
            with writing(making):
                for level in making.glob("*.f16"):  # of one that was killed
                    level.unlink()
                done = self._write(making, report)
                if done:
                    found = _tile_checksums(making, self.elements)
                    write_file(making / CHECKSUMS, json_bytes(found), durable=False)
                lock.path.unlink()
                if done and not self.ready:
                    making.rename(self._folder)
                    self._forget_older()
        finally:
            shutil.rmtree(making, ignore_errors=True)
            lock.release()

    def _write(self, folder: Path, report: Callable[[float], bool]) -> bool:
        rows, top = self.recording.rows, levels(self.recording.rows)
        joins = _PIECE.bit_length() - 1  # the level where a piece is one bin
        coarsest: list[np.ndarray] = []
        for first in range(0, rows, _PIECE):
            if not report(first / rows):
                return False
            last = min(rows, first + _PIECE)
            means = _piece_means(self.recording, self.array, (first, last), 1 << _FINEST_STORED)
            for level in range(_FINEST_STORED, joins + 1):
                if level > _FINEST_STORED:
                    means = _halved(means, rows=last - first, width=1 << (level - 1))
                if level < top:
                    _append(folder / f"{level}.f16", means)
            coarsest.append(means)
        for level in range(joins + 1, top):
            coarsest = [_halved(np.concatenate(coarsest), rows=rows, width=1 << (level - 1))]
            _append(folder / f"{level}.f16", coarsest[0])
        return True

    def _forget_older(self) -> None:
        own = re.compile(re.escape(self.array) + r"-[0-9a-f]+-\d+-[01]")
        for folder in self._root.iterdir():
            if own.fullmatch(folder.name) and folder != self._folder and not folder.is_symlink():
                shutil.rmtree(folder, ignore_errors=True)


def damaged_pyramids(folder: Path) -> Iterator[tuple[str, str]]:
    """Levels of a recording's pyramids that are not what was written, by path inside the recording, and why."""
    inside = confined(folder, FOLDER)
    for made in sorted(inside.glob("*-*-[01]")) if inside.is_dir() else ():  # not one that is being made
        place = made.relative_to(folder).as_posix()
        try:
            known = read_json(confined(folder, FOLDER, made.name, CHECKSUMS), deep=True)
            found = _tile_checksums(made, int(known.pop("elements", 0)))
        except (StoreError, ValueError, TypeError) as error:
            yield place, str(error)
            continue
        wrong = sorted(level for level in known if found.get(level) != known[level])
        yield from ((f"{place}/{level}.f16", "It was changed after it was written.") for level in wrong)


def _tile_checksums(folder: Path, elements: int) -> dict[str, Any]:
    """Eight digits for each tile of each level, and how many numbers a bin has."""
    tile_bytes = 2 * elements * BINS
    found: dict[str, Any] = {"elements": elements}
    for path in sorted(folder.glob("*.f16")):
        with opened(path) as descriptor:
            size = os.fstat(descriptor).st_size
            tiles = (read_at(descriptor, start, tile_bytes) for start in range(0, size, max(1, tile_bytes)))
            found[path.stem] = "".join(map(crc32c, tiles))
    return found


def is_stored(level: int) -> bool:
    """Whether a level of the whole recording is kept on disk rather than read off the rows."""
    return level >= _FINEST_STORED


def _piece_means(recording: Recording, array: str, rows: tuple[int, int], width: int) -> np.ndarray:
    """Means over `width` rows each, float32 [bins, elements]; long stretches are read bit by bit."""
    start, stop = rows
    if stop - start > _PIECE:
        finer = [
            _piece_means(recording, array, (at, min(stop, at + _PIECE)), _PIECE) for at in range(start, stop, _PIECE)
        ]
        values, each = np.concatenate(finer), _PIECE
    else:
        values, each = _rows(recording, array, start, stop), 1
    weights = np.diff(np.append(np.arange(0, stop - start, each), stop - start)).astype(np.float32)
    return _weighted(values, weights, width // each)


def _weighted(values: np.ndarray, weights: np.ndarray, per_bin: int) -> np.ndarray:
    """Means of `per_bin` lines each, [lines, elements] to [bins, elements]; unknown values do not count."""
    per_bin = max(1, per_bin)
    if len(values) and len(values) % per_bin == 0 and (weights == weights[0]).all():
        means: np.ndarray = values.reshape(-1, per_bin, values.shape[1]).mean(axis=1)
        if not np.isnan(means).any():
            return means
    edges = np.arange(0, len(values), per_bin)
    known = ~np.isnan(values)
    if known.all():
        sums = np.add.reduceat(values * weights[:, None], edges, axis=0)
        return sums / np.add.reduceat(weights, edges)[:, None]
    sums = np.add.reduceat(np.where(known, values, 0) * weights[:, None], edges, axis=0)
    counts = np.add.reduceat(known * weights[:, None], edges, axis=0)
    return np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)


def _halved(means: np.ndarray, *, rows: int, width: int) -> np.ndarray:
    """Two bins of `width` rows become one; the last may hold fewer rows."""
    edges = np.minimum(np.arange(len(means) + 1) * width, rows)
    return _weighted(means, np.diff(edges).astype(np.float32), 2)


def _rows(recording: Recording, array: str, start: int, stop: int) -> np.ndarray:
    """Rows as float32 [rows, elements]; damaged ones are unknown, since the others can still be drawn."""
    try:
        values = recording.array(array, start, stop)
    except DamagedPart:
        return np.concatenate(list(_readable(recording, array, start, stop)))
    return values.reshape(len(values), -1).astype(np.float32, copy=False)


def _readable(recording: Recording, array: str, start: int, stop: int) -> Iterator[np.ndarray]:
    for first in range(start, stop, _SMALL):
        last = min(stop, first + _SMALL)
        try:
            yield recording.array(array, first, last).reshape(last - first, -1).astype(np.float32)
        except DamagedPart:
            yield np.full((last - first, elements_of(recording, array)), np.nan, np.float32)


def _halves(means: np.ndarray) -> np.ndarray:
    halves: np.ndarray = np.clip(means, -_LARGEST_HALF, _LARGEST_HALF).astype("<f2")
    return halves


def _append(path: Path, means: np.ndarray) -> None:
    with path.open("ab") as file:
        file.write(_halves(means).tobytes())
