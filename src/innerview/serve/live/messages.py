"""What goes over the live connection, both ways; the page's types are made from these."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from innerview.rollouts.calls import ForwardCall, LensCall
from innerview.schema import ObjectInView
from innerview.serve.arguments import model_of
from innerview.serve.wire import ErrorBody, JobReply, Name


class LiveRequest(BaseModel):
    """One call; a newer one on the same channel replaces it."""

    model_config = ConfigDict(extra="forbid")

    id: int
    channel: Name
    call: Name
    arguments: dict[str, Any] = {}


class BinaryHead(BaseModel):
    """What the binary message that follows holds: little-endian numbers, row by row."""

    shape: list[int]
    dtype: str


class LiveAnswer(BaseModel):
    """What a call gave."""

    id: int
    channel: str
    ok: Literal[True]
    value: Any
    binary: BinaryHead | None = None
    """Where it gave an array, too."""


class LiveStale(BaseModel):
    """A newer request took this one's place."""

    id: int
    channel: str
    ok: Literal[False]
    stale: Literal[True]


class LiveFailure(BaseModel):
    """What went wrong; of no request in particular where it could not be read."""

    id: int | None = None
    channel: str | None = None
    ok: Literal[False]
    error: ErrorBody


class JobNews(BaseModel):
    """How a job stands now."""

    event: Literal["job"]
    job: JobReply


LiveMessage = LiveAnswer | LiveStale | LiveFailure | JobNews


def beside_routes() -> dict[str, Any]:
    """JSON schemas of what the page reads and sends beside the bodies of requests, by name."""
    sent: tuple[Any, ...] = (LiveRequest, model_of(LensCall), model_of(ForwardCall))
    received: tuple[Any, ...] = (LiveMessage, ObjectInView)
    kinds: list[Any] = [(kind, "validation", TypeAdapter(kind)) for kind in sent]
    kinds += [(kind, "serialization", TypeAdapter(kind)) for kind in received]
    _, schema = TypeAdapter.json_schemas(kinds, ref_template="#/components/schemas/{model}")
    found: dict[str, Any] = schema["$defs"]
    return found
