"""Keeps Doom's engines from outliving the Python process that plays.

ViZDoom starts an engine process for each game and leaves it, and its shared memory, behind when Python is killed. So
each gets a folder of its own and is started through a small script which has the kernel end it together with its
parent (Linux) and moves it out of reach of Ctrl-C, which is Python's to handle. What a killed process left behind
is removed when the next world opens.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from pathlib import Path
from typing import IO, Any

PREFIX = "innerview-doom-"
SHARED_MEMORY = Path("/dev/shm")
JUST_MADE_S = 60.0
_STARTING = threading.Lock()
"""Engines that start at the same moment can take the whole process down."""

_START = """\
import ctypes, os, signal, sys
engine, folder = sys.argv[1:3]
os.setsid()
os.chdir(folder)  # the engine leaves a folder where it stands
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
with open(os.path.join(folder, "pid"), "w") as file:
    file.write(str(os.getpid()))
os.execv(engine, [engine, *sys.argv[3:]])
"""


class Engine:
    """The process of one game and its folder; `close` ends both, as does the last reference going or Python ending."""

    def __init__(self, game: Any, engine_path: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = _hold(self.folder / "owner")
        game.set_doom_config_path(str(self.folder / "vizdoom.ini"))  # else it is written where the user stands
        launcher = _launcher(self.folder, engine_path)
        if launcher is not None:
            game.set_vizdoom_path(str(launcher))
        self._game = game
        self._end = weakref.finalize(self, _end, game, self.folder, self._lock)

    def start(self) -> None:
        """Start the process; remember which shared memory it uses."""
        with _STARTING:
            self._game.init()
        (self.folder / "instance").write_text(self._game.get_instance_id())

    @property
    def pid(self) -> int | None:
        """The engine's process, where it was started through the script."""
        return _read_pid(self.folder)

    def close(self) -> None:
        """End the process and remove its folder."""
        self._end()


def sweep(folder: Path | None = None) -> int:
    """Remove what killed processes left behind; says how many engines that was."""
    if os.name != "posix":
        return 0
    left = [f for f in (folder or Path(tempfile.gettempdir())).glob(f"{PREFIX}*") if _is_left_behind(f)]
    for each in left:
        _remove(each)
    return len(left)


def _launcher(folder: Path, engine_path: Path) -> Path | None:
    if os.name != "posix" or not sys.executable:
        return None
    start, launcher = folder / "start.py", folder / "vizdoom"
    start.write_text(_START)
    words = [sys.executable, "-I", "-S", str(start), str(engine_path), str(folder)]
    launcher.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    launcher.chmod(0o700)
    return launcher if os.access(launcher, os.X_OK) else None  # not where temporary files may not be run


def _end(game: Any, folder: Path, lock: IO[str] | None) -> None:
    try:
        game.close()
    finally:
        _remove(folder)
        if lock is not None:
            lock.close()


def _remove(folder: Path) -> None:
    pid = _read_pid(folder)
    if pid is not None and str(folder) in _command_line(pid):
        os.kill(pid, signal.SIGKILL)
    instance = folder / "instance"
    name = instance.read_text() if instance.exists() else ""
    if name.isalnum() and SHARED_MEMORY.is_dir():
        for file in SHARED_MEMORY.glob(f"ViZDoom*{name}"):
            file.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _hold(path: Path) -> IO[str] | None:
    """A lock that the system lets go when this process dies."""
    file = path.open("w")
    if os.name == "posix":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file


def _is_left_behind(folder: Path) -> bool:
    import fcntl

    try:
        about = folder.stat()
        if about.st_uid != os.getuid() or time.time() - about.st_ctime < JUST_MADE_S:
            return False
        with (folder / "owner").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    except (BlockingIOError, FileNotFoundError, NotADirectoryError):
        return False


def _read_pid(folder: Path) -> int | None:
    path = folder / "pid"
    return int(path.read_text() or 0) or None if path.exists() else None


def _command_line(pid: int) -> str:
    """What a process was started with; nothing where it is gone or cannot be asked."""
    if sys.platform == "linux":  # small containers have no ps
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""
    asked = subprocess.run(["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return asked.stdout
