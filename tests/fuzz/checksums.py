"""Makes checksums anew after a file was damaged, as somebody would who wants the damage to be believed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from innerview.store.recordings.arrays.codecs import checksum
from innerview.store.seal import crc32c, sealed

_PIECE = 1 << 20
Change = Callable[[Random, bytes], bytes]


@dataclass(frozen=True)
class Stamps:
    """What others say of a file, before and after."""

    names: tuple[str, ...]
    sha256: tuple[str, str]
    crc32c: tuple[str, str]
    pieces: tuple[str, str]
    size: tuple[int, int]


def unsealed(content: bytes) -> bytes | None:
    """A sealed object as JSON without its seal; None where it is none."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or "seal" not in value:
        return None
    return json.dumps({key: each for key, each in value.items() if key != "seal"}, ensure_ascii=False).encode()


def resealed(content: bytes) -> bytes:
    """An object with the seal that fits it; anything else as it is."""
    return sealed(content) if content.rstrip().endswith(b"}") else content


def shard_damaged(random: Random, content: bytes, change: Change) -> bytes:
    """A chunk of a shard, or the index, damaged and given the checksum that it then has."""
    chunks = _chunks(content)
    if not chunks:
        return change(random, content)
    if random.random() < 0.2:
        index = change(random, _index(chunks)) if random.random() < 0.7 else _index(chunks) * 2
        return b"".join(chunks) + index + checksum(index)
    at = random.randrange(len(chunks))
    packed = change(random, chunks[at][:-4])
    chunks[at] = packed + checksum(packed)
    index = _index(chunks)
    return b"".join(chunks) + index + checksum(index)


def renew(study: Path, file: Path, before: bytes) -> set[Path]:
    """Let everything that vouches for a file vouch for it as it is now; gives the files that were changed for it."""
    parts = file.relative_to(study).parts
    stamps = _stamps(file.relative_to(study), before, file.read_bytes())
    if parts[0] in ("recordings", "predictions"):
        return _renew_recording(study.joinpath(*parts[:2]), file, stamps)
    if len(parts) == 1:
        return set()
    changed = set()
    for other in sorted(file.parent.glob("*.json")):
        body = unsealed(other.read_bytes())
        if other != file and body is not None:
            other.write_bytes(sealed(json.dumps(_renewed(json.loads(body), stamps)).encode()))
            changed.add(other)
    return changed


def _renew_recording(folder: Path, file: Path, stamps: Stamps) -> set[Path]:
    manifest, log = folder / "manifest.json", folder / "blocks.jsonl"
    body = unsealed(manifest.read_bytes())
    if file == manifest or body is None:
        return set()
    lines = log.read_bytes().splitlines(keepends=True)
    if file != log:
        lines = [_restamped(line, stamps) for line in lines]
        log.write_bytes(b"".join(lines))
    running = ""
    for line in lines:
        running = hashlib.sha256(running.encode() + line).hexdigest()
    told = _renewed(json.loads(body), stamps)
    told |= {"digest": running, "log_bytes": sum(map(len, lines)), "blocks": len(lines)}
    manifest.write_bytes(sealed(json.dumps(told).encode()))
    return {manifest, log}


def _restamped(line: bytes, stamps: Stamps) -> bytes:
    return (json.dumps(_renewed(json.loads(line), stamps), separators=(",", ":")) + "\n").encode()


def _renewed(value: Any, stamps: Stamps) -> Any:
    """The value with digests and size of the file, wherever they stand by its name or beside each other."""
    inside = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    about_it = stamps.sha256[0] in inside or stamps.crc32c[0] in inside
    old, new = stamps.size

    def renewed(key: str, each: Any) -> Any:
        if type(each) is int and each == old and (about_it or key in stamps.names):
            return new
        for before, after in (stamps.sha256, stamps.crc32c, stamps.pieces):
            if each == before:
                return after
        return _renewed(each, stamps)

    if isinstance(value, dict):
        return {key: renewed(key, each) for key, each in value.items()}
    return [renewed("", each) for each in value] if isinstance(value, list) else value


def _stamps(name: Path, before: bytes, after: bytes) -> Stamps:
    def both(of: Callable[[bytes], str]) -> tuple[str, str]:
        return of(before), of(after)

    return Stamps(
        names=tuple("/".join(name.parts[start:]) for start in range(len(name.parts))),
        sha256=both(lambda content: hashlib.sha256(content).hexdigest()),
        crc32c=both(crc32c),
        pieces=both(lambda content: "".join(crc32c(content[n : n + _PIECE]) for n in range(0, len(content), _PIECE))),
        size=(len(before), len(after)),
    )


def _chunks(content: bytes) -> list[bytes]:
    """The chunks of a shard, by the index at its end; nothing where it has none."""
    for capacity in range(1, len(content) // 16 + 1):
        tail = content[-16 * capacity - 4 :]
        if checksum(tail[:-4]) == tail[-4:]:
            places = np.frombuffer(tail[:-4], "<u8").reshape(-1, 2)
            used = [(int(start), int(size)) for start, size in places if start != 2**64 - 1]
            return [content[start : start + size] for start, size in used]
    return []


def _index(chunks: list[bytes]) -> bytes:
    sizes = [len(chunk) for chunk in chunks]
    return np.stack([np.cumsum([0, *sizes[:-1]]), sizes], axis=1).astype("<u8").tobytes()
