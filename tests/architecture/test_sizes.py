"""Small files and functions, rooms that say what they are for, no room for odds and ends."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from .tree import ROOT, SOURCE, Module, modules, repository_files

LONGEST_FILE = 500
LONGEST_FUNCTION = 60
CODE = {".py", ".ts", ".svelte", ".css", ".js"}
GENERATED = {"web/src/api/types.ts"}
MAX_FILES = 15
ODDS_AND_ENDS = {"utils", "util", "helpers", "common", "misc", "lib"}


def code_files() -> list[Path]:
    return [
        path
        for path in repository_files()
        if path.suffix in CODE and path.relative_to(ROOT).as_posix() not in GENERATED
    ]


def long_functions(module: Module) -> list[str]:
    return [
        f"{module.line(f)}: {f.name} has {f.end_lineno - f.lineno + 1} lines"
        for f in module.functions()
        if f.end_lineno is not None and f.end_lineno - f.lineno + 1 > LONGEST_FUNCTION
    ]


def test_no_file_is_too_long() -> None:
    sizes = {path: len(path.read_text("utf-8").splitlines()) for path in code_files()}
    assert sizes
    long = [f"{path.relative_to(ROOT)}: {size} lines" for path, size in sizes.items() if size > LONGEST_FILE]
    assert not long, f"Over {LONGEST_FILE} lines; find the noun that is missing: {long}"


def test_no_function_is_too_long() -> None:
    files = {path for path in code_files() if path.suffix == ".py"}
    everywhere = [Module(str(p.relative_to(ROOT)), p, p.read_text("utf-8")) for p in files]
    assert not [problem for module in everywhere for problem in long_functions(module)]


def test_a_long_function_is_seen(tmp_path: Path) -> None:
    body = "\n".join("    x = 1" for _ in range(LONGEST_FUNCTION))
    assert long_functions(Module("m", tmp_path / "m.py", f"def f():\n{body}\n")) == [
        f"m:1: f has {LONGEST_FUNCTION + 1} lines"
    ]
    assert not long_functions(Module("m", tmp_path / "m.py", f"def f():\n{body[: body.rfind(chr(10))]}\n"))


@pytest.mark.parametrize("top", ["src", "web/src", "tests"])
def test_no_room_for_odds_and_ends(top: str) -> None:
    named = [p for p in repository_files() if p.is_relative_to(ROOT / top)]
    assert not [p for p in named if ODDS_AND_ENDS & {*p.relative_to(ROOT).parts, p.name.partition(".")[0]}]


def test_every_room_says_what_lives_there() -> None:
    found = modules()
    packages = [name for name, module in found.items() if module.path.name == "__init__.py"]
    assert not [name for name in packages if not ast.get_docstring(found[name].tree)]
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    assert not [str(f.relative_to(ROOT)) for f in folders if not (f / "__init__.py").is_file()], "without __init__.py"


def crowded(top: Path) -> list[str]:
    """Folders of code with more at their top than a reader can hold; tests beside what they test do not count."""
    files = (path for path in top.rglob("*") if path.suffix in CODE - {".css"} and "__init__" not in path.name)
    counts = Counter(path.parent for path in files if not {".test", ".d"} & {*path.suffixes})
    return sorted(f"{folder.relative_to(top)}: {count}" for folder, count in counts.items() if count > MAX_FILES)


def test_no_room_is_crowded() -> None:
    rooms = (SOURCE, ROOT / "zoo" / "src" / "innerview_zoo", ROOT / "web" / "src")
    assert not [problem for top in rooms for problem in crowded(top)]


def test_a_crowded_room_is_seen(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    for number in range(MAX_FILES + 1):
        (tmp_path / "room" / f"noun{number}.py").touch()
    assert crowded(tmp_path) == [f"room: {MAX_FILES + 1}"]
