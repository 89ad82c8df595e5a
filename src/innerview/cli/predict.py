"""The command that runs a subject over rows that are there already."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from innerview.errors import InnerviewError


def predict(
    study: Annotated[Path, typer.Argument(help="The study's folder.")],
    subject: Annotated[str, typer.Option(help="zoo:NAME, or FILE.py:FUNCTION that returns a subject.")],
    recording: Annotated[str | None, typer.Option(help="Which recording, where there are several.")] = None,
    input: Annotated[
        list[str] | None,
        typer.Option(help='INPUT=ARRAY, with steps where needed: "rgb=real.rgb | resize 64x64"; may be repeated.'),
    ] = None,
    keep: Annotated[list[str] | None, typer.Option(help="A site whose values to keep; may be repeated.")] = None,
    rows: Annotated[str | None, typer.Option(help="START:STOP; all rows unless said.")] = None,
    snapshots: Annotated[
        str | None, typer.Option(help="A training run: predict with each of its snapshots instead.")
    ] = None,
) -> None:
    """Keep what a subject says of recorded, imported or generated rows: every head and the sites asked for.

    Arrays are bound to inputs by name, else by shape and role; --input says which where that is not enough. The same
    command again continues an interrupted prediction.

    Examples:

        innerview predict my.study --subject pose.py:make --recording pairs --input rgb=real.rgb

        innerview predict my.study --subject pose.py:make --input "rgb=real.rgb | resize 64x64" --rows 0:100

        innerview predict my.study --subject agent.py:make --recording x --snapshots training
    """
    from innerview.cli.make import load_subject, snapshot_loaders
    from innerview.rollouts.predict import predict as run
    from innerview.store import Study

    opened = Study.open(study)
    names = opened.recordings()
    if recording is None and len(names) != 1:
        raise InnerviewError(f"Say which recording with --recording: {', '.join(names) or 'there is none'}.")
    bound = {name: array for name, _, array in (text.partition("=") for text in input or ())}
    model, _ = load_subject(subject)
    loaders = snapshot_loaders(opened, snapshots, [model]).values() if snapshots else [lambda: model]
    for load in loaders:
        made = run(opened, load(), recording or names[0], rows=_range(rows), inputs=bound, keep=tuple(keep or ()))
        told = f"{made.rows:,} {made.info.row.many} of '{made.of}' predicted by '{made.subject}' ({made.binding})."
        Console().print(f"{told} Kept as {made.id}.", markup=False, highlight=False, soft_wrap=True)


def _range(text: str | None) -> range | None:
    if text is None:
        return None
    start, colon, stop = text.partition(":")
    if not colon or not start.isdigit() or not stop.isdigit():
        raise InnerviewError(f"--rows is START:STOP, such as 0:100, not '{text}'.")
    return range(int(start), int(stop))
