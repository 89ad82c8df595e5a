"""What-if rollouts of recorded episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from innerview.rollouts.jobs import WhatIfJob
from innerview.schema import Does, Move, ThingInView
from innerview.serve.context import Service, Serving
from innerview.serve.encoding.plain import plain
from innerview.serve.failures import TooLarge
from innerview.serve.routes.recordings import ARRAY_LIMIT, gives
from innerview.serve.wire import Name

if TYPE_CHECKING:
    from innerview.rollouts.what_if.sessions import WhatIfSessions

router = APIRouter(prefix="/api/what-if", tags=["what-if"])

Key = Annotated[str, Path(pattern="^[0-9a-f]{24}$")]
Word = Annotated[str, Field(max_length=200)]


class WhatIfRequest(BaseModel):
    """What to do from a recorded row on."""

    model_config = ConfigDict(extra="forbid")

    recording: Name
    row: int
    moves: Annotated[tuple[Move, ...], Field(max_length=4000)] = ()
    go_on: int = 0
    """After the moves, let the subject play up to so many steps, or to the end."""
    since: Annotated[int, Field(ge=0)] = 0
    """Tell nodes from this one on; those before are known."""
    subject: Word | None = None
    """Who plays; the one that was recorded unless said."""
    other: bool = False
    """Go on where subject or world are others than were recorded, or changed since."""


class WhatIfNode(BaseModel):
    """Where a move led."""

    key: str
    """Names it when asking for its pictures and factors."""
    step: int
    do: Does | None
    action: Any
    """What was done to come here: the number of the action, or a list of numbers."""
    thing: str
    """What a thing that was moved is called now."""
    values: dict[str, float | None]
    """Value heads, entropy and estimates by the name of their column."""
    probabilities: list[float | None] | None
    reward: float | None
    ended: str


class WhatIfReply(BaseModel):
    """A rollout: the row where it begins is its node 0."""

    subject: str
    actions: list[str]
    discrete: bool
    nodes: list[WhatIfNode]
    things: list[ThingInView]
    """What can be changed at the last node."""
    why_fixed: str
    """Why nothing can be changed; empty where things can."""
    arrays: list[str]
    """What can be seen at each node."""
    other: list[str]
    """How subject and world differ from those that were recorded."""


@router.post("")
def what_if(body: WhatIfRequest, service: Serving) -> WhatIfReply:
    """What moves lead to from a recorded row: what the subject says at each, and what can be changed at the last."""
    asked = WhatIfJob(recording=body.recording, row=body.row, moves=body.moves, subject=body.subject, other=body.other)
    played = _sessions(service).play(asked, go_on=body.go_on)
    origin = played.origin
    space = origin.world.info.actions
    return WhatIfReply(
        subject=origin.subject.info.name,
        actions=list(space.names),
        discrete=space.kind == "discrete",
        nodes=[_node(node) for node in played.nodes[body.since :]],
        things=list(played.things),
        why_fixed=played.why_fixed,
        arrays=list(origin.form.observations.values()),
        other=list(origin.other),
    )


@router.get("/{key}/arrays/{array}", response_class=Response, responses=gives("application/octet-stream"))
def played_array(key: Key, array: str, service: Serving, count: Annotated[int, Query(ge=1, le=4000)] = 1) -> Response:
    """What was seen at the last nodes up to one, as raw little-endian bytes; shape and type in the headers."""
    return _bytes(_sessions(service).array(key, array, count))


@router.get("/{key}/factors/{result}", response_class=Response, responses=gives("application/octet-stream"))
def played_factors(key: Key, result: str, service: Serving) -> Response:
    """How much of each factor of a result is where at a node, float32 [factors + 1, height, width]; last, the rest."""
    return _bytes(_sessions(service).factors(key, result))


def _sessions(service: Service) -> WhatIfSessions:
    return service.what_ifs.get()


def _node(node: Any) -> WhatIfNode:
    chances = node.probabilities
    return WhatIfNode(
        key=node.key,
        step=node.step,
        do=node.move.do if node.move else None,
        action=plain(node.action.tolist() if isinstance(node.action, np.ndarray) else node.action),
        thing=node.thing,
        values=plain(dict(node.values)),
        probabilities=None if chances is None else plain(chances.tolist()),
        reward=plain(float(node.moment.reward)),
        ended=node.moment.ended,
    )


def _bytes(values: np.ndarray) -> Response:
    if values.nbytes > ARRAY_LIMIT:
        raise TooLarge(f"That is more than {ARRAY_LIMIT} bytes. Ask for fewer nodes at once.")
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    told = {"X-Innerview-Shape": ",".join(map(str, values.shape)), "X-Innerview-Dtype": values.dtype.name}
    return Response(little.tobytes(), media_type="application/octet-stream", headers=told)
