"""Commands that take parts of a memory away and look at what is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table as Lines

from innerview.cli.make import load_subject, load_world
from innerview.cli.outputs import print_other
from innerview.errors import InnerviewError, StoreError
from innerview.registry import plugins
from innerview.schema import EditSet, MemorySite, SiteEdit
from innerview.store import Recording, Study, export_reductions, import_reductions
from innerview.store.paths import plain_name

if TYPE_CHECKING:
    from innerview.schema import Result

ORDER_EPISODES, ORDER_SEED, TABLE_SEED = 10, 1_500_000, 1_000_000
ORDER_RECORDING = "for the order"


@dataclass(frozen=True, kw_only=True)
class Players:
    """What a command works with."""

    study: Study
    recording: Recording
    subject: Any
    world: Any
    seed: int | None
    other: bool = False
    """Go on with another subject or world than was recorded."""


@dataclass(frozen=True, kw_only=True)
class ReductionChoice:
    """The reductions somebody asked for on the command line."""

    half_by: Sequence[str] = ()
    keep: Sequence[str] = ()
    zero: Sequence[str] = ()
    named: Sequence[str] = ()
    nothing: bool = False
    site: str = ""


def players(
    target: str,
    *,
    study: Path | None,
    subject: str | None,
    world: str | None,
    recording: str | None,
    seed: int | None,
    other: bool = False,
) -> Players:
    """A study and its subject; a model of a package has a study of its own, with episodes to order elements by."""
    package, _, name = target.partition(":")
    if package not in plugins("models"):
        if subject is None:
            raise InnerviewError("Say who plays with --subject: zoo:NAME, or FILE.py:FUNCTION that returns a subject.")
        model, own = load_subject(subject)
        played = load_world(world) if world else own
        opened = Study.open(target)
        return Players(
            study=opened,
            recording=_source(opened, recording),
            subject=model,
            world=_known(played),
            seed=seed,
            other=other,
        )
    from innerview.rollouts.record import record

    model, own = load_subject(target)
    opened = Study.open_or_create(study or Path(".innerview") / f"{plain_name(name)}.study")
    played = load_world(world) if world else own
    if recording is None:
        made = record(opened, model, _known(played), episodes=ORDER_EPISODES, seeds=ORDER_SEED, name=ORDER_RECORDING)
    else:
        made = opened.recording(recording)
    first = TABLE_SEED if seed is None else seed
    return Players(study=opened, recording=made, subject=model, world=_known(played), seed=first, other=other)


def table(chosen: Players, wanted: ReductionChoice, *, episodes: int, lanes: int | None) -> None:
    """Play and print the table."""
    from innerview.interventions.reductions import reduce_table

    result = reduce_table(
        chosen.study,
        chosen.recording.name,
        _reductions(chosen, wanted),
        chosen.subject,
        chosen.world,
        episodes=episodes,
        seed=chosen.seed,
        lanes=lanes,
        other=chosen.other,
    )
    show_table(result, chosen)


def sweep_elements(chosen: Players, **given: Any) -> None:
    """Sweep and print the strongest."""
    from innerview.interventions.sweep import sweep

    result = sweep(
        chosen.study,
        chosen.recording.name,
        chosen.subject,
        chosen.world,
        seed=chosen.seed,
        other=chosen.other,
        **given,
    )
    console, ranked = Console(), result.value["ranked"]
    print_other(console, result.arguments)
    lines = Lines(box=None, header_style="dim", title=result.title, title_justify="left")
    more = [name for name in ("switched", "low", "high", "together") if any(name in each for each in ranked)]
    for title in ("elements", f"effect ({result.value['unit']})", *more):
        lines.add_column(title, justify="left" if title == "elements" else "right")
    for each in ranked[:20]:
        named = " + ".join(map(str, each["elements"]))
        lines.add_row(named, f"{each['effect']:.4g}", *(_number(each.get(name)) for name in more))
    console.print(lines)
    _print_text(console, f"{len(ranked)} in all, saved as result {result.id} of '{chosen.recording.name}'.")


def smallest(chosen: Players, **given: Any) -> None:
    """Search and print the path."""
    from innerview.interventions.smallest_memory import smallest_memory

    result = smallest_memory(
        chosen.study,
        chosen.recording.name,
        chosen.subject,
        chosen.world,
        seed=chosen.seed,
        other=chosen.other,
        **given,
    )
    console, value = Console(), result.value
    print_other(console, result.arguments)
    lines = Lines(box=None, header_style="dim", title=result.title, title_justify="left")
    for title in ("elements", value["measure"], "of full", ""):
        lines.add_column(title, justify="right" if title else "left")
    for step in value["path"]:
        went = "kept" if step["went_well"] else "too few"
        lines.add_row(str(step["kept"]), _number(step["mean"]), _share(step["ratio"]), went)
    console.print(lines)
    last = value["fresh"]
    _print_text(
        console,
        f"{len(value['kept'])} of {value['elements']} elements are enough on the seeds of the search. On "
        f"{last['episodes']} fresh seeds they keep {_share(last['ratio'])} of {value['measure']}.",
    )
    if value["reduction"]:
        reduction = _as_reduction(value["reduction"])
        chosen.study.save_reduction(reduction)
        _print_text(console, f"Saved as reduction '{reduction.name}'.")


def list_reductions(path: Path, *, out: Path | None, source: Path | None, drop: str | None) -> None:
    """Print, export, import or drop reductions of a study."""
    study, console = Study.open(path), Console()
    if source is not None:
        for reduction in import_reductions(source):
            study.save_reduction(reduction)
    if drop is not None:
        study.drop_reduction(drop)
    kept = study.reductions()
    if out is not None:
        if not kept:
            raise StoreError(f"'{study.name}' has no reductions that could be written.")
        _print_text(console, f"Wrote {len(kept)} to {export_reductions(kept, out)}")
        return
    lines = Lines(box=None, header_style="dim")
    for title in ("reduction", "elements", "how", "note"):
        lines.add_column(title)
    for reduction in kept:
        modes = ", ".join(dict.fromkeys(edit.op for edit in reduction.edits))
        sites = [edit for edit in reduction.edits if isinstance(edit, SiteEdit)]
        count = len({(edit.site, element) for edit in sites for element in edit.elements})
        lines.add_row(reduction.name, str(count), modes, reduction.note)
    console.print(lines)


def show_table(result: Result, chosen: Players) -> None:
    """Print a table of reductions."""
    value, console = result.value, Console()
    print_other(console, result.arguments)
    rows = value["rows"]
    lines = Lines(box=None, header_style="dim", title=f"{len(value['seeds'])} episodes each", title_justify="left")
    lines.add_column("")
    for row in rows:
        lines.add_column(row["name"], justify="right")
    lines.add_row("elements kept", *(str(row["kept"]) for row in rows))
    for name in _measures(rows):
        lines.add_row("steps" if name == "length" else name, *(_around(row["measures"].get(name)) for row in rows))
        if name == "length":
            lines.add_row("  of full memory", *(_share(row["measures"][name].get("ratio")) for row in rows))
    for word in dict.fromkeys(word for row in rows for word in row["outcomes"]):
        lines.add_row(f"ended: {word}", *(str(row["outcomes"].get(word, {}).get("count", 0)) for row in rows))
    console.print(lines)
    overlap = len(value["chosen_on"]["seeds_in_both"])
    other = "none of which is in the table" if not overlap else f"{overlap} of which are in the table"
    _print_text(
        console,
        f"Means with 95 % intervals; 'of full memory' is the ratio of mean steps over the same seeds. Orders are over "
        f"{chosen.recording.group_count} episodes of '{chosen.recording.name}', {other}. "
        f"Saved as result {result.id} in {chosen.study.path}. {value['note']}".strip(),
    )


def _reductions(chosen: Players, wanted: ReductionChoice) -> list[EditSet]:
    from innerview.edits import parse_elements
    from innerview.interventions.reductions import keep_by, nothing_left

    study, recording = chosen.study, chosen.recording
    site: MemorySite = chosen.subject.info.memory_site(wanted.site)
    made = [keep_by(study, recording, site, by=by) for by in wanted.half_by]
    for text in wanted.keep:
        count, _, by = text.partition(":")
        if not count.isdigit() or not by:
            raise InnerviewError(f"--keep takes how many and by what, as in 64:activation, not '{text}'.")
        made.append(keep_by(study, recording, site, by=by, count=int(count)))
    for text in wanted.zero:
        edit = SiteEdit(elements=parse_elements(text), site=site.address)
        made.append(EditSet(name=f"without {text}", edits=(edit,)))
    kept = {reduction.name: reduction for reduction in study.reductions()}
    for name in wanted.named:
        if name not in kept:
            raise InnerviewError(f"No reduction is called '{name}'. Saved: {', '.join(kept) or 'none'}.")
        made.append(kept[name])
    if wanted.nothing:
        made.append(nothing_left(site))
    return made or [
        *(keep_by(study, recording, site, by=by) for by in ("activation", "change", "random")),
        nothing_left(site),
    ]


def _source(study: Study, name: str | None) -> Recording:
    """The recording named, or the only one that is no re-run."""
    if name is not None:
        return study.recording(name)
    names = [each for each in study.recordings() if not study.recording(each).info.edits]
    if len(names) != 1:
        told = ", ".join(f"'{each}'" for each in names) or "none"
        raise InnerviewError(f"Say which recording with --recording; this study has {told}.")
    return study.recording(names[0])


def _known(world: Any) -> Any:
    if world is None:
        raise InnerviewError(
            "Say where it plays with --world: a Gymnasium id, doom:SCENARIO, a .cfg or FILE.py:FUNCTION."
        )
    return world


def _as_reduction(value: Mapping[str, Any]) -> EditSet:
    from innerview.schema import from_json

    return from_json(EditSet, value)


def _measures(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is worth a column: whatever happened at all."""
    names = list(dict.fromkeys(("length", "return", *(name for row in rows for name in row["measures"]))))
    return [name for name in names if any(row["measures"].get(name, {}).get("mean") for row in rows)]


def _around(told: Mapping[str, Any] | None) -> str:
    if told is None:
        return ""
    if told["low"] is None:
        return f"{told['mean']:.2f}"
    return f"{told['mean']:.2f} ± {(told['high'] - told['low']) / 2:.2f}"


def _share(ratio: Mapping[str, Any] | None) -> str:
    if not ratio:
        return ""
    spread = "" if ratio["low"] is None else f" ± {(ratio['high'] - ratio['low']) / 2:.1%}"
    return f"{ratio['mean']:.1%}{spread}"


def _number(value: Any) -> str:
    return "" if value is None else f"{value:.4g}"


def _print_text(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
