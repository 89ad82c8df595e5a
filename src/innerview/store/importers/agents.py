"""Recordings of recurrent agents that DRLViz and MemRed wrote, as rows that every view understands."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from innerview.errors import StoreError
from innerview.schema import ArraySpec, Column, entropy, entropy_column
from innerview.store.importers.pictures import Pictures, find_pictures
from innerview.store.importers.tracks import Track

AgentFormat = Literal["drlviz", "memred"]
DRLVIZ_NEEDS = ("actions", "hiddens", "inputs", "orientations", "positions", "probabilities")
DRLVIZ_ALSO = ("fov", "health", "items", "saliencies", "scores", "velocities")
MEMRED_NEEDS = ("hiddens", "orientations", "positions", "probabilities")
MEMRED_ALSO = ("inputs", "mask")
MAX_ACTIONS = 1024
"""A number beyond this is no action."""
ITSELF = 16.0
"""A player nearer than its own radius is the agent itself, which DRLViz lists among what is in view."""
_PIECE = 64
# The Doom agents of both tools had these; another number of actions is only counted.
_ACTIONS = {
    5: ("left", "right", "forward", "forward+left", "forward+right"),
    8: (
        "left",
        "right",
        "forward",
        "backward",
        "forward+left",
        "backward+left",
        "forward+right",
        "backward+right",
    ),
}


def format_of(track: Track) -> AgentFormat:
    """Which tool wrote it, seen by its keys."""
    keys = set(track.values)
    if keys & {"actions", *DRLVIZ_ALSO}:
        return "drlviz"
    if {"hiddens", "positions"} <= keys:
        return "memred"
    there = ", ".join(track.values) or "nothing"
    raise StoreError(
        f"{track.where} is no recording that is known here: it has {there}. DRLViz writes {', '.join(DRLVIZ_NEEDS)}; "
        f"MemRed {', '.join(MEMRED_NEEDS)}."
    )


@dataclass(frozen=True, kw_only=True)
class Form:
    """What the rows of an import hold; the first episode says it, and all others must fit."""

    format: AgentFormat
    actions: tuple[str, ...]
    probable: int
    """How many of the actions, counted from the first, have probabilities: a tool may have written only some."""
    elements: int
    pictures: Mapping[str, Pictures] = field(default_factory=dict)
    """By name of the array."""
    also: tuple[str, ...] = ()
    """Keys beyond the needed ones."""
    mask: Literal["", "column", "array"] = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key that is read."""
        return (*(DRLVIZ_NEEDS if self.format == "drlviz" else MEMRED_NEEDS), *self.also)

    def columns(self) -> tuple[Column, ...]:
        """In the order in which they are shown."""
        told = self.format == "drlviz"
        words = "" if told else "Not recorded: the most likely one."
        found = [
            Column(name="episode", type="int", kind="index"),
            Column(name="step", type="int", kind="index"),
            Column(name="action", type="int", kind="action", categories=self.actions, description=words),
            entropy_column("entropy"),
            Column(name="x", type="float", unit="map units", pose="x"),
            Column(name="y", type="float", unit="map units", pose="y"),
            Column(name="angle", type="float", unit="deg", pose="angle"),
        ]
        return (*found, *(column for key in self.also for column in _COLUMNS.get(key, ())), *self._mask_columns())

    def _mask_columns(self) -> tuple[Column, ...]:
        return (Column(name="mask", type="float"),) if self.mask == "column" else ()

    def arrays(self) -> tuple[ArraySpec, ...]:
        """Pictures, memory and probabilities."""
        return (
            *(_picture_spec(name, pictures) for name, pictures in self.pictures.items()),
            ArraySpec(name="memory", shape=(self.elements,), dtype="float32", role="memory", axes=("element",)),
            ArraySpec(
                name="probabilities",
                shape=(self.probable,),
                dtype="float32",
                role="probabilities",
                axes=("action",),
                elements=self.actions[: self.probable],
            ),
            *(
                [ArraySpec(name="mask", shape=(self.elements,), dtype="float32", axes=("element",))]
                if self.mask == "array"
                else []
            ),
        )


def find_form(track: Track, format: AgentFormat, *, actions: Sequence[str], highest: int, width: int) -> Form:
    """What the rows of an episode, and of all that follow it, hold; `highest` is the largest action of any."""
    needs, also = (DRLVIZ_NEEDS, DRLVIZ_ALSO) if format == "drlviz" else (MEMRED_NEEDS, MEMRED_ALSO)
    track.need(needs)
    kept = [key for key in also if key in track.values]
    if "saliencies" in kept and not _is_text(track.values["saliencies"]):
        kept.remove("saliencies")
    steps, _ = track.steps((*needs, *kept))
    pictures = {}
    if "inputs" in track.values:
        pictures["observation"] = find_pictures(track, "inputs", width=width)
    if "saliencies" in kept:
        pictures["saliency"] = find_pictures(track, "saliencies", width=width)
    elements = track.numbers("hiddens", steps).shape[1]
    count = track.numbers("probabilities", steps).shape[1]
    taken = max(count, highest + 1)
    if actions and len(actions) < taken:
        what = f"probabilities of {count}" if taken == count else f"actions up to {highest}, so {taken} of them"
        raise StoreError(f"{len(actions)} actions are named, but {track.where} has {what}.")
    return Form(
        format=format,
        actions=tuple(actions) or _action_names(count, taken),
        probable=count,
        elements=elements,
        pictures=pictures,
        also=tuple(kept),
        mask=_mask_kind(track, steps, elements) if "mask" in kept else "",
    )


def _action_names(count: int, taken: int) -> tuple[str, ...]:
    """Of agents that are known, where they had so many; five probabilities of more actions are the first of eight."""
    most = max(_ACTIONS)
    known = _ACTIONS.get(taken if count == taken else most if count in _ACTIONS and taken <= most else -1)
    return known or tuple(f"action {n}" for n in range(taken))


def highest_action(track: Track) -> int:
    """The largest action that was taken in an episode; -1 where nothing says it."""
    if "actions" not in track.values:
        return -1
    actions = track.column("actions", track.steps(("actions",))[0])
    known = actions[np.isfinite(actions)]
    return int(known.max()) if len(known) and known.max() < MAX_ACTIONS else -1


def pieces(track: Track, form: Form, episode: int) -> tuple[int, str, Iterator[tuple[dict[str, Any], dict[str, Any]]]]:
    """Steps of an episode, what was left out of it, and its rows and arrays piece by piece."""
    track.need(form.keys)
    steps, cut_to = track.steps(form.keys)
    unused = [key for key in track.values if key not in form.keys]
    memory = track.numbers("hiddens", steps, each=form.elements).astype(np.float32)
    chances = _probabilities(track, steps, form.probable)
    sums = chances.sum(axis=1)
    whole = np.abs(sums - 1) <= _rounding(chances)
    lacking = (
        "" if whole.all() else f"probabilities add up to {sums.min():.2f} to {sums.max():.2f}: not all were written"
    )
    remark = "; ".join(part for part in (cut_to, lacking, f"left out: {', '.join(unused)}" if unused else "") if part)
    rows: dict[str, Any] = {
        "episode": np.full(steps, episode),
        "step": np.arange(steps),
        "action": _actions(track, form, steps, chances),
        "entropy": np.where(whole, entropy(chances), np.nan),
        **_places(track, steps, form),
    }
    arrays = {"memory": memory, "probabilities": chances.astype(np.float32)}
    if form.mask == "column":
        rows["mask"] = track.column("mask", steps)
    elif form.mask == "array":
        arrays["mask"] = _mask(track, steps, form.elements)

    def cut() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        for start in range(0, steps, _PIECE):
            stop = min(start + _PIECE, steps)
            shown = {name: pictures.read(track, start, stop) for name, pictures in form.pictures.items()}
            values = {name: array[start:stop] for name, array in arrays.items()}
            yield {name: column[start:stop] for name, column in rows.items()}, {**shown, **values}

    return steps, remark, cut()


def _places(track: Track, steps: int, form: Form) -> dict[str, Any]:
    """Everything that the game told."""
    places = track.numbers("positions", steps)
    if places.shape[1] not in (2, 3):
        raise StoreError(f"{track.at('positions', 0)} has {places.shape[1]} numbers; x and y are expected.")
    rows: dict[str, Any] = {"x": places[:, 0], "y": places[:, 1], "angle": track.column("orientations", steps) % 360}
    for key in form.also:
        if key in ("health", "items"):
            rows[key] = track.column(key, steps)
        elif key == "scores":
            score = track.column(key, steps)
            rows["score"] = score
            rows["reward"] = [*np.diff(score).round(6).tolist(), None]
        elif key == "velocities":
            rows["velocity_x"], rows["velocity_y"] = track.numbers(key, steps)[:, :2].T
        elif key == "fov":
            scale = form.pictures["observation"].scale
            rows["objects"] = [
                _in_view(track, step, things, (places[step, 0], places[step, 1]), scale)
                for step, things in enumerate(track.lists(key, steps))
            ]
    return rows


def _in_view(
    track: Track, step: int, things: Sequence[Any], place: tuple[float, float], scale: float
) -> list[dict[str, Any]]:
    """What is in view, nearest first; DRLViz says where a thing begins on the screen, not how large it is."""
    seen = []
    for thing in things:
        try:
            name, across = str(thing["object_name"]), float(thing["object_x"])
            x, y = float(thing["object_position_x"]), float(thing["object_position_y"])
        except KeyError as error:
            raise StoreError(f"{track.at('fov', step)} has a thing without {error}.") from error
        except (TypeError, ValueError) as error:
            raise StoreError(f"{track.at('fov', step)} has a thing that cannot be read: {error}.") from error
        distance = math.hypot(x - place[0], y - place[1])
        if not math.isfinite(distance + across):
            raise StoreError(f"{track.at('fov', step)} has a thing at no finite place.")
        if name != "DoomPlayer" or distance > ITSELF:
            seen.append({"name": name, "x_px": across * scale, "distance": round(distance, 2), "x": x, "y": y})
    return sorted(seen, key=lambda thing: float(thing["distance"]))


def _probabilities(track: Track, steps: int, count: int) -> np.ndarray:
    chances = track.numbers("probabilities", steps, each=count)
    sums = chances.sum(axis=1)
    wrong = np.flatnonzero(
        ((chances < 0) | (chances > 1.001)).any(axis=1) | (sums <= 0) | (sums > 1 + _rounding(chances))
    )
    if len(wrong):
        step = int(wrong[0])
        raise StoreError(f"{track.at('probabilities', step)} holds {chances[step].tolist()!r:.80}: no probabilities.")
    return chances


def _rounding(chances: np.ndarray) -> float:
    """How far probabilities may be from adding up to 1 because they were written with few digits."""
    digits = next((n for n in (1, 2, 3, 4) if np.allclose(chances, chances.round(n), rtol=0, atol=1e-9)), 5)
    return float(chances.shape[1] * 0.5 * 10.0**-digits + 1e-3)


def _actions(track: Track, form: Form, steps: int, chances: np.ndarray) -> np.ndarray:
    if form.format == "memred":
        return np.asarray(chances.argmax(axis=1))
    actions = track.column("actions", steps)
    wrong = np.flatnonzero((actions != np.round(actions)) | (actions < 0) | (actions >= len(form.actions)))
    if len(wrong):
        step = int(wrong[0])
        raise StoreError(
            f"{track.at('actions', step)} is {actions[step]:g}; an action is a whole number from 0 to "
            f"{len(form.actions) - 1} here."
        )
    return actions.astype(int)


def _mask_kind(track: Track, steps: int, elements: int) -> Literal["column", "array"]:
    """MemRed's mask has a number per element, for the whole episode or at each step; or a number per step."""
    value = track.values["mask"]
    flat = isinstance(value, list) and not any(isinstance(part, list) for part in value)
    return "column" if flat and len(value) != elements and len(value) >= steps else "array"


def _mask(track: Track, steps: int, elements: int) -> np.ndarray:
    value = track.values["mask"]
    if isinstance(value, list) and len(value) == elements and not any(isinstance(part, list) for part in value):
        once = Track(file=track.file, key=track.key, values={"mask": [value]}).numbers("mask", 1, each=elements)
        return np.repeat(once, steps, axis=0).astype(np.float32)
    return track.numbers("mask", steps, each=elements).astype(np.float32)


def _is_text(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], str)


def _picture_spec(name: str, pictures: Pictures) -> ArraySpec:
    return ArraySpec(
        name=name,
        shape=pictures.shape,
        dtype=pictures.dtype,
        role="attribution" if name == "saliency" else "observation",
        axes=("height", "width", "channel")[: len(pictures.shape)],
    )


_COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "fov": (
        Column(
            name="objects",
            type="objects",
            kind="objects",
            label="in view",
            description="Place and distance in map units, and the left edge on the screen; how large is not known.",
        ),
    ),
    "health": (Column(name="health", type="float", unit="points"),),
    "items": (Column(name="items", type="float", description="As the game counts them."),),
    "scores": (
        Column(name="score", type="float", description="All rewards before this step."),
        Column(
            name="reward",
            type="float",
            kind="reward",
            description="Change of the score until the next step; not known at the last.",
        ),
    ),
    "velocities": (
        Column(name="velocity_x", type="float", unit="map units/tic"),
        Column(name="velocity_y", type="float", unit="map units/tic"),
    ),
}
