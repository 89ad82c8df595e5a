"""Puts the page and the docs into what hatchling builds, so that an installed innerview needs no Node."""

from __future__ import annotations

import os
import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SKIP = "INNERVIEW_SKIP_PAGE"


class PageBuildHook(BuildHookInterface):
    """Builds the page where it is missing or older than web/; also for editable installs."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """A Node from the package index, asked for only where there is something to build and no Node to do it."""
        page = self._page()
        if self._skipped() or page["is_fresh"](Path(self.root)) or page["find_node"]() is not None:
            return []
        return [page["NODE_PACKAGE"]]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page, and add the docs to a wheel. An editable install reads docs/ where it is."""
        root = Path(self.root)
        if self._skipped():
            self.app.display_warning(f"{SKIP} is set: the page is taken as it is, or left out.")
        else:
            self._page()["build"](root)
        if self.target_name == "wheel" and version == "standard" and (root / "docs").is_dir():
            build_data["force_include"][str(root / "docs")] = "innerview/docs"

    def _skipped(self) -> bool:
        return os.environ.get(SKIP, "") not in ("", "0")

    def _page(self) -> dict[str, Any]:
        return runpy.run_path(str(Path(self.root) / "scripts" / "page.py"))
