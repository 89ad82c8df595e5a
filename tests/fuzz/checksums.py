"""Makes checksums anew after a file was damaged, as somebody would who wants the damage to be believed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def renew(study: Path, file: Path, before: bytes) -> set[Path]:
    """Let everything that vouches for a file vouch for it as it is now; gives the files that were changed for it."""
    parts = file.relative_to(study).parts
    if parts[0] in ("recordings", "predictions"):
        return _renew_recording(study.joinpath(*parts[:2]), file, before)
    return set()


def _renew_recording(folder: Path, file: Path, before: bytes) -> set[Path]:
    content, manifest, log = file.read_bytes(), folder / "manifest.json", folder / "blocks.jsonl"
    if file == manifest:
        return set()
    name = file.relative_to(folder).as_posix()
    stamps = (name, _digest(before), _digest(content), len(content))
    lines = log.read_bytes().splitlines(keepends=True)
    if file != log:
        lines = [_restamped(line, stamps) for line in lines]
        log.write_bytes(b"".join(lines))
    running = ""
    for line in lines:
        running = hashlib.sha256(running.encode() + line).hexdigest()
    told = _renewed(json.loads(manifest.read_bytes()), stamps)
    told |= {"digest": running, "log_bytes": sum(map(len, lines)), "blocks": len(lines)}
    manifest.write_text(json.dumps(told))
    return {manifest, log}


def _restamped(line: bytes, stamps: tuple[str, str, str, int]) -> bytes:
    return (json.dumps(_renewed(json.loads(line), stamps), separators=(",", ":")) + "\n").encode()


def _renewed(value: Any, stamps: tuple[str, str, str, int]) -> Any:
    """The value with the digest and the size of the file wherever they stand."""
    name, old, new, size = stamps
    if isinstance(value, dict):
        return {k: size if k == name and isinstance(v, int) else _renewed(v, stamps) for k, v in value.items()}
    if isinstance(value, list):
        if len(value) == 3 and value[0] == name:
            return [name, new, size]
        return [_renewed(each, stamps) for each in value]
    return new if value == old else value


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
