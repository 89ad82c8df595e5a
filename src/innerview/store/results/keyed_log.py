"""What took long to compute, line by line: nothing is computed twice, and what was cancelled goes on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from innerview.errors import StoreError
from innerview.schema import to_json
from innerview.store.changes import changing
from innerview.store.files import append_line, make_folder, replace_file
from innerview.store.paths import confined
from innerview.store.study import Study

_FOLDER = "played"
_VERSION = 1
_LIMIT = 512 << 20


class KeyedLog:
    """Lines by key, under one setting: of episodes, weights, world and how actions are chosen.

    A line is a plain dict with a `key`; of two lines with one key the later counts. A line that was cut short by a
    crash is as if it had not been written.
    """

    def __init__(self, study: Study, setting: Mapping[str, Any]) -> None:
        self._study, self.setting = study, to_json(setting)
        text = json.dumps(self.setting, sort_keys=True, ensure_ascii=False)
        name = hashlib.sha256(text.encode()).hexdigest()[:16]
        self._path = confined(study.path, _FOLDER, f"{name}.jsonl")

    def known(self) -> dict[str, dict[str, Any]]:
        """Every line by its key."""
        return {line["key"]: line for line in self._lines() if isinstance(line.get("key"), str)}

    def add(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """Append lines; once this returns they survive a crash."""
        try:
            # A new line first: whatever a crash left behind ends there.
            head, *texts = (
                "\n" + json.dumps(to_json(line), allow_nan=False)
                for line in ({"version": _VERSION, "setting": self.setting}, *lines)
            )
        except (TypeError, ValueError) as error:
            raise StoreError(f"What was computed cannot be saved as JSON: {error}.") from error
        with changing(self._study.path):
            fresh = not self._path.exists()
            if fresh:
                make_folder(self._path.parent)
                replace_file(self._path, "".join([head, *texts]).encode(), beside=self._study.path)
            else:
                append_line(self._path, "".join(texts).encode())

    def _lines(self) -> list[dict[str, Any]]:
        try:
            descriptor = os.open(self._path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        except FileNotFoundError:
            return []
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(_LIMIT)
        found = []
        for line in content.split(b"\n"):
            try:
                value = json.loads(line) if line.strip() else None
            except ValueError:
                continue  # cut short by a crash: it is computed again
            if isinstance(value, dict):
                found.append(value)
        return found
