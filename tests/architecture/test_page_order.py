"""The page keeps an order of its own: marks draw, state remembers, api fetches, views show, workspaces arrange."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .tree import WEB, WebImport, cycle, web_modules

MAY_IMPORT = {
    "api": {"api"},
    "state": {"api", "state"},
    "marks": {"marks"},
    "views": {"api", "state", "marks", "views"},
    "workspaces": {"api", "state", "marks", "views", "workspaces"},
    "shell": {"api", "state", "marks", "views", "workspaces", "shell"},
}
SHARED_VIEW = "frame"
OF_ITS_VIEWS = ("state/memory/", "state/vision/", "state/ablation/", "state/whatif/")
"""State that views of one workspace share: a view may not import a workspace, so it stands in a folder of its own."""
SHARED = ("state/", "shell/", "views/frame/", "views/results/")
FETCHING = re.compile(r"\bfetch\(|\bnew (?:WebSocket|EventSource|XMLHttpRequest)\b")

TOLD_APART = re.compile(r"""\bworkspace(?:\.name)?\s*(?:[!=]==?|=)\s*["'](\w+)["']""")

Imports = Mapping[str, Sequence[WebImport]]


def wrong_order(imports: Imports) -> Iterator[str]:
    for path, targets in imports.items():
        room = path.partition("/")[0]
        for target in targets:
            goal = target.goal.partition("/")[0]
            if "/" not in path or "/" not in target.goal or goal in MAY_IMPORT[room]:
                continue
            if not (target.only_types and (room, goal) == ("marks", "api")):
                yield f"{path} imports {target.goal}"


def views_that_know_each_other(imports: Imports) -> Iterator[str]:
    for path, targets in imports.items():
        for target in targets:
            if path.startswith("views/") and target.goal.startswith("views/"):
                here, there = path.split("/")[1], target.goal.split("/")[1]
                if there not in (here, SHARED_VIEW):
                    yield f"{path} imports {target.goal}"


def named_workspaces(imports: Imports) -> Iterator[str]:
    """Imports of a workspace from outside its folder: only the registry's glob may know it."""
    for path, targets in imports.items():
        for target in targets:
            if target.goal.startswith("workspaces/") and target.goal.count("/") > 1:
                folder = "/".join(target.goal.split("/")[:2])
                if not path.startswith(f"{folder}/"):
                    yield f"{path} imports {target.goal}"


def state_of_some_views(imports: Imports) -> Iterator[str]:
    """What every workspace uses, with the state of the views of one: a page without that workspace would break."""
    for path, targets in imports.items():
        if path.startswith(SHARED) and not path.startswith(OF_ITS_VIEWS):
            yield from (f"{path} imports {t.goal}" for t in targets if t.goal.startswith(OF_ITS_VIEWS))


def told_apart(web: Path = WEB) -> list[str]:
    """Code that asks which workspace is open by its name."""
    sources = [p for p in sorted(web.rglob("*")) if p.suffix in (".ts", ".svelte") and ".test." not in p.name]
    return [
        f"{path.relative_to(web).as_posix()} names {name}"
        for path in sources
        for name in TOLD_APART.findall(path.read_text("utf-8"))
    ]


def test_nothing_names_a_workspace_but_its_folder() -> None:
    assert not list(named_workspaces(web_modules()))
    assert not told_apart()


def test_what_all_workspaces_use_knows_no_state_of_one() -> None:
    assert all((WEB / folder).is_dir() for folder in (*OF_ITS_VIEWS, *SHARED))
    assert not list(state_of_some_views(web_modules()))


def test_every_folder_has_its_place() -> None:
    assert {path.partition("/")[0] for path in web_modules() if "/" in path} <= set(MAY_IMPORT)


def test_the_page_imports_in_order() -> None:
    assert not list(wrong_order(web_modules()))


def test_views_never_talk_to_each_other() -> None:
    assert not list(views_that_know_each_other(web_modules()))


def test_there_is_no_import_cycle() -> None:
    running = {path: {t.goal: 0 for t in targets if not t.only_types} for path, targets in web_modules().items()}
    assert not cycle(running)


def test_only_api_fetches() -> None:
    sources = [p for p in WEB.rglob("*") if p.suffix in (".ts", ".svelte") and ".test." not in p.name]
    assert not [
        str(p.relative_to(WEB))
        for p in sources
        if p.relative_to(WEB).parts[0] != "api" and FETCHING.search(p.read_text("utf-8"))
    ]


def test_the_rules_see_what_is_wrong(tmp_path: Path) -> None:
    files = {
        "marks/a.ts": 'import type { X } from "../api/model";\nimport { y } from "../state/y";\n',
        "marks/b.ts": 'import { type X, z } from "../api/model";\n',
        "marks/c.ts": 'import { type X } from "../api/model";\nimport "svelte";\n',
        "state/y.ts": 'export { q } from "../views/map/q";\n',
        "views/map/q.ts": 'import Frame from "../frame/View.svelte";\nimport\n  List\nfrom "../list/List.svelte";\n',
        "workspaces/a/index.ts": 'import { b } from "../b/state";\n',
        "shell/App.svelte": '<script>\n  import { w } from "../workspaces/registry";\n</script>\n',
        "views/list/List.svelte": '<script>\n  const q = import("../map/q");\n</script>\n',
    }
    files["state/memory/m.ts"] = 'import { v } from "../vision/v";\n'
    files["state/time/t.ts"] = 'import type { I } from "../memory/m";\n'
    files["views/frame/Run.svelte"] = '<script>\n  import { v } from "../../state/vision/v";\n</script>\n'
    files["views/memory/V.svelte"] = '<script>\n  import { m } from "../../state/memory/m";\n</script>\n'
    files["shell/keys.ts"] = 'if (session.workspace === "memory") go();\n'
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    imports = web_modules(tmp_path)
    assert list(wrong_order(imports)) == [
        "marks/a.ts imports state/y.ts",
        "marks/b.ts imports api/model",
        "state/y.ts imports views/map/q.ts",
    ]
    assert list(views_that_know_each_other(imports)) == [
        "views/list/List.svelte imports views/map/q.ts",
        "views/map/q.ts imports views/list/List.svelte",
    ]
    assert list(named_workspaces(imports)) == ["workspaces/a/index.ts imports workspaces/b/state"]
    assert sorted(state_of_some_views(imports)) == [
        "state/time/t.ts imports state/memory/m.ts",
        "views/frame/Run.svelte imports state/vision/v",
    ]
    assert told_apart(tmp_path) == ["shell/keys.ts names memory"]
