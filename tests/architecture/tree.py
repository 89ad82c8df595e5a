"""What the rules look at: the Python modules of the package, the modules of the page, the files of the repository."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "innerview"
ZOO = ROOT / "zoo" / "src" / "innerview_zoo"
WEB = ROOT / "web" / "src"
PACKAGE = "innerview"
HOME = re.compile(rf"{PACKAGE}\.[\w.]+:\w+")


@dataclass(frozen=True)
class Module:
    """One Python file of the package."""

    name: str
    path: Path
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Everything in the tree; each rule goes through all of it."""
        return tuple(ast.walk(self.tree))

    @property
    def room(self) -> str:
        """The part of the name after the package's; empty for the package itself."""
        return self.name.partition(".")[2].partition(".")[0]

    def line(self, node: ast.AST) -> str:
        return f"{self.name}:{getattr(node, 'lineno', 0)}"

    def imports(self) -> Iterator[tuple[ast.AST, str, tuple[str, ...]]]:
        """Every import, also inside functions and by name at run time: where, the absolute module, the names taken."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield node, alias.name, ()
            elif isinstance(node, ast.ImportFrom):
                yield node, self._absolute(node), tuple(alias.name for alias in node.names)
            elif isinstance(node, ast.Call) and (named := _named_at_runtime(node)) is not None:
                yield node, named, ()

    def homes(self) -> Iterator[tuple[ast.AST, str]]:
        """Modules of the package that a text names as `module:thing`, to be loaded later."""
        for node in self.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and HOME.fullmatch(node.value):
                yield node, node.value.partition(":")[0]

    def calls(self) -> Iterator[tuple[ast.Call, str]]:
        """Every call with the dotted name of what is called; `.name` where that is an expression."""
        for node in self.nodes:
            if isinstance(node, ast.Call):
                yield node, dotted(node.func)

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.name.split(".") if self.path.name == "__init__.py" else self.name.split(".")[:-1]
        base = parts[: len(parts) - node.level + 1]
        return ".".join([*base, *([node.module] if node.module else [])])


def _named_at_runtime(call: ast.Call) -> str | None:
    """The module that `import_module("…")` or `__import__("…")` asks for; what cannot be read from the text is `?`."""
    if dotted(call.func).rpartition(".")[2] not in ("import_module", "__import__") or not call.args:
        return None
    name = call.args[0]
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        return name.value
    return "?"


def dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return f"{dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else ""


@cache
def modules(source: Path = SOURCE) -> Mapping[str, Module]:
    """The Python modules of the package by name, read once."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join([PACKAGE, *(parts[:-1] if parts[-1] == "__init__" else parts)])
        found[name] = Module(name, path, path.read_text("utf-8"))
    return found


def zoo_modules() -> tuple[Module, ...]:
    """The Python modules of the zoo."""
    found = sorted(ZOO.rglob("*.py"))
    assert found
    return tuple(Module(path.relative_to(ZOO.parent).as_posix(), path, path.read_text("utf-8")) for path in found)


def edges(known: Mapping[str, Module]) -> dict[str, dict[str, str]]:
    """Who imports whom inside the package, with the line: a name that is itself a module counts as that module."""
    graph: dict[str, dict[str, str]] = {name: {} for name in known}
    for module in known.values():
        for node, target, names in module.imports():
            if target.partition(".")[0] != PACKAGE:
                continue
            inner = {f"{target}.{name}" for name in names if f"{target}.{name}" in known}
            whole = {target} if not names or len(inner) < len(names) else set()
            for goal in (inner | whole) & known.keys():
                graph[module.name].setdefault(goal, module.line(node))
    return graph


def cycle(graph: Mapping[str, Mapping[str, object]]) -> list[str]:
    """One cycle of a graph, or nothing."""
    state: dict[str, int] = {}

    def walk(node: str, trail: list[str]) -> list[str]:
        state[node] = 1
        for goal in graph.get(node, {}):
            if state.get(goal) == 1:
                return [*trail[trail.index(goal) :], goal]
            if goal not in state and (found := walk(goal, [*trail, goal])):
                return found
        state[node] = 2
        return []

    return next((found for node in graph if node not in state and (found := walk(node, [node]))), [])


IMPORT = re.compile(r"""(?:^|[;\n])\s*(?:import|export)\s+(type\s+)?([^"';]*?from\s*)?["']([^"']+)["']""")
DYNAMIC = re.compile(r"""\bimport\(\s*["']([^"']+)["']\s*\)""")


@dataclass(frozen=True)
class WebImport:
    """One import of a page module: what is imported, and whether only types are."""

    goal: str
    only_types: bool


def web_modules(web: Path = WEB) -> dict[str, list[WebImport]]:
    """Imports of every module of the page, by path below web/src; packages are left out."""
    found: dict[str, list[WebImport]] = {}
    for path in sorted(web.rglob("*")):
        if path.suffix in (".ts", ".svelte") and ".test." not in path.name:
            found[path.relative_to(web).as_posix()] = list(_web_imports(path, web))
    return found


def _web_imports(path: Path, web: Path) -> Iterator[WebImport]:
    text = path.read_text("utf-8")
    told = [(m[3], bool(m[1]) or _only_types(m[2] or "")) for m in IMPORT.finditer(text)]
    told += [(m[1], False) for m in DYNAMIC.finditer(text)]
    for target, only_types in told:
        if target.startswith("."):
            goal = (path.parent / target).resolve()
            if goal.is_relative_to(web.resolve()):
                yield WebImport(_web_file(goal, web.resolve()), only_types)


def _only_types(clause: str) -> bool:
    inside = re.search(r"\{(.*)\}", clause, re.DOTALL)
    names = [name.strip() for name in inside[1].split(",") if name.strip()] if inside else []
    return bool(names) and clause.strip().startswith("{") and all(name.startswith("type ") for name in names)


def _web_file(goal: Path, web: Path) -> str:
    for file in (goal, goal.with_name(goal.name + ".ts"), goal / "index.ts"):
        if file.is_file():
            return file.relative_to(web).as_posix()
    return goal.relative_to(web).as_posix()


def repository_files(root: Path = ROOT) -> list[Path]:
    """Files under version control; in an unpacked archive, every file that is no build output."""
    if (root / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
        return [path for name in listed.split("\0") if name and (path := root / name).is_file()]
    out = {".venv", "node_modules", "page", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", "dist"}
    return [p for p in sorted(root.rglob("*")) if p.is_file() and not out & set(p.relative_to(root).parts)]
