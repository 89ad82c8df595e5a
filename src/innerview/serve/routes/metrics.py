"""Metrics that people make of columns, and the thresholds of those that come with innerview."""

from __future__ import annotations

import math
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, StringConstraints

from innerview import store
from innerview.errors import DamagedPart, MetricError, UnknownName
from innerview.lenses.columns.custom import OwnMetric, check_metric
from innerview.lenses.columns.derived import Derived
from innerview.metrics import FUNCTIONS, THRESHOLDS, checked_thresholds, parse
from innerview.metrics.thresholds import AS_PLACES
from innerview.schema import Metric, Metrics, pose_of
from innerview.serve.context import Serving
from innerview.serve.wire import Name
from innerview.store import load_metrics

router = APIRouter(prefix="/api/metrics", tags=["metrics"])
RecordingName = Annotated[str | None, Query(max_length=200)]


class MetricBody(BaseModel):
    """A metric to keep, and the recording it is checked against."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, StringConstraints(min_length=1, max_length=80, strip_whitespace=True)]
    expression: Annotated[str, StringConstraints(max_length=10_000)]
    unit: Annotated[str, StringConstraints(max_length=40)] = ""
    description: Annotated[str, StringConstraints(max_length=1_000)] = ""
    recording: Name | None = None
    replaces: Annotated[str, StringConstraints(max_length=80)] = ""
    """The name it had before, where it is renamed."""


class CheckBody(BaseModel):
    """An expression to look at while it is written."""

    model_config = ConfigDict(extra="forbid")

    recording: Name
    expression: Annotated[str, StringConstraints(max_length=10_000)]


class CheckReply(BaseModel):
    """What an expression gives, or what is wrong with it and at which character."""

    gives: str
    problem: str
    at: int


class OwnReply(BaseModel):
    """A metric that somebody made, and why it cannot be computed here where it cannot."""

    name: str
    expression: str
    unit: str
    description: str
    problem: str


class ThresholdReply(BaseModel):
    """A number that decides what a metric says."""

    name: str
    description: str
    unit: str
    value: float | None
    """None: without bound, or not to be known here."""
    problem: str
    """Why the recording cannot suggest it; empty where it can."""
    by_hand: bool
    low: float
    whole: bool


class FunctionReply(BaseModel):
    """A function that an expression may call."""

    usage: str
    description: str
    over_time: bool


class MetricsReply(BaseModel):
    """Everything about the metrics of a study, as one recording sees them."""

    own: list[OwnReply]
    thresholds: list[ThresholdReply]
    functions: list[FunctionReply]


class ThresholdsBody(BaseModel):
    """Thresholds by name; null goes back to what is usual."""

    model_config = ConfigDict(extra="forbid")

    thresholds: dict[Annotated[str, StringConstraints(max_length=80)], float | None]


@router.get("")
def metrics(service: Serving, recording: RecordingName = None) -> MetricsReply:
    """People's metrics, the thresholds, and the functions an expression may call."""
    kept = load_metrics(service.study)
    source = service.open(recording).derived(service.study) if recording else None
    problems = source.problems if source else {}
    return MetricsReply(
        own=[OwnReply(**vars(one), problem=problems.get(one.name, "")) for one in kept.own],
        thresholds=_thresholds(source, kept),
        functions=[
            FunctionReply(usage=f.usage, description=f.description, over_time=f.over_time) for f in FUNCTIONS.values()
        ],
    )


@router.put("")
def save_metric(body: MetricBody, service: Serving) -> OwnReply:
    """Keep a metric; one of the same name is replaced. An expression that cannot be computed is refused."""
    made = Metric(name=body.name, expression=body.expression, unit=body.unit, description=body.description)
    if body.recording is None:
        parse(body.expression)
    else:
        _check(service, body.recording, made)
    store.save_metric(service.study, made, replaces=body.replaces)
    return OwnReply(**vars(made), problem="")


@router.delete("")
def drop_metric(service: Serving, name: Annotated[str, Query(max_length=80)]) -> list[str]:
    """Forget a metric; gives the names of those that are left."""
    return [one.name for one in store.drop_metric(service.study, name).own]


@router.post("/check")
def check_expression(body: CheckBody, service: Serving) -> CheckReply:
    """Look at an expression while it is written; what is wrong with it is no failure of the request."""
    try:
        own = _check(service, body.recording, Metric(name=" ", expression=body.expression))
    except MetricError as problem:
        return CheckReply(gives="", problem=str(problem), at=problem.at)
    return CheckReply(gives="yes or no" if own.column.type == "bool" else "a number", problem="", at=0)


@router.put("/thresholds")
def save_thresholds(body: ThresholdsBody, service: Serving) -> list[str]:
    """Set thresholds for the whole study; gives the names of those that are set by hand."""
    unknown = [name for name in body.thresholds if name not in THRESHOLDS]
    if unknown:
        raise UnknownName("threshold", unknown[0], THRESHOLDS)
    given = checked_thresholds({name: value for name, value in body.thresholds.items() if value is not None})
    return sorted(store.save_thresholds(service.study, {**body.thresholds, **given}).thresholds)


def _check(service: Serving, recording: str, metric: Metric) -> OwnMetric:
    return check_metric(service.open(recording).derived(service.study), metric)


def _thresholds(source: Derived | None, kept: Metrics) -> list[ThresholdReply]:
    """Those that decide something in this recording; all where none is named."""
    used = source.used_thresholds if source else list(THRESHOLDS)
    unit = pose_of(source.recording.info.columns).unit if source else ""
    found = []
    for told in (THRESHOLDS[name] for name in THRESHOLDS if name in used):
        value, problem = kept.thresholds.get(told.name, told.default), ""
        if source:
            try:
                value = source.threshold(told.name)
            except DamagedPart as damaged:
                problem = f"The recording cannot suggest it: {damaged} Set it by hand."
        found.append(
            ThresholdReply(
                name=told.name,
                description=told.description,
                unit=unit if told.unit == AS_PLACES else told.unit,
                value=None if value is None or math.isinf(value) else value,
                problem=problem,
                by_hand=told.name in kept.thresholds,
                low=told.low,
                whole=told.whole,
            )
        )
    return found
