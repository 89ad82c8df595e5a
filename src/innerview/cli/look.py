"""Commands that look at a study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from innerview.errors import InnerviewError, UnknownName
from innerview.lenses.columns.derived import derived
from innerview.schema import Column
from innerview.store import VIDEOS, Recording, Study, damage_named, export_arrays, export_rows
from innerview.store import check as check_study
from innerview.store import sign as sign_study

_ROWS, _ARRAYS = (".csv", ".parquet"), (".npz",)


def check(path: Path) -> bool:
    """Print what is damaged; whether nothing is."""
    console = Console()
    found = check_study(path)
    for damage in found:
        console.print(f"[red]damaged[/] {damage.part}", highlight=False)
        console.print(f"    {damage.problem}", markup=False, highlight=False)
        console.print(f"    {damage.advice}", style="dim", markup=False, highlight=False)
    if found:
        # Without it nothing else was looked at.
        alone = any(damage.part == "study.json" for damage in found)
        rest = "without it nothing of the study can be opened" if alone else "everything else can be read"
        console.print(f"\n{len(found)} damaged; {rest}.", highlight=False)
    else:
        console.print(f"{path}: nothing is damaged.", markup=False, highlight=False)
    return not found


def sign(path: Path) -> None:
    """Sign a study that came from elsewhere, and print what was signed."""
    signed = sign_study(path)
    told = f"signed {', '.join(signed)}" if signed else "everything is signed here already"
    Console().print(f"{path}: {told}.", markup=False, highlight=False)


def info(path: Path, name: str | None) -> None:
    """Print what a study or one of its recordings holds."""
    study = Study.open(path)
    if name is not None:
        recording = study.recording(name)
        _print_recording(recording, derived(study, recording).specs)
        return
    console, table = Console(), Table(box=None, header_style="dim")
    for title in ("recording", "rows", "groups", "origin", "subject", "world", ""):
        table.add_column(title)
    for each in study.recordings():
        recording = study.recording(each)
        about = recording.info
        table.add_row(
            each,
            f"{recording.rows:,} {about.row.many}",
            f"{recording.group_count:,}" if about.ordering else "",
            about.origin.kind,
            about.subject.name if about.subject else "",
            about.world.name if about.world else "",
            "" if recording.complete else "unfinished",
        )
    console.print(f"[bold]{study.name}[/]", highlight=False)
    console.print(table)
    for damage in study.damaged():
        console.print(f"damaged: {damage.part}: {damage.problem}", markup=False, highlight=False)


def _print_recording(recording: Recording, made: Sequence[Column]) -> None:
    console, about = Console(), recording.info
    console.print(f"{about.name}: {recording.rows:,} {about.row.many}", markup=False, highlight=False)
    console.print(str(about.origin), markup=False, highlight=False, soft_wrap=True)
    if not recording.signed:
        told = "not signed here: it is decoded in a process of its own. See innerview sign --help"
        console.print(told, style="dim", markup=False, highlight=False, soft_wrap=True)
    columns = Table(box=None, header_style="dim", title="columns", title_justify="left")
    for title in ("name", "type", "kind", "unit", "domain"):
        columns.add_column(title)
    for column in (*about.columns, *made):
        says = (
            "derived" if column.derived else f"{column.kind}, {column.pose} of the pose" if column.pose else column.kind
        )
        columns.add_row(column.name, column.type, says, column.unit, column.domain)
    console.print(columns)
    arrays = Table(box=None, header_style="dim", title="arrays", title_justify="left")
    for title in ("name", "shape", "dtype", "role", "kind", "unit", "domain"):
        arrays.add_column(title)
    for array in about.arrays:
        shape = " × ".join(map(str, ("entries", *array.shape) if array.kind == "ragged" else array.shape))
        kind = array.kind + (f", by {array.key}" if array.key else "")
        arrays.add_row(array.name, shape, array.dtype, array.role, kind, array.unit, array.domain)
    console.print(arrays)


def export(
    path: Path,
    out: Path,
    *,
    recording: str | None,
    episode: str | None,
    arrays: Sequence[str] | None,
    columns: Sequence[str] | None,
) -> None:
    """Write rows or arrays into a file whose ending says what it holds."""
    study = Study.open(path)
    chosen = only_recording(study, recording)
    kind = out.suffix.lower()
    start, stop = (0, None) if episode is None else chosen.group_rows(episode)
    if kind in _ROWS:
        made = export_rows(derived(study, chosen), out, columns=columns, start=start, stop=stop)
    elif kind in _ARRAYS:
        made = export_arrays(chosen, out, arrays=arrays, start=start, stop=stop)
    else:
        raise UnknownName("ending", kind or out.name, (*_ROWS, *_ARRAYS, *VIDEOS))
    Console().print(f"Wrote {made}", markup=False, highlight=False)


def only_recording(study: Study, name: str | None) -> Recording:
    """The recording named, or the only one."""
    names = study.recordings()
    if name is None and len(names) != 1:
        told = ", ".join(f"'{n}'" for n in names) or "none"
        raise InnerviewError(
            f"Say which recording with --recording; this study has {told}.{damage_named(study.damaged())}"
        )
    return study.recording(name or names[0])
