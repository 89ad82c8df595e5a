"""Named reductions of the memory, and where two runs diverge."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Query, Response

from innerview.schema import EditSet
from innerview.serve.context import Serving
from innerview.serve.routes.recordings import Start, Stop, gives, row_range
from innerview.serve.wire import DivergenceReply, FirstDifference
from innerview.store import reductions_document

if TYPE_CHECKING:
    from innerview.rollouts.rerun import Pair

router = APIRouter(prefix="/api", tags=["reductions"])


@router.get("/reductions")
def reductions(service: Serving) -> tuple[EditSet, ...]:
    """Every named reduction, oldest first."""
    return service.study.reductions()


@router.get("/reductions/file", response_class=Response, responses=gives("application/json"))
def reductions_file(service: Serving) -> Response:
    """All of them as a file, which `innerview reductions --import` takes."""
    text = json.dumps(reductions_document(service.study.reductions()), ensure_ascii=False, indent=1)
    return Response(text + "\n", media_type="application/json")


@router.put("/reductions")
def save_reduction(body: EditSet, service: Serving) -> tuple[EditSet, ...]:
    """Keep a reduction under its name; one of the same name is replaced."""
    service.study.save_reduction(body)
    return service.study.reductions()


@router.delete("/reductions/{reduction:path}")
def drop_reduction(reduction: Annotated[str, Path(max_length=200)], service: Serving) -> tuple[EditSet, ...]:
    """Forget a reduction."""
    service.study.drop_reduction(reduction)
    return service.study.reductions()


@router.get("/recordings/{recording}/divergence")
def divergence(
    recording: Annotated[str, Path(max_length=80)],
    other: Annotated[str, Query(max_length=80)],
    service: Serving,
    start: Start = 0,
    stop: Stop = None,
    other_start: Start = 0,
    other_stop: Stop = None,
) -> FirstDifference:
    """Where rows start to stop diverge from rows other_start to other_stop of the other recording, in steps."""
    from innerview.rollouts.rerun import divergence_of

    one, second = service.open(recording).recording, service.open(other).recording
    found = divergence_of(one, row_range(one, start, stop), second, row_range(second, other_start, other_stop))
    return FirstDifference(decision=found.decision, action=found.action, place=found.place)


@router.get("/recordings/{recording}/divergences")
def divergences(recording: Annotated[str, Path(max_length=80)], service: Serving) -> list[DivergenceReply]:
    """Where each episode of a re-run parts from the one it was run again from."""
    from innerview.rollouts.rerun import pairs_of

    found = pairs_of(service.study, service.open(recording).recording)
    return [_divergence_reply(pair) for pair in found]


def _divergence_reply(pair: Pair) -> DivergenceReply:
    parts = pair.divergence
    return DivergenceReply(
        episode=pair.episode,
        of=pair.of,
        seed=pair.seed,
        decision=parts.decision,
        action=parts.action,
        place=parts.place,
        alike=pair.alike,
    )
