"""Scenes, kept once each under the digest of their content."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from innerview.errors import DamagedPart, StoreError
from innerview.schema import Scene, from_json, to_json
from innerview.store.files import read_json, replace_file
from innerview.store.paths import confined

_KEY = re.compile(r"[0-9a-f]{32}")


def _content(scene: Scene) -> bytes:
    return json.dumps(to_json(scene), separators=(",", ":"), sort_keys=True).encode()


def save_scene(folder: Path, scene: Scene) -> str:
    """Keep a scene of a recording and give its key."""
    content = _content(scene)
    key = hashlib.sha256(content).hexdigest()[:32]
    path = confined(folder, "scenes", f"{key}.json")
    if not path.exists():
        replace_file(path, content)
    return key


def load_scene(folder: Path, key: str) -> Scene:
    """The scene of that key."""
    if not _KEY.fullmatch(key):
        raise StoreError(f"{key!r:.100} is no key of a scene: 32 hexadecimal digits are.")
    scene = from_json(Scene, read_json(confined(folder, "scenes", f"{key}.json")))
    if hashlib.sha256(_content(scene)).hexdigest()[:32] != key:
        raise DamagedPart(f"Scene '{key}' of recording '{folder.name}' was changed: its content has another digest.")
    return scene
