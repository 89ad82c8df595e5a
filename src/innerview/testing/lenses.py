"""Checks any lens: for the author of a new one, and for the tests, which run it on every lens there is."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from innerview.errors import LensError
from innerview.lenses.discovery import Looking
from innerview.saliency.integrated import attribute
from innerview.schema import Column, Found, Frames, Lens, Rows, to_json
from innerview.testing.planted import Planted
from innerview.testing.subjects import TORCH_CASES, random_inputs

STEPS = 6
FEW = {"most": 300, "steps": 16}
"""Where a lens can be told how many rows to use, or how finely to compute, so little that it is quick."""


class Stop(Exception):
    """What a watcher raises when somebody cancels."""


def check_lens(looking: Looking) -> None:
    """Raise LensError where a lens does not describe itself, does not run, or gives what cannot be kept."""
    _check_words(looking.lens)
    _check_signature(looking)
    defaults = {p.name: p.default for p in looking.lens.parameters}
    looking.checked(defaults)
    if looking.lens.settings.get("missing"):
        return
    few = {name: value for name, value in FEW.items() if name in defaults}
    first, again = _run(looking, few), _run(looking, defaults | few)
    _demand(_same(first, again), looking.lens, "gives something else when it is asked again")
    for parameter in looking.lens.parameters:
        for choice in parameter.choices:
            if choice != parameter.default:
                _run(looking, {**few, parameter.name: choice})
    if looking.lens.over == "recording":
        _check_cancel(looking)


def _demand(holds: bool, lens: Lens, problem: str) -> None:
    if not holds:
        raise LensError(f"Lens '{lens.name}' {problem}.")


def _check_words(lens: Lens) -> None:
    _demand(bool(lens.name) and lens.name == lens.name.lower(), lens, "needs a name in small letters")
    _demand(lens.question.endswith("?"), lens, "needs a question, with a question mark")
    _demand(bool(lens.paper), lens, "does not say what it comes from")
    for parameter in lens.parameters:
        _demand(parameter.description.endswith("."), lens, f"does not describe '{parameter.name}' in a sentence")


def _check_signature(looking: Looking) -> None:
    taken = inspect.signature(looking.look).parameters
    for parameter in looking.lens.parameters:
        _demand(parameter.name in taken, looking.lens, f"does not take its parameter '{parameter.name}'")
        told = taken[parameter.name].default
        problem = f"says {parameter.default!r} for '{parameter.name}', does {told!r}"
        _demand(told == parameter.default, looking.lens, problem)


def _run(looking: Looking, parameters: Mapping[str, Any]) -> Any:
    kinds = {
        "row": _run_on_a_row,
        "episode": _run_on_an_episode,
        "recording": _run_on_a_recording,
        "frames": _run_on_frames,
    }
    found = kinds[looking.lens.over](looking, parameters)
    if isinstance(found, Found):
        _check_found(looking.lens, found)
    else:
        _demand(isinstance(found, np.ndarray) and bool(np.isfinite(found).all()), looking.lens, "gives no numbers")
    return found


def _check_found(lens: Lens, found: Found) -> None:
    json.dumps(to_json(found.value), allow_nan=False)
    for name, values in found.arrays.items():
        _demand(values.dtype.kind in "biuf", lens, f"gives an array '{name}' that holds no numbers")
    if lens.yields == "layout":
        places, rows = found.arrays["places"], found.arrays["rows"]
        fits = places.shape == (len(rows), 2) and bool(np.isfinite(places).all() and (np.diff(rows) > 0).all())
        _demand(fits, lens, "gives no layout: places [n, 2] and rows [n], ascending")


def _run_on_a_row(looking: Looking, parameters: Mapping[str, Any]) -> Any:
    case = next(case for case in TORCH_CASES if case.name == "cnn with a tuple")
    subject = case.adapt(case.build())
    return looking.look(subject, random_inputs(subject.info, batch=2, seed=0), **parameters)


def _run_on_an_episode(looking: Looking, parameters: Mapping[str, Any]) -> Any:
    case = next(case for case in TORCH_CASES if case.name == "gru")
    subject = case.adapt(case.build())
    steps = [random_inputs(subject.info, batch=1, seed=step) for step in range(STEPS)]
    column = Column(name="action", type="int", kind="action", categories=("left", "stay", "right"))
    rows = Rows(columns={"action": np.arange(STEPS) % 3.0}, specs={"action": column}, groups=((0, STEPS),))
    return looking.look(subject, steps, subject.initial_memory(1), rows=rows, **parameters)


def _run_on_frames(looking: Looking, parameters: Mapping[str, Any]) -> Any:
    case = next(case for case in TORCH_CASES if case.name == "cnn with a tuple")
    subject = case.adapt(case.build())
    given = random_inputs(subject.info, batch=2 * STEPS, seed=0)
    frames = Frames(rows=2 * STEPS, read=lambda places: ({name: value[places] for name, value in given.items()}, {}))
    few = {"count": 2} if "count" in {p.name for p in looking.lens.parameters} else {}
    return looking.look(subject, frames, **looking.taken(attribute=attribute), **{**parameters, **few})


def _run_on_a_recording(looking: Looking, parameters: Mapping[str, Any]) -> Any:
    return looking.look(Planted(episodes=12).rows(), **parameters)


def _check_cancel(looking: Looking) -> None:
    def stop(done: int, total: int | None, message: str = "", so_far: Found | None = None) -> None:
        raise Stop

    try:
        looking.look(Planted(episodes=12).rows(), progress=stop)
    except Stop:
        return
    raise LensError(f"Lens '{looking.lens.name}' never tells its progress, so it cannot be cancelled.")


def _same(first: Any, again: Any) -> bool:
    if not isinstance(first, Found):
        return bool(np.allclose(first, again))
    same = all(np.allclose(values, again.arrays[name], atol=1e-5) for name, values in first.arrays.items())
    return same and json.dumps(to_json(first.value))[:200] == json.dumps(to_json(again.value))[:200]
