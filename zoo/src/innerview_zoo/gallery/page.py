"""Writes the gallery: one page that opens from a file."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np
from PIL import Image

from innerview.lenses.video.colours import laid_over
from innerview_zoo.gallery.claims import Finding

_STYLE = """
:root { color-scheme: light dark; --ground: #fff; --ink: #1c1f24; --quiet: #667; --line: #d6d9de; }
@media (prefers-color-scheme: dark) { :root { --ground: #14161a; --ink: #e8eaee; --quiet: #9aa; --line: #333942; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 76rem; padding: 2rem 1.5rem 4rem;
  background: var(--ground); color: var(--ink); }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
table { border-collapse: collapse; } .wide { overflow-x: auto; }
th, td { padding: .35rem .7rem .35rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { font-weight: 600; } figure { margin: 0; width: 8.6rem; }
figure img { width: 100%; image-rendering: pixelated; display: block; }
figcaption, .quiet { color: var(--quiet); font-size: .8rem; line-height: 1.3; }
.verdict { font-weight: 600; } article { border-top: 1px solid var(--line); margin-top: 1.5rem; padding-top: .5rem; }
"""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One map of one step."""

    map_hw: np.ndarray
    frame_hw: np.ndarray
    """uint8: the frame that it is laid over."""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """One of the paper's tables; None where it has no cell."""

    title: str
    words: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell | None]]]


def painted(cell: Cell) -> np.ndarray:
    """uint8 [height, width, 3]: the frame at half its brightness, green where the map is positive, else red."""
    full, picture = float(np.abs(cell.map_hw).max()), np.repeat(cell.frame_hw[..., None], 3, axis=2)
    return laid_over(picture, cell.map_hw, full, "green and red", 0.5)


def write(path: Path, *, intro: Sequence[str], tables: Sequence[Table], findings: Sequence[Finding]) -> None:
    """The whole page, with every picture inside."""
    parts = ["<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"]
    parts.append(f"<title>Gallery of saliency maps</title><style>{_STYLE}</style>")
    parts.append("<h1>Where do these agents look?</h1>")
    parts += [f"<p>{escape(line)}</p>" for line in intro]
    parts += [_table(table) for table in tables]
    parts.append("<h2>What the paper says, and what is measured here</h2>")
    parts += [_finding(finding) for finding in findings]
    part = path.with_name(path.name + ".part")
    part.write_text("\n".join(parts), encoding="utf-8")
    part.replace(path)


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", *table.columns))
    lines = []
    for name, cells in table.rows:
        figures = "".join(f"<td>{_figure(cell)}</td>" for cell in cells)
        lines.append(f"<tr><th>{escape(name)}</th>{figures}</tr>")
    title, words = escape(table.title), escape(table.words)
    return f"<h2>{title}</h2><p>{words}</p><div class=wide><table><tr>{head}</tr>{''.join(lines)}</table></div>"


def _figure(cell: Cell | None) -> str:
    if cell is None:
        return ""
    stream = io.BytesIO()
    Image.fromarray(painted(cell)).save(stream, "PNG", optimize=True)
    data = base64.b64encode(stream.getvalue()).decode()
    largest = float(np.abs(cell.map_hw).max())
    said = f"full colour at {largest:.2g}" if largest > 0 else "empty: 0 everywhere"
    note = f"; {escape(cell.note)}" if cell.note else ""
    return f"<figure><img alt='' src='data:image/png;base64,{data}'><figcaption>{said}{note}</figcaption></figure>"


def _finding(finding: Finding) -> str:
    claim = finding.claim
    head = "".join(f"<th>{escape(name)}</th>" for name in finding.head)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(value)}</td>' for value in line)}</tr>" for line in finding.lines)
    return (
        f"<article><p><b>{escape(claim.text)}</b> <span class=quiet>{escape(claim.where)}</span><br>"
        f"<span class=verdict>Measured here: {finding.verdict}.</span> {escape(claim.question)}</p>"
        f"<div class=wide><table><tr>{head}</tr>{lines}</table></div></article>"
    )
