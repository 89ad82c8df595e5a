"""Values that rows share by key: each is kept once, in the block in which it came first."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from innerview.errors import DamagedPart, StoreError
from innerview.schema import ArraySpec
from innerview.store.files import Stamp, json_bytes, read_json, write_file
from innerview.store.isolation.decoding import ReadChunk
from innerview.store.paths import confined
from innerview.store.recordings.arrays.kinds import codec_for
from innerview.store.recordings.arrays.shards import write_shard

_KEYS = re.compile(r"k\.(0|[1-9][0-9]{0,8})\.json")


def write_shared(folder: Path, spec: ArraySpec, block: int, values: Mapping[str, Any]) -> dict[str, Stamp]:
    """Write the values that came with a block, and their keys."""
    if not values:
        return {}
    codec = codec_for(spec, 1)
    every = list(values.values())
    rows = np.stack(every) if spec.kind == "dense" else every
    shard, keys = f"arrays/{spec.name}/c.{block}", f"arrays/{spec.name}/k.{block}.json"
    return {
        shard: write_shard(folder / shard, codec, rows, capacity=len(every)),
        keys: write_file(folder / keys, json_bytes({"keys": list(values)})),
    }


def shared_places(
    folder: Path, spec: ArraySpec, blocks: int, verify: Callable[[str], object] = bool
) -> dict[str, tuple[int, int, int]]:
    """Block, place and how many there are in that block, by key; `verify` raises where a file is another one."""
    places: dict[str, tuple[int, int, int]] = {}
    inside = confined(folder, "arrays", spec.name)
    for block in _blocks_with_keys(inside, blocks):
        path = inside / f"k.{block}.json"
        verify(f"arrays/{spec.name}/{path.name}")
        keys = read_json(path).get("keys")
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            raise DamagedPart(f"'{path.name}' of array '{spec.name}' does not hold keys.")
        places |= {key: (block, place, len(keys)) for place, key in enumerate(keys)}
    return places


def _blocks_with_keys(inside: Path, blocks: int) -> list[int]:
    """Committed blocks in which values came, in order; most bring none."""
    names = [path.name for path in inside.iterdir()] if inside.is_dir() else []
    numbers = (int(found[1]) for name in names if (found := _KEYS.fullmatch(name)))
    return sorted(number for number in numbers if number < blocks)


class KeyedReader:
    """Rows of an array whose values are shared: a value is decoded once for all rows of a call."""

    def __init__(
        self,
        folder: Path,
        spec: ArraySpec,
        blocks: int,
        keys: Callable[[np.ndarray], list[str]],
        read: ReadChunk,
        verify: Callable[[str], object],
    ) -> None:
        self._folder, self._spec, self._blocks, self._keys = folder, spec, blocks, keys
        self._read, self._verify = read, verify
        self._places: dict[str, tuple[int, int, int]] | None = None
        confined(folder, "arrays", spec.name)

    def rows(self, wanted: np.ndarray) -> np.ndarray | list[np.ndarray]:
        """Those rows in that order: [rows, *shape], or a list for a ragged array."""
        keys = self._keys(wanted)
        values = {key: self._value(key) for key in dict.fromkeys(keys)}
        found = [values[key] for key in keys]
        if self._spec.kind == "ragged":
            return found
        return np.stack(found) if found else np.empty((0, *self._spec.shape), self._spec.dtype)

    def _value(self, key: str) -> np.ndarray:
        if self._places is None:
            self._places = shared_places(self._folder, self._spec, self._blocks, self._verify)
        if key not in self._places:
            raise StoreError(f"Array '{self._spec.name}' has no value for key {key!r:.80}.")
        block, place, count = self._places[key]
        try:
            value: np.ndarray = self._read(f"arrays/{self._spec.name}/c.{block}", self._spec, 1, place, count)[0]
        except DamagedPart as error:
            raise DamagedPart(
                f"The value of {key!r:.80} in array '{self._spec.name}' is damaged: {str(error).rstrip('.')}."
            ) from error
        return value
