"""The command that says whether maps rise before rewards during a training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from innerview.cli.rows import Inputs, Rows, bound, ranges
from innerview.rollouts.jobs import LearningJob

if TYPE_CHECKING:
    from innerview.store import Study


StudyPath = Annotated[Path, typer.Argument(help="The study's folder.")]
Recording = Annotated[
    str | None, typer.Argument(help="Whose observations all snapshots look at; the only one where there is one.")
]
Like = Annotated[
    str, typer.Option(help="A model built like the snapshots, trained or not: zoo:NAME or FILE.py:FUNCTION.")
]
Snapshots = Annotated[
    str, typer.Option(help="A training run of the study, or a folder of weights such as step-250000.safetensors.")
]
Run = Annotated[str | None, typer.Option(help="What a folder's run is called in the study; as the folder unless said.")]
CurveFile = Annotated[
    Path | None, typer.Option(help="A CSV file with steps and scores; a folder's own curve.csv unless said.")
]
LensName = Annotated[str, typer.Option(help="How maps are made: a lens over single rows that yields heat.")]
Set = Annotated[list[str] | None, typer.Option("--set", help="PARAMETER=VALUE of the lens; may be repeated.")]
Count = Annotated[int, typer.Option(min=8, help="How many rows, spread over the recording.")]
Share = Annotated[
    float, typer.Option(min=0.01, max=0.99, help="Share of its final rise at which a signal counts as risen.")
]
Again = Annotated[bool, typer.Option("--again", help="Compute it also where the study knows it.")]


def learning(
    study: StudyPath,
    recording: Recording = None,
    subject: Like = ...,  # type: ignore[assignment]
    snapshots: Snapshots = "training",
    run: Run = None,
    curve: CurveFile = None,
    lens: LensName = "guided",
    set_: Set = None,
    count: Count = LearningJob.count,
    share: Share = LearningJob.share,
    rows: Rows = None,
    input: Inputs = None,
    again: Again = False,
) -> None:
    """Look at the same observations with every snapshot of a training, and say whether maps rise before the score.

    A folder of weights is brought into the study first, each file as a snapshot. What came out is a result of the
    study; the page shows it in Saliency.

    Examples:

        innerview learning my.study "x" --subject agent.py:make --snapshots training

        innerview learning my.study "x" --subject zoo:breakout_dqn --snapshots runs/breakout --curve progress.csv
    """
    from innerview.cli.lenses import parameters_of
    from innerview.cli.look import only_recording
    from innerview.cli.make import load_subject
    from innerview.lenses.discovery import all_lenses
    from innerview.rollouts.learning.curve import read_curve
    from innerview.rollouts.learning.signal import learning_signal
    from innerview.store import Study

    opened = Study.open(study)
    chosen, parameters = only_recording(opened, recording).name, parameters_of(all_lenses().get(lens).lens, set_ or [])
    like, _ = load_subject(subject)
    snapshots, curve = _in_study(opened, snapshots, like, run, curve)
    result = learning_signal(
        opened,
        like,
        chosen,
        run=snapshots,
        lens=lens,
        curve=None if curve is None else read_curve(curve),
        rows=ranges(rows),
        count=count,
        share=share,
        inputs=bound(input),
        again=again,
        **parameters,
    )
    _print(opened, result.id, result.value)


def _in_study(study: Study, snapshots: str, like: Any, run: str | None, curve: Path | None) -> tuple[str, Path | None]:
    """The training run, brought in from its folder where it is none of the study, and its curve."""
    from innerview.rollouts.learning.folder import CURVE, import_snapshots

    folder = Path(snapshots)
    if not folder.is_dir() or snapshots in {taken.run for taken in study.snapshots()}:
        return snapshots, curve
    curve = curve or (folder / CURVE if (folder / CURVE).is_file() else None)
    return import_snapshots(study, folder, like, run=run, curve=curve)[0].run, curve


def _print(study: Study, result: str, value: Any) -> None:
    console = Console()
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    for title in ("step", *(line["name"] for line in value["signals"]), "units always 0", "warnings"):
        table.add_column(title, justify="right")
    for place, health in enumerate(value["health"]):
        figures = [f"{line['values'][place]:.3g}" for line in value["signals"]]
        table.add_row(f"{health['step']:,}", *figures, f"{health['dead']:.0f} %", str(len(health["warnings"])))
    console.print(table)
    for each in value["problems"]:
        console.print(
            f"Left out, step {each['step']:,}: {each['problem']}", markup=False, highlight=False, soft_wrap=True
        )
    for sentence in value["words"]:
        console.print(sentence, markup=False, highlight=False, soft_wrap=True)
    told = f"{value['rows']} rows in {value['blocks']} blocks. Saved as result {result} of '{study.name}'."
    console.print(told, markup=False, highlight=False, soft_wrap=True)


COMMANDS = (learning,)
