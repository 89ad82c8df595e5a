"""Damage, by kind: bytes, JSON values, texts and what stands in place of a file. The same seed damages alike."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

HUGE = 1 << 62
WORDS = (
    "",
    ".",
    "..",
    "../../../etc/passwd",
    "/etc/passwd",
    "a" * 300,
    "x\0y",
    "\ud7ff",
    "\ud800",
    "\u202e",
    "NaN",
    "0",
    "-1",
    "None",
    "%s%n",
    "é" * 90,
)
NUMBERS = (0, 1, -1, 2, 255, 256, 65_535, 1 << 31, (1 << 31) - 1, 1 << 32, 1 << 53, HUGE, -HUGE, 1 << 63, 10**30)
ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    *NUMBERS,
    *WORDS,
    0.5,
    -0.0,
    1e308,
    math.nan,
    math.inf,
    [],
    {},
    [[]],
    {"": ""},
)
WIDTHS = (1, 2, 4, 8)


def bytes_mutated(random: Random, content: bytes, others: Callable[[], bytes] = bytes) -> bytes:
    """A few changes, mostly where headers and footers stand."""
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        _BYTES[random.randrange(len(_BYTES))](random, changed, others)
    return bytes(changed)


def json_mutated(random: Random, content: bytes) -> bytes:
    """Another value at a place, or other members; lines are taken one by one."""
    lines = content.splitlines(keepends=True)
    try:
        value = json.loads(content)
        at = None
    except ValueError:
        at = random.randrange(len(lines)) if lines else 0
        try:
            value = json.loads(lines[at])
        except (ValueError, IndexError):
            return bytes_mutated(random, content)
    for _ in range(random.choice((1, 1, 2, 3))):
        value = value_mutated(random, value)
    text = json.dumps(value, ensure_ascii=random.random() < 0.5)
    if random.random() < 0.03:
        text = _deep(random)
    made = text.encode(errors="surrogatepass")
    return made if at is None else b"".join((*lines[:at], made, b"\n", *lines[at + 1 :]))


def value_mutated(random: Random, value: Any) -> Any:
    """The value with one place in it changed."""
    if isinstance(value, dict) and value and random.random() < 0.85:
        key = random.choice(list(value))
        turn = random.random()
        if turn < 0.08:
            return {k: v for k, v in value.items() if k != key}
        if turn < 0.13:
            return {**value, str(random.choice(WORDS)): value[key]}
        return {**value, key: value_mutated(random, value[key])}
    if isinstance(value, list) and value and random.random() < 0.8:
        at = random.randrange(len(value))
        turn = random.random()
        if turn < 0.08:
            return value[:at] + value[at + 1 :]
        if turn < 0.12:
            return value * random.choice((2, 50))
        return [*value[:at], value_mutated(random, value[at]), *value[at + 1 :]]
    if isinstance(value, bool):
        return random.choice((not value, *ODD))
    if isinstance(value, int) and random.random() < 0.7:
        return random.choice((value + 1, value - 1, -value, value * 1000, value / 3, *NUMBERS))
    if isinstance(value, str) and random.random() < 0.6:
        return random.choice((value + "x", value[1:], value.upper(), value * 50, value[::-1], *WORDS))
    return random.choice(ODD)


def text_mutated(random: Random, text: str, alphabet: str) -> str:
    """Characters changed, doubled, left out or brought from the alphabet."""
    letters = list(text)
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        at = random.randrange(len(letters) + 1)
        turn = random.random()
        if turn < 0.5:
            letters.insert(at, random.choice(alphabet))
        elif turn < 0.7 and letters:
            del letters[min(at, len(letters) - 1)]
        elif turn < 0.9 and letters:
            letters[min(at, len(letters) - 1)] = random.choice(alphabet)
        else:
            letters[at:at] = letters[at // 2 : at] * random.choice((1, 1, 3, 30))
    return "".join(letters)


def replace_by_another_thing(random: Random, path: Path, outside: Path) -> str:
    """Put in place of a file what is none, or another one; says what."""
    kind = random.choice(
        ("nothing", "empty", "folder", "pipe", "link out", "dangling link", "loop", "large", "unreadable")
    )
    path.unlink(missing_ok=True)
    if kind == "empty":
        path.write_bytes(b"")
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "link out":
        path.symlink_to(outside)
    elif kind == "dangling link":
        path.symlink_to(path.with_name("nowhere"))
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "large":
        with path.open("wb") as file:  # with a hole: it takes no room
            file.truncate(1 << 34)
    elif kind == "unreadable":
        path.write_bytes(b"x")
        path.chmod(0)
    return kind


def _deep(random: Random) -> str:
    depth = random.choice((500, 5_000, 100_000))
    return random.choice(("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth))


def _place(random: Random, size: int) -> int:
    """Mostly near the beginning or the end."""
    near = min(size, random.choice((16, 64, 512)))
    turn = random.random()
    if turn < 0.4:
        return random.randrange(near)
    return size - 1 - random.randrange(near) if turn < 0.7 else random.randrange(size)


def _flip(random: Random, content: bytearray, _: Callable[[], bytes]) -> None:
    if content:
        content[_place(random, len(content))] ^= 1 << random.randrange(8)


def _number(random: Random, content: bytearray, _: Callable[[], bytes]) -> None:
    width = random.choice(WIDTHS)
    if len(content) < width:
        return
    at = min(_place(random, len(content)), len(content) - width)
    value = random.choice(
        (0, 1, (1 << 8 * width) - 1, 1 << 8 * width - 1, (1 << 8 * width - 1) - 1, random.getrandbits(8 * width))
    )
    content[at : at + width] = value.to_bytes(width, random.choice(("little", "big")))


def _cut(random: Random, content: bytearray, _: Callable[[], bytes]) -> None:
    if content:
        at = _place(random, len(content))
        del content[at : at + random.choice((1, 4, 64, len(content)))]


def _grow(random: Random, content: bytearray, _: Callable[[], bytes]) -> None:
    at = _place(random, len(content)) if content else 0
    content[at:at] = random.choice((random.randbytes(random.choice((1, 8, 300))), content[at : at + 64], bytes(64)))


def _blank(random: Random, content: bytearray, _: Callable[[], bytes]) -> None:
    if content:
        at = _place(random, len(content))
        size = min(random.choice((4, 32, 256)), len(content) - at)
        content[at : at + size] = bytes([random.choice((0, 255, 32))]) * size


def _mix(random: Random, content: bytearray, others: Callable[[], bytes]) -> None:
    other = others()
    if other and content:
        at, start = _place(random, len(content)), random.randrange(len(other))
        part = other[start : start + random.choice((8, 64, len(other)))]
        content[at : at + len(part)] = part


_BYTES = (_flip, _flip, _flip, _number, _number, _cut, _grow, _blank, _mix)
