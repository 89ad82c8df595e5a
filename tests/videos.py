"""Reads videos that were exported, frame by frame."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
from PIL import Image


def decoded(path: Path, width: int, height: int) -> np.ndarray:
    """Frames of a video [frame, height, width, 3]."""
    if path.suffix == ".gif":
        with Image.open(path) as film:
            found = []
            for frame in range(film.n_frames):
                film.seek(frame)
                found.append(np.asarray(film.convert("RGB")))
        return np.stack(found)
    import imageio_ffmpeg

    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(command, capture_output=True, check=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, height, width, 3)
