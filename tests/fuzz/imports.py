"""Damages a file that an importer takes, and imports it: it is taken or refused in words, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.fuzz.findings import MEMORY_BYTES, Findings
from tests.fuzz.mutations import bytes_mutated, json_mutated, replace_by_another_thing, text_mutated
from tests.fuzz.target import Died, Hung, Target

LETTERS = "0123456789.,;-+eE\"'\n\r\t[]() \0abcxyz/\\=éNaN\ufeff"
SECOND = {"table.csv": "named.csv"}


@dataclass
class Imports:
    """The files of one folder, each of which is an import or a part of one."""

    target: Target
    random: Random
    findings: Findings
    folder: Path
    whole: dict[str, bytes] = field(default_factory=dict)

    def learn(self) -> None:
        """Read every file."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file())
        self.whole = {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in files}

    def step(self) -> None:
        """One file damaged, imported and mended."""
        name = self.random.choice(list(self.whole))
        path, content = self.folder / name, self.whole[name]
        what = "damaged"
        if self.random.random() < 0.03:
            what = replace_by_another_thing(self.random, path, self.folder.with_name("outside"))
        else:
            path.write_bytes(self._damaged(name, content))
        self.findings.files += 1
        self.findings.imports += 1
        images = name == "named.csv" or (name.startswith("pairs/sim/rgb") and self.random.random() < 0.5)
        file = "named.csv" if images else name.split("/")[0]
        where = f"import {file}: {Path(name).suffix} ({what}) | {name}"
        try:
            told = self.target.tell(
                "import",
                folder=str(self.folder.with_name("imported")),
                file=str(self.folder / file),
                images={"sim_file": "sim"} if images else None,
                format=self.random.choice((None, None, None, "drlviz", "memred", "npz", "table")),
            )
            if "failed" in told:
                self.findings.add("failure", where, told["failed"], damaged=_content(path))
        except Died as died:
            self.findings.add("death", where, str(died), damaged=_content(path))
            self.target.again()
        except Hung:
            self.findings.add("hang", where, damaged=_content(path))
            self.target.again()
        finally:
            _put(path, content)
        if self.target.measure() > MEMORY_BYTES:
            self.findings.add("memory", where)
            self.target.again()

    def _damaged(self, name: str, content: bytes) -> bytes:
        turn = self.random.random()
        if name.endswith(".json") and turn < 0.8:
            return json_mutated(self.random, content)
        if name.endswith(".csv") and turn < 0.7:
            return text_mutated(self.random, content.decode(), LETTERS).encode(errors="replace")
        return bytes_mutated(self.random, content, lambda: self.whole[self.random.choice(list(self.whole))])


def _put(path: Path, content: bytes) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
    path.write_bytes(content)


def _content(path: Path) -> bytes:
    plain = path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 24
    return path.read_bytes() if plain and path.stat().st_mode & 0o400 else b""
