"""This user's key: what it signed was written by this user on this machine, and is decoded without further care.

The key never leaves the machine. Where none can be kept, nothing is signed and every study is decoded in isolation.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import secrets
import stat
from functools import lru_cache
from pathlib import Path

from innerview.errors import StoreError
from innerview.store.files import read_plain

_BYTES = 32
NO_SIGNATURE = "0" * 64
log = logging.getLogger(__name__)


def signature(content: bytes, folder: Path) -> str:
    """What this user's key makes of a content in a folder; a copy of it elsewhere is not signed."""
    key = _key(_path())
    if key is None:
        return NO_SIGNATURE
    place = str(folder.stat().st_ino).encode()
    return hmac.new(key, place + b"\0" + content, hashlib.sha256).hexdigest()


def is_signed(content: bytes, folder: Path, told: str) -> bool:
    """Whether this user's key made that signature."""
    return told != NO_SIGNATURE and hmac.compare_digest(
        signature(content, folder).encode(), told.encode(errors="replace")
    )


def _path() -> Path:
    base = os.environ.get("APPDATA" if os.name == "nt" else "XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "innerview" / "key"


@lru_cache(maxsize=4)
def _key(path: Path) -> bytes | None:
    """The key, made where there is none yet."""
    try:
        if not path.exists():
            _make(path)
        key = read_plain(path, limit=_BYTES)
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            log.warning("Others can read '%s', so it signs nothing. Run: chmod 600 '%s'", path, path)
            return None
        return key if len(key) == _BYTES else None
    except (OSError, StoreError, RuntimeError) as problem:
        log.info("There is no key to sign with: %s", problem)
        return None


def _make(path: Path) -> None:
    """Put a new key there at one stroke; where another process was quicker, its key stays."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_name(f"key.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(descriptor, secrets.token_bytes(_BYTES))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()
