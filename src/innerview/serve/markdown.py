"""A small Markdown that lets no HTML through: text is escaped, and only what is known here becomes a tag."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

PICTURES = "/api/docs-pictures/"

_FENCE = re.compile(r"^(`{3,}|~{3,})\s*([\w+-]*)\s*$")
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
_ITEM = re.compile(r"^(\s*)([-*+]|\d{1,6}[.)])\s+(.*)$")
_RULE = re.compile(r"^\s*([-*_])(\s*\1){2,}\s*$")
_TABLE_LINE = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
_CELL_BAR = re.compile(r"(?<!\\)\|")
_INLINE = re.compile(
    r"\\(?P<escaped>[\\`*_{}\[\]()#+.!|<>-])"
    r"|(?P<ticks>`+)(?P<code>.+?)(?P=ticks)(?!`)"
    r"|!\[(?P<alt>[^\]]*)\]\((?P<source>[^\s()]+)\)"
    r"|\[(?P<label>[^\[\]]+)\]\((?P<target>[^\s()]+)(?:\s+\"[^\"]*\")?\)"
    r"|<(?P<address>https?://[^\s<>]+)>"
    r"|\*\*(?P<strong>[^\s*](?:.*?[^\s])?)\*\*"
    r"|(?<![\w*])\*(?P<star>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])"
    r"|(?<!\w)_(?P<low>[^\s_](?:[^_]*[^\s_])?)_(?!\w)",
    re.DOTALL,
)


def render(text: str, slug: str = "") -> str:
    """Safe HTML. `slug` is the page's own, from which relative links and pictures are found."""
    return _Renderer(posixpath.dirname(slug)).blocks(text.expandtabs(4).splitlines())


def title_of(text: str, otherwise: str) -> str:
    """The first heading."""
    found = next((m for line in text.splitlines() if (m := _HEADING.match(line))), None)
    return found.group(2) if found else otherwise


def anchor(heading: str) -> str:
    """The id of a heading."""
    return re.sub(r"[^\w]+", "-", heading.lower()).strip("-")


@dataclass(frozen=True)
class _Renderer:
    folder: str

    def blocks(self, lines: list[str]) -> str:
        return "\n".join(self._blocks(lines))

    def _blocks(self, lines: list[str]) -> Iterator[str]:
        at = 0
        while at < len(lines):
            line = lines[at]
            if not line.strip():
                at += 1
            elif fence := _FENCE.match(line):
                stop = next((i for i in range(at + 1, len(lines)) if lines[i].startswith(fence[1])), len(lines))
                yield _code_block(lines[at + 1 : stop], fence[2])
                at = stop + 1
            elif heading := _HEADING.match(line):
                level = len(heading[1])
                yield f'<h{level} id="{escape(anchor(heading[2]))}">{self.inline(heading[2])}</h{level}>'
                at += 1
            elif _RULE.match(line):
                yield "<hr>"
                at += 1
            else:
                stop = self._end(lines, at)
                yield self._block(lines[at:stop])
                at = stop

    def _end(self, lines: list[str], at: int) -> int:
        """Where the list, quote, table or paragraph that begins here ends."""
        if _ITEM.match(lines[at]):
            return _list_end(lines, at)
        quoted = lines[at].startswith(">")
        for i in range(at + 1, len(lines)):
            line = lines[i]
            other = _FENCE.match(line) or _HEADING.match(line) or line.startswith(">") != quoted
            if not line.strip() or other or (_ITEM.match(line) and not quoted):
                return i
        return len(lines)

    def _block(self, lines: list[str]) -> str:
        if _ITEM.match(lines[0]):
            return self._list(lines)
        if lines[0].startswith(">"):
            return (
                f"<blockquote>{self.blocks([line.removeprefix('>').removeprefix(' ') for line in lines])}</blockquote>"
            )
        if len(lines) > 1 and "|" in lines[0] and _TABLE_LINE.match(lines[1]):
            return self._table(lines)
        return f"<p>{self.inline(chr(10).join(line.strip() for line in lines))}</p>"

    def _list(self, lines: list[str]) -> str:
        first = _ITEM.match(lines[0])
        assert first is not None
        tag = "ol" if first[2][0].isdigit() else "ul"
        items: list[list[str]] = []
        for line in lines:
            item = _ITEM.match(line)
            if item and len(item[1]) <= len(first[1]) + 1:
                items.append([item[3]])
            else:
                items[-1].append(line)
        return f"<{tag}>" + "".join(f"<li>{self._item(item)}</li>" for item in items) + f"</{tag}>"

    def _item(self, lines: list[str]) -> str:
        indent = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
        text = self.blocks([lines[0], *(line[indent:] for line in lines[1:])])
        # A list of single lines is set close, without paragraphs.
        return text.replace("<p>", "", 1).replace("</p>", "", 1) if text.count("<p>") == 1 else text

    def _table(self, lines: list[str]) -> str:
        head, *body = [_cells(line) for i, line in enumerate(lines) if i != 1]
        top = "".join(f"<th>{self.inline(cell)}</th>" for cell in head)
        rows = "".join(
            "<tr>" + "".join(f"<td>{self.inline(c)}</td>" for c in row[: len(head)]) + "</tr>" for row in body
        )
        return f"<table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>"

    def inline(self, text: str) -> str:
        """Escaped text with emphasis, code, links and pictures."""
        out, at = [], 0
        for match in _INLINE.finditer(text):
            out += [escape(text[at : match.start()]), self._mark(match)]
            at = match.end()
        return "".join([*out, escape(text[at:])])

    def _mark(self, match: re.Match[str]) -> str:
        part = match.groupdict()
        if part["escaped"]:
            return escape(part["escaped"])
        if part["code"]:
            return f"<code>{escape(part['code'].strip())}</code>"
        if part["source"]:
            return self._picture(part["source"], part["alt"])
        if part["target"]:
            return self._link(part["target"], self.inline(part["label"]))
        if part["address"]:
            return self._link(part["address"], escape(part["address"]))
        if part["strong"]:
            return f"<strong>{self.inline(part['strong'])}</strong>"
        return f"<em>{self.inline(part['star'] or part['low'])}</em>"

    def _link(self, target: str, label: str) -> str:
        """Another page of the docs is named in data-doc; the page follows it. What is not known is only text."""
        if target.startswith(("https://", "http://")):
            return f'<a href="{escape(target)}" target="_blank" rel="noopener noreferrer">{label}</a>'
        path, _, place = target.partition("#")
        marks = f' data-anchor="{escape(place)}"' if place else ""
        if path:
            inside = self._inside(path)
            if inside is None or not inside.endswith(".md"):
                return label
            marks += f' data-doc="{escape(inside.removesuffix(".md"))}"'
        return f'<a role="link" tabindex="0"{marks}>{label}</a>' if marks else label

    def _picture(self, source: str, alt: str) -> str:
        inside = self._inside(source)
        if inside is None:
            return escape(alt)
        return f'<img src="{PICTURES}{escape(inside)}" alt="{escape(alt)}">'

    def _inside(self, path: str) -> str | None:
        """The path from the docs folder, or nothing where it leads elsewhere."""
        whole = posixpath.normpath(posixpath.join(self.folder, path))
        return None if ":" in path or whole.startswith(("/", "..")) else whole


def _code_block(lines: list[str], language: str) -> str:
    kind = f' class="language-{escape(language)}"' if language else ""
    return f"<pre><code{kind}>{escape(chr(10).join(lines))}</code></pre>"


def _list_end(lines: list[str], at: int) -> int:
    """A list goes on over blank lines as long as what follows is indented or another item."""
    end = at + 1
    for i in range(at + 1, len(lines)):
        line = lines[i]
        after_blank = not lines[i - 1].strip()
        if not line.strip():
            continue
        if not (_ITEM.match(line) or line.startswith("  ") or not after_blank) or _HEADING.match(line):
            break
        end = i + 1
    return end


def _cells(line: str) -> list[str]:
    return [
        cell.strip().replace("\\|", "|") for cell in _CELL_BAR.split(line.strip().removeprefix("|").removesuffix("|"))
    ]
