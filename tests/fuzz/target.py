"""The child process as its parent sees it: asked over HTTP or by line, watched, and started again when it died."""

from __future__ import annotations

import http.client
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HANG_S = 5.0
START_S = 120.0


def patience_s() -> float:
    """How long is a hang: on a machine that others use too, as much longer as they take."""
    return HANG_S * max(1.0, min(10.0, os.getloadavg()[0] / (os.cpu_count() or 1)))


class Died(Exception):
    """The child ended while it was asked."""


class Hung(Exception):
    """No answer came in time."""


@dataclass
class Reply:
    """An answer over HTTP."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """Its value."""
        return json.loads(self.body)


@dataclass
class Target:
    """One service in a process of its own."""

    study: Path
    peak_bytes: int = 0
    port: int = 0
    token: str = ""
    _process: subprocess.Popen[str] | None = None
    _connection: http.client.HTTPConnection | None = None
    _lines: queue.Queue[str] = field(default_factory=queue.Queue)
    _log: Any = None

    def start(self) -> None:
        """Start, and wait until it serves."""
        self.launch()
        self.wait()

    def launch(self) -> None:
        """Start."""
        self._log = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 -- closed with the process
        command = [sys.executable, "-m", "tests.fuzz.child", str(self.study)]
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"},
        )
        self._lines = queue.Queue()
        threading.Thread(target=_pass_on, args=(self._process.stdout, self._lines), daemon=True).start()
        self._connection = None

    def wait(self) -> None:
        """Wait until it serves, and has loaded what is loaded once."""
        told = json.loads(self._line(START_S))
        self.port, self.token = told["port"], told["token"]
        self.ask("GET", "/api/vocabulary", limit_s=START_S)

    def stop(self) -> None:
        """End it, however it is."""
        self.measure()
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stdin is not None and self._process.stdout is not None
            self._process.stdin.close()
            self._process = None
            self._log.close()

    def again(self) -> None:
        """A new one."""
        self.stop()
        self.start()

    @property
    def headers(self) -> dict[str, str]:
        """What opens the service to a script."""
        return {"Authorization": f"Bearer {self.token}"}

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        limit_s: float | None = None,
    ) -> Reply:
        """One request over a connection that is kept."""
        for _ in range(2):  # a connection that rested may have been closed in the meantime; a new one tells
            try:
                return self._asked(method, path, body, headers or {}, limit_s or patience_s())
            except TimeoutError as problem:
                self._drop()
                raise Hung(f"{method} {path}") from problem
            except (http.client.HTTPException, OSError) as problem:
                self._drop()
                if not self.alive():
                    raise Died(f"{method} {path}") from problem
        return Reply(0, {}, b"")

    def _asked(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], limit_s: float) -> Reply:
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=START_S)
        if self._connection.sock is None:
            self._connection.connect()
        self._connection.sock.settimeout(limit_s)
        self._connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in {**self.headers, **headers}.items():
            self._connection.putheader(name, value)
        if body is not None:
            self._connection.putheader("Content-Length", str(len(body)))
        self._connection.endheaders(body)
        reply = self._connection.getresponse()
        return Reply(reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read())

    def tell(self, call: str, *, limit_s: float | None = None, **arguments: Any) -> dict[str, Any]:
        """A call in the child, outside of the service."""
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"call": call, **arguments}) + "\n")
            self._process.stdin.flush()
        except OSError as problem:
            raise Died(call) from problem
        value: dict[str, Any] = json.loads(self._line(limit_s or patience_s()))
        return value

    def alive(self) -> bool:
        """Whether it still runs; it is given a moment to die."""
        assert self._process is not None
        try:
            self._process.wait(0.3)
        except subprocess.TimeoutExpired:
            return True
        return False

    def last_words(self) -> str:
        """The end of what it wrote to stderr."""
        self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, self._log.tell() - 3_000))
        return str(self._log.read())

    def measure(self) -> int:
        """The most memory that it and its children took since it was looked at last, in bytes."""
        if self._process is None:
            return 0
        peak = sum(_peak(pid) for pid in _family(self._process.pid))
        self.peak_bytes = max(self.peak_bytes, peak)
        return peak

    def _line(self, limit_s: float) -> str:
        ends = time.monotonic() + limit_s
        while True:
            try:
                line = self._lines.get(timeout=min(1.0, max(0.01, ends - time.monotonic())))
            except queue.Empty:
                if time.monotonic() > ends:
                    raise Hung from None
                continue
            if not line:
                raise Died(self.last_words())
            return line

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def _pass_on(lines: Any, to: queue.Queue[str]) -> None:
    for line in lines:
        to.put(line)
    lines.close()
    to.put("")


def _family(pid: int) -> list[int]:
    """A process and its children."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        threads = [p.name for p in Path(f"/proc/{pid}/task").iterdir() if p.name != str(pid)]
        for thread in threads:
            children += Path(f"/proc/{pid}/task/{thread}/children").read_text().split()
    except OSError:
        return [pid]
    return [pid, *map(int, children)]


def _peak(pid: int) -> int:
    """The high-water mark of a process, which begins anew."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        Path(f"/proc/{pid}/clear_refs").write_text("5")
    except OSError:
        return 0
    line = next((line for line in status.splitlines() if line.startswith("VmHWM")), "VmHWM: 0 kB")
    return int(line.split()[1]) * 1024
