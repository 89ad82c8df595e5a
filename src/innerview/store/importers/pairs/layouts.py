"""The layouts of folders of images, found by looking."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from innerview.errors import UnknownName
from innerview.store.importers.pairs.by_name import read_by_name
from innerview.store.importers.pairs.described import Description, description
from innerview.store.importers.pairs.image_set import ImageSet, write_images
from innerview.store.importers.pairs.manifest import is_manifest, manifest_in, read_manifest
from innerview.store.importers.pairs.sim2realviz import is_sim2realviz, read_sim2realviz
from innerview.store.importers.pairs.tum import is_tum, read_tum
from innerview.store.study import Study

LAYOUTS: Mapping[str, Callable[[Description], ImageSet]] = {
    "manifest": lambda said: read_manifest(said, manifest_in(said.folder)),
    "sim2realviz": read_sim2realviz,
    "tum": read_tum,
    "pairs": read_by_name,
}


def import_pairs(
    study: Study,
    path: Path | str,
    *,
    name: str | None = None,
    units: Mapping[str, str] | None = None,
    layout: str | None = None,
) -> tuple[str, tuple[str, ...]]:
    """Make a recording of a folder of images, or of a manifest; gives its name and what has to be said about it.

    The layout is found by looking, or said: "manifest", "sim2realviz", "tum", or "pairs" (rows are the names that every
    folder of images has). `units` gives the unit of a kind of image or of a column: {"depth": "mm", "angle": "deg"}.
    """
    source = Path(path)
    if layout is not None and layout not in LAYOUTS:
        raise UnknownName("layout", layout, LAYOUTS)
    if source.is_file():
        said = description(source.parent, units)
        found = read_manifest(said, source)
        target = name or source.stem
    else:
        said = description(source, units)
        found = LAYOUTS[layout or _layout(source)](said)
        target = name or source.resolve().name
    return target, write_images(study, target, source, found, said)


def _layout(folder: Path) -> str:
    if is_tum(folder):
        return "tum"
    if is_sim2realviz(folder):
        return "sim2realviz"
    tables = [path for path in folder.iterdir() if path.suffix.lower() in (".csv", ".parquet")]
    return "manifest" if len(tables) == 1 and is_manifest(tables[0]) else "pairs"
