"""The built page: the only files that are given to anybody, each found in a list made beforehand."""

from __future__ import annotations

import html
import threading
from dataclasses import dataclass, field
from pathlib import Path

from fastapi import Response

FOLDER = Path(__file__).resolve().parent.parent / "page"
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
NOT_BUILT = """The page has not been built yet. In a checkout of innerview run
<code>npm ci &amp;&amp; npm run build</code> in the folder <code>web/</code> (or <code>scripts/demo</code>, which does
everything), then load this page again. The data is served already, under <code>/api/</code>."""


@dataclass
class Page:
    """The files of the built page by the path the browser asks for."""

    folder: Path = FOLDER
    _files: dict[str, Path] = field(default_factory=dict)
    _built: int = -1
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def is_public(self, path: str) -> bool:
        """Whether this holds no data: a file of the page, or the door, which asks for a code itself."""
        return path in ("/", "/api/door") or (path != "/index.html" and path in self._listed())

    def index(self) -> Response:
        """The page, or how to build it."""
        file = self._listed().get("/index.html")
        if file is None:
            return note("Not built yet", NOT_BUILT, 200)
        return _file(file, "no-cache")

    def asset(self, path: str) -> Response | None:
        """A file of the page; names under /assets/ carry a digest and so never change."""
        file = self._listed().get(path)
        if file is None or path == "/index.html":
            return None
        return _file(file, "public, max-age=31536000, immutable" if path.startswith("/assets/") else "no-cache")

    def _listed(self) -> dict[str, Path]:
        index = self.folder / "index.html"
        built = index.stat().st_mtime_ns if index.is_file() else 0
        with self._lock:
            if built != self._built:
                self._files, self._built = (_list(self.folder) if built else {}), built
            return self._files


def note(title: str, text_html: str, status: int) -> Response:
    """A plain page with one thing to say."""
    body = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>innerview: {html.escape(title)}</title>'
        '<body style="font:16px/1.5 system-ui,sans-serif;max-width:40em;margin:15vh auto;padding:0 1em;'
        f'color:#222;background:#fafafa"><h1 style="font-size:1.4em">{html.escape(title)}</h1>'
        f"<p>{text_html}</p></body></html>"
    )
    return Response(body, status, {"Cache-Control": "no-store"}, "text/html; charset=utf-8")


def _list(folder: Path) -> dict[str, Path]:
    root = folder.resolve()
    found = (p for p in sorted(root.rglob("*")) if p.is_file() and p.resolve().is_relative_to(root))
    return {"/" + p.relative_to(root).as_posix(): p for p in found if p.suffix in MEDIA_TYPES}


def _file(path: Path, cache: str) -> Response:
    return Response(path.read_bytes(), headers={"Cache-Control": cache}, media_type=MEDIA_TYPES[path.suffix])
