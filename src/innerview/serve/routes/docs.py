"""The docs, for reading in place."""

from __future__ import annotations

from fastapi import APIRouter, Response

from innerview.schema import to_json
from innerview.serve.context import Serving
from innerview.serve.wire import DocEntry, DocReply

router = APIRouter(prefix="/api", tags=["docs"])


@router.get("/docs")
def docs(service: Serving) -> list[DocEntry]:
    """Every page of the docs."""
    return [DocEntry(slug=page.slug, title=page.title) for page in service.docs.pages()]


@router.get("/docs/{slug:path}")
def doc(slug: str, service: Serving) -> DocReply:
    """One page as safe HTML; links to other pages carry data-doc and data-anchor."""
    return DocReply(**to_json(service.docs.page(slug)))


@router.get("/docs-pictures/{path:path}", response_class=Response)
def doc_picture(path: str, service: Serving) -> Response:
    """A picture of the docs."""
    content, media_type = service.docs.picture(path)
    return Response(content, media_type=media_type, headers={"Cache-Control": "private, max-age=3600"})
