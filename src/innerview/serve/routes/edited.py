"""Subjects whose weights were edited: made, listed, renamed, removed, and their weights to take away."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path
from fastapi.responses import FileResponse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from innerview import store
from innerview.errors import RequestError
from innerview.interventions.edited import rename
from innerview.schema import NamedFactor, to_json
from innerview.schema.edit import WeightOperation
from innerview.serve.context import Service, Serving
from innerview.serve.routes.recordings import gives
from innerview.store import Edited, edited_subjects, load_edited, weights_file

router = APIRouter(prefix="/api/edited", tags=["edited"])

Title = Annotated[str, StringConstraints(min_length=1, max_length=80)]
Named = Annotated[str, Path(max_length=200)]


class EditLine(BaseModel):
    """One edit of a history, without its directions."""

    kind: Literal["weights"]
    op: WeightOperation
    of: str
    layer: str
    after: str
    result: str
    factors: list[NamedFactor]
    made: str


class EditedReply(BaseModel):
    """An edited subject: the edit that made it, and all of them, oldest first."""

    name: str
    of: str
    made: str
    layer: str
    after: str
    result: str
    factors: list[NamedFactor]
    identity: str
    """An ablation test of another subject under the same name is not about it."""
    live: bool
    """Whether it can be run here: the subject it was first made of is live."""
    history: list[EditLine]


class EditedList(BaseModel):
    """Every edited subject, oldest first."""

    edited: list[EditedReply]


class AblateRequest(BaseModel):
    """Which factors of a result to ablate."""

    model_config = ConfigDict(extra="forbid")

    recording: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    result: Annotated[str, StringConstraints(min_length=1, max_length=80)]
    factors: Annotated[list[int], Field(max_length=64)]
    name: Title | None = None
    subject: Annotated[str, StringConstraints(max_length=200)] | None = None
    """The live subject to ablate from; the one that the recording was made with where left out."""


class RenameRequest(BaseModel):
    """A new name."""

    model_config = ConfigDict(extra="forbid")

    name: Title


@router.get("")
def edited(service: Serving) -> EditedList:
    """Every edited subject of the study, oldest first."""
    return EditedList(edited=[_reply(service, each) for each in edited_subjects(service.study)])


@router.post("", status_code=201)
def make_edited(body: AblateRequest, service: Serving) -> EditedReply:
    """Ablate factors of a result from a live subject, and keep it under a name."""
    from innerview.interventions.ablation import choose, make_ablated

    choice = choose(service.study, body.result, body.factors)
    subject = service.context.subject(body.subject, service.open(body.recording).recording)
    made = make_ablated(service.study, subject, choice, name=body.name)
    return _reply(service, made)


@router.patch("/{name}")
def rename_edited(name: Named, body: RenameRequest, service: Serving) -> EditedReply:
    """Give an edited subject another name, as long as nothing else was made with it."""
    if body.name in service.subjects and body.name != name:
        raise RequestError(f"A live subject is called '{body.name}' already. Choose another name.")
    return _reply(service, rename(service.study, name, body.name))


@router.delete("/{name}")
def drop_edited(name: Named, service: Serving) -> EditedList:
    """Remove an edited subject; what was recorded and tested with it stays."""
    store.drop_edited(service.study, name)
    return edited(service)


@router.get("/{name}/weights", response_class=FileResponse, responses=gives("application/octet-stream"))
def edited_weights(name: Named, service: Serving) -> FileResponse:
    """The weights as safetensors, to be loaded into the same module elsewhere."""
    path = weights_file(service.study, load_edited(service.study, name).name)
    return FileResponse(path, media_type="application/octet-stream", filename=f"{name}.safetensors")


def _reply(service: Service, each: Edited) -> EditedReply:
    history = [{key: value for key, value in to_json(line).items() if key != "directions"} for line in each.history]
    told = {"name": each.name, "identity": each.info.identity, "live": each.name in service.subjects}
    return EditedReply.model_validate({**told, "history": history, **history[-1]})
