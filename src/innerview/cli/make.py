"""Commands that make or serve a study."""

from __future__ import annotations

import ast
import json
import shlex
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from innerview.errors import InnerviewError, UnknownName
from innerview.jobs.context import LazyMapping
from innerview.schema import Ordering
from innerview.serve import Handle, serve
from innerview.store import ImportOptions, Study, import_files


def record_episodes(
    path: Path,
    subject: str,
    world: str | None,
    *,
    episodes: int,
    seed: int,
    name: str | None,
    lanes: int | None,
    greedy: bool,
    keep: Sequence[str],
    max_steps: int | None,
    overwrite: bool,
) -> None:
    """Record, and say where."""
    from innerview.rollouts.record import record

    model, own = load_subject(subject)
    played = load_world(world) if world else own
    if played is None:
        raise InnerviewError(
            "Say where it plays with --world: a Gymnasium id, doom:SCENARIO, a .cfg or FILE.py:FUNCTION."
        )
    made = record(
        path,
        model,
        played,
        episodes=episodes,
        seeds=seed,
        name=name,
        lanes=lanes,
        greedy=greedy,
        keep=keep,
        max_steps=max_steps,
        overwrite=overwrite,
    )
    if made.info.note:
        Console().print(made.info.note, markup=False, highlight=False, soft_wrap=True)
    told = f"{made.group_count} episodes, {made.rows:,} {made.info.row.many} in '{made.info.name}'."
    how = serving(path, subject, world)
    Console().print(f"{told} Look at them with: {how}", markup=False, highlight=False, soft_wrap=True)


def serving(path: Path, subject: str, world: str | None) -> str:
    """The command that serves a study with all that is live in it."""
    words = ["innerview", "serve", str(path), "--subject", subject, *(["--world", world] if world else [])]
    return shlex.join(words)


def import_data(words: Sequence[Path], *, study: Path | None, images: Sequence[str], options: ImportOptions) -> None:
    """Import files into a study, and say what became of them."""
    path, files = _study_and_files(words, study)
    named = {column: domain for column, _, domain in (image.partition("=") for image in images)}
    made = import_files(path, files, replace(options, images=named))
    episodes = f"{made.episodes} episode{'s' if made.episodes > 1 else ''}, " if made.episodes else ""
    console = Console()
    for remark in made.remarks:
        console.print(remark, markup=False, highlight=False, soft_wrap=True)
    told = f"Imported {episodes}{made.rows:,} rows as '{made.recording}'. Look at it with: innerview serve {path}"
    console.print(told, markup=False, highlight=False, soft_wrap=True)


def ordering(text: str | None) -> Ordering | None:
    """GROUP,TIME as people type it."""
    if text is None:
        return None
    group, comma, time = (part.strip() for part in text.partition(","))
    if not (group and comma and time):
        raise InnerviewError(f"--order is GROUP,TIME, such as episode,step, not '{text}'.")
    return Ordering(group=group, time=time)


def _study_and_files(words: Sequence[Path], study: Path | None) -> tuple[Path, Sequence[Path]]:
    """With --study every word is a file; without, the first one is the study."""
    if study is not None:
        return study, words
    if len(words) < 2 or words[0].is_file():
        raise InnerviewError(f"Say which study with --study: innerview import {words[0]} --study my.study")
    return words[0], words[1:]


def serve_study(
    path: Path,
    *,
    port: int,
    open_browser: bool,
    subjects: Sequence[str],
    worlds: Sequence[str] = (),
    snapshots: Sequence[str] = (),
    show_token: bool = False,
) -> None:
    """Serve until interrupted, with subjects live, the worlds that they bring along and those that are named."""
    study = Study.open(path)
    models: dict[str, Callable[[], Any]] = {}
    played: dict[str, Callable[[], Any]] = {}
    loaded = []
    for named in subjects:
        model, world = load_subject(named)
        loaded.append(model)
        if model.info.name in models:
            raise InnerviewError(f"Two subjects are called '{model.info.name}'. Give one of them another name.")
        models[model.info.name] = _ready(model)
        if world is not None:
            played[world.info.name] = _ready(world)
    named_worlds: set[str] = set()
    for text in worlds:
        live = load_world(text)
        if live.info.name in named_worlds:
            raise InnerviewError(f"Two worlds are called '{live.info.name}'. Serve the study twice, once with each.")
        named_worlds.add(live.info.name)
        played[live.info.name] = _ready(live)
    for run in snapshots:
        models |= snapshot_loaders(study, run, loaded)
    open_workbench(study, port, open_browser, models, played, show_token=show_token)


def snapshot_loaders(study: Study, run: str, subjects: Sequence[Any]) -> dict[str, Callable[[], Any]]:
    """Functions that load each snapshot of a run, by the name of the subject, made like the subject that it fits."""
    from innerview.rollouts.learning.ages import load_snapshot
    from innerview.subjects import first_difference

    taken = study.snapshots(run)
    if not taken:
        raise UnknownName("training run", run, dict.fromkeys(each.run for each in study.snapshots()))
    if not subjects:
        raise InnerviewError(
            f"The snapshots of '{run}' are weights alone. Say with --subject which model they are of, trained or not."
        )
    _, weights = study.snapshot(run, taken[0].step)
    like = next((each for each in subjects if not first_difference(each.module, weights)), subjects[0])
    return {each.subject: partial(load_snapshot, study, run, each.step, like=like) for each in taken}


def _ready(thing: Any) -> Callable[[], Any]:
    return lambda: thing


def open_workbench(
    study: Study,
    port: int,
    open_browser: bool,
    subjects: dict[str, Callable[[], Any]],
    worlds: dict[str, Callable[[], Any]],
    *,
    show_token: bool = False,
) -> None:
    handle: Handle = serve(study, port=port, subjects=LazyMapping(subjects), worlds=LazyMapping(worlds))
    if show_token:
        Console().print(f"Scripts show this token: {handle.token}", highlight=False, soft_wrap=True)
    if open_browser:
        webbrowser.open(handle.url)
    handle.wait()


def load_subject(text: str) -> tuple[Any, Any]:
    """A subject, and its world where it is known; zoo:NAME:SNAPSHOT is a bundled model at an earlier age."""
    from innerview.cli.scripts import from_script, is_script
    from innerview.subjects import Subject, named_model

    made, world = (from_script(text), None) if is_script(text) else named_model(text)
    if not isinstance(made, Subject):
        raise InnerviewError(
            f"{text} returned {type(made).__name__}, not a subject. "
            "Let it return iv.subject(module, …) or iv.from_sb3(model)."
        )
    return made, world


def load_world(text: str) -> Any:
    """A world by id, path or script; one that has a name may have settings, as in platformer?turning=false."""
    from innerview.cli.scripts import from_script, is_script
    from innerview.worlds import world

    name, asks, settings = text.partition("?")
    if is_script(name):
        if asks:
            raise InnerviewError(f"'{name}' is a function of yours: let it make the world with '{settings}' itself.")
        return world(from_script(name))
    said = [_setting(word) for word in settings.split("&")] if asks else []
    if len(dict(said)) < len(said):
        raise InnerviewError(f"'{text}' says a setting twice.")
    return world(name, **dict(said))


def _setting(word: str) -> tuple[str, Any]:
    name, equals, text = word.partition("=")
    if not name or not equals:
        raise InnerviewError(f"'{word}' sets nothing. Write the world's settings as NAME?SETTING=VALUE&SETTING=VALUE.")
    for read in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError):
            return name, read(text)
    return name, text
