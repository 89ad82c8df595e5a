"""One recorded episode as a page needs it to play it again."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import torch
from PIL import Image

from innerview.errors import JobError, SubjectError, UnknownName
from innerview.jobs.recorded import check_recorded
from innerview.lenses.rows.inputs import RowInputs
from innerview.rollouts.played import how_played
from innerview.schema import ArraySpec, Pose, pose_of
from innerview.store import Recording
from innerview.subjects import Subject
from innerview.subjects.memory.recurrence import CAN_BE_EXPORTED, Recurrence, fed, take_apart

_BATCH = 64
_MAX_PICTURES = 176
_PICTURES_ACROSS = 16
_NEAR = 1e-3
"""How far a recorded state may be from what the weights make of the recorded observations."""


@dataclass(frozen=True, kw_only=True)
class Played:
    """What was recorded, and what the recurrent layer was fed at each step."""

    recurrence: Recurrence
    number: int
    seed: int | None
    outcome: str
    total_reward: float
    greedy: bool
    actions: tuple[str, ...]
    arrays: dict[str, np.ndarray]
    scene: Any
    picture: Pictures | None
    draws: str
    """Where the random numbers come from: "recorded", "made to fit" or "none"."""


@dataclass(frozen=True)
class Pictures:
    """Some observations of an episode on one sheet."""

    sheet: np.ndarray
    """Bytes of a WebP file."""
    rows: tuple[int, ...]
    """The step of each picture, from left to right and top to bottom."""
    width: int
    height: int
    across: int
    pixelated: bool


def read_episode(recording: Recording, subject: Subject, episode: int | str | None, *, max_steps: int) -> Played:
    """Take an episode and check that the subject is the one that was recorded."""
    line = _choose(recording, episode)
    start, stop = recording.group_rows(line["episode"])
    _check_same(recording, subject)
    given = RowInputs(subject, recording)
    recurrence = take_apart(subject, given.inputs(range(start, start + 1)))
    gates = _gates(given, recurrence, start, stop)
    memory = recording.array(subject.info.memory_arrays[recurrence.site], start, stop).astype(np.float32)
    _check_agrees(recurrence, gates, memory)
    columns = recording.columns(None, start, stop)
    greedy = how_played(recording)[0] or subject.acting_head.kind != "policy"  # type: ignore[union-attr]
    chances = recording.array("probabilities", start, stop).astype(np.float32)
    chosen = columns["action"].to_numpy().astype(np.uint8)
    draws, source = _draws(line.get("seed"), chances, chosen, greedy=greedy, steps=max_steps)
    arrays = {"gates": gates, "memory": memory, "probabilities": chances, "actions": chosen, "draws": draws}
    arrays["matters"] = matters(recurrence, gates)
    return Played(
        recurrence=recurrence,
        number=int(line["episode"]),
        seed=line.get("seed"),
        outcome=str(line.get("outcome") or ""),
        total_reward=float(line.get("return") or 0.0),
        greedy=greedy,
        actions=_action_names(recording, chances.shape[1]),
        arrays=arrays | _facts(columns, pose_of(recording.info.columns)),
        scene=recording.scene(line["scene"]) if line.get("scene") else None,
        picture=_pictures(recording, start, stop),
        draws=source,
    )


def _choose(recording: Recording, episode: int | str | None) -> dict[str, Any]:
    """The episode asked for, or the one that earned most: a story about forgetting begins with a success."""
    if recording.info.ordering is None:
        raise JobError(f"Recording '{recording.name}' has no episodes: there is no memory over time to reduce.")
    lines = recording.groups()
    if lines.is_empty():
        raise JobError(f"Recording '{recording.name}' has no episode that ended yet.")
    if episode is None:
        lines = lines.sort(["return", "length"], descending=[True, False])
        return lines.row(0, named=True)
    found = lines.filter(pl.col("episode").cast(pl.String) == str(episode))
    if found.is_empty():
        known = [str(number) for number in lines["episode"]]
        raise UnknownName("episode", str(episode), known, f"Recording '{recording.name}' has these.")
    return found.row(0, named=True)


def _check_same(recording: Recording, subject: Subject) -> None:
    about, info = recording.info, recording.info.subject
    if info is not None and not info.memory:
        raise SubjectError(f"'{info.name}' has no memory: there is nothing to reduce. {CAN_BE_EXPORTED}")
    check_recorded(recording, subject=subject)
    if about.edits:
        instead = f" Export '{about.of}' instead." if about.of else ""
        raise JobError(
            f"'{recording.name}' was played with a reduced memory; a page begins with the full one.{instead}"
        )


def _gates(given: RowInputs, recurrence: Recurrence, start: int, stop: int) -> np.ndarray:
    parts = []
    with torch.no_grad():
        for first in range(start, stop, _BATCH):
            batch = given.inputs(range(first, min(first + _BATCH, stop)))
            parts.append(recurrence.project(fed(given.subject, recurrence, batch).cpu()))
    return torch.cat(parts).numpy().astype(np.float32)


def _check_agrees(recurrence: Recurrence, gates: np.ndarray, memory: np.ndarray) -> None:
    worst = float(np.abs(run_recurrence(recurrence, gates) - memory).max())
    if not worst < _NEAR:
        raise JobError(
            f"The recorded states differ by up to {worst:.2g} from what this subject makes of the recorded "
            "observations: it is another model, or it is fed something that was not recorded."
        )


def run_recurrence(recurrence: Recurrence, gates: np.ndarray) -> np.ndarray:
    """States [steps, size] of an episode from what its steps feed [steps, gates × size], written out by hand."""
    return torch.stack([state[0] for state in _states(recurrence, torch.from_numpy(gates))[1:]]).numpy()


def matters(recurrence: Recurrence, gates: np.ndarray) -> np.ndarray:
    """[gates × size] How much a change of each number that is fed changes the next state, over an episode."""
    fed_there = torch.from_numpy(gates).requires_grad_()
    before = _states(recurrence, fed_there.detach())[:-1]
    state = tuple(torch.stack([each[part] for each in before]) for part in range(len(recurrence.start)))
    with torch.enable_grad():
        (gradient,) = torch.autograd.grad(torch.stack(_next(recurrence, fed_there, state)).sum(), fed_there)
    slope = gradient.square().mean(dim=0).sqrt()
    # Numbers that did not matter in this episode may matter a little in another.
    return np.asarray((slope + 0.05 * slope.mean()).numpy(), np.float32)


def _states(recurrence: Recurrence, gates: torch.Tensor) -> list[tuple[torch.Tensor, ...]]:
    states = [tuple(part.float() for part in recurrence.start)]
    for now in gates:
        states.append(_next(recurrence, now, states[-1]))
    return states


def _next(recurrence: Recurrence, gates: torch.Tensor, state: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """The state after one step: hidden, or hidden and cell. All with any axes before the last."""
    kept = torch.nn.functional.linear(state[0], recurrence.weight_hh, recurrence.bias_hh)
    if recurrence.kind == "gru":
        reset, update, new = gates.chunk(3, dim=-1)
        kept_reset, kept_update, kept_new = kept.chunk(3, dim=-1)
        share = torch.sigmoid(update + kept_update)
        fresh = torch.tanh(new + torch.sigmoid(reset + kept_reset) * kept_new)
        return ((1 - share) * fresh + share * state[0],)
    take, forget, new, out = (gates + kept).chunk(4, dim=-1)
    cell = torch.sigmoid(forget) * state[1] + torch.sigmoid(take) * torch.tanh(new)
    return torch.sigmoid(out) * torch.tanh(cell), cell


def _draws(
    seed: int | None, chances: np.ndarray, chosen: np.ndarray, *, greedy: bool, steps: int
) -> tuple[np.ndarray, str]:
    """Random numbers 0–1 by step with which the recorded chances give the recorded actions."""
    count = max(steps, len(chosen))
    drawn = np.random.default_rng(0 if seed is None else seed).random(count)
    if greedy:
        return drawn, "none"
    total = np.cumsum(chances.astype(np.float64), axis=1)
    high = total[np.arange(len(chosen)), chosen] / total[:, -1]
    low = high - chances[np.arange(len(chosen)), chosen] / total[:, -1]
    played = drawn[: len(chosen)]
    fits = (played >= low - 1e-6) & (played <= high + 1e-6)
    if fits.all():
        return drawn, "recorded"
    drawn[: len(chosen)] = np.where(fits, played, (low + high) / 2)
    return drawn, "made to fit"


def _facts(columns: pl.DataFrame, pose: Pose) -> dict[str, np.ndarray]:
    """Where it was, which way it looked and how many items it had, as far as the world told."""
    told: dict[str, np.ndarray] = {}
    if pose.placed:
        told["x"], told["y"] = (columns[name].cast(pl.Float32).to_numpy() for name in pose.placed)
    if pose.placed and pose.angle_deg is not None:
        told["angle"] = columns[pose.angle].cast(pl.Float32).to_numpy() * np.float32(pose.angle_deg)
    if "gathered" in columns.columns:
        told["gathered"] = columns["gathered"].cast(pl.UInt8).to_numpy()
    return told


def _action_names(recording: Recording, count: int) -> tuple[str, ...]:
    column = next(column for column in recording.info.columns if column.name == "action")
    return column.categories or tuple(f"action {number}" for number in range(count))


def _pictures(recording: Recording, start: int, stop: int) -> Pictures | None:
    spec = next((s for s in recording.info.arrays if s.is_image and s.dtype == "uint8"), None)
    if spec is None:
        return None
    every = max(1, -(-(stop - start) // _MAX_PICTURES))
    rows = range(start, stop, every)
    frames = recording.array_rows(spec.name, list(rows))
    return _sheet(frames, spec, [row - start for row in rows])


def _sheet(frames: np.ndarray, spec: ArraySpec, steps: Sequence[int]) -> Pictures:
    height, width = spec.shape[:2]
    colour = frames[..., None] if frames.ndim == 3 else frames
    colour = colour[..., :3] if colour.shape[-1] >= 3 else np.repeat(colour[..., -1:], 3, axis=-1)
    lines = -(-len(frames) // _PICTURES_ACROSS)
    sheet = np.zeros((lines * height, _PICTURES_ACROSS * width, 3), np.uint8)
    for place, frame in enumerate(colour):
        row, column = divmod(place, _PICTURES_ACROSS)
        sheet[row * height : (row + 1) * height, column * width : (column + 1) * width] = frame
    file = io.BytesIO()
    Image.fromarray(sheet).save(file, "WEBP", quality=55, method=4)
    made = np.frombuffer(file.getvalue(), np.uint8)
    return Pictures(made, tuple(steps), width, height, _PICTURES_ACROSS, spec.pixelated)
