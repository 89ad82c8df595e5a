"""What was seen at a node, small: a branch of hundreds of steps keeps a picture for people of each."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from innerview.errors import UnknownName


@dataclass(frozen=True)
class Packed:
    """Arrays by name, as they are or compressed."""

    _plain: Mapping[str, np.ndarray]
    _small: Mapping[str, tuple[bytes, tuple[int, ...], str]]

    @property
    def names(self) -> tuple[str, ...]:
        """Of all that there is."""
        return (*self._plain, *self._small)

    def get(self, name: str) -> np.ndarray:
        """One of them, as it was."""
        if name in self._plain:
            return self._plain[name]
        if name not in self._small:
            raise UnknownName("picture", name, self.names)
        content, shape, dtype = self._small[name]
        return np.frombuffer(zlib.decompress(content), dtype).reshape(shape)


def pack(arrays: Mapping[str, np.ndarray], *, plain: Sequence[str]) -> Packed:
    """Keep some as they are, which are read again and again, and compress the others."""
    kept = {name: np.array(arrays[name]) for name in plain}
    rest = {name: np.ascontiguousarray(array) for name, array in arrays.items() if name not in kept}
    return Packed(kept, {n: (zlib.compress(a.tobytes(), 1), a.shape, a.dtype.str) for n, a in rest.items()})
