"""Mazes that somebody else drew: JSON files with walls, items, spawn and outline in map units."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from innerview.errors import WorldError
from innerview_zoo.worlds.kitems.mazes import ITEMS, LAYOUT_ITEMS, Maze, maze_from_layout

_NEEDED = ("walls", "items", "spawn", "exterior")


def read_layouts(given: str | Path | Sequence[str | Path]) -> dict[str, Maze]:
    """Mazes by name, from files or from every .json of a folder and the folders in it, in the order of their names."""
    paths = [Path(given)] if isinstance(given, str | Path) else [Path(path) for path in given]
    files: list[Path] = []
    for path in paths:
        found = sorted(path.expanduser().rglob("*.json")) if path.is_dir() else [path]
        if not found:
            raise WorldError(f"There is no layout in {path}: it holds no .json file.")
        files += found
    if not files:
        raise WorldError("layouts names a folder of .json files or a list of them, and is empty.")
    names = [file.stem for file in files]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise WorldError(f"Two layouts are called '{twice[0]}'. Give them different names.")
    return {name: _read(file) for name, file in zip(names, files, strict=True)}


def _read(file: Path) -> Maze:
    try:
        layout = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise WorldError(f"There is no layout at {file}.") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise WorldError(f"{file.name} is no JSON: {error}") from error
    missing = [key for key in _NEEDED if not isinstance(layout, Mapping) or key not in layout]
    if missing:
        raise WorldError(f"{file.name} is no layout: it lacks {', '.join(missing)}. A layout has {', '.join(_NEEDED)}.")
    try:
        maze = maze_from_layout(layout)
    except (TypeError, ValueError, IndexError) as error:
        raise WorldError(f"{file.name} is no layout: {error}.") from error
    except KeyError as error:
        known = ", ".join(f"{letter} ({ITEMS[place]})" for letter, place in LAYOUT_ITEMS.items())
        raise WorldError(f"{file.name} has an item {error}; there are {known}.") from error
    _check(file, maze, layout)
    return maze


def _check(file: Path, maze: Maze, layout: Mapping[str, Any]) -> None:
    if not 2 <= maze.size <= 32:
        raise WorldError(f"{file.name} is {maze.size} cells wide; a maze has 2 to 32, of 160 map units each.")
    if not maze.items:
        raise WorldError(f"{file.name} has no items to gather.")
    kinds = [name for _, _, name in layout["items"]]
    if sorted(LAYOUT_ITEMS[kind] for kind in kinds) != list(range(len(kinds))):
        raise WorldError(
            f"{file.name} has items {', '.join(kinds)}; they must be the first of {', '.join(LAYOUT_ITEMS)}."
        )
