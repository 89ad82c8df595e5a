"""A table with a line an image: its file, its depth's file, its pose, which pair it is of and which domain."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from innerview.errors import StoreError
from innerview.schema import Camera, Column
from innerview.store.files import parsed_json
from innerview.store.importers.foreign import foreign, look_at
from innerview.store.importers.images import ImageFiles, Refused
from innerview.store.importers.pairs.described import Description, camera_of
from innerview.store.importers.pairs.image_set import ImageSet, array_spec, file_in, some_of
from innerview.store.importers.tables import read_table, split_units
from innerview.store.recordings.bulk import column_spec

_IMAGES: Mapping[str, tuple[str, ...]] = {"rgb": ("image", "rgb", "colour", "color"), "depth": ("depth",)}
_PAIR = ("pair", "pair_id", "pair id")
_INTRINSICS = ("fx", "fy", "cx", "cy")
_CAMERA_BYTES = 1 << 20


def is_manifest(path: Path) -> bool:
    """Whether a table has an image, a pair and a domain in each line."""
    try:
        columns = _heads(path)
    except (StoreError, OSError, UnicodeDecodeError):
        return False
    return "domain" in columns and any(n in columns for n in _PAIR) and any(n in columns for n in _IMAGES["rgb"])


def _heads(path: Path) -> list[str]:
    look_at(path)
    if path.suffix.lower() == ".csv":
        with foreign(path, "CSV"):
            return split_units(pl.read_csv(path, n_rows=0))[0].columns
    return split_units(read_table(path))[0].columns


def manifest_in(folder: Path) -> Path:
    """The one table of a folder."""
    tables = [path for path in sorted(folder.iterdir()) if path.suffix.lower() in (".csv", ".parquet")]
    if len(tables) != 1:
        told = ", ".join(path.name for path in tables) or "none"
        raise StoreError(f"'{folder.name}' should hold one table that names its images; there is {told}.")
    return tables[0]


def read_manifest(said: Description, path: Path) -> ImageSet:
    """Rows are pairs, with an image of each domain; without domains they are images."""
    lines = _Lines.read(path)
    rows, remarks = _rows(lines)
    if not rows:
        first = f" {remarks[0]}" if remarks else ""
        raise StoreError(f"'{path.name}' has no pair with an image of each of {', '.join(lines.domains)}.{first}")
    arrays = tuple(
        ImageFiles(
            spec=array_spec(".".join(filter(None, (domain, kind))), replace(said, units={**lines.units, **said.units})),
            folder=said.folder,
            files=[_file(said.folder, lines.table[column][row[domain]]) for row in rows],
        )
        for domain in lines.domains
        for kind, column in lines.images.items()
        if lines.table[column].drop_nulls().len() and _has_any(lines, column, [row[domain] for row in rows])
    )
    table, columns = _facts(lines, rows)
    camera, about = _camera(lines, said)
    intrinsics, of_those = _intrinsics(lines)
    return ImageSet(
        by="manifest",
        arrays=arrays,
        table=table,
        columns=columns,
        remarks=(*some_of(remarks), *about, *of_those),
        camera=camera,
        intrinsics_px=intrinsics,
    )


@dataclass(frozen=True, kw_only=True)
class _Lines:
    """A manifest's lines and what its columns are."""

    path: Path
    table: pl.DataFrame
    units: Mapping[str, str]
    images: Mapping[str, str]
    """Columns that name files, by kind."""
    pair: str
    domains: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> _Lines:
        table, units = split_units(read_table(path))
        named = {kind: next((n for n in names if n in table.columns), "") for kind, names in _IMAGES.items()}
        images = {kind: column for kind, column in named.items() if column}
        if "rgb" not in images:
            raise StoreError(f"'{path.name}' needs a column {' or '.join(_IMAGES['rgb'])} that names the images.")
        pair = next((name for name in _PAIR if name in table.columns), "")
        named_domains = table["domain"].cast(pl.String).fill_null("") if "domain" in table.columns else pl.Series([""])
        domains = tuple(map(str, named_domains.unique(maintain_order=True).to_list())) or ("",)
        if len(domains) > 1 and not pair:
            raise StoreError(f"'{path.name}' has domains {', '.join(domains)}, but no column 'pair' that joins them.")
        for domain in domains:
            if "." in domain:
                raise StoreError(f"'{domain}' in '{path.name}' cannot be the name of a domain: it has a point in it.")
        return cls(path=path, table=table, units=units, images=images, pair=pair, domains=domains)

    @property
    def facts(self) -> list[str]:
        """Columns that say something of an image."""
        others = {*self.images.values(), self.pair, "domain", "camera"}
        return [name for name in self.table.columns if name not in others]


def _rows(lines: _Lines) -> tuple[list[dict[str, int]], list[str]]:
    """The line of each domain, row by row in the order of the first domain's lines; and pairs that are not whole."""
    count = lines.table.height
    has_domains = "domain" in lines.table.columns
    domains = lines.table["domain"].cast(pl.String).fill_null("").to_list() if has_domains else [""] * count
    pairs = lines.table[lines.pair].cast(pl.String).to_list() if lines.pair else list(map(str, range(count)))
    found: dict[str, dict[str, int]] = {}
    remarks = []
    for line, (pair, domain) in enumerate(zip(pairs, domains, strict=True)):
        if pair is None:
            remarks.append(f"Line {line + 2} of '{lines.path.name}' is left out: it names no pair.")
        elif domain in found.setdefault(pair, {}):
            remarks.append(f"Line {line + 2} of '{lines.path.name}' is left out: pair '{pair}' has a {domain} already.")
        else:
            found[pair][domain] = line
    whole = []
    for pair, there in found.items():
        missing = [domain for domain in lines.domains if domain not in there]
        if missing:
            image = lines.table[lines.images["rgb"]][next(iter(there.values()))]
            remarks.append(f"Pair '{pair}' is left out ('{image}'): it has no image of {', '.join(missing)}.")
        else:
            whole.append(there)
    return whole, remarks


def _has_any(lines: _Lines, column: str, places: Sequence[int]) -> bool:
    return bool(lines.table[column][list(places)].drop_nulls().len())


def _file(folder: Path, name: object) -> Path | Refused | None:
    return None if name is None or not str(name).strip() else file_in(folder, str(name).strip())


def _facts(lines: _Lines, rows: Sequence[Mapping[str, int]]) -> tuple[pl.DataFrame, tuple[Column, ...]]:
    """What is said of the images of a row: once where all domains say the same, else for each."""
    table: dict[str, pl.Series] = {}
    columns: list[Column] = []
    if lines.pair:
        first = [row[lines.domains[0]] for row in rows]
        table["pair"] = lines.table[lines.pair][first].cast(pl.String).alias("pair")
        columns.append(Column(name="pair", type="text", kind="index", description="As the manifest calls it."))
    for name in lines.facts:
        values = {domain: lines.table[name][[row[domain] for row in rows]] for domain in lines.domains}
        one = values[lines.domains[0]]
        same = all(one.equals(other, null_equal=True) for other in values.values())
        for domain, series in [("", one)] if same else list(values.items()):
            called = f"{domain}.{name}" if domain else name
            spec = column_spec(series.alias(called))
            table[called] = series.alias(called)
            columns.append(replace(spec, unit=lines.units.get(name, ""), domain=domain, pair=name if domain else ""))
    for kind, column in lines.images.items():
        for domain in lines.domains:
            called = f"{domain}.{kind} file" if domain else f"{kind} file"
            table[called] = lines.table[column][[row[domain] for row in rows]].cast(pl.String).alias(called)
            columns.append(Column(name=called, type="text", kind="text"))
    return pl.DataFrame(table), tuple(columns)


def _camera(lines: _Lines, said: Description) -> tuple[Camera | None, tuple[str, ...]]:
    """The camera that all lines name as a file."""
    if "camera" not in lines.table.columns:
        return None, ()
    named = lines.table["camera"].drop_nulls().cast(pl.String).unique(maintain_order=True).to_list()
    if len(named) > 1:
        told = f"Lines name {len(named)} cameras, such as {', '.join(named[:3])}; a recording has one: none is saved."
        return None, (told,)
    return (_camera_file(said.folder, named[0]), ()) if named else (None, ())


def _intrinsics(lines: _Lines) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """fx, fy, cx and cy, where all lines say the same."""
    if not all(name in lines.table.columns for name in _INTRINSICS):
        return (), ()
    numbers = lines.table.select(_INTRINSICS).unique()
    if numbers.height > 1:
        return (), ("fx, fy, cx and cy differ between lines; a recording has one camera: none is saved.",)
    return tuple(map(float, numbers.row(0))), ()


def _camera_file(folder: Path, name: str) -> Camera:
    path = file_in(folder, name)
    if isinstance(path, Refused):
        raise StoreError(path.why)
    look_at(path, limit=_CAMERA_BYTES)
    value: Any = parsed_json(path.read_bytes(), f"'{name}'")
    try:
        return camera_of(value)
    except (TypeError, ValueError, KeyError, IndexError, OverflowError) as error:
        wanted = json.dumps({"width_px": 640, "height_px": 480, "focal_px": [525, 525], "centre_px": [320, 240]})
        raise StoreError(f"'{name}' does not say a camera ({error!r}), such as {wanted}.") from error
