"""Commands about filters of pictures: those that are saved, and the one that helps most."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from innerview.cli.outputs import print_output
from innerview.cli.rows import Inputs, Rows, bound, ranges
from innerview.errors import InnerviewError
from innerview.interventions.jobs import BestFilterJob


def filters(
    study: Annotated[Path, typer.Argument(help="The study's folder.")],
    save: Annotated[
        list[str] | None, typer.Option(help='Save as NAME=STEPS: --save "evening=brightness 1.2 | blur 0.8".')
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Forget the filter of that name; may be repeated.")] = None,
) -> None:
    """List the filters of pictures that a study keeps, and all that there are; save and forget some.

    A filter is used by its name or as it is written, wherever pictures feed a subject.

    Examples:

        innerview filters my.study --save "evening=temperature -0.2 | brightness 1.2"

        innerview predict my.study --subject pose.py:make --input "rgb=real.rgb | brightness 1.2"
    """
    from innerview.schema import PICTURE_FILTERS, SavedFilter
    from innerview.store import Study

    opened = Study.open(study)
    for name in drop or ():
        opened.drop_filter(name)
    for text in save or ():
        name, equals, steps = (part.strip() for part in text.partition("="))
        if not (name and equals and steps):
            raise InnerviewError(f"--save takes NAME=STEPS, such as \"evening=brightness 1.2\", not '{text}'.")
        opened.save_filter(SavedFilter(name=name, steps=steps))
    console = Console()
    known = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    for title in ("filter", "numbers", "what it does"):
        known.add_column(title)
    for each in PICTURE_FILTERS.values():
        numbers = ", ".join(f"{n.low:g} to {n.high:g}{n.unit and ' ' + n.unit}" for n in each.numbers)
        known.add_row(each.name, numbers, escape(each.description))
    console.print(known)
    for made in opened.filters():
        told = f"{made.name}: {made.steps}{made.note and '  ' + made.note}"
        console.print(told, markup=False, highlight=False, soft_wrap=True)


def best_filter(
    study: Annotated[Path, typer.Argument(help="The study's folder.")],
    subject: Annotated[
        str, typer.Option(help="zoo:NAME, or FILE.py:FUNCTION that returns a subject with a pose head.")
    ],
    recording: Annotated[str | None, typer.Option(help="A paired recording; the only one where left out.")] = None,
    filter: Annotated[
        list[str] | None,
        typer.Option(help="A filter to look among; may be repeated. Brightness, contrast, temperature."),
    ] = None,
    measure: Annotated[str, typer.Option(help="Whose mean error is made small: place or heading.")] = "place",
    share: Annotated[float, typer.Option(help="Share of the rows that is searched; the rest is tested.")] = (
        BestFilterJob.share
    ),
    count: Annotated[int, typer.Option(help="At most so many of those, spread.")] = BestFilterJob.count,
    budget: Annotated[int, typer.Option(help="How many filters are tried at most.")] = BestFilterJob.budget,
    rows: Rows = None,
    input: Inputs = None,
    save: Annotated[str, typer.Option(help="A name to save the filter under, where it helps on the rest.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print what is stored as JSON instead.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Look also where the study knows the answer.")] = False,
) -> None:
    """Find the filter of real pictures that brings a model closest to the truth, and say whether it helps on the rest.

    Examples:

        innerview best-filter pairs.study --subject zoo:office_vanilla --save mended

        innerview best-filter pairs.study --subject pose.py:make --filter blur --filter "depth range"
    """
    from innerview.cli.look import only_recording
    from innerview.cli.make import load_subject
    from innerview.interventions.best_filter import best_filter as look_for
    from innerview.store import Study

    opened = Study.open(study)
    model, _ = load_subject(subject)
    chosen: dict[str, Any] = {"measure": measure, "share": share, "count": count, "budget": budget, "save": save}
    chosen |= {"rows": ranges(rows), "inputs": bound(input), "again": again}
    named = only_recording(opened, recording).name
    result = look_for(opened, model, named, tuple(filter or BestFilterJob.filters), **chosen)
    console = Console()
    if as_json:
        console.print_json(json.dumps({"id": result.id, **result.value}))
        return
    print_output(console, opened, result)
    value = result.value
    said = f"{value['filter'] or 'No filter'}, of {len(value['tried'])} tried. {value['sentence']}"
    console.print(said, markup=False, highlight=False, soft_wrap=True)
    if save and any(made.name == save for made in opened.filters()):
        console.print(f"Saved as filter '{save}'.", markup=False, highlight=False, soft_wrap=True)


COMMANDS = (filters, best_filter)
