"""The checksums that a JSON object ends with: its last member, `seal`, tells of all bytes before it.

    {"name": "demo", "seal": {"crc32c": "<8 hexadecimal digits>", "sha256": "<64 of them>"}}

CRC32C is compared whenever a file or line is read, SHA-256 by `innerview check`. Any JSON reader takes it as a member.
"""

from __future__ import annotations

import hashlib
import re

import google_crc32c

_SEAL = re.compile(rb'"seal": \{"crc32c": "([0-9a-f]{8})", "sha256": "([0-9a-f]{64})"\}\}')
_FORM = '"seal": {{"crc32c": "{}", "sha256": "{}"}}}}'
_LENGTH = len(_FORM.format("0" * 8, "0" * 64))


def crc32c(content: bytes) -> str:
    """CRC-32C as eight hexadecimal digits."""
    return f"{google_crc32c.value(content):08x}"


def sealed(content: bytes) -> bytes:
    """A JSON object that ends with its seal."""
    inside = content.rstrip()[:-1].rstrip()
    body = inside if inside.endswith(b"{") else inside + b", "
    return body + _FORM.format(crc32c(body), _sha256(body)).encode()


def broken_seal(content: bytes, *, deep: bool = False) -> str:
    """What is wrong with a sealed object, in words; empty where nothing is. `deep` compares SHA-256 too."""
    found = _SEAL.fullmatch(content, len(content) - _LENGTH) if len(content) > _LENGTH else None
    if found is None:
        return "it does not end with its checksum, as one that was cut short or written by another version"
    body = content[: found.start()]
    if crc32c(body) != found[1].decode():
        return "it was changed after it was written: its checksum (CRC32C) does not match"
    if deep and _sha256(body) != found[2].decode():
        return "it was changed after it was written: its SHA-256 digest differs"
    return ""


def body_of(content: bytes) -> bytes:
    """What stands before the seal of a sealed object."""
    return content[: len(content) - _LENGTH]


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
