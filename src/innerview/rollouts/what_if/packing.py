"""What was seen at a node, small: a rollout of hundreds of steps keeps a picture for people of each."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from innerview.errors import UnknownName

_SMALL = 32_768


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


def pack(arrays: Mapping[str, np.ndarray]) -> Packed:
    """Keep small ones as they are, which are read again and again, and compress the others."""
    all_ = {name: np.array(array, order="C") for name, array in arrays.items()}
    small = {n: (zlib.compress(a.tobytes(), 1), a.shape, a.dtype.str) for n, a in all_.items() if a.nbytes > _SMALL}
    return Packed({name: array for name, array in all_.items() if name not in small}, small)
