"""Arrays and plain columns as an archive of NumPy's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import polars as pl

from innerview.store.exporters.files import new_file
from innerview.store.recordings.recording import Recording


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
    with new_file(path, (".npz",)) as (temporary, _), ZipFile(temporary, "w", ZIP_DEFLATED) as archive:
        # By hand: numpy.savez takes names as arguments, and pickles what it does not know.
        for name, value in content.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, value, allow_pickle=False)
    return Path(path)


def _as_numpy(series: pl.Series) -> np.ndarray:
    """Unknown numbers and truths become NaN, unknown text is empty."""
    if series.dtype == pl.String:
        return series.fill_null("").to_numpy().astype(str)
    return (series.cast(pl.Float32) if series.dtype == pl.Boolean and series.null_count() else series).to_numpy()
