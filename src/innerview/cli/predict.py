"""The command that runs a subject over rows that are there already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from innerview.cli.rows import Inputs, Rows, bound, ranges

if TYPE_CHECKING:
    from innerview.store import Predictions, Study


def predict(
    study: Annotated[Path, typer.Argument(help="The study's folder.")],
    subject: Annotated[str, typer.Option(help="zoo:NAME, or FILE.py:FUNCTION that returns a subject.")],
    recording: Annotated[str | None, typer.Option(help="Which recording, where there are several.")] = None,
    input: Inputs = None,
    keep: Annotated[list[str] | None, typer.Option(help="A site whose values to save; may be repeated.")] = None,
    rows: Rows = None,
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
    from innerview.cli.look import only_recording
    from innerview.cli.make import load_subject, snapshot_loaders
    from innerview.rollouts.predict import predict as run
    from innerview.store import Study

    opened = Study.open(study)
    chosen, fed = only_recording(opened, recording).name, bound(input)
    model, _ = load_subject(subject)
    loaders = snapshot_loaders(opened, snapshots, [model]).values() if snapshots else [lambda: model]
    for load in loaders:
        made = run(opened, load(), chosen, rows=ranges(rows), inputs=fed, keep=tuple(keep or ()))
        told = f"{made.rows:,} {made.info.row.many} of '{made.of}' predicted by '{made.subject}' ({made.binding})."
        lines = [f"{told} Saved as {made.id}.", *_kinds(opened, made)]
        Console().print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)


def _kinds(study: Study, made: Predictions) -> list[str]:
    """What kinds of error there are, where it predicted a recorded pose."""
    from innerview.lenses.columns.predicted import predicted_columns

    found = predicted_columns(study, study.recording(made.of))
    return [line for each in found if each.prediction.id == made.id for line in each.sentences]
