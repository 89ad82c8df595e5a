"""Puts a page's parts into one file that needs nothing else: no server, no network, no other file."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np

_KINDS = {"float32", "float64", "uint8", "uint16", "int32"}
_ALIGN = 8


def pack(arrays: Mapping[str, np.ndarray]) -> tuple[list[dict[str, Any]], bytes]:
    """Where each array stands, and all of them compressed."""
    told, parts, offset = [], [], 0
    for name, array in arrays.items():
        if array.dtype.name not in _KINDS:
            raise TypeError(f"'{name}' has type {array.dtype.name}; the page reads {', '.join(sorted(_KINDS))}.")
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        told.append({"name": name, "type": array.dtype.name, "shape": list(array.shape), "offset": offset})
        padded = data + bytes(-len(data) % _ALIGN)
        parts.append(padded)
        offset += len(padded)
    return told, gzip.compress(b"".join(parts), 9, mtime=0)


def write_page(
    about: Mapping[str, Any], arrays: Mapping[str, np.ndarray], *, folder: Traversable, scripts: Sequence[str]
) -> str:
    """The page as text, from `page.html`, `style.css` and the scripts of a folder, in that order.

    Data stands in it as data: nothing of it is ever read as markup or code.
    """
    told, packed = pack(arrays)
    style = _part(folder, "style.css")
    script = "(() => {\n'use strict';\n" + "\n".join(_part(folder, f"{name}.js") for name in scripts) + "\n})();\n"
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src blob: data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "title": _text(str(about["title"])),
        "style": style,
        "script": script,
        "about": json.dumps({**about, "arrays": told}, ensure_ascii=True).replace("<", "\\u003c"),
        "bytes": base64.b64encode(packed).decode(),
    }
    page = _part(folder, "page.html")
    # One pass, so that nothing inside a part is taken for a place to put another.
    pieces = page.split("{{")
    whole = pieces[0]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        whole += parts[name] + rest
    return whole


def _part(folder: Traversable, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _text(value: str) -> str:
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
