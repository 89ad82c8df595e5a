"""Gives a command, kills it at a point, gives it again and compares what the study holds with an uninterrupted run.

Everything happens in forked children of a process that has imported what they need and done nothing else: no threads
of polars are there when it forks, and importing torch a thousand times is saved.
"""

from __future__ import annotations

import json
import os
import shutil
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from innerview.store.recordings.manifest import load_manifest, save_manifest
from tests.killed.contents import everything, saved
from tests.killed.operations import Point, watch
from tests.killed.scenarios import SCENARIOS, Scenario

_KILLED = 9
_NAME = "a.study"


@dataclass(frozen=True)
class Uninterrupted:
    """How a scenario goes when nobody kills it."""

    operations: tuple[str, ...]
    saved: tuple[frozenset[str], ...]
    """What was saved before the first step and after each."""
    everything: dict[str, Any]

    @property
    def points(self) -> list[Point]:
        """Everywhere it can be killed."""
        whole = [Point(number) for number in range(len(self.operations))]
        return whole + [Point(n, torn=True) for n, told in enumerate(self.operations) if told.startswith("write ")]


def in_child(work: Callable[[Callable[[Any], None]], None]) -> tuple[int, list[Any]]:
    """Do something in a forked process; gives how it ended and what it told."""
    reading, writing = os.pipe()
    write = os.write  # as it is before operations are counted

    def tell(told: Any) -> None:
        write(writing, json.dumps(told).encode() + b"\n")

    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            work(tell)
            code = 0
        except BaseException:  # noqa: BLE001 (told to the parent, as this process ends here)
            tell({"error": traceback.format_exc()})
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = [json.loads(line) for line in pipe.read().splitlines()]
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), told


def uninterrupted(scenario: Scenario, folder: Path) -> Uninterrupted:
    """Prepare a study, and run the scenario on a copy of it."""
    code, told = in_child(lambda _: scenario.prepare(folder / "before" / _NAME))
    _expect(code == 0, told)
    root = _fresh(folder, "whole")
    operations: list[str] = []

    def run(tell: Callable[[Any], None]) -> None:
        steps = [sorted(saved(root))]
        watch(root.parent, operations.append)
        scenario.run(root, lambda: steps.append(sorted(saved(root))))
        tell([operations, steps, everything(root)])

    code, told = in_child(run)
    _expect(code == 0, told)
    operations, steps, found = told[0]
    _expect(not found["damage"], found["damage"])
    return Uninterrupted(tuple(operations), tuple(frozenset(step) for step in steps), found)


def problem_at(scenario: Scenario, whole: Uninterrupted, point: Point, folder: Path) -> str:
    """What goes wrong when it is killed there; empty where nothing does."""
    root = _fresh(folder, f"{point.operation}{'t' if point.torn else ''}")

    def killed(tell: Callable[[Any], None]) -> None:
        watch(root.parent, lambda _: None, point)
        scenario.run(root, lambda: tell("saved"))

    def again(tell: Callable[[Any], None]) -> None:
        tell(sorted(saved(root)))
        scenario.run(root, lambda: None)
        tell(everything(root))

    code, accepted = in_child(killed)
    if code not in (0, -_KILLED):
        return f"It failed by itself: {accepted[-1]}"
    code, told = in_child(again)
    if code != 0:
        return f"It cannot go on: {told[-1]['error']}"
    found = _lost(whole, frozenset(told[0]), len(accepted)) or _differing(whole.everything, told[1])
    if not found:
        shutil.rmtree(root.parent)
    return found


def _lost(whole: Uninterrupted, now: frozenset[str], accepted: int) -> str:
    """What was accepted and is not there, or is there and never was saved."""
    before = whole.saved[accepted]
    after = whole.saved[min(accepted + 1, len(whole.saved) - 1)]
    invented = now - (before | after)
    lost = {_what(each) for each in before} & {_what(each) for each in after} - {_what(each) for each in now}
    lost |= (before & after) - now
    return (
        f"After {accepted} saves there is lost {sorted(lost)}, invented {sorted(invented)}" if lost | invented else ""
    )


def _what(word: str) -> str:
    """What was saved, less what it says: it may be replaced at that moment, and must be the one or the other."""
    return word.rpartition(" ")[0]


def _differing(wanted: dict[str, Any], found: dict[str, Any]) -> str:
    for part, value in wanted.items():
        if value != found[part]:
            return f"Its {part} differ: {_difference(value, found[part])}"
    return ""


def _difference(wanted: Any, found: Any) -> str:
    if isinstance(wanted, list) and isinstance(found, list):
        missing = [each for each in wanted if each not in found]
        return f"missing {missing[:5]}, beyond {[each for each in found if each not in wanted][:5]}"
    return f"wanted {str(wanted)[:300]}, found {str(found)[:300]}"


def _fresh(folder: Path, name: str) -> Path:
    root = folder / name / _NAME
    shutil.rmtree(root.parent, ignore_errors=True)
    root.parent.mkdir(parents=True)
    if (folder / "before" / _NAME).exists():
        shutil.copytree(folder / "before" / _NAME, root)
        for recording in root.glob("recordings/*"):  # a copy is not signed, and would be read by a process of its own
            save_manifest(recording, load_manifest(recording).manifest, signed=True)
    return root


def _expect(fits: bool, told: Any) -> None:
    if not fits:
        raise AssertionError(told)


def problems(
    name: str, folder: Path, *, choose: Callable[[list[Point]], list[Point]], workers: int
) -> Iterator[tuple[Point, str, str]]:
    """Kill a scenario at the points chosen: each with its operation and what went wrong, if anything did."""
    scenario = SCENARIOS[name]
    (folder / "before").mkdir(parents=True)
    whole = uninterrupted(scenario, folder)
    chosen = choose(whole.points)
    # Threads only wait here: each forks and reads a pipe.
    with ThreadPoolExecutor(workers) as pool:
        found = pool.map(lambda point: problem_at(scenario, whole, point, folder), chosen)
        for point, problem in zip(chosen, found, strict=True):
            yield point, whole.operations[point.operation], problem
