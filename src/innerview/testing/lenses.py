"""Checks any lens: for the author of a new one, and for the tests, which run it on every lens there is."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from torch import nn

from innerview.errors import LensError, NoRectifier
from innerview.lenses.discovery import LoadedLens, as_loaded_lens
from innerview.lenses.look import run_lens
from innerview.lenses.needs import unmet_needs
from innerview.schema import Heat, Lens, Output, PerRow, Rows, Watch, to_json, unwatched
from innerview.subjects import Subject
from innerview.testing.lens_subjects import LensCase, lens_cases
from innerview.testing.planted import Planted

FEW = {"max_rows": 300, "steps": 16, "count": 2, "states": 3, "lags": 3}
"""Where a lens can be told how many rows to use, or how finely to compute, so little that it is quick."""


class Stop(Exception):
    """What a watcher raises when somebody cancels."""


def check_lens(thing: Any) -> tuple[str, ...]:
    """Run a lens over every subject of the table that it fits; gives their names.

    Raises LensError where it does not describe itself, does not run, mixes rows, leaves something on a model, or gives
    what cannot be kept. `thing` is a module with LENS and look, or the name of a lens.
    """
    looking = as_loaded_lens(thing)
    lens = looking.lens
    _check_words(lens)
    _check_signature(looking)
    defaults = {parameter.name: parameter.default for parameter in lens.parameters}
    looking.checked(defaults)
    if lens.settings.get("missing"):
        return ()
    few = defaults | {name: value for name, value in FEW.items() if name in defaults}
    cases = [case for case in lens_cases() if not unmet_needs(lens, case.info, case.subject.info)]
    _demand(bool(cases), lens, "fits none of the subjects that lenses are checked on")
    planted = not lens.runs_subject and "memory" in lens.needs
    if planted:  # long enough, and with something to find
        _check_on(looking, Planted(episodes=12).rows(), None, few, thoroughly=True)
    names = ["planted memory"] if planted else []
    for case in cases:
        with suppress(NoRectifier):  # said in words; whether a model has one is known when it is run
            _check_case(looking, case, few, thoroughly=not names)
            names.append(case.name)
    _demand(bool(names), lens, "finds a rectifier in none of the subjects that lenses are checked on")
    return tuple(names)


def _check_case(looking: LoadedLens, case: LensCase, parameters: Mapping[str, Any], *, thoroughly: bool) -> None:
    rows = case.rows if looking.lens.over != "episode" else case.rows.part(np.arange(*case.rows.groups[0]))
    subject = case.subject if looking.lens.runs_subject else None
    before = {name: value.clone() for name, value in case.subject.module.state_dict().items()}
    try:
        _check_on(looking, rows, subject, parameters, thoroughly=thoroughly)
    except NoRectifier:
        raise
    except Exception as error:
        told = error if isinstance(error, LensError) else f"{type(error).__name__}: {error}"
        raise LensError(f"On the subject '{case.name}': {told}") from error
    module = case.subject.module
    same = all(bool((before[name] == value).all()) for name, value in module.state_dict().items())
    _demand(same and not _touched(module), looking.lens, f"leaves something behind on the subject '{case.name}'")


def _touched(module: nn.Module) -> bool:
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    hooked = any(getattr(part, name) for part in module.modules() for name in hooks)
    return hooked or any(parameter.grad is not None for parameter in module.parameters())


def _check_on(
    looking: LoadedLens, rows: Rows, subject: Subject | None, parameters: Mapping[str, Any], *, thoroughly: bool
) -> None:
    lens = looking.lens
    first = _run(looking, rows, subject, parameters)
    _demand(_same(first, _run(looking, rows, subject, parameters)), lens, "gives something else when asked again")
    if lens.over == "row":
        _check_alone(looking, rows, subject, parameters, first)
    if not thoroughly:
        return
    for parameter in lens.parameters:
        for choice in parameter.choices:
            if choice != parameter.default:
                _run(looking, rows, subject, {**parameters, parameter.name: choice})
    _check_cancel(looking, rows, subject, parameters)


def _check_alone(
    looking: LoadedLens, rows: Rows, subject: Subject | None, parameters: Mapping[str, Any], whole: Output
) -> None:
    """A row says the same alone, as it is asked for on hover, as among others."""
    place = rows.count - 1
    alone = _run(looking, rows.part(np.array([place])), subject, parameters)
    for name, values in _by_row(whole).items():
        same = np.allclose(values[place], _by_row(alone)[name][0], atol=1e-4, equal_nan=True)
        _demand(same, looking.lens, "says something else of a row alone than among others")


def _by_row(output: Output) -> dict[str, np.ndarray]:
    if isinstance(output, Heat):
        return dict(output.heat)
    return {"values": output.values} if isinstance(output, PerRow) else {}


def _demand(holds: bool, lens: Lens, problem: str) -> None:
    if not holds:
        raise LensError(f"Lens '{lens.name}' {problem}.")


def _check_words(lens: Lens) -> None:
    _demand(bool(lens.name) and lens.name == lens.name.lower(), lens, "needs a name in small letters")
    _demand(lens.question.endswith("?"), lens, "needs a question, with a question mark")
    _demand(bool(lens.paper), lens, "does not say what it comes from")
    for parameter in lens.parameters:
        _demand(parameter.description.endswith("."), lens, f"does not describe '{parameter.name}' in a sentence")


def _check_signature(looking: LoadedLens) -> None:
    taken = inspect.signature(looking.look).parameters
    rest = any(each.kind is each.VAR_KEYWORD for each in taken.values())
    _demand(list(taken)[:2] == ["rows", "subject"], looking.lens, "does not take `rows` and `subject` first")
    _demand("watch" in taken or rest, looking.lens, "does not take `watch`")
    for parameter in looking.lens.parameters:
        _demand(parameter.name in taken, looking.lens, f"does not take its parameter '{parameter.name}'")
        default = taken[parameter.name].default
        problem = f"says {parameter.default!r} for '{parameter.name}', does {default!r}"
        _demand(default == parameter.default, looking.lens, problem)


def _run(
    looking: LoadedLens,
    rows: Rows,
    subject: Subject | None,
    parameters: Mapping[str, Any],
    watch: Watch = unwatched,
) -> Output:
    output = run_lens(looking, rows, subject, parameters, watch=watch)
    try:
        json.dumps(to_json([output.value, output.shown()]), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise LensError(f"Lens '{looking.lens.name}' gives a value that is not JSON: {error}.") from error
    for name, values in output.stored().items():
        _demand(values.dtype.kind in "biuf", looking.lens, f"gives an array '{name}' that holds no numbers")
    return output


def _check_cancel(looking: LoadedLens, rows: Rows, subject: Subject | None, parameters: Mapping[str, Any]) -> None:
    def stop(done: int, total: int | None, message: str = "", so_far: Output | None = None) -> None:
        raise Stop

    try:
        _run(looking, rows, subject, parameters, watch=stop)
    except Stop:
        return
    raise LensError(f"Lens '{looking.lens.name}' never reports its progress, so it cannot be cancelled.")


def _same(first: Output, again: Output) -> bool:
    arrays, others = first.stored(), again.stored()
    same = all(np.allclose(values, others[name], atol=1e-5, equal_nan=True) for name, values in arrays.items())
    return same and json.dumps(to_json(first.value))[:200] == json.dumps(to_json(again.value))[:200]
