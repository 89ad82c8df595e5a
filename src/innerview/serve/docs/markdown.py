"""Markdown as HTML that is safe to show: no HTML of the writer's own gets through, and links lead where they may."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

PICTURES = "/api/docs-pictures/"


def render(text: str, slug: str = "") -> str:
    """Safe HTML. `slug` is the page's own, from which relative links and pictures are found."""
    html: str = _MARKDOWN.render(text, {"folder": posixpath.dirname(slug)})
    return html.rstrip("\n")


def title_of(text: str, otherwise: str) -> str:
    """The first heading."""
    tokens = _BLOCKS.parse(text)
    return next((tokens[i + 1].content for i, t in enumerate(tokens) if t.type == "heading_open"), otherwise)


def anchor(heading: str) -> str:
    """The id of a heading."""
    return re.sub(r"[^\w]+", "-", heading.lower()).strip("-")


class _Renderer(RendererHTML):
    """Headings have ids; another page of the docs is named in data-doc, and what leads elsewhere is only text."""

    def heading_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return f'<{tokens[at].tag} id="{escape(anchor(tokens[at + 1].content))}">'

    def th_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return f"<{tokens[at].tag}>"  # without a style for its alignment: the page allows none inline

    td_open = th_open

    def link_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        opened = _link(str(tokens[at].attrGet("href")), env["folder"])
        env["open"] = bool(opened)
        return opened

    def link_close(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return "</a>" if env["open"] else ""

    def image(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        alt = escape(self.renderInlineAsText(tokens[at].children, options, env))
        inside = _inside(str(tokens[at].attrGet("src")), env["folder"])
        return alt if inside is None else f'<img src="{PICTURES}{escape(inside)}" alt="{alt}">'


_MARKDOWN = MarkdownIt("commonmark", {"html": False, "xhtmlOut": False}, renderer_cls=_Renderer).enable("table")
_BLOCKS = MarkdownIt("commonmark", {"html": False}).disable("inline")


def _link(target: str, folder: str) -> str:
    """The tag that opens a link; none where it leads nowhere that is known."""
    if target.startswith(("https://", "http://")):
        return f'<a href="{escape(target)}" target="_blank" rel="noopener noreferrer">'
    path, _, place = target.partition("#")
    marks = f' data-anchor="{escape(place)}"' if place else ""
    if path:
        inside = _inside(path, folder)
        if inside is None or not inside.endswith(".md"):
            return ""
        marks += f' data-doc="{escape(inside.removesuffix(".md"))}"'
    return f'<a role="link" tabindex="0"{marks}>' if marks else ""


def _inside(path: str, folder: str) -> str | None:
    """The path from the docs folder, or nothing where it leads elsewhere."""
    whole = posixpath.normpath(posixpath.join(folder, path))
    return None if ":" in path or whole.startswith(("/", "..")) else whole
