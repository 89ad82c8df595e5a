"""What there is: the study and its recordings."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from fastapi import APIRouter, Request, Response

from innerview.errors import StoreError
from innerview.lenses.columns.vocabulary import vocabulary
from innerview.rollouts.learning.ages import ages
from innerview.schema import Column, Lens, pose_of, targets_of, to_json
from innerview.serve import caching
from innerview.serve.capabilities import capabilities_of
from innerview.serve.context import Service, Serving
from innerview.serve.openings import Opened
from innerview.serve.wire import (
    AgeReply,
    ArrayReply,
    Capabilities,
    DamageReply,
    RecordingReply,
    RecordingSummary,
    SceneReply,
    StudyReply,
    SubjectReply,
)
from innerview.store import Damage

router = APIRouter(prefix="/api", tags=["study"])


@router.get("/study")
def study(service: Serving) -> StudyReply:
    """The study, its recordings and what is damaged."""
    summaries: list[RecordingSummary] = []
    damage = _damage(service.damage())
    for name in service.study.recordings():
        try:
            opened = service.open(name)
        except StoreError as problem:
            damage += _damage([Damage(f"recordings/{name}", str(problem))])
            continue
        summaries.append(_summary(opened, _capabilities(opened, service)))
    return StudyReply(
        name=service.study.name,
        version=_version(),
        recordings=summaries,
        damage=damage,
        live_subjects=list(service.subjects),
        live_worlds=list(service.worlds),
        hidable={name: list(getattr(world, "hidable", ())) for name, world in service.worlds.items()},
    )


@router.get("/vocabulary")
def known_names(service: Serving) -> dict[str, list[str]]:
    """The names that the recordings know by kind, such as actions and objects; a new recording adds at the end."""
    opened: list[Opened] = []
    for name in service.study.recordings():
        with contextlib.suppress(StoreError):  # the study tells what cannot be opened
            opened.append(service.open(name))
    opened.sort(key=lambda each: (each.recording.info.created_at, each.recording.info.name))
    return vocabulary(each.derived(service.study) for each in opened)


@router.get("/subjects/{name}")
def live_subject(name: str, service: Serving) -> SubjectReply:
    """A live subject; the first time this may take as long as loading it does."""
    info = service.context.subject(name).info
    return SubjectReply.model_validate({"info": to_json(info), "targets": targets_of(info.heads)})


@router.get("/ages")
def known_ages(service: Serving) -> list[AgeReply]:
    """Subjects at several steps of their training, by run and step; the first time this loads the live ones."""
    if not service.subjects:
        return []
    return [AgeReply(**to_json(aged)) for aged in ages(service.study, service.subjects)]


@router.get("/recordings/{name}")
def recording(name: str, service: Serving) -> RecordingReply:
    """A recording's columns, those that can be made from them, its arrays and where it comes from."""
    opened = service.open(name)
    return _describe(opened, opened.derived(service.study).specs, _capabilities(opened, service))


@router.get("/recordings/{name}/scenes/{key}", response_model=SceneReply)
def scene(name: str, key: str, request: Request, response: Response, service: Serving) -> Any:
    """The walls and things of one scene."""
    opened = service.open(name)
    if kept := caching.unchanged(request, opened.etag):
        return kept
    response.headers.update(caching.headers(request, opened.etag))
    return to_json(opened.recording.scene(key))


@router.get("/recordings/{name}/scenes/{key}/map")
def map_image(name: str, key: str, request: Request, service: Serving) -> Response:
    """The picture of a scene's map."""
    opened = service.open(name)
    if kept := caching.unchanged(request, opened.etag):
        return kept
    content = opened.recording.map_image(key)
    kind = "image/png" if content.startswith(b"\x89PNG") else "image/jpeg"
    return Response(content, media_type=kind, headers=caching.headers(request, opened.etag))


@router.get("/lenses")
def lenses(service: Serving) -> list[Lens]:
    """Every lens and what it takes."""
    return list(service.lenses)


def _capabilities(opened: Opened, service: Service) -> Capabilities:
    return capabilities_of(opened.recording.info, lenses=service.lenses, live=bool(service.subjects))


def _version() -> str:
    try:
        return version("innerview")
    except PackageNotFoundError:
        return "unpacked"


def _damage(found: list[Damage]) -> list[DamageReply]:
    return [DamageReply(part=d.part, problem=d.problem) for d in found]


def _summary(opened: Opened, capabilities: Capabilities) -> RecordingSummary:
    recording, info = opened.recording, opened.recording.info
    return RecordingSummary(
        name=info.name,
        rows=recording.rows,
        row=info.row,
        groups=recording.group_count,
        complete=recording.complete,
        subject=info.subject.name if info.subject else None,
        world=info.world.name if info.world else None,
        origin=info.origin,
        created_at=info.created_at,
        damage=_damage(opened.damage()),
        of=info.of,
        capabilities=capabilities,
    )


def _describe(opened: Opened, derived: Sequence[Column], capabilities: Capabilities) -> RecordingReply:
    recording, info = opened.recording, opened.recording.info
    return RecordingReply.model_validate(
        {
            **{k: v for k, v in to_json(info).items() if k in RecordingReply.model_fields},
            "columns": to_json([*info.columns, *derived]),
            "pose": pose_of(info.columns),
            "rows": recording.rows,
            "complete": recording.complete,
            "arrays": [ArrayReply(**to_json(a), is_image=a.is_image) for a in info.arrays],
            "groups": recording.group_count,
            "damage": _damage(opened.damage()),
            "etag": opened.etag,
            "capabilities": capabilities,
            "of": info.of,
            "edits": to_json(info.edits),
            "other": info.other,
        }
    )
