"""What took long to compute, line by line: nothing is computed twice, and what was cancelled goes on."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from innerview.errors import DamagedPart, StoreError
from innerview.schema import to_json
from innerview.store.changes import changing
from innerview.store.files import append_line, make_folder, parsed_json, read_plain, replace_file
from innerview.store.paths import confined, is_there
from innerview.store.seal import broken_seal, sealed
from innerview.store.study import Study

FOLDER = "played"
_VERSION = 2
_LIMIT = 512 << 20
_SEAL_END = 80
_CUT_SEAL = re.compile(rb'"sha256": "([0-9a-f]{0,63}|[0-9a-f]{64}"?\}?)\Z')


class KeyedLog:
    """Lines by key, under one setting: of episodes, weights, world and how actions are chosen.

    A line is a plain dict with a `key` and ends with its seal; of two lines with one key the later counts. A line that
    was cut short by a crash, or changed, is as if it had not been written.
    """

    def __init__(self, study: Study, setting: Mapping[str, Any]) -> None:
        self._study, self.setting = study, to_json(setting)
        text = json.dumps(self.setting, sort_keys=True, ensure_ascii=False)
        name = hashlib.sha256(text.encode()).hexdigest()[:16]
        self._path = confined(study.path, FOLDER, f"{name}.jsonl")

    def known(self) -> dict[str, dict[str, Any]]:
        """Every line by its key."""
        return {line["key"]: line for line in self._lines() if isinstance(line.get("key"), str)}

    def add(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """Append lines; once this returns they survive a crash."""
        try:
            # A new line first: whatever a crash left behind ends there.
            head, *texts = (
                b"\n" + sealed(json.dumps(to_json(line), allow_nan=False).encode())
                for line in ({"version": _VERSION, "setting": self.setting}, *lines)
            )
        except (TypeError, ValueError) as error:
            raise StoreError(f"What was computed cannot be saved as JSON: {error}.") from error
        with changing(self._study.path):
            fresh = not self._path.exists()
            if fresh:
                make_folder(self._path.parent)
                replace_file(self._path, b"".join([head, *texts]), beside=self._study.path)
            else:
                append_line(self._path, b"".join(texts))

    def _lines(self) -> list[dict[str, Any]]:
        if not is_there(self._path):
            return []
        found = []
        for line in _written_lines(self._path):
            if not broken_seal(line):
                with suppress(DamagedPart):  # it is computed again
                    value = parsed_json(line, "A line")
                    found.append({name: each for name, each in value.items() if name != "seal"})
        return found


def damaged_lines(path: Path) -> str:
    """What is wrong with a log, in words; empty where nothing is. A last line that a crash cut short is nothing."""
    try:
        lines = _written_lines(path)
    except DamagedPart as error:
        return str(error)
    if not lines:
        return "It is empty."
    wrong = [line for n, line in enumerate(lines) if broken_seal(line, deep=True) and (n == 0 or not _is_cut(line))]
    return f"{len(wrong)} of its {len(lines)} lines were changed after they were written." if wrong else ""


def _is_cut(line: bytes) -> bool:
    """Whether a line ends before its seal does, as one that was being written; the first is never written so."""
    if not line.startswith(b'{"'[: len(line)]):
        return False
    in_seal = b'"sha256": "' in line[-_SEAL_END:]
    return _CUT_SEAL.search(line) is not None if in_seal else not line.endswith(b"}")


def _written_lines(path: Path) -> list[bytes]:
    return [line for line in read_plain(path, limit=_LIMIT).split(b"\n") if line.strip()]
