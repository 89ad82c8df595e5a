"""What a ViZDoom config holds, wherever it lies: its settings as ViZDoom reads them, and the files that it names."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

from innerview.worlds.contents import digest_of_file, digest_of_text

_PATHS = frozenset(("doomscenariopath", "doomgamepath", "doomiwadpath", "vizdoompath", "doomconfigpath"))
"""Settings that say where a file lies; what it holds counts."""
_OURS = frozenset(
    (
        "mode",
        "windowvisible",
        "consoleenabled",
        "soundenabled",
        "screenformat",
        "screenresolution",
        "depthbufferenabled",
        "labelsbufferenabled",
        "automapbufferenabled",
        "audiobufferenabled",
        "objectsinfoenabled",
        "sectorsinfoenabled",
    )
)
"""Settings that this world makes itself, whatever the config says."""
_FILE_ARGUMENTS = ("-file", "-deh", "-bex", "-iwad", "+exec", "-config")


def files_of(config: Path, game: Any) -> dict[str, str]:
    """Digests by what each is: the config, its scenario (WAD), its game and files among its arguments."""
    text = config.read_text(encoding="utf-8", errors="replace")
    told = settings_of(text)
    found = {"config": digest_of_text("\n".join(f"{key} {' '.join(words)}" for key, words in told))}
    named = {key for key, _ in told}
    places = {"scenario": game.get_doom_scenario_path()} if "doomscenariopath" in named else {}
    if {"doomgamepath", "doomiwadpath"} & named:
        places["game"] = game.get_doom_game_path()
    arguments = shlex.split(str(game.get_game_args()), posix=True)
    for number, name in enumerate(_named_in(arguments), 1):
        places[f"file {number}"] = name
    for what, name in places.items():
        path = next((p for p in (Path(name), config.parent / name) if name and p.exists()), None)
        if path is not None:  # what is not there ViZDoom itself reports when it starts
            found[what] = digest_of_file(path)
    return found


def settings_of(text: str) -> list[tuple[str, list[str]]]:
    """Settings as ViZDoom tells them apart: comments, blanks, capitals and underscores of keys do not matter."""
    plain = "\n".join(line.split("#", 1)[0] for line in text.splitlines())
    found = re.findall(r"([A-Za-z_]+)\s*(\+?=)\s*(\{[^}]*\}|[^\n]*)", plain)
    lines = [(key.lower().replace("_", ""), how, value.strip("{} \t\r\n").split()) for key, how, value in found]
    kept = [(key, how, [] if key in _PATHS else words) for key, how, words in lines if key not in _OURS]
    return sorted(
        ((key if how == "=" else f"{key} {how}", words) for key, how, words in kept), key=lambda line: line[0]
    )


def _named_in(arguments: list[str]) -> list[str]:
    """Files that follow an argument such as -file, up to the next argument."""
    found, takes = [], False
    for word in arguments:
        if word.startswith(("-", "+")):
            takes = word.lower() in _FILE_ARGUMENTS
        elif takes:
            found.append(word)
    return found
