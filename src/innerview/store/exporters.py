"""Hands a recording to other tools: CSV, Parquet, NPZ, and GIF or MP4 of an episode."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Protocol
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import polars as pl
from PIL import Image

from innerview.errors import StoreError, UnknownName
from innerview.schema import ArraySpec
from innerview.store.files import unfinished, writing
from innerview.store.recordings.recording import Recording

_CHUNK = 64
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A text that begins so is computed by a spreadsheet; a quotation mark in front makes it text again."""
_INERT = (
    pl.when(pl.col(pl.String).str.contains(r"^[=+\-@\t\r]"))
    .then(pl.lit("'") + pl.col(pl.String))
    .otherwise(pl.col(pl.String))
    .name.keep()
)
_FILM_WIDTH = 448  # a small picture is enlarged to about this many pixels


class HasColumns(Protocol):
    """A recording, or one with derived columns beside the recorded ones."""

    def columns(self, names: Sequence[str] | None = None, start: int = 0, stop: int | None = None) -> pl.DataFrame:
        """Columns of a range of rows."""
        ...


def export_rows(
    recording: HasColumns,
    path: Path | str,
    *,
    columns: Sequence[str] | None = None,
    start: int = 0,
    stop: int | None = None,
) -> Path:
    """Rows as .csv or .parquet. In CSV objects in view become JSON text, and no text is taken for a formula."""
    table = recording.columns(columns, start, stop)
    with _new_file(path, (".csv", ".parquet")) as (temporary, suffix):
        if suffix == ".parquet":
            table.write_parquet(temporary)
        else:
            nested = [n for n, kind in table.schema.items() if isinstance(kind, pl.List)]
            plain = table.with_columns(_as_json(table[n]) for n in nested)
            plain.rename({n: _inert(n) for n in plain.columns}).with_columns(_INERT).write_csv(temporary)
    return Path(path)


def export_arrays(
    recording: Recording,
    path: Path | str,
    *,
    arrays: Sequence[str] | None = None,
    start: int = 0,
    stop: int | None = None,
) -> Path:
    """Arrays and plain columns as .npz, which `import_npz` takes back."""
    stop = recording.rows if stop is None else stop
    names = [spec.name for spec in recording.info.arrays] if arrays is None else list(arrays)
    content: dict[str, np.ndarray] = {name: recording.array(name, start, stop) for name in names}
    plain = [c.name for c in recording.info.columns if c.type != "objects"]
    content |= {series.name: _as_numpy(series) for series in recording.columns(plain, start, stop)}
    with _new_file(path, (".npz",)) as (temporary, _), ZipFile(temporary, "w", ZIP_DEFLATED) as archive:
        # By hand: numpy.savez takes names as arguments, and pickles what it does not know.
        for name, value in content.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, value, allow_pickle=False)
    return Path(path)


def export_video(
    recording: Recording,
    path: Path | str,
    *,
    group: int | str | None = None,
    array: str | None = None,
    scale: int | None = None,
    frames_per_s: float | None = None,
) -> Path:
    """One episode as .gif or .mp4, each pixel drawn `scale` times as wide and high (as fits a film, where not said)."""
    spec = _image_array(recording, array)
    scale = min(64, max(1, _FILM_WIDTH // spec.shape[1])) if scale is None else scale
    if not isinstance(scale, int) or not 1 <= scale <= 64:
        raise StoreError(f"The scale is a whole number from 1 to 64, not {scale!r}: pixels stay pixels.")
    if group is None and recording.info.ordering is not None:
        raise StoreError(f"Say which {recording.info.ordering.group} to export.")
    start, stop = (0, recording.rows) if group is None else recording.group_rows(group)
    if start == stop:
        raise StoreError(f"Recording '{recording.name}' has no rows to make a video of.")
    seconds = recording.info.ordering.seconds_per_step if recording.info.ordering else None
    speed = frames_per_s or (1 / seconds if seconds else 10.0)
    frames = _frames(recording, spec, range(start, stop), scale)
    with _new_file(path, (".gif", ".mp4")) as (temporary, suffix):
        (_write_gif if suffix == ".gif" else _write_mp4)(temporary, frames, speed)
    return Path(path)


def _image_array(recording: Recording, name: str | None) -> ArraySpec:
    images = {spec.name: spec for spec in recording.info.arrays if spec.is_image and spec.dtype == "uint8"}
    if not images:
        raise StoreError(
            f"Recording '{recording.name}' has no pictures to make a film of. Where an environment shows numbers only, "
            "record with iv.world(id, render=True)."
        )
    name = next(iter(images)) if name is None else name
    if name not in images:
        raise UnknownName("image array", name, images, f"Recording '{recording.name}' has these only.")
    return images[name]


def _frames(recording: Recording, spec: ArraySpec, rows: range, scale: int) -> Iterator[np.ndarray]:
    for first in range(rows.start, rows.stop, _CHUNK):
        for row in recording.array(spec.name, first, min(first + _CHUNK, rows.stop)):
            shown = spec.as_shown(row)
            colour = np.stack([shown] * 3, axis=-1) if shown.ndim == 2 else shown[..., :3]
            yield np.ascontiguousarray(colour.repeat(scale, axis=0).repeat(scale, axis=1))


def _write_gif(path: Path, frames: Iterator[np.ndarray], frames_per_s: float) -> None:
    pictures = (Image.fromarray(frame) for frame in frames)
    first = next(pictures)
    duration_ms = max(20, round(1000 / frames_per_s / 10) * 10)  # GIF counts hundredths; players slow down below two
    first.save(path, format="GIF", save_all=True, append_images=pictures, duration=duration_ms, loop=0)


def _write_mp4(path: Path, frames: Iterator[np.ndarray], frames_per_s: float) -> None:
    try:
        import imageio_ffmpeg  # type: ignore[import-untyped]
    except ImportError as error:
        raise StoreError("MP4 needs a video encoder: pip install 'innerview[video]'. GIF works without.") from error
    first = next(frames)
    # Players want even sizes: the last line and column are drawn twice where needed.
    odd = ((0, first.shape[0] % 2), (0, first.shape[1] % 2), (0, 0))
    size = (first.shape[1] + odd[1][1], first.shape[0] + odd[0][1])
    settings = {
        "fps": frames_per_s,
        "codec": "libx264",
        "macro_block_size": 1,
        "output_params": ["-f", "mp4", "-crf", "16"],
    }
    sink = imageio_ffmpeg.write_frames(str(path), size, **settings)
    sink.send(None)
    try:
        for frame in chain([first], frames):
            sink.send(np.ascontiguousarray(np.pad(frame, odd, mode="edge")))
    finally:
        sink.close()


def _as_numpy(series: pl.Series) -> np.ndarray:
    """Unknown numbers and truths become NaN, unknown text is empty."""
    if series.dtype == pl.String:
        return series.fill_null("").to_numpy().astype(str)
    return (series.cast(pl.Float32) if series.dtype == pl.Boolean and series.null_count() else series).to_numpy()


def _inert(name: str) -> str:
    return f"'{name}" if name.startswith(_FORMULA) else name


def _as_json(series: pl.Series) -> pl.Series:
    texts = [None if row is None else json.dumps(row, ensure_ascii=False) for row in series.to_list()]
    return pl.Series(series.name, texts, dtype=pl.String)


@contextmanager
def _new_file(path: Path | str, suffixes: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    """A temporary file beside the target that takes its place when it is whole."""
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in suffixes:
        raise UnknownName("file ending", suffix or target.name, suffixes)
    if not target.parent.is_dir():
        raise StoreError(f"There is no folder '{target.parent}' to write '{target.name}' into. Make it first.")
    temporary = unfinished(target)
    try:
        with writing(target):
            yield temporary, suffix
            temporary.replace(target)
    finally:
        with suppress(OSError):  # what failed is told
            temporary.unlink(missing_ok=True)
