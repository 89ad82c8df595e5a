"""Scenes and the pictures of their maps, kept once each under the digest of their content."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from innerview.errors import DamagedPart, StoreError
from innerview.schema import Scene, from_json, to_json
from innerview.store.files import parsed_json, read_plain, replace_file
from innerview.store.paths import confined

_SCENE_BYTES, _MAP_BYTES = 16 << 20, 256 << 20
_KEY = re.compile(r"[0-9a-f]{32}")
_MAP = re.compile(r"[0-9a-f]{64}\.(png|jpg)")


def _content(scene: Scene) -> bytes:
    return json.dumps(to_json(scene), separators=(",", ":"), sort_keys=True).encode()


def scene_key(scene: Scene) -> str:
    """The key under which a scene is kept."""
    return hashlib.sha256(_content(scene)).hexdigest()[:32]


def map_name(content: bytes) -> str:
    """The file name under which the picture of a map is kept."""
    return hashlib.sha256(content).hexdigest() + (".png" if content.startswith(b"\x89PNG") else ".jpg")


def save_scene(folder: Path, scene: Scene, picture: bytes = b"") -> str:
    """Keep a scene of a recording, with the picture of its map where it has one, and give its key."""
    if scene.image is not None and scene.image.file != map_name(picture):
        raise StoreError("A scene with a map image is saved together with that image.")
    if scene.image is not None:
        _save(folder, scene.image.file, picture)
    key = scene_key(scene)
    _save(folder, f"{key}.json", _content(scene))
    return key


def _save(folder: Path, name: str, content: bytes) -> None:
    path = confined(folder, "scenes", name)
    if not path.exists():
        replace_file(path, content)


def load_scene(folder: Path, key: str) -> Scene:
    """The scene of that key."""
    if not _KEY.fullmatch(key):
        raise StoreError(f"{key!r:.100} is no key of a scene: 32 hexadecimal digits are.")
    content = read_plain(confined(folder, "scenes", f"{key}.json"), limit=_SCENE_BYTES)
    if hashlib.sha256(content).hexdigest()[:32] != key:
        raise DamagedPart(f"Scene '{key}' of recording '{folder.name}' was changed: its content has another digest.")
    return from_json(Scene, parsed_json(content, f"Scene '{key}' of recording '{folder.name}'"))


def load_map(folder: Path, scene: Scene) -> bytes:
    """The picture of a scene's map, as it was given."""
    if scene.image is None or not _MAP.fullmatch(scene.image.file):
        raise StoreError(f"This scene of recording '{folder.name}' has no map image.")
    content = read_plain(confined(folder, "scenes", scene.image.file), limit=_MAP_BYTES)
    if map_name(content) != scene.image.file:
        raise DamagedPart(f"The map image of recording '{folder.name}' was changed: its content has another digest.")
    return content
