"""The code blocks of README and docs, each with what is said of it: run here, by another test, or not and why."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LANGUAGES = {"python", "sh", "metric", "json", "text"}
BLOCK = re.compile(r"^```(?P<language>\w*)(?: (?P<mark>[^\n]+))?\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Block:
    page: str
    number: int
    language: str
    code: str
    mark: str
    """What stands after the language: nothing where it is run here, else `not run: REASON` or `run by: FILE`."""

    @property
    def id(self) -> str:
        return f"{self.page}#{self.number}"

    @property
    def commands(self) -> list[list[str]]:
        """The words of each `innerview` command of a shell block."""
        lines = self.code.splitlines() if self.language == "sh" else []
        return [words for line in lines if (words := shlex.split(line, comments=True))[:1] == ["innerview"]]


def read_blocks(text: str, page: str) -> list[Block]:
    """Every fenced block of a page, in its order."""
    found = BLOCK.finditer(text)
    return [
        Block(page=page, number=number, language=each["language"], code=each["code"], mark=each["mark"] or "")
        for number, each in enumerate(found)
    ]


def all_blocks() -> list[Block]:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [
        block for path in pages for block in read_blocks(path.read_text("utf-8"), path.relative_to(ROOT).as_posix())
    ]
