"""Writes a static page in which people who are not experts find out how little memory an agent gets by with."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from innerview.errors import JobError, UnknownName
from innerview.explorables.pack import pack, write_page
from innerview.jobs.engine import Progress
from innerview.jobs.terminal import bar
from innerview.schema import EditSet, RecordingInfo, SiteEdit, to_json
from innerview.store import Recording, Study
from innerview.subjects import Subject
from innerview_zoo.explorable.episode import Played, read_episode
from innerview_zoo.explorable.grid import Fineness, GridValues, grid_values, squeeze
from innerview_zoo.worlds.kitems.game import ACTIONS, TIME_LIMIT
from innerview_zoo.worlds.kitems.poses import can_pose

MAX_BYTES = 3_000_000
_MIN_ROOM = 150_000
"""Bytes below which a grid of poses would be too coarse to play on."""

PARTS = files("innerview_zoo.explorable") / "page"
SCRIPTS = (
    *("data", "network", "motion", "poses", "rollout", "search"),
    *("markup", "marks", "observation", "views", "stage", "chapters", "fidelity", "main"),
)


def export_explorable(
    study: Study | str | Path,
    subject: Subject,
    out: str | Path,
    *,
    recording: str | None = None,
    episode: int | str | None = None,
    reductions: Sequence[str] | None = None,
    title: str | None = None,
    fineness: Fineness | None = None,
    progress: Progress | bool = True,
) -> Path:
    """Write one page that tells the story of memory reduction for one episode and lets its readers try their own.

    `recording` may be left out where there is one, `episode` where the one that earned most will do. `reductions`
    names kept ones to offer (all of the study where not said). The recurrence and the policy run in the page. In
    mazes of the k-items world the page plays on, over what the agent would see on a grid of poses; elsewhere it
    shows what the agent would have decided on what was recorded. `fineness` says how close the poses lie.
    """
    target = _target(out)
    opened = study if isinstance(study, Study) else Study.open(study)
    source = _recording(opened, recording)
    if not isinstance(subject, Subject):
        raise JobError(f"A subject is needed to see what its memory is fed, not a {type(subject).__name__}.")
    played = read_episode(source, subject, episode, max_steps=TIME_LIMIT if can_pose(source.info.world) else 0)
    about = _about(source, played, _reductions(opened, reductions, played), title)
    arrays = _weights(played) | played.arrays
    if played.picture is not None:
        arrays["pictures"] = played.picture.sheet
    world = source.info.world
    if world is not None and can_pose(world) and played.seed is not None:
        with bar(progress, "Looking around", "places") as report:
            values = grid_values(
                subject,
                played.recurrence,
                world,
                played.seed,
                fineness=fineness or Fineness(),
                cache=opened.path / "cache",
                progress=report,
            )
        room = _room_left(about, arrays, world.name)
        about["grid"], more = _grid(values, room, arrays["matters"])
        arrays |= more
    page = write_page(about, arrays, folder=PARTS, scripts=SCRIPTS)
    _check_size(len(page.encode()), played)
    target.write_text(page, encoding="utf-8")
    return target


def _grid(values: GridValues, room: int, matters: np.ndarray) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    squeezed = squeeze(values, room, matters)
    told = {
        "lines": list(values.grid.lines),
        "headings": values.grid.headings,
        "directions": len(squeezed.basis),
        "blocks": len(values.blocks),
        "states": values.grid.states,
        "step": squeezed.step,
        "rounding": squeezed.error,
    }
    arrays = {
        "free": values.grid.free.astype(np.uint8),
        "block_of": values.block_of,
        "mean": squeezed.mean,
        "basis": squeezed.basis,
        **squeezed.planes,
    }
    return told, arrays


def _target(out: str | Path) -> Path:
    target = Path(out)
    if target.suffix.lower() not in (".html", ".htm"):
        raise UnknownName("file ending", target.suffix or target.name, (".html",))
    if not target.parent.is_dir():
        raise JobError(f"There is no folder '{target.parent}' to write '{target.name}' into. Make it first.")
    return target


def _recording(study: Study, name: str | None) -> Recording:
    names = study.recordings()
    if name is None and len(names) != 1:
        told = ", ".join(f"'{each}'" for each in names) or "none"
        raise JobError(f"Say which recording; this study has {told}.")
    return study.recording(name or names[0])


def _reductions(study: Study, names: Sequence[str] | None, played: Played) -> list[dict[str, Any]]:
    """Kept reductions that this memory has the elements for; one that was asked for by name must fit."""
    kept: dict[str, EditSet] = {each.name: each for each in study.reductions()}
    for name in names or ():
        if name not in kept:
            raise UnknownName("reduction", name, kept)
    chosen = [kept[name] for name in names] if names is not None else list(kept.values())
    fitting = []
    for reduction in chosen:
        wrong = _does_not_fit(reduction, played)
        if wrong and names is not None:
            raise JobError(f"Reduction '{reduction.name}' does not fit this memory: {wrong}.")
        if not wrong:
            fitting.append(to_json(reduction))
    return fitting


def _does_not_fit(reduction: EditSet, played: Played) -> str:
    size, site = played.recurrence.size, played.recurrence.site
    for edit in reduction.edits:
        if not isinstance(edit, SiteEdit) or edit.op not in ("zero", "freeze", "set"):
            return f"the page cannot make '{edit.op}'"
        if edit.site not in ("", _address(played)):
            return f"it changes '{edit.site}', and the page shows '{site}'"
        if edit.elements and max(edit.elements) >= size:
            return f"it changes element {max(edit.elements)} of {size}"
    return ""


def _address(played: Played) -> str:
    recurrence = played.recurrence
    return f"{recurrence.layer}/h"


def _about(recording: Recording, played: Played, reductions: list[dict[str, Any]], title: str | None) -> dict[str, Any]:
    info: RecordingInfo = recording.info
    poses = can_pose(info.world)
    subject = info.subject.name if info.subject else "the agent"
    picture = played.picture
    return {
        "title": title or f"How much memory does the {subject} need?",
        "subject": subject,
        "world": info.world.name if info.world else "",
        "recording": info.name,
        "episode": played.number,
        "seed": played.seed,
        "steps": len(played.arrays["actions"]),
        "outcome": played.outcome,
        "return": played.total_reward,
        "greedy": played.greedy,
        "draws": played.draws,
        "actions": list(played.actions),
        "buttons": [list(buttons) for buttons in ACTIONS.values()] if poses else None,
        "limit": TIME_LIMIT if poses else None,
        "kind": played.recurrence.kind,
        "size": played.recurrence.size,
        "policy": [stage.kind for stage in played.recurrence.policy],
        "walls": [list(wall) for wall in played.scene.walls] if played.scene else [],
        "items": [list(thing) for thing in played.scene.objects] if played.scene else [],
        "pictures": None
        if picture is None
        else {
            "rows": list(picture.rows),
            "width": picture.width,
            "height": picture.height,
            "across": picture.across,
            "pixelated": picture.pixelated,
        },
        "reductions": reductions,
        "grid": None,
    }


def _weights(played: Played) -> dict[str, np.ndarray]:
    parts = played.recurrence
    arrays = {"weight_hh": parts.weight_hh.numpy(), "bias_hh": parts.bias_hh.numpy()}
    arrays |= {f"start_{i}": part.numpy().astype(np.float32) for i, part in enumerate(parts.start)}
    for i, stage in enumerate(parts.policy):
        if stage.weight is not None:
            arrays[f"policy_weight_{i}"] = stage.weight.numpy()
            bias = np.zeros(len(stage.weight), np.float32) if stage.bias is None else stage.bias.numpy()
            arrays[f"policy_bias_{i}"] = bias
    return arrays


def _room_left(about: dict[str, Any], arrays: dict[str, np.ndarray], world: str) -> int:
    """Compressed bytes that a grid may take; base64 writes three bytes as four."""
    without = len(write_page(about, arrays, folder=PARTS, scripts=SCRIPTS).encode())
    spare = 60_000  # lines, places, directions, and what the compressor does differently in company
    room = int((MAX_BYTES - without - spare) * 3 / 4)
    if room < _MIN_ROOM:
        told = f"{without / 1e6:.1f} MB of {MAX_BYTES / 1e6:.0f} are taken"
        raise JobError(f"There is no room for a grid of poses of '{world}': {told}. Choose a shorter episode.")
    return room


def _check_size(size: int, played: Played) -> None:
    if size < MAX_BYTES:
        return
    steps, elements = len(played.arrays["actions"]), played.recurrence.size
    core = len(pack(_weights(played))[1]) * 4 / 3e6
    raise JobError(
        f"The page would be {size / 1e6:.1f} MB; pages stay under {MAX_BYTES / 1e6:.0f} MB so that they open "
        f"anywhere. The memory's {elements} elements take {core:.1f} MB whatever happens, and each of the {steps} "
        "steps its share: choose a shorter episode (--episode), or an agent with a smaller memory."
    )
