"""Many threads of several processes save into one study at once; run as a program it is one of these processes."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from innerview.schema import EditSet, Metric, SavedFilter, SiteEdit
from innerview.store import (
    KeyedLog,
    Snapshot,
    Study,
    load_metrics,
    load_names,
    load_selections,
    save_metric,
    save_names,
    save_selection,
)

RESULT = "0" * 16
SETTING = {"world": "tiny"}


def _play(study: Study, name: str) -> None:
    KeyedLog(study, SETTING).add([{"key": name, "length": 3}])


SAVES: dict[str, Callable[[Study, str], Any]] = {
    "selection": lambda study, name: save_selection(study, name, {"expression": name}),
    "name": lambda study, name: save_names(study, RESULT, {name: name}),
    "metric": lambda study, name: save_metric(study, Metric(name=name, expression="step")),
    "reduction": lambda study, name: study.save_reduction(EditSet(name=name, edits=(SiteEdit(elements=(1,)),))),
    "filter": lambda study, name: study.save_filter(SavedFilter(name=name, steps="brightness 1.2")),
    "snapshot": lambda study, name: study.save_snapshot(Snapshot(run=name, step=1), {}),
    "played": _play,
}


def save_at_once(root: Path, *, processes: int, threads: int) -> list[str]:
    """Let them save, and name whatever was refused, or accepted and is not there."""
    study = Study.create(root)
    command = [sys.executable, "-m", "tests.killed.savers", str(root)]
    children = [
        subprocess.Popen(
            [*command, str(number), str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for number in range(processes)
    ]
    for child in children:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
    told = []
    for child in children:  # all at once
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    for child in children:
        out, _ = child.communicate(timeout=300)
        told += out.splitlines()
    accepted = {line.removeprefix("accepted ") for line in told if line.startswith("accepted ")}
    there = _there(study)
    asked = {f"{kind} {n}-{t}" for kind in SAVES for n in range(processes) for t in range(threads)}
    return [
        *(line for line in told if not line.startswith("accepted ")),
        *(f"lost {each}" for each in sorted(accepted - there)),
        *(f"not answered {each}" for each in sorted(asked - accepted)),
    ]


def _there(study: Study) -> set[str]:
    found = {
        "selection": load_selections(study),
        "name": load_names(study, RESULT),
        "metric": [metric.name for metric in load_metrics(study).own],
        "reduction": [reduction.name for reduction in study.reductions()],
        "filter": [made.name for made in study.filters()],
        "snapshot": [snapshot.run for snapshot in study.snapshots()],
        "played": KeyedLog(study, SETTING).known(),
    }
    return {f"{kind} {name}" for kind, names in found.items() for name in names}


def _save_all(root: str, number: str, threads: str) -> None:
    study, told = Study.open(root), []

    def save(thread: int) -> None:
        for kind, act in SAVES.items():
            name = f"{number}-{thread}"
            try:
                act(study, name)
            except Exception as error:  # noqa: BLE001 (named in the end)
                told.append(f"refused {kind} {name}: {error}")
            else:
                told.append(f"accepted {kind} {name}")

    savers = [threading.Thread(target=save, args=(thread,)) for thread in range(int(threads))]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    for saver in savers:
        saver.start()
    for saver in savers:
        saver.join()
    sys.stdout.write("".join(f"{line}\n" for line in told))


if __name__ == "__main__":
    _save_all(*sys.argv[1:])
