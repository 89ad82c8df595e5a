"""Values that somebody gives for an array: which kind of array they are, and as the writer takes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from innerview.errors import StoreError
from innerview.schema import ArraySpec, Column
from innerview.store.recordings.arrays.encoded import check_picture

Given = np.ndarray | Sequence[Any] | Mapping[str, Any]
"""An array [row, *shape]; a list of rows of different length, or of JPEG or PNG bytes; or values by key."""


@dataclass(frozen=True, kw_only=True)
class GivenArray:
    """An array's description and its values: a row each, or shared by key."""

    spec: ArraySpec
    rows: np.ndarray | list[Any] = field(default_factory=list)
    shared: Mapping[str, Any] = field(default_factory=dict)

    def parts(self) -> Iterable[bytes | memoryview]:
        """Everything that the values say, for a digest."""
        yield repr(self.spec).encode()
        if isinstance(self.rows, np.ndarray):
            yield np.ascontiguousarray(self.rows).data
            return
        for key, value in [*((("", row)) for row in self.rows), *self.shared.items()]:
            yield f"{key}\0{len(value) if self.spec.kind != 'dense' else ''}\0".encode()
            yield value if isinstance(value, bytes) else value.tobytes()


def given_array(name: str, value: Given, declared: Column | ArraySpec | None, table: pl.DataFrame) -> GivenArray:
    """An array as declared, or as its values say: a list has a length per row, a mapping is shared by key."""
    if isinstance(declared, Column):
        raise StoreError(f"'{name}' is an array but is described as a column.")
    if isinstance(value, Mapping):
        keys = [str(key) for key in value]
        spec, values = _listed(name, list(value.values()), keys, declared, dense=True)
        spec = spec if spec.key else replace(spec, key=_key_column(name, keys, table))
        return GivenArray(spec=spec, shared=dict(zip(keys, values, strict=True)))
    if declared is not None and declared.key:
        raise StoreError(f"Array '{name}' is shared by '{declared.key}'. Give its values by key: {{'a': …, 'b': …}}.")
    if isinstance(value, np.ndarray) and (declared is None or declared.kind == "dense"):
        native = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("="))
        return GivenArray(spec=declared or _dense(name, native.shape[1:], native.dtype), rows=native)
    spec, values = _listed(name, list(value), [f"row {row}" for row in range(len(value))], declared, dense=False)
    return GivenArray(spec=spec, rows=np.stack(values) if spec.kind == "dense" else values)


def _listed(
    name: str, values: list[Any], named: Sequence[str], declared: ArraySpec | None, *, dense: bool
) -> tuple[ArraySpec, list[Any]]:
    """What values one by one are; where they are alike they may be `dense`."""
    if not values and declared is None:
        raise StoreError(f"Array '{name}' has no values. Say what it is with an ArraySpec in specs.")
    if declared.kind == "encoded" if declared else isinstance(values[0], bytes):
        return _encoded(name, values, named, declared), values
    told = declared.dtype if declared else None
    try:
        arrays = [v if isinstance(v, np.ndarray) else np.asarray(v, told) for v in values]
    except ValueError as error:
        raise StoreError(f"Array '{name}' has entries of different shapes: {error}.") from error
    if declared is None:
        filled = [array for array in arrays if array.size] or arrays
        shape, dtype = filled[0].shape, np.result_type(*filled).newbyteorder("=")
        if dense and all(array.shape == shape for array in arrays):
            declared = _dense(name, shape, dtype)
        else:
            declared = ArraySpec(name=name, shape=shape[1:], dtype=dtype.name, kind="ragged")
        arrays = [array.astype(dtype) for array in arrays]
    if declared.kind == "ragged":
        arrays = [array if array.size else np.empty((0, *declared.shape), declared.dtype) for array in arrays]
    return declared, arrays


def _encoded(name: str, files: Sequence[Any], named: Sequence[str], declared: ArraySpec | None) -> ArraySpec:
    """What the pictures of files are, each of which is looked at."""
    size = (declared.shape, declared.dtype) if declared else None
    for file, where in zip(files, named, strict=True):
        if not isinstance(file, bytes):
            raise StoreError(
                f"Array '{name}', {where}: give the bytes of a JPEG or PNG file, not {type(file).__name__}."
            )
        try:
            found = check_picture(file)
        except StoreError as error:
            raise StoreError(f"Array '{name}', {where}: {error}") from error
        size = size or found
        if found != size:
            others = "it is declared as" if declared else "the first is"
            raise StoreError(f"Array '{name}', {where}: it is {found[0]} {found[1]}; {others} {size[0]} {size[1]}.")
    if declared is not None or size is None:
        assert declared is not None  # Without values, somebody said what they would be.
        return declared
    shape, dtype = size
    axes = ("height", "width", "channel")[: len(shape)]
    return ArraySpec(name=name, shape=shape, dtype=dtype, kind="encoded", role="image", axes=axes, pixelated=False)


def _dense(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> ArraySpec:
    if dtype == np.uint8 and len(shape) == 3 and shape[2] in (1, 3, 4):
        return ArraySpec(name=name, shape=shape, dtype="uint8", role="image", axes=("height", "width", "channel"))
    if dtype == np.uint8 and len(shape) == 2:
        return ArraySpec(name=name, shape=shape, dtype="uint8", role="image", axes=("height", "width"))
    return ArraySpec(name=name, shape=shape, dtype=dtype.name)


def _key_column(name: str, keys: Sequence[str], table: pl.DataFrame) -> str:
    """The column of words that has nothing but these keys."""
    words = [series for series in table if series.dtype == pl.String]
    fitting = [series.name for series in words if series.is_in(keys).all() and not series.has_nulls()]
    if len(fitting) != 1:
        raise StoreError(
            f"Array '{name}' is shared by key, but {'several columns' if fitting else 'no column'} of words "
            f"({', '.join(fitting or [series.name for series in words]) or 'there is none'}) "
            f"{'have' if fitting else 'has'} nothing but its keys. Say which with an ArraySpec in specs: key='COLUMN'."
        )
    return fitting[0]
