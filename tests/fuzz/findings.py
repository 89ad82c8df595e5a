"""What went wrong, each kind once with how often and how to see it again."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

KINDS = ("death", "5xx", "hang", "memory", "silent", "unnamed", "failure")
MEANING = {
    "death": "deaths of the process",
    "5xx": "answers of 5xx",
    "hang": f"hangs over {5} s",
    "memory": "cases over 1.5 GB",
    "silent": "silent differences where checksums were left",
    "unnamed": "damaged files that `check` does not name",
    "failure": "failures that nobody foresaw, outside of the service",
}
MEMORY_BYTES = 1_500_000_000
SHOWN = 40


@dataclass
class Findings:
    """Counts what was tried and what went wrong."""

    folder: Path
    files: int = 0
    requests: int = 0
    messages: int = 0
    expressions: int = 0
    imports: int = 0
    wrong: Counter[str] = field(default_factory=Counter)
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, kind: str, where: str, told: str = "", *, damaged: bytes = b"") -> None:
        """One more; the first of its sort is kept with the bytes that did it."""
        self.wrong[kind] += 1
        sort = (kind, f"{_sort(where)}{_cause(told)}")
        self.kinds[sort] += 1
        if sort in self.examples:
            return
        self.examples[sort] = where
        self.folder.mkdir(parents=True, exist_ok=True)
        stem = self.folder / f"{kind}-{len(self.examples):03}"
        stem.with_suffix(".txt").write_text(f"{where}\n\n{told}\n", encoding="utf-8", errors="replace")
        if damaged:
            stem.with_suffix(".bin").write_bytes(damaged)

    def text(self) -> str:
        """The report."""
        lines = [
            f"{self.files:,} files, {self.requests:,} requests, of which {self.expressions:,} with expressions; "
            f"{self.messages:,} live messages, {self.imports:,} imports.",
            *(f"{self.wrong[kind]:>7,} {MEANING[kind]}" for kind in KINDS),
        ]
        for (kind, sort), count in self.kinds.most_common(SHOWN):
            lines.append(f"  {kind} × {count}: {sort}\n      such as {self.examples[kind, sort]}"[:600])
        if self.examples:
            lines.append(f"The first of each sort lies in {self.folder}.")
        return "\n".join(lines)


def _sort(where: str) -> str:
    """Without what differs from case to case."""
    return re.sub(r"[0-9a-f]{16,}|\d+", "N", where.split(" | ")[0])[:200]


def _cause(told: str) -> str:
    """The last line of a traceback and the innermost place of ours."""
    places = re.findall(r'File "[^"]*/(?:src/innerview|tests)/([^"]+)", line (\d+)', told)
    ends = re.findall(r"^([A-Za-z_][\w.]*(?:Error|Exception|Warning|Died|Killed|Panic)[^\n]*)", told, re.MULTILINE)
    if not places and not ends:
        return ""
    place = ":".join(places[-1]) if places else ""
    return f" [{place} {re.sub(r'[0-9]+', 'N', ends[-1])[:120] if ends else ''}]"
