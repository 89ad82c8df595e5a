"""Touches disk: studies, recordings, results, importers and exporters. A line lives here if it reads or writes a study.

Rows are Parquet and arrays are Zarr in plain folders. A block of rows is committed by replacing the manifest.
"""

from innerview.store.damage import Damage, check
from innerview.store.recording import Recording
from innerview.store.study import Study
from innerview.store.writer import RecordingWriter

__all__ = ["Damage", "Recording", "RecordingWriter", "Study", "check"]
