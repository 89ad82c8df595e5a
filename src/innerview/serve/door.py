"""Who is let in: a one-time code from the address becomes a way in for one browser, and a script shows a token."""

from __future__ import annotations

import hmac
import re
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from starlette.datastructures import Headers

CODE_S = 900.0
"""So long an address that was printed can be used."""
CODES_LIMIT = 256
ENTRIES_LIMIT = 64
PATHS = "/in/"
COOKIE = re.compile(r"(?:^|;)\s*innerview=([A-Za-z0-9_-]{1,100})(?=\s*(?:;|$))")


@dataclass(frozen=True)
class Entry:
    """What one browser holds: a path that only the page knows, and a cookie that is sent to that path alone."""

    path: str
    cookie: str

    @property
    def set_cookie(self) -> str:
        """The header that hands the cookie to the browser, out of reach of scripts."""
        return f"innerview={self.cookie}; Path={self.path}/; HttpOnly; SameSite=Strict"


class Door:
    """Hands out codes, takes each of them once, and knows the browsers that came in."""

    def __init__(self, *, token: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.token, self._clock = token, clock
        self._codes: dict[str, float] = {}
        self._entries: dict[str, Entry] = {}
        self._lock = threading.Lock()

    def code(self) -> str:
        """A new code; it opens one browser, once, within a quarter of an hour."""
        made = secrets.token_urlsafe(24)
        with self._lock:
            self._codes[_digest(made)] = self._clock() + CODE_S
            while len(self._codes) > CODES_LIMIT:
                del self._codes[next(iter(self._codes))]
        return made

    def enter(self, code: str) -> Entry | None:
        """A way in for a code that is good; the code is used up."""
        with self._lock:
            ends = self._codes.pop(_digest(code), 0.0)
            if ends <= self._clock():
                return None
            entry = Entry(PATHS + secrets.token_urlsafe(24), secrets.token_urlsafe(32))
            self._entries[_digest(entry.path)] = entry
            while len(self._entries) > ENTRIES_LIMIT:
                del self._entries[next(iter(self._entries))]
        return entry

    def within(self, path: str, headers: Headers) -> str | None:
        """The path inside, where this one leads in and the cookie that belongs to it came along."""
        key, slash, rest = path.removeprefix(PATHS).partition("/")
        if not path.startswith(PATHS) or not slash:
            return None
        with self._lock:
            entry = self._entries.get(_digest(PATHS + key))
        # Other local servers can set cookies of the same name for wider paths; theirs come along and do not hide ours.
        shown = COOKIE.findall(headers.get("cookie", ""))
        if entry is None or not any(same(cookie, entry.cookie) for cookie in shown):
            return None
        return "/" + rest

    def shows_token(self, headers: Headers) -> bool:
        """Whether a script shows its token."""
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and bool(self.token) and same(bearer.strip(), self.token)


def same(given: str, right: str) -> bool:
    """Compare without telling by the time taken how much was right."""
    return hmac.compare_digest(given.encode(), right.encode())


def _digest(secret: str) -> str:
    """Looked up by digest: how far a guess agrees with what is stored says nothing about the secret."""
    return sha256(secret.encode(errors="replace")).hexdigest()
