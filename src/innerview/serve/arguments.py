"""Typed arguments over the wire: models made of the core's dataclasses, and errors in our own words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_type_hints

import pydantic
from pydantic import BaseModel, ConfigDict, RootModel, ValidationError, WrapValidator, create_model

from innerview.errors import RequestError, UnknownName
from innerview.interventions.jobs import (
    AblationTestJob,
    BestFilterJob,
    FitCameraJob,
    SmallestMemoryJob,
    SweepJob,
    TableJob,
)
from innerview.jobs.kinds import KINDS, JobKind, described
from innerview.lenses.job import LensJob
from innerview.lenses.trust.job import TrustJob
from innerview.lenses.video.job import VideoJob
from innerview.rollouts.gap.job import GapJob
from innerview.rollouts.jobs import LearningJob, PredictJob, RecordJob, RerunJob, WhatIfJob

T = TypeVar("T")
CORE = (
    *(LensJob, RecordJob, RerunJob, PredictJob, WhatIfJob, LearningJob),
    *(TableJob, SweepJob, SmallestMemoryJob, AblationTestJob),
    *(TrustJob, VideoJob, GapJob, BestFilterJob, FitCameraJob),
)
"""What the page's types are generated from. Whatever else is registered can be started too, and is checked the same
way, but does not stand in the description: that is the same wherever innerview runs."""
ERRORS_SHOWN = 5
_TYPES = ("str", "bool", "int", "float")
_WANTED = {
    **{"tuple_type": "a list", "dict_type": "an object", "model_type": "an object", "dataclass_type": "an object"},
    **{"string_type": "a text", "int_type": "a whole number", "float_type": "a number", "bool_type": "true or false"},
}


@dataclass(frozen=True, kw_only=True)
class RequestedJob:
    """A job as somebody asked for it."""

    arguments: Any
    again: bool = False


def read_job(value: Any) -> RequestedJob:
    """The job that a request asks for, or an error that says what would be right."""
    if not isinstance(value, dict):
        raise RequestError(f"A job is an object with a kind and what that kind takes, not {value!r:.60}.")
    name = value.get("kind")
    if not isinstance(name, str):
        raise RequestError(f"kind says which kind of job to start: {', '.join(KINDS.names())}; not {name!r:.60}.")
    kind = KINDS.get(name)
    model = _validated(_job_model(kind), value, f"job '{name}'", kind.arguments)
    given = {each.name: getattr(model, each.name) for each in fields(kind.arguments)}
    return RequestedJob(arguments=kind.arguments(**given), again=getattr(model, "again", False))


def read(arguments: type[T], value: Any, what: str) -> T:
    """A dataclass from outside, or an error that says what would be right."""
    if not isinstance(value, dict):
        raise RequestError(f"What {what} takes is given by name, not as {value!r:.60}.")
    kind: Any = arguments
    model = _validated(model_of(kind), value, what, arguments)
    return arguments(**{name: getattr(model, name) for name in _names(arguments)})


@cache
def model_of(arguments: Any) -> type[BaseModel]:
    """The wire's model of a dataclass."""
    return create_model(arguments.__name__, __config__=_config(arguments), **_fields(arguments))


@cache
def _job_model(kind: JobKind) -> type[BaseModel]:
    head: dict[str, Any] = {"kind": (Literal[kind.name], ...)}
    if kind.stored:
        head["again"] = (bool, pydantic.Field(default_factory=lambda: False))
    arguments = kind.arguments
    return create_model(arguments.__name__, __config__=_config(arguments), **head, **_fields(arguments))


def _config(arguments: type) -> ConfigDict:
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"description": arguments.__doc__ or ""})


def _fields(arguments: type) -> dict[str, Any]:
    hints = get_type_hints(arguments)
    return {each.name: (hints[each.name], _field(each)) for each in fields(arguments)}


def _field(each: Field[Any]) -> Any:
    low, high = each.metadata.get("low"), each.metadata.get("high")
    if each.default_factory is not MISSING:
        return pydantic.Field(default_factory=each.default_factory)
    if each.default is MISSING:
        return pydantic.Field(ge=low, le=high)
    # Made by a factory, a default is not in the description: there it would make a field that must be sent.
    return pydantic.Field(default_factory=lambda: each.default, ge=low, le=high)


def numbers_of_jobs() -> str:
    """What numbers and words stand in a form before anybody types, and their bounds: for the page, kind by kind."""
    told = {kind.name: _numbers(kind.arguments) for _, kind in KINDS if kind.arguments in CORE}
    return json.dumps({name: of for name, of in told.items() if of}, indent=2, sort_keys=True) + "\n"


def _numbers(arguments: type) -> dict[str, dict[str, Any]]:
    given = [each for each in fields(arguments) if each.default not in (MISSING, None, "")]
    known = {each.name: {"default": each.default, **each.metadata} for each in given}
    return {
        name: {key: value for key, value in told.items() if value is not None}
        for name, told in known.items()
        if isinstance(told["default"], str | bool | int | float)
    }


def _validated(model: type[BaseModel], value: Any, what: str, arguments: type) -> BaseModel:
    try:
        return model.model_validate_json(json.dumps(value))
    except ValidationError as problem:
        words = [_problem(error, what, arguments) for error in _meant(problem.errors())[:ERRORS_SHOWN]]
        raise RequestError(" ".join(dict.fromkeys(words))) from None


def _meant(errors: Sequence[Any]) -> list[Any]:
    """Without those of the types of a union that were not meant: of another `kind`, or a name where edits are given."""
    other = [e["loc"][:-1] for e in errors if e["loc"][-1:] == ("kind",) and e["type"] == "literal_error"]
    meant = [e for e in errors if not any(e["loc"][: len(branch)] == branch for branch in other)] or [*errors]
    deep = [e for e in meant if e["type"] != "string_type"]
    return deep or meant


def _problem(error: Any, what: str, arguments: type) -> str:
    """One thing that is wrong, and what would be right."""
    loc, known = [part for part in error["loc"] if not _is_type(part)], _names(arguments)
    if not loc:  # nothing in it is wrong, but all of it: no JSON, or not an object
        return f"The arguments of {what} cannot be read: {error['msg']}."
    top, where = str(loc[0]), ".".join(map(str, loc))
    if error["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        fields_known = known if len(loc) == 1 else ()
        if fields_known:
            return str(UnknownName("field", top, fields_known, f"That is what {what} takes."))
        return f"Unknown field '{where}' of {what}."
    if error["type"] == "missing":
        return f"{where} of {what} is missing."
    wanted = described(arguments, top) if len(loc) == 1 and top in known else ""
    wanted = wanted or _WANTED.get(error["type"]) or str(error["msg"]).removeprefix("Input should be ")
    return f"{where} of {what} should be {wanted}, not {error['input']!r:.60}."


def _is_type(part: Any) -> bool:
    """Whether a part of a place names a type of a union; fields begin with a small letter."""
    return isinstance(part, str) and (part[:1].isupper() or part in _TYPES)


def _names(arguments: type) -> list[str]:
    return [each.name for each in fields(arguments)]


def _read_any(value: Any, handler: Callable[[Any], Any]) -> RequestedJob:
    return read_job(value)


def union_of(kinds: Iterable[type]) -> Any:
    """Any of these jobs, told apart by `kind`; read by `read_job`, which knows all that are registered."""
    by_arguments = {kind.arguments: kind for _, kind in KINDS}
    models: Any = reduce(or_, (_job_model(by_arguments[each]) for each in kinds))
    described_as = create_model(
        "JobRequest", __base__=RootModel[Annotated[models, pydantic.Field(discriminator="kind")]]
    )
    return Annotated[described_as, WrapValidator(_read_any)]


if TYPE_CHECKING:
    JobRequest = RequestedJob
else:
    JobRequest = union_of(CORE)
