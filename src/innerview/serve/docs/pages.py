"""The docs that come with innerview: found in a list made beforehand, so that no request names a file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from innerview.errors import UnknownName
from innerview.serve.docs.markdown import render, title_of

# Inside an installed package, or beside src/ in a checkout.
PACKAGE = Path(__file__).resolve().parents[2]
FOLDERS = (PACKAGE / "docs", PACKAGE.parents[1] / "docs")
PICTURE_TYPES = {".png": "image/png", ".webp": "image/webp", ".jpg": "image/jpeg", ".gif": "image/gif"}


@dataclass(frozen=True, kw_only=True)
class DocPage:
    """One page."""

    slug: str
    title: str
    html: str = ""


class Docs:
    """Every page and picture of the docs folder; files are listed once, and read when asked for."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or next((f for f in FOLDERS if f.is_dir()), FOLDERS[0])

    def pages(self) -> list[DocPage]:
        """Slug and title of every page."""
        return [DocPage(slug=slug, title=title_of(_text(file), slug)) for slug, file in self._pages.items()]

    def page(self, slug: str) -> DocPage:
        """One page as safe HTML."""
        if slug not in self._pages:
            raise UnknownName("page of the docs", slug, self._pages)
        text = _text(self._pages[slug])
        return DocPage(slug=slug, title=title_of(text, slug), html=render(text, slug))

    def picture(self, path: str) -> tuple[bytes, str]:
        """A picture of the docs and its type."""
        if path not in self._pictures:
            raise UnknownName("picture of the docs", path, self._pictures)
        file = self._pictures[path]
        return file.read_bytes(), PICTURE_TYPES[file.suffix]

    @cached_property
    def _files(self) -> dict[str, Path]:
        root = self.folder.resolve()
        inside = (p for p in sorted(root.rglob("*")) if p.is_file() and p.resolve().is_relative_to(root))
        return {p.relative_to(root).as_posix(): p for p in inside}

    @cached_property
    def _pages(self) -> dict[str, Path]:
        return {name.removesuffix(".md"): p for name, p in self._files.items() if p.suffix == ".md"}

    @cached_property
    def _pictures(self) -> dict[str, Path]:
        return {name: p for name, p in self._files.items() if p.suffix in PICTURE_TYPES}


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")
