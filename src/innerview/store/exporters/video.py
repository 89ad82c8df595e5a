"""Video: GIF, or MP4 where there is an encoder."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from types import ModuleType

import numpy as np
from PIL import Image

from innerview.errors import StoreError, UnknownName
from innerview.schema import ArraySpec
from innerview.store.exporters.files import new_file
from innerview.store.recordings.recording import Recording

_CHUNK = 64
_FILM_WIDTH = 448  # a small picture is enlarged to about this many pixels
VIDEOS = (".mp4", ".gif")


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
    spec = image_array(recording, array)
    scale = min(64, max(1, _FILM_WIDTH // spec.shape[1])) if scale is None else scale
    if not isinstance(scale, int) or not 1 <= scale <= 64:
        raise StoreError(f"The scale is a whole number from 1 to 64, not {scale!r}: pixels stay pixels.")
    if group is None and recording.info.ordering is not None:
        raise StoreError(f"Say which {recording.info.ordering.group} to export.")
    start, stop = (0, recording.rows) if group is None else recording.group_rows(group)
    if start == stop:
        raise StoreError(f"Recording '{recording.name}' has no rows to make a video of.")
    frames = _frames(recording, spec, range(start, stop), scale)
    return write_video(path, frames, frames_per_s or frames_per_s_of(recording))


def frames_per_s_of(recording: Recording) -> float:
    """As fast as it was, where that is known; else ten rows a second."""
    seconds = recording.info.ordering.seconds_per_step if recording.info.ordering else None
    return 1 / seconds if seconds else 10.0


def write_video(path: Path | str, frames: Iterator[np.ndarray], frames_per_s: float) -> Path:
    """Pictures uint8 [height, width, 3], one after the other, as .gif or .mp4."""
    with new_file(path, VIDEOS) as (temporary, suffix):
        (_write_gif if suffix == ".gif" else _write_mp4)(temporary, frames, frames_per_s)
    return Path(path)


def check_encoder(suffix: str) -> ModuleType | None:
    """What writes such a file, where that is not Pillow; an error where it is missing."""
    if suffix != ".mp4":
        return None
    try:
        import imageio_ffmpeg  # type: ignore[import-untyped]
    except ImportError as error:
        raise StoreError("MP4 needs a video encoder: pip install 'innerview[video]'. GIF works without.") from error
    module: ModuleType = imageio_ffmpeg
    return module


def image_array(recording: Recording, name: str | None) -> ArraySpec:
    """The pictures of that name, or the first ones."""
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
            yield np.ascontiguousarray(in_colour(spec.as_shown(row)).repeat(scale, axis=0).repeat(scale, axis=1))


def in_colour(shown: np.ndarray) -> np.ndarray:
    """[height, width, 3] of a picture in grey or in colour."""
    grey = shown if shown.ndim == 2 else shown[..., 0] if shown.shape[2] < 3 else None
    return shown[..., :3] if grey is None else np.stack([grey] * 3, axis=-1)


def _write_gif(path: Path, frames: Iterator[np.ndarray], frames_per_s: float) -> None:
    pictures = (Image.fromarray(frame) for frame in frames)
    first = next(pictures)
    duration_ms = max(20, round(1000 / frames_per_s / 10) * 10)  # GIF counts hundredths; players slow down below two
    first.save(path, format="GIF", save_all=True, append_images=pictures, duration=duration_ms, loop=0)


def _write_mp4(path: Path, frames: Iterator[np.ndarray], frames_per_s: float) -> None:
    encoder = check_encoder(".mp4")
    assert encoder is not None
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
    sink = encoder.write_frames(str(path), size, **settings)
    sink.send(None)
    try:
        for frame in chain([first], frames):
            sink.send(np.ascontiguousarray(np.pad(frame, odd, mode="edge")))
    finally:
        sink.close()
