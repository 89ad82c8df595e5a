"""Whatever a person can look at has a page that says what it shows and how it misleads."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

from .tree import ROOT, WEB

DOCS = ROOT / "docs"
LINK = re.compile(r"\[[^\]]*\]\(([^)\s#]+)(?:#[^)]*)?\)")


def missing(wanted: set[str]) -> list[str]:
    return sorted(name for name in wanted if not (DOCS / f"{name}.md").is_file())


def test_every_view_has_its_page() -> None:
    folders = {path.parent.name for path in (WEB / "views").glob("*/*.svelte")} - {"frame"}
    assert folders
    named = {
        name
        for path in (WEB / "views").rglob("*.svelte")
        for name in re.findall(r"""\bhelp=["']([^"']+)["']""", path.read_text("utf-8"))
    }
    asked = {path.parent.name for path in (WEB / "views").rglob("*.svelte") if "help=" in path.read_text("utf-8")}
    assert folders <= asked, f"Views without help: {sorted(folders - asked)}"
    assert not missing(named)


TITLES = re.compile(r'titles: Titles = \{\s*title: "([^"]+)",\s*(?:short: "[^"]+",\s*)?question: "([^"]+)",?\s*\}')


def view_titles() -> dict[str, list[tuple[str, str]]]:
    """Titles and questions of the views, by the page behind their help."""
    titles: dict[str, list[tuple[str, str]]] = {}
    for path in sorted((WEB / "views").rglob("*.svelte")):
        text = path.read_text("utf-8")
        if "const compares" in text:
            found = TITLES.search(text)
            assert found, f"{path.name} says no title"
            titles.setdefault(re.findall(r'\bhelp="([^"]+)"', text)[0], []).append((found[1], found[2]))
    return titles


def test_a_view_is_called_by_a_noun_in_the_page_and_the_same_in_the_docs() -> None:
    titles = view_titles()
    assert len(titles) > 20
    index = (DOCS / "index.md").read_text("utf-8")
    for name, views in titles.items():
        text = (DOCS / f"{name}.md").read_text("utf-8")
        heading, _, question = text.splitlines()[0].removeprefix("# ").partition(": ")
        assert f"- [{heading}]({name}.md): {question}" in index, f"docs/index.md calls {name} by another name"
        for title, asks in views:
            assert "?" not in title and asks.endswith("?")
            if len(views) == 1:
                assert (heading, question) == (title, asks[0].lower() + asks[1:]), f"docs/{name}.md"
            assert title.lower() in heading.lower() or f"**{title}**" in text, f"docs/{name}.md does not name {title}"


def workspace_names(web: Path = WEB) -> set[str]:
    """Every folder that the page's registry finds."""
    return {path.parent.name for path in (web / "workspaces").glob("*/index.ts")}


def test_every_workspace_has_its_page() -> None:
    assert {"episodes", "memory", "vision", "rows"} <= workspace_names()
    assert not missing({f"workspace-{name}" for name in workspace_names()})


def test_a_workspace_shows_views_that_have_pages() -> None:
    for name in workspace_names():
        text = (WEB / "workspaces" / name / "index.ts").read_text("utf-8")
        assert f'"workspace-{name}"' in text
        assert not missing(set(re.findall(r'"(view-[a-z-]+)"', text)))


def test_a_workspace_is_a_folder_and_its_page(tmp_path: Path) -> None:
    (tmp_path / "workspaces" / "empty").mkdir(parents=True)
    (tmp_path / "workspaces" / "empty" / "index.ts").write_text("export const workspace = {};")
    assert workspace_names(tmp_path) == {"empty"}
    assert missing({"workspace-empty"}) == ["workspace-empty"]


def test_every_lens_has_its_page() -> None:
    names = lens_names()
    assert names
    assert not missing({f"lens-{name}" for name in names})


def lens_names() -> set[str]:
    """Every registered lens."""
    return set(importlib.import_module("innerview.lenses.discovery").all_lenses().names())


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*DOCS.glob("**/*.md"), *ROOT.glob("*.md")]
    assert DOCS / "index.md" in pages
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in LINK.findall(page.read_text("utf-8"))
        if "://" not in target and not target.startswith("mailto:") and not (page.parent / target).exists()
    ]
    assert not broken


def test_every_page_can_be_reached_from_the_index() -> None:
    reached, waiting = {DOCS / "index.md"}, [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        linked = {(page.parent / target).resolve() for target in LINK.findall(page.read_text("utf-8"))}
        new = {goal for goal in linked if goal.suffix == ".md" and goal.is_file()} - reached
        reached |= new
        waiting += new
    assert not sorted(page.name for page in DOCS.glob("**/*.md") if page.resolve() not in reached)
