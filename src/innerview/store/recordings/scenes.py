"""Scenes and the pictures of their maps, kept once each under the digest of their content."""

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
    scene = from_json(Scene, read_json(confined(folder, "scenes", f"{key}.json")))
    if scene_key(scene) != key:
        raise DamagedPart(f"Scene '{key}' of recording '{folder.name}' was changed: its content has another digest.")
    return scene


def load_map(folder: Path, scene: Scene) -> bytes:
    """The picture of a scene's map, as it was given."""
    if scene.image is None or not _MAP.fullmatch(scene.image.file):
        raise StoreError(f"This scene of recording '{folder.name}' has no map image.")
    try:
        content = confined(folder, "scenes", scene.image.file).read_bytes()
    except OSError as error:
        raise DamagedPart(f"The map image of recording '{folder.name}' cannot be read ({error.strerror}).") from error
    if map_name(content) != scene.image.file:
        raise DamagedPart(f"The map image of recording '{folder.name}' was changed: its content has another digest.")
    return content
