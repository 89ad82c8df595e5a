"""Shows a job's progress where somebody sits at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from innerview.jobs.engine import Progress as Report


@contextmanager
def bar(wanted: Report | bool, title: str, unit: str) -> Iterator[Report]:
    """A progress report: the one given, a bar on the terminal (True), or none."""
    if callable(wanted):
        yield wanted
        return
    console = Console(stderr=True)
    if not wanted or not (console.is_terminal or console.is_jupyter):
        yield _nobody
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TextColumn("[dim]{task.fields[message]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as shown:
        task = shown.add_task(title, total=None, message="")

        def report(done: int, total: int | None, message: str = "") -> None:
            shown.update(task, completed=done, total=total, message=message)

        yield report
    sys.stderr.flush()


def _nobody(done: int, total: int | None, message: str = "") -> None:
    """Nobody is watching."""
