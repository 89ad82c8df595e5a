"""The command that recovers the camera of real pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from innerview.cli.outputs import print_output
from innerview.cli.rows import Rows, ranges
from innerview.interventions.jobs import FitCameraJob


def fit_camera(
    study: Annotated[Path, typer.Argument(help="The study's folder.")],
    world: Annotated[str, typer.Option(help="A world that renders views, with settings: office:tour?floor_seed=0.")],
    recording: Annotated[str | None, typer.Option(help="A paired recording; the only one where left out.")] = None,
    domain: Annotated[str, typer.Option(help="Whose pictures are explained; the second of two where left out.")] = "",
    count: Annotated[int, typer.Option(help="Rows searched on, and as many others tested.")] = FitCameraJob.count,
    budget: Annotated[int, typer.Option(help="How many cameras are tried at most.")] = FitCameraJob.budget,
    rows: Rows = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what is stored as JSON instead.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Look also where the study knows the answer.")] = False,
) -> None:
    """Recover the height, pitch and field of view of the camera that took the real pictures.

    Example: `innerview fit-camera pairs.study --world office:tour`
    """
    from innerview.cli.look import only_recording
    from innerview.cli.make import load_world
    from innerview.interventions.fit_camera import fit_camera as fit
    from innerview.store import Study

    opened = Study.open(study)
    named = only_recording(opened, recording).name
    result = fit(
        opened, load_world(world), named, domain=domain, count=count, budget=budget, rows=ranges(rows), again=again
    )
    console = Console()
    if as_json:
        console.print_json(json.dumps({"id": result.id, **result.value}))
        return
    print_output(console, opened, result)
    console.print(result.value["sentence"], markup=False, highlight=False, soft_wrap=True)


COMMANDS = (fit_camera,)
