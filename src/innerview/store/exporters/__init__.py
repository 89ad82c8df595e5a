"""Hands what a study holds to other tools: tables, arrays, and video."""

from innerview.store.exporters.arrays import export_arrays
from innerview.store.exporters.files import export_file
from innerview.store.exporters.rows import export_rows
from innerview.store.exporters.video import (
    VIDEOS,
    check_encoder,
    export_video,
    frames_per_s_of,
    image_array,
    in_colour,
    write_video,
)

__all__ = [
    "VIDEOS",
    "check_encoder",
    "export_arrays",
    "export_file",
    "export_rows",
    "export_video",
    "frames_per_s_of",
    "image_array",
    "in_colour",
    "write_video",
]
