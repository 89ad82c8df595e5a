"""Imports files of any known format, found by looking, into a study: all of it, or nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from innerview.errors import StoreError, UnknownName
from innerview.schema import Column, ImportedFrom, Ordering, Origin, RecordingInfo
from innerview.store.changes import changing, own_folder
from innerview.store.files import make_folder, sync_folder, writing
from innerview.store.importers.agents import AgentFormat, Form, find_form, format_of, highest_action, pieces
from innerview.store.importers.foreign import foreign
from innerview.store.importers.pairs import LAYOUTS, import_pairs, is_manifest
from innerview.store.importers.tables import import_npz, import_table
from innerview.store.importers.tracks import Track, read_tracks
from innerview.store.paths import checked_name
from innerview.store.recordings.bulk import fitting_block_rows
from innerview.store.recordings.writer import RecordingWriter
from innerview.store.study import Study

Format = Literal["drlviz", "memred", "npz", "table", "pairs", "manifest", "sim2realviz", "tum"]
_BY_ENDING: Mapping[str, Format] = {".npz": "npz", ".csv": "table", ".parquet": "table"}
_TITLES = {"drlviz": "DRLViz", "memred": "MemRed"}


@dataclass(frozen=True)
class Imported:
    """What an import made, and what it has to say about that."""

    recording: str
    rows: int
    episodes: int
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """What a person may say about an import."""

    name: str | None = None
    format: str | None = None
    """One of `Format`; None: found by looking."""
    images: Mapping[str, str] | None = None
    """For tables: columns that name image files, and the side each belongs to: "sim", or "sim/depth"."""
    units: Mapping[str, str] | None = None
    """For folders of images: the unit of a kind of image. For tables and archives: of a column, numbers or images."""
    ordering: Ordering | None = None
    """For tables and archives: the columns that group rows and count them in time."""
    actions: Sequence[str] = ()
    """Names of the actions, in the order of the probabilities."""
    width: int = 0
    """Pictures wider than this are made smaller; 0 keeps every pixel."""


def import_files(study: Path | str, files: Sequence[Path | str], options: ImportOptions | None = None) -> Imported:
    """Bring files into a study that is there or made for them; several files are episodes of one recording."""
    asked, paths = options or ImportOptions(), [Path(file) for file in files]
    if not paths:
        raise StoreError("Name at least one file to import.")
    if asked.width < 0:
        raise StoreError(f"The width of pictures is 0 (as they are) or more, not {asked.width}.")
    format = _format(paths[0], asked.format)
    name = checked_name("recording", asked.name or paths[0].stem)
    with _opened(Path(study)) as target, _staged(target, name) as staging:
        if format == "drlviz" or format == "memred":
            return _import_agents(staging, paths, format, name, asked)
        if len(paths) > 1:
            raise StoreError(f"{len(paths)} files are named. One {paths[0].suffix} file makes a recording.")
        remarks: tuple[str, ...] = ()
        if format in LAYOUTS:
            _, remarks = import_pairs(staging, paths[0], name=name, units=asked.units, layout=asked.format)
        elif format == "npz":
            _, remarks = import_npz(staging, paths[0], name=name, units=asked.units, ordering=asked.ordering)
        else:
            images = dict(asked.images or {})
            _, remarks = import_table(
                staging,
                paths[0],
                name=name,
                images=list(images) or None,
                domains=images,
                units=asked.units,
                ordering=asked.ordering,
            )
        made = staging.recording(name)
        return Imported(name, made.rows, made.group_count, remarks)


def _format(path: Path, asked: str | None) -> Format:
    if asked is not None:
        if asked not in get_args(Format):
            raise UnknownName("format", asked, get_args(Format))
        return asked  # type: ignore[return-value]
    ending = path.suffix.lower()
    if path.is_dir():
        return "pairs"
    if ending in (".csv", ".parquet") and is_manifest(path):
        return "manifest"
    if ending in _BY_ENDING:
        return _BY_ENDING[ending]
    if ending in (".json", ""):
        return format_of(read_tracks(path)[0])
    hint = "Say what it is with --format where its name does not."
    raise UnknownName("kind of file", ending, (".json", *_BY_ENDING), hint)


def _import_agents(study: Study, paths: list[Path], format: AgentFormat, name: str, options: ImportOptions) -> Imported:
    digest = _digest(paths)
    form: Form | None = None
    writer: RecordingWriter | None = None
    remarks, rows, episode = [], 0, 0
    try:
        for track in _tracks(paths):
            if options.format is None:
                _check_format(track, format)
            if writer is None or form is None:
                highest = max((highest_action(one) for one in _tracks(paths)), default=-1) if format == "drlviz" else -1
                form = find_form(track, format, actions=options.actions, highest=highest, width=options.width)
                info = _describe(form, name, paths, digest)
                writer = study.writer(info, block_rows=fitting_block_rows(info))
                remarks += _about_pictures(form)
            steps, remark = _write(writer, track, form, episode=episode, first=rows)
            remarks += [f"{track.where}: {remark}"] if remark else []
            rows, episode = rows + steps, episode + 1
        if writer is None:
            raise StoreError(f"There is no episode in {', '.join(path.name for path in paths)}.")
        writer.finish()
    finally:
        if writer is not None:
            writer.close()
    return Imported(name, rows, episode, tuple(remarks))


def _tracks(paths: list[Path]) -> Iterator[Track]:
    for path in paths:
        yield from read_tracks(path)


def _check_format(track: Track, format: AgentFormat) -> None:
    found = format_of(track)
    if found != format:
        raise StoreError(
            f"{track.where} was written by {_TITLES[found]}, not by {_TITLES[format]}. Import it by itself."
        )


def _write(writer: RecordingWriter, track: Track, form: Form, *, episode: int, first: int) -> tuple[int, str]:
    steps, remark, rows = pieces(track, form, episode)
    for columns, arrays in rows:
        writer.append(columns, arrays)
    line: dict[str, Any] = {
        "episode": episode,
        "start": first,
        "stop": first + steps,
        "length": steps,
        "source": track.file + (f" {track.key}" if track.key else ""),
        "remark": remark,
    }
    if "scores" in form.also:
        line["return"] = float(track.column("scores", steps)[-1])
    writer.end_group(line)
    return steps, remark


def _describe(form: Form, name: str, paths: list[Path], digest: str) -> RecordingInfo:
    numbers = (Column(name=n, type="int", kind="index") for n in ("episode", "start", "stop"))
    words = "The last score, which is without what the last action earned."
    returns = [Column(name="return", type="float", kind="reward", description=words)] if "scores" in form.also else []
    return RecordingInfo(
        name=name,
        origin=Origin(kind="imported", by=_TITLES[form.format], source=", ".join(path.name for path in paths[:3])),
        ordering=Ordering(),
        columns=form.columns(),
        arrays=form.arrays(),
        group_columns=(
            *numbers,
            Column(name="length", type="int", unit="steps"),
            *returns,
            Column(name="source", type="text", kind="text", description="The file it was imported from."),
            Column(name="remark", type="text", kind="text", description="What was left out."),
        ),
        arguments=ImportedFrom(files=tuple(path.name for path in paths), format=form.format, content=digest),
        note=f"Imported from {_TITLES[form.format]}.",
    )


def _about_pictures(form: Form) -> list[str]:
    return [
        f"{name}: {pictures.source[0]}×{pictures.source[1]} pixels made {pictures.size[0]}×{pictures.size[1]}"
        for name, pictures in form.pictures.items()
        if pictures.source != pictures.size
    ]


def _digest(paths: Sequence[Path]) -> str:
    found = hashlib.sha256()
    for path in paths:
        with foreign(path, "a file"), path.open("rb") as file:
            found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()


@contextmanager
def _opened(path: Path) -> Iterator[Study]:
    """The study there, or a new one, which goes again when nothing could be put into it."""
    was_there, had_folder = (path / "study.json").exists(), path.exists()
    study = Study.open_or_create(path)
    try:
        yield study
    except BaseException:
        if not was_there:
            study.remove_if_empty(folder=not had_folder)
        raise


@contextmanager
def _staged(study: Study, name: str) -> Iterator[Study]:
    """A study to write into whose recording moves over when all went well: what is half written is never seen."""
    target = study.path / "recordings" / name
    if target.exists():
        raise StoreError(f"There is a recording '{name}' already. Choose another name.")
    with own_folder(study.path) as folder:
        staging = Study.create(folder / "study", study.name)
        yield staging
        with changing(study.path), writing(target):
            if target.exists():
                raise StoreError(f"There is a recording '{name}' already. Choose another name.")
            make_folder(target.parent)
            (staging.path / "recordings" / name).rename(target)
            sync_folder(target.parent)
