"""A workspace is one folder and its page of the docs: with those alone it is in the rail, has an address and help."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

import innerview as iv
from innerview.serve import serve
from innerview.serve.docs.pages import Docs
from innerview.serve.page import Page

from .conftest import ROOT, Visit

INDEX = """import { needs, type Workspace } from "../../state/workspace";
import Empty from "./Empty.svelte";

export const workspace: Workspace = {
  name: "empty",
  title: "Empty",
  icon: "M3 3h12v12H3z",
  order: 35,
  needs: [needs.time],
  views: [],
  layout: Empty,
  help: "workspace-empty",
};
"""
LAYOUT = '<main data-testid="workspace">Nothing yet</main>\n'
PAGE = "# Empty: what is in an empty workspace?\n\nNothing, so far.\n"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page and the docs, copied, with a workspace more; built."""
    root = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "web", root / "web", ignore=shutil.ignore_patterns("node_modules"))
    (root / "web" / "node_modules").symlink_to(ROOT / "web" / "node_modules", target_is_directory=True)
    shutil.copytree(ROOT / "docs", root / "docs")
    (root / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "page.py", root / "scripts")
    folder = root / "web" / "src" / "workspaces" / "empty"
    folder.mkdir()
    (folder / "index.ts").write_text(INDEX, "utf-8")
    (folder / "Empty.svelte").write_text(LAYOUT, "utf-8")
    (root / "docs" / "workspace-empty.md").write_text(PAGE, "utf-8")
    subprocess.run([sys.executable, str(root / "scripts" / "page.py")], check=True, capture_output=True)
    return root


def test_a_folder_and_a_page_of_docs_are_enough(visit: Visit, walks: iv.Study, checkout: Path) -> None:
    page, docs = Page(checkout / "src" / "innerview" / "page"), Docs(checkout / "docs")
    with serve(walks, page=page, docs=docs) as handle:
        bench = visit(handle)
        names = bench.get("rail").locator("[data-testid^=workspace-]").all_inner_texts()
        assert names == ["Episodes", "Rows", "Memory", "Empty", "Vision", "Transfer", "Saliency", "Results"]
        bench.get("workspace-empty").click()
        expect(bench.get("workspace")).to_have_text("Nothing yet")
        bench.settled("#/empty/first")
        bench.get("help-page").click()
        expect(bench.get("help")).to_contain_text("Nothing, so far.")
        bench.page.reload()
        expect(bench.get("workspace")).to_have_text("Nothing yet")
        expect(bench.get("workspace-empty")).to_have_attribute("aria-current", "page")
        bench.page.goto("about:blank")
