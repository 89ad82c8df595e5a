"""Commands that look through lenses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from innerview.cli.outputs import print_other
from innerview.cli.rows import Inputs, Other, Rows, bound, ranges
from innerview.errors import InnerviewError, UnknownName
from innerview.lenses.video.job import VideoMap
from innerview.schema import Lens, Result

if TYPE_CHECKING:
    from innerview.store import Study

_LOOKS_AT = {"row": "single rows", "episode": "an episode", "rows": "any rows"}
_NUMBERS = {"int": "a whole number", "float": "a number"}


def lenses() -> None:
    """List the lenses and what can be set about each.

    Example: `innerview lenses`
    """
    from innerview.lenses.discovery import all_lenses

    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    for title in ("lens", "question", "looks at", "parameters"):
        table.add_column(title, overflow="fold")
    for name, looking in all_lenses():
        lens = looking.lens
        settable = escape(", ".join(f"{p.name}={p.default}" for p in lens.parameters))
        missing = f" [red]{escape(lens.settings['missing'])}[/]" if lens.settings.get("missing") else ""
        table.add_row(name, escape(lens.question) + missing, _LOOKS_AT[lens.over], settable)
    Console().print(table)


def lens(
    name: Annotated[str, typer.Argument(help="The lens; `innerview lenses` lists them.")],
    study: Annotated[Path, typer.Argument(help="The study's folder.")],
    recording: Annotated[str | None, typer.Option(help="Which recording, where there are several.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="PARAMETER=VALUE; may be repeated.")] = None,
    episode: Annotated[str | None, typer.Option(help="Only this episode.")] = None,
    subject: Annotated[
        str | None, typer.Option(help="For lenses that run the model again: zoo:NAME or FILE.py:FUNCTION.")
    ] = None,
    input: Inputs = None,
    rows: Rows = None,
    other: Other = False,
    again: Annotated[bool, typer.Option("--again", help="Compute it also where the study knows it.")] = False,
) -> None:
    """Look at a recording through a lens, print what it finds and keep it in the study.

    Examples:

        innerview lens flags my.study --set facts=health --set thresholds=health=50

        innerview lens influence my.study --subject zoo:doom_health --episode 3

        innerview lens gradient my.study --subject zoo:doom_health --rows 0:100 --rows 250:300

        innerview lens gradient pairs.study --subject pose.py:make --input rgb=real.rgb --set target="x of pose"
    """
    from innerview.cli.look import only_recording
    from innerview.lenses.look import look
    from innerview.store import Study

    opened = Study.open(study)
    chosen = only_recording(opened, recording)
    looked_at = ranges(rows) or (None if episode is None else chosen.group_rows(episode))
    wanted = parameters_of(_described(name), set_ or [])
    model, fed = _subject(subject), bound(input)
    result = look(
        opened, name, chosen.name, rows=looked_at, subject=model, inputs=fed, other=other, again=again, **wanted
    )
    _print_result(opened, result)


def export_maps(
    study: Path, out: Path, recording: str | None, maps: Sequence[str], *, subject: Sequence[str], **drawn: Any
) -> None:
    """Write a video of an episode, with maps beside it where any are asked for."""
    from innerview.cli.look import only_recording
    from innerview.lenses.video.export import export_video
    from innerview.store import Study

    opened = Study.open(study)
    name = only_recording(opened, recording).name
    live = [_subject(text) for text in subject]
    made = export_video(opened, out, name, maps=[_map(text) for text in maps], subject=live, **drawn)
    Console().print(f"Wrote {made}", markup=False, highlight=False)


def _map(text: str) -> VideoMap:
    """METHOD | PARAMETER=VALUE | frame=1, or result=ID, as it is typed."""
    from innerview.lenses.methods import heat_methods

    name, *words = (part.strip() for part in text.split("|"))
    result, method = (name.removeprefix("result="), "") if name.startswith("result=") else ("", name)
    said, parameters = dict[str, str](), list[str]()
    for word in words:
        key, _, value = (part.strip() for part in word.partition("="))
        if key in ("frame", "input", "subject"):
            said[key] = value
        else:
            parameters.append(word)
    known = heat_methods()
    if method and method not in known:
        raise UnknownName("method of attribution", method, known)
    if parameters and result:
        raise InnerviewError(f"A result was asked already: '{parameters[0]}' cannot be set. Name its method instead.")
    given = parameters_of(known[method].looking.lens, parameters) if method else {}
    frame = _typed("int", "frame", said.pop("frame", "0"))
    return VideoMap(method=method, parameters=given, frame=frame, result=result, **said)


def parameters_of(lens: Lens, words: Sequence[str]) -> dict[str, Any]:
    """What was typed as parameter=value, in the types that the lens wants."""
    known = {parameter.name: parameter for parameter in lens.parameters}
    given: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if name not in known:
            raise UnknownName(f"parameter of lens '{lens.name}'", name, known)
        if not equals:
            raise InnerviewError(f"'{word}' sets nothing; write {name}=VALUE.")
        given[name] = _typed(known[name].type, name, value)
    return given


def _typed(kind: str, name: str, value: str) -> Any:
    if kind == "bool":
        if value.lower() not in ("true", "false", "yes", "no"):
            raise InnerviewError(f"{name} is true or false, not '{value}'.")
        return value.lower() in ("true", "yes")
    if kind not in _NUMBERS:
        return value
    try:
        return int(value) if kind == "int" else float(value)
    except ValueError as error:
        raise InnerviewError(f"{name} is {_NUMBERS[kind]}, not '{value}'.") from error


def _described(name: str) -> Lens:
    from innerview.lenses.discovery import all_lenses
    from innerview.lenses.look import NOT_A_LENS

    return all_lenses().get(name, NOT_A_LENS).lens


def _subject(text: str | None) -> Any:
    if text is None:
        return None
    from innerview.cli.make import load_subject

    return load_subject(text)[0]


def _print_result(study: Study, result: Result) -> None:
    from innerview.cli.outputs import print_output

    console = Console()
    printer = _PRINTERS.get(result.kind)
    if printer:
        printer(console, result.value)
    else:
        print_output(console, study, result)
    print_other(console, result.arguments)
    told = f"Saved as result {result.id} of '{result.recording}'."
    console.print(told, markup=False, highlight=False, soft_wrap=True)


def _print_flags(console: Console, value: Any) -> None:
    flags = [line for line in value["flags"] if line["significant"]]
    telling = Counter(line["fact"] for line in flags)
    table = Table(box=None, header_style="dim", padding=(0, 1, 0, 0))
    for title in ("fact", "element", "is", "AUC", "held out", "q", "retention", "more"):
        table.add_column(title, justify="left" if title in ("fact", "is") else "right", no_wrap=True)
    for line in (line for line in flags if line["best_of_fact"]):
        retention = "" if line["retention_steps"] is None else str(line["retention_steps"])
        numbers = (f"{line['auc']:.3f}", f"{line['held_out_auc']:.3f}", f"{line['q']:.1g}", retention)
        high = "high" if line["direction"] > 0 else "low"
        table.add_row(line["fact"], str(line["element"]), high, *numbers, str(telling[line["fact"]] - 1))
    console.print(table)
    counts = value["episodes"]
    console.print(
        f"{len(flags)} flags among {value['pairs']:,} pairs of element and fact, found in {counts['used']} episodes "
        f"and confirmed in {counts['held_out']} others. {value['note']}",
        highlight=False,
    )


def _print_strategy(console: Console, value: Any) -> None:
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    for title in ("state", "name", "share", "mean steps", "goes to"):
        table.add_column(title)
    for state in value["states"]:
        ways = [way for way in value["transitions"] if way["from"] == state["state"]]
        goes = ", ".join(f"{way['to']} ({way['probability']:.0%})" for way in ways[:4])
        shown = (f"{state['share']:.0%}", f"{state['mean_steps']:.1f}", goes)
        table.add_row(str(state["state"]), state["name"], *shown)
    console.print(table)


def _print_influence(console: Console, value: Any) -> None:
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("element", justify="right")
    table.add_column("influence, all lags", justify="right")
    for element in value["order"][:20]:
        table.add_row(str(element), f"{value['elements'][element]:.4g}")
    console.print(table)
    lags = ", ".join(f"{lag}: {value['by_lag'][lag]:.3g}" for lag in value["lags"][::5])
    console.print(f"By lag, all elements: {lags}", highlight=False)


def _print_visualise(console: Console, value: Any) -> None:
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    for title in ("visualised for", "reaches", "strongest row", "reaches", "times", ""):
        table.add_column(title, justify="left" if title in ("visualised for", "") else "right")
    for line in value["pictures"]:
        strongest = line["strongest"]
        numbers = (
            f"{line['reached']:.3g}",
            str(strongest["row"]),
            f"{strongest['amount']:.3g}",
            f"{line['times']:.2f}",
        )
        table.add_row(f"{line['kind']} {line['unit']}", *numbers, "beyond" if line["beyond"] else "")
    console.print(table)
    console.print(
        f"At {value['layer']}, compared with {value['rows']:,} rows; 1 is the strongest of them, 0 the mean response.",
        highlight=False,
    )


_PRINTERS: dict[str, Callable[[Console, Any], None]] = {
    "flags": _print_flags,
    "strategy": _print_strategy,
    "influence": _print_influence,
    "visualise": _print_visualise,
}
COMMANDS = (lens, lenses)
