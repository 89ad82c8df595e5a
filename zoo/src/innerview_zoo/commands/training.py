"""Runs a model's training script, shows what it says, and lets Ctrl-C reach it once."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from innerview.errors import InnerviewError
from innerview_zoo import Entry

_BEAT_S = 0.5
_HELP = ("--help", "-h")


def run_training(
    entry: Entry, *, out: Path | None, resume: Path | None, minutes: float | None, others: Sequence[str]
) -> int:
    """Train in a process of its own; its exit code."""
    if any(word in _HELP for word in others):
        return subprocess.run([*_python(entry), *others], check=False).returncode
    folder = out or Path(f"{entry.name}-run")
    _check(folder, resume, minutes)
    words = ["--out", str(folder), *others]
    words += ["--resume", str(resume)] if resume is not None else []
    words += ["--minutes", f"{minutes:g}"] if minutes is not None else []
    console = Console(stderr=True)
    console.print(f"Training {entry.name} into {folder}; Ctrl-C ends it, and checkpoints stay.", markup=False)
    code, stopped = _watched([*_python(entry), *words], minutes)
    if stopped or not code:
        console.print(f"Go on with: innerview zoo train {entry.name} --resume {folder} --out {folder}", markup=False)
    else:
        console.print(f"The training failed with exit code {code}; what it said last stands above.", markup=False)
    return 130 if stopped else code


def _python(entry: Entry) -> list[str]:
    # -P: modules in the working folder must not be taken for libraries of the same name.
    return [sys.executable, "-P", "-u", "-m", *entry.manifest.train]


def _check(folder: Path, resume: Path | None, minutes: float | None) -> None:
    if resume is not None and not resume.is_dir():
        raise InnerviewError(
            f"There is no training to go on with at {resume}. Give --resume the --out of an earlier one."
        )
    if minutes is not None and minutes <= 0:
        raise InnerviewError(f"--minutes is how long to train: more than 0, not {minutes:g}.")
    if folder.is_dir() and any(folder.iterdir()) and (resume is None or resume.resolve() != folder.resolve()):
        raise InnerviewError(
            f"{folder} holds something already. Go on with it: --resume {folder} --out {folder}. Or take another --out."
        )


def _watched(command: Sequence[str], minutes: float | None) -> tuple[int, bool]:
    """Exit code, and whether somebody stopped it. Ctrl-C comes to us alone and is passed on once."""
    stops = 0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:

        def stop(*_: object) -> None:
            nonlocal stops
            stops += 1
            process.send_signal(signal.SIGINT if stops == 1 else signal.SIGTERM)

        before = signal.signal(signal.SIGINT, stop)
        try:
            with _shown(minutes) as console:
                for line in process.stdout or ():
                    console.print(line.rstrip("\n"), markup=False, highlight=False, soft_wrap=True)
            return process.wait(), stops > 0
        finally:
            signal.signal(signal.SIGINT, before)
            if process.poll() is None:
                process.terminate()


@contextmanager
def _shown(minutes: float | None) -> Iterator[Console]:
    """Where the script's lines go: above a bar of the time, where somebody sits at a terminal."""
    console = Console()
    if not console.is_terminal:
        yield console
        return
    columns = (TextColumn("training"), BarColumn(), TimeElapsedColumn(), TextColumn("[dim]{task.fields[of]}"))
    over, began = threading.Event(), time.monotonic()
    with Progress(*columns, console=console, transient=True) as progress:
        of = f"of {minutes:g} min" if minutes is not None else ""
        task = progress.add_task("", total=minutes * 60 if minutes is not None else None, of=of)

        def tick() -> None:
            while not over.wait(_BEAT_S):
                progress.update(task, completed=time.monotonic() - began)

        clock = threading.Thread(target=tick, daemon=True)
        clock.start()
        try:
            yield progress.console
        finally:
            over.set()
            clock.join()
