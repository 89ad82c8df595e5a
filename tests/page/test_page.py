"""What set-up leaves behind: a page made from these sources, scripts that can be run."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

import innerview

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "src" / "innerview" / "page"


def test_the_page_is_built_and_whole() -> None:
    index = PAGE / "index.html"
    assert index.is_file(), "Build it: python scripts/page.py"
    wanted = re.findall(r"""(?:src|href)="\./([^"]+)\"""", index.read_text("utf-8"))
    assert wanted
    assert not [name for name in wanted if not (PAGE / name).is_file()]


def test_the_page_loads_nothing_from_elsewhere() -> None:
    """It has to work with no network, and its policy forbids it."""
    text = (PAGE / "index.html").read_text("utf-8")
    styles = [path.read_text("utf-8") for path in PAGE.rglob("*.css")]
    assert not re.findall(r"""(?:src|href)=["'](?:https?:)?//[^"']+""", text)
    assert not [found for style in styles for found in re.findall(r"""url\(["']?(?:https?:)?//""", style)]


@pytest.mark.parametrize("script", ["scripts/demo", "scripts/test", "scripts/check", "scripts/bench", ".ci/run"])
def test_scripts_can_be_run(script: str) -> None:
    assert os.access(ROOT / script, os.X_OK)
    assert subprocess.run(["bash", "-n", str(ROOT / script)], check=False).returncode == 0


def test_the_version_has_its_line_in_the_changelog() -> None:
    assert f"## {innerview.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
