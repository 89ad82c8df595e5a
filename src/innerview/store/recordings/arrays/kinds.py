"""Which codec an array's kind asks for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from innerview.errors import UnknownName
from innerview.schema import ArraySpec
from innerview.store.recordings.arrays.codecs import ArrayCodec
from innerview.store.recordings.arrays.encoded import EncodedCodec
from innerview.store.recordings.arrays.ragged import RaggedCodec


class Codec(Protocol):
    """How rows of an array become bytes, a chunk of them at a time."""

    @property
    def spec(self) -> ArraySpec: ...
    @property
    def block_rows(self) -> int: ...
    @property
    def chunk_rows(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def head_file(self) -> str: ...
    def encode(self, rows: Any) -> bytes: ...
    def decode(self, content: bytes) -> Any: ...
    def check(self, values: Sequence[Any] | np.ndarray) -> str: ...
    def head(self, rows: int) -> dict[str, Any]: ...


_CODECS: dict[str, type] = {"dense": ArrayCodec, "ragged": RaggedCodec, "encoded": EncodedCodec}


def head_bytes(codec: Codec, rows: int) -> bytes:
    """The content of the file that describes an array of that many rows to other tools."""
    return json.dumps(codec.head(rows), ensure_ascii=False, indent=1).encode()


def codec_for(spec: ArraySpec, block_rows: int) -> Codec:
    """The codec of an array."""
    if spec.kind not in _CODECS:
        raise UnknownName("kind of array", spec.kind, _CODECS, f"It was given for array '{spec.name}'.")
    made: Codec = _CODECS[spec.kind](spec, block_rows)
    return made
