"""What is done while it is killed: each is one command that is given again afterwards."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

import innerview as iv
from innerview.errors import UnknownName
from innerview.jobs.context import Context
from innerview.jobs.work import run_job
from innerview.rollouts.jobs import WhatIfJob
from innerview.rollouts.played import played_episodes
from innerview.schema import EditSet, EpisodeSummary, Metric, Move, SavedFilter, SiteEdit, SubjectInfo, WeightEdit
from innerview.store import (
    Card,
    Edited,
    Snapshot,
    Study,
    drop_edited,
    drop_metric,
    drop_selection,
    import_files,
    rename_edited,
    save_edited,
    save_metric,
    save_names,
    save_selection,
    save_subject,
    save_thresholds,
    write_rows,
)
from innerview.store.importers.files import ImportOptions
from innerview.testing.worlds import CountingWorld
from tests.killed import changed
from tests.rollouts.players import recurrent

Saved = Callable[[], None]
"""Called whenever a save was accepted."""


@dataclass(frozen=True)
class Scenario:
    """A command, and the study it is given on."""

    run: Callable[[Path, Saved], None]
    prepare: Callable[[Path], None] = lambda _: None


@cache
def subject() -> iv.Subject:
    """The same in every process that is forked."""
    return recurrent()


def record(root: Path, saved: Saved) -> None:
    iv.record(root, subject(), CountingWorld(), episodes=3, lanes=2, name="run", block_rows=4, progress=False)
    saved()


def recorded(root: Path) -> None:
    iv.record(root, subject(), CountingWorld(), episodes=13, lanes=2, name="run", progress=False)


def empty(root: Path) -> None:
    Study.create(root)


def annotate(root: Path, saved: Saved) -> None:
    study = Study.open(root)
    steps: list[Callable[[], Any]] = [
        lambda: save_selection(study, "run/low", {"expression": "health < 10"}),
        lambda: save_selection(study, "run/high", {"expression": "health > 90"}),
        lambda: save_selection(study, "run/low", {"expression": "health < 20"}),
        lambda: drop_selection(study, "run/high"),
        lambda: save_names(study, "0" * 16, {"0": "saw", "1": "coin"}),
        lambda: save_names(study, "0" * 16, {"1": "", "2": "wall"}),
        lambda: save_metric(study, Metric(name="twice", expression="2 * step")),
        lambda: save_metric(study, Metric(name="thrice", expression="3 * step"), replaces="twice"),
        lambda: save_thresholds(study, {"loop radius": 3.0}),
        lambda: drop_metric(study, "thrice"),
        lambda: study.save_reduction(EditSet(name="half", edits=(SiteEdit(elements=(1, 2)),))),
        lambda: study.save_reduction(EditSet(name="less", edits=(SiteEdit(elements=(1,)),))),
        lambda: study.drop_reduction("half"),
        lambda: study.save_filter(SavedFilter(name="dusk", steps="brightness 0.5")),
        lambda: study.drop_filter("dusk"),
    ]
    for step in steps:
        with suppress(UnknownName):  # dropped before it was killed
            step()
        saved()


def look(root: Path, saved: Saved) -> None:
    iv.look(root, "gradient", "run", subject=subject(), progress=False)
    saved()
    iv.look(root, "pca", "run", max_rows=50, progress=False)
    saved()


def results(root: Path, saved: Saved) -> None:
    study = Study.open(root)

    def keep(number: int, kind: str = "own") -> str:
        arrays = {"a": np.full(3, number), "b": np.arange(2)}
        return study.save_result(kind, recording="run", arguments={}, value={"is": number}, arrays=arrays).id

    keep(1)
    saved()
    keep(2)
    saved()
    other = keep(3, "other")
    saved()
    study.drop_result(other)
    saved()


def predict(root: Path, saved: Saved) -> None:
    iv.predict(root, subject(), "run", rows=(0, 60), keep=("eye",), progress=False)
    saved()


def models(root: Path, saved: Saved) -> None:
    study, weights = Study.open(root), {"w": torch.arange(4.0)}
    for step in (1, 2):
        study.save_snapshot(Snapshot(run="training", step=step, created_at="then"), {"w": weights["w"] + step})
        saved()
    save_subject(study, Card(info=SubjectInfo(name="plain", family="torch")), weights)
    saved()
    edit = WeightEdit(of="plain", layer="w", after="w", directions=((1.0,),), made="then")
    for name in ("one", "two"):
        with suppress(iv.InnerviewError):  # it is there since before it was killed
            save_edited(study, Edited(info=SubjectInfo(name=name, family="torch"), history=(edit,)), weights)
        saved()
    with suppress(UnknownName):
        rename_edited(study, "one", "first")
    saved()
    with suppress(UnknownName):
        drop_edited(study, "two")
    saved()


def play(root: Path, saved: Saved) -> None:
    (known,) = played_episodes(Study.open(root), {"world": "tiny"})
    for seed in range(4):
        if seed not in known:
            known.add([EpisodeSummary(seed=seed, length=3, total_reward=1.0, outcome="died")])
        saved()


def what_if(root: Path, saved: Saved) -> None:
    world = CountingWorld()
    context = Context(
        study=Study.open(root), subjects={subject().info.name: subject()}, worlds={world.info.name: world}
    )
    moves = (Move(do="act", action=2), Move(do="agent"))
    run_job(WhatIfJob(recording="run", row=7, moves=moves), context, progress=False)
    saved()


def bring(root: Path, saved: Saved) -> None:
    table = root.with_suffix(".csv")
    table.write_text("step,reward\n" + "".join(f"{step},{step / 2}\n" for step in range(20)))
    if not Study.exists(root) or "table" not in Study.open(root).recordings():
        import_files(root, [table], ImportOptions(name="table"))
    saved()
    with suppress(iv.InnerviewError):  # it is there since before it was killed
        write_rows(Study.open(root), "own", columns={"x": np.arange(9)}, arrays={"a": np.eye(9)})
    saved()
    save_selection(Study.open(root), "own/all", {})  # whoever saves next clears what a killed import left
    saved()


SCENARIOS = {
    "record": Scenario(record),
    "add": Scenario(changed.add, changed.recorded),
    "add to long": Scenario(changed.add_to_long, changed.recorded_long),
    "replace": Scenario(changed.replace, changed.recorded),
    "new version": Scenario(changed.new_version, changed.recorded),
    "log": Scenario(changed.log, changed.logged),
    "annotate": Scenario(annotate, recorded),
    "look": Scenario(look, recorded),
    "results": Scenario(results, recorded),
    "predict": Scenario(predict, recorded),
    "models": Scenario(models, empty),
    "play": Scenario(play, empty),
    "what-if": Scenario(what_if, recorded),
    "import": Scenario(bring),
}
