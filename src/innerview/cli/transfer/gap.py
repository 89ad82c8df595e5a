"""The command that prints how far off models are in two domains, and what lies between."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from innerview.cli.rows import Inputs, Rows, bound, ranges
from innerview.errors import InnerviewError

if TYPE_CHECKING:
    from innerview.schema import Result
    from innerview.store import Study

_STATISTICS = ("median", "mean")
_LEGEND = (
    "Median and mean over pairs, with 95 % intervals of drawing pairs again. gap: the error in {other} less that in "
    "{reference}. closed: share of the gap of {baseline} that is not there any more; none where that has no gap."
)


def gap(
    study: Annotated[Path, typer.Argument(help="The study's folder.")],
    subject: Annotated[
        list[str] | None,
        typer.Option(help="zoo:NAME or FILE.py:FUNCTION; may be repeated. Without it, what was measured is printed."),
    ] = None,
    recording: Annotated[
        list[str] | None, typer.Option(help="A paired recording; may be repeated. All that are paired unless said.")
    ] = None,
    snapshots: Annotated[
        list[str] | None, typer.Option(help="A training run whose snapshots stand beside the models; may be repeated.")
    ] = None,
    baseline: Annotated[str, typer.Option(help="The model whose gap the others close: its name or zoo:NAME.")] = "",
    filter: Annotated[
        list[str] | None,
        typer.Option(
            help='One more model of each: its REAL pictures go through "brightness 1.2 | blur 0.8"; repeatable.'
        ),
    ] = None,
    domain: Annotated[
        list[str] | None, typer.Option(help="The reference, then the other: --domain sim --domain real.")
    ] = None,
    rows: Rows = None,
    input: Inputs = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the table to this .md file as well.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what is stored as JSON instead.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Work out also what the study knows.")] = False,
) -> None:
    """Say how far off models are in simulated and in real pictures of the same places, and how much of the gap is left.

    Models with a pose head are run over every paired recording, as far as that was not done; predictions are kept.

    Examples:

        innerview gap pairs.study --subject zoo:office_vanilla --subject zoo:office_augmented

        innerview gap pairs.study --subject pose.py:make --filter "temperature -0.2 | brightness 1.2" --markdown gap.md
    """
    from innerview.store import Study

    opened = Study.open(study)
    if subject:
        given: dict[str, Any] = {"filters": tuple(filter or ()), "domains": tuple(domain or ()), "rows": ranges(rows)}
        given |= {"inputs": bound(input), "again": again}
        found = _measured(opened, subject, snapshots or (), recording or (), baseline, given)
    else:
        found = _saved(opened, recording or ())
    console = Console()
    if as_json:
        console.print_json(json.dumps([{"id": each.id, **each.value} for each in found]))
    else:
        for result in found:
            print_gap(console, result)
    if markdown is not None:
        markdown.write_text(in_markdown(found), encoding="utf-8")
        told = f"Table written to {markdown}."
        Console(stderr=as_json).print(told, markup=False, highlight=False, soft_wrap=True)


def print_gap(console: Console, result: Result) -> None:
    """The tables of one recording: places, then headings."""
    value = result.value
    for kind, unit in _kinds(value):
        table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0), title_justify="left")
        told = f"{value['recording']}: {kind}, {unit}, over {value['rows']:,} pairs"
        table.title = escape(told)
        for title in ("model", "of", *value["domains"], "gap", "closed"):
            left = title in ("model", "of")
            table.add_column(escape(title), justify="left" if left else "right", no_wrap=not left, overflow="fold")
        for number, model in enumerate(value["models"]):
            for statistic in _STATISTICS:
                named = _named(model, " behind ") if statistic == _STATISTICS[0] else ""
                cells = _cells(model[kind][statistic], kind, short=True)
                last = statistic == _STATISTICS[-1] and number < len(value["models"]) - 1
                table.add_row(escape(named), statistic, *cells, end_section=last)
        console.print(table)
    for sentence in remarks(value):
        console.print(sentence, markup=False, highlight=False, style="dim", soft_wrap=True)
    told = f"Saved as result {result.id} of '{result.recording}'.\n"
    console.print(told, markup=False, highlight=False, soft_wrap=True)


def in_markdown(results: Sequence[Result]) -> str:
    """A table for each recording."""
    written: list[str] = []
    for result in results:
        value = result.value
        kinds = _kinds(value)
        head = ["model", "of"]
        for kind, unit in kinds:
            head += [f"{kind} {domain}, {unit}" for domain in value["domains"]] + [f"{kind} gap, {unit}", "closed"]
        written += [f"**{value['recording']}**, {value['rows']:,} pairs", "", f"| {' | '.join(head)} |"]
        written.append("| --- " * len(head) + "|")
        for model in value["models"]:
            for statistic in _STATISTICS:
                cells = [cell for kind, _ in kinds for cell in _cells(model[kind][statistic], kind)]
                named = _named(model, " behind ").replace("|", "\\|")
                written.append(f"| {named} | {statistic} | {' | '.join(cells)} |")
        written += ["", *remarks(value), ""]
    return "\n".join(written)


def _kinds(value: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was measured, and its unit."""
    return [(kind, unit) for kind, unit in (("place", "m"), ("heading", "°")) if kind in value["models"][0]]


def _named(model: Mapping[str, Any], behind: str) -> str:
    return f"{model['subject']}{behind}{model['filter']}" if model["filter"] else str(model["subject"])


def _cells(of: Mapping[str, Any], kind: str, *, short: bool = False) -> list[str]:
    """Errors in both domains, the gap and its share that is closed; `short` gives intervals of the last two alone."""
    digits = 2 if kind == "place" else 1
    sides = [_text(of[side], digits, plain=short) for side in ("reference", "other")]
    return [*sides, _text(of["gap"], digits), _share(of["closed"])]


def remarks(value: Mapping[str, Any]) -> list[str]:
    """What is to be known beside the figures."""
    reference, other = value["domains"]
    found = [_LEGEND.format(reference=reference, other=other, baseline=value["baseline"])]
    if count := value["left_out"]["count"]:
        named = ", ".join(map(str, value["left_out"]["rows"])) + "…" * (count > len(value["left_out"]["rows"]))
        found.append(f"{count:,} rows were left out, as a true or predicted pose is no number there: {named}.")
    return found


def _text(estimate: Mapping[str, float], digits: int, *, plain: bool = False) -> str:
    value = f"{estimate['value']:.{digits}f}"
    return value if plain else f"{value} ({estimate['low']:.{digits}f} to {estimate['high']:.{digits}f})"


def _share(estimate: Mapping[str, float] | None) -> str:
    if not estimate:
        return "–"
    value, low, high = (f"{100 * estimate[name]:.0f}" for name in ("value", "low", "high"))
    return f"{value} % ({low} to {high})"


def _measured(
    study: Study,
    texts: Sequence[str],
    runs: Sequence[str],
    names: Sequence[str],
    baseline: str,
    given: Mapping[str, Any],
) -> list[Result]:
    from innerview.cli.make import load_subject, snapshot_loaders
    from innerview.rollouts.gap.work import gap as measure

    loaded = {text: load_subject(text)[0] for text in texts}
    models = [*loaded.values()]
    models += [load() for run in runs for load in snapshot_loaders(study, run, models).values()]
    first = loaded[baseline].info.name if baseline in loaded else baseline
    return [measure(study, models, name, baseline=first, **given) for name in names or _paired(study)]


def _paired(study: Study) -> list[str]:
    from innerview.schema import domains_of

    found = [n for n in study.recordings() if len(domains_of(study.recording(n).info.arrays)) == 2]
    if not found:
        raise InnerviewError(
            f"No recording of {study.path} has pictures of two domains. Import pairs (docs/imports.md), or render "
            "some: innerview zoo pairs STUDY."
        )
    return found


def _saved(study: Study, names: Sequence[str]) -> list[Result]:
    newest = {
        line.recording: line.id
        for line in sorted(study.results("gap"), key=lambda each: each.created_at)
        if not line.provisional and (not names or line.recording in names)
    }
    if not newest:
        raise InnerviewError(
            f"No gap was measured in {study.path} yet. Say which models: --subject zoo:NAME or FILE.py:FUNCTION."
        )
    return [study.result(id) for id in newest.values()]


COMMANDS = (gap,)
