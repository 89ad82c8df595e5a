"""Touches disk: studies, recordings, results, importers and exporters. A line lives here if it reads or writes a study.

Rows are Parquet and arrays are Zarr in plain folders. A block of rows is committed by replacing the manifest.
"""

from innerview.store.annotations.metrics import (
    drop_metric,
    load_metrics,
    metrics_digest,
    save_metric,
    save_thresholds,
)
from innerview.store.annotations.names import load_names, save_names
from innerview.store.annotations.reductions import export_reductions, import_reductions, reductions_document
from innerview.store.annotations.selections import drop_selection, load_selections, save_selection
from innerview.store.check import check, check_at_a_glance
from innerview.store.exporters import (
    VIDEOS,
    check_encoder,
    export_arrays,
    export_file,
    export_rows,
    export_video,
    frames_per_s_of,
    image_array,
    in_colour,
    write_video,
)
from innerview.store.importers.files import Imported, ImportOptions, import_files
from innerview.store.importers.pairs import import_pairs
from innerview.store.importers.tables import import_npz, import_table
from innerview.store.models.cards import Card, load_card, load_weights, save_subject, subjects
from innerview.store.models.edited import (
    Edited,
    drop_edited,
    edited_subjects,
    load_edited,
    rename_edited,
    save_edited,
    weights_file,
)
from innerview.store.models.snapshots import Snapshot
from innerview.store.models.weights import read_weights
from innerview.store.predictions import Predictions, prediction_id
from innerview.store.recordings.bulk import fitting_block_rows, write_rows
from innerview.store.recordings.damage import Damage, damage_named
from innerview.store.recordings.recording import Recording
from innerview.store.recordings.writer import RecordingWriter
from innerview.store.results.derived import DerivedCache
from innerview.store.results.keyed_log import KeyedLog
from innerview.store.sign import sign
from innerview.store.study import Study

__all__ = [
    "VIDEOS",
    "Card",
    "Damage",
    "DerivedCache",
    "Edited",
    "ImportOptions",
    "Imported",
    "KeyedLog",
    "Predictions",
    "Recording",
    "RecordingWriter",
    "Snapshot",
    "Study",
    "check",
    "check_at_a_glance",
    "check_encoder",
    "damage_named",
    "drop_edited",
    "drop_metric",
    "drop_selection",
    "edited_subjects",
    "export_arrays",
    "export_file",
    "export_reductions",
    "export_rows",
    "export_video",
    "fitting_block_rows",
    "frames_per_s_of",
    "image_array",
    "import_files",
    "import_npz",
    "import_pairs",
    "import_reductions",
    "import_table",
    "in_colour",
    "load_card",
    "load_edited",
    "load_metrics",
    "load_names",
    "load_selections",
    "load_weights",
    "metrics_digest",
    "prediction_id",
    "read_weights",
    "reductions_document",
    "rename_edited",
    "save_edited",
    "save_metric",
    "save_names",
    "save_selection",
    "save_subject",
    "save_thresholds",
    "sign",
    "subjects",
    "weights_file",
    "write_rows",
    "write_video",
]
