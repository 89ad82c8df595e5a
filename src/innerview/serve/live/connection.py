"""One live connection: on each channel the newest request wins, and news of jobs is pushed."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pydantic import ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect

from innerview.errors import InnerviewError, RequestError, UnknownName
from innerview.jobs.engine import Cancelled
from innerview.jobs.runner import Job, Jobs
from innerview.serve.context import LiveCall
from innerview.serve.encoding.plain import plain
from innerview.serve.failures import UNEXPECTED, TooLarge, error_body
from innerview.serve.live.messages import (
    BinaryHead,
    JobNews,
    LiveAnswer,
    LiveFailure,
    LiveMessage,
    LiveRequest,
    LiveStale,
)
from innerview.serve.wire import JobReply

CHANNELS_LIMIT = 32
ARRAY_LIMIT = 64_000_000
WAITING_REPLIES = 64
JOB_PAUSE_S = 0.1
MESSAGES_PER_S = 200
"""What a page sends that follows every move of the mouse is a third of it; whoever sends more waits."""
MESSAGE_BYTES = 10_000
"""A message that is longer counts as several."""
CALLS_AT_ONCE = 2
"""Of one connection: the other threads are for others. A call counts until its answer is taken."""

log = logging.getLogger(__name__)
Frames = tuple[str, bytes | None]
"""A message, and the binary frame that follows it."""
Taken = Callable[[], None]
"""Told when the other side took an answer, or left."""


@dataclass(frozen=True)
class PendingRequest:
    """A request and whether somebody still waits for its answer."""

    request: LiveRequest
    stale: threading.Event = field(default_factory=threading.Event)

    def answer(self, value: Any) -> LiveAnswer:
        """What the call gave."""
        return LiveAnswer(id=self.request.id, channel=self.request.channel, ok=True, value=value)

    def overtaken(self) -> LiveStale:
        """Nobody waits for it any more."""
        return LiveStale(id=self.request.id, channel=self.request.channel, ok=False, stale=True)

    def failure(self, kind: str, message: str) -> LiveFailure:
        """What went wrong."""
        error = error_body(kind, message)
        return LiveFailure(id=self.request.id, channel=self.request.channel, ok=False, error=error)


class LiveConnection:
    """Reads requests, runs the newest of each channel in a pool of threads, and sends what comes back."""

    def __init__(self, socket: WebSocket, *, calls: Mapping[str, LiveCall], jobs: Jobs, pool: Executor) -> None:
        self._socket, self._calls, self._jobs, self._pool = socket, calls, jobs, pool
        self._running: dict[str, PendingRequest] = {}
        self._next: dict[str, PendingRequest] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._out: asyncio.Queue[tuple[Frames, Taken]] = asyncio.Queue(WAITING_REPLIES)
        self._free = asyncio.Semaphore(CALLS_AT_ONCE)
        self._updates = JobUpdates()

    async def run(self) -> None:
        """Serve until the other side leaves."""
        await self._socket.accept()
        unwatch = self._jobs.watch(self._updates.note)
        background = [asyncio.create_task(self._send_all()), asyncio.create_task(self._push_jobs())]
        try:
            pace = Pace(MESSAGES_PER_S)
            while (text := await self._receive()) is not None:
                await self._take(text)
                await pace.keep(1 + len(text) // MESSAGE_BYTES)
        finally:
            unwatch()
            for asked in [*self._running.values(), *self._next.values()]:
                asked.stale.set()
            for task in [*background, *self._tasks]:
                task.cancel()
            await asyncio.gather(*background, *self._tasks, return_exceptions=True)

    async def _receive(self) -> str | None:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            return None
        return message.get("text") or ""

    async def _take(self, text: str) -> None:
        try:
            asked = PendingRequest(LiveRequest.model_validate_json(text))
            self._check(asked.request)
        except ValidationError as problem:
            words = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in problem.errors()[:5])
            error = error_body("RequestError", f"The request is malformed. {words}")
            return await self._send(LiveFailure(ok=False, error=error))
        except InnerviewError as problem:
            return await self._send(asked.failure(type(problem).__name__, str(problem)))
        await self._overtake(asked)

    def _check(self, request: LiveRequest) -> None:
        if request.call not in self._calls:
            raise UnknownName("call", request.call, self._calls)
        if request.channel not in self._running and len(self._running) >= CHANNELS_LIMIT:
            raise RequestError(f"{CHANNELS_LIMIT} channels are busy; wait for an answer on one of them.")

    async def _overtake(self, asked: PendingRequest) -> None:
        """Put the request first on its channel; older ones hear at once that nobody waits for them."""
        channel = asked.request.channel
        running, waiting = self._running.get(channel), self._next.get(channel)
        self._next[channel] = asked
        for older in (running, waiting):
            if older is not None and not older.stale.is_set():
                older.stale.set()
                await self._send(older.overtaken())
        if running is None:
            self._running[channel] = asked
            task = asyncio.create_task(self._work_off(channel))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _work_off(self, channel: str) -> None:
        """Answer the newest request of a channel, one at a time, until there is none."""
        while (asked := self._next.pop(channel, None)) is not None:
            self._running[channel] = asked
            call = self._calls[asked.request.call]
            async with self._free:
                frames = await asyncio.get_running_loop().run_in_executor(self._pool, answer, call, asked)
                if not asked.stale.is_set():
                    asked.stale.set()  # answered: a newer request need not tell it anything
                    taken = asyncio.Event()
                    await self._out.put((frames, taken.set))
                    await taken.wait()  # so few large answers wait for a reader who dawdles
        del self._running[channel]

    async def _send(self, message: LiveMessage) -> None:
        await self._out.put(((as_text(message), None), lambda: None))

    async def _send_all(self) -> None:
        gone = False
        while True:
            (text, binary), taken = await self._out.get()
            try:
                if not gone:
                    await self._socket.send_text(text)
                if not gone and binary is not None:
                    await self._socket.send_bytes(binary)
            except (WebSocketDisconnect, RuntimeError):
                gone = True  # while something was being sent; the reading side ends the connection
            taken()

    async def _push_jobs(self) -> None:
        while True:
            for job in await self._updates.fresh():
                await self._send(JobNews(event="job", job=JobReply.model_validate(plain(job))))
            await asyncio.sleep(JOB_PAUSE_S)


def as_text(message: LiveMessage) -> str:
    """A message as it is sent."""
    return json.dumps(message.model_dump())


class Pace:
    """So many turns a second, with a second's worth saved up."""

    def __init__(self, per_s: int) -> None:
        self._per_s, self._clock = per_s, asyncio.get_running_loop().time
        self._free, self._last = float(per_s), self._clock()

    async def keep(self, turns: int) -> None:
        """Take turns, and wait until there are some where all were taken."""
        now = self._clock()
        self._free = min(self._per_s, self._free + (now - self._last) * self._per_s) - turns
        self._last = now
        if self._free < 0:
            await asyncio.sleep(-self._free / self._per_s)


class JobUpdates:
    """The latest state of each job that changed; what changes a thousand times a second is told ten times."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._changed = asyncio.Event()
        self._jobs: dict[str, Job] = {}

    def note(self, job: Job) -> None:
        """Take note of a change, from any thread."""
        with self._lock:
            first = not self._jobs
            self._jobs[job.id] = job
        if first:
            self._loop.call_soon_threadsafe(self._changed.set)

    async def fresh(self) -> Iterable[Job]:
        """Wait for changes and take them."""
        await self._changed.wait()
        with self._lock:
            self._changed.clear()
            jobs, self._jobs = self._jobs, {}
        return jobs.values()


def answer(call: LiveCall, asked: PendingRequest) -> Frames:
    """Run the call in this thread; whatever happens becomes an answer."""
    if asked.stale.is_set():
        return as_text(asked.overtaken()), None
    try:
        return _encode(asked, call(asked.request.arguments, asked.stale.is_set))
    except Cancelled:
        return as_text(asked.overtaken()), None
    except InnerviewError as refused:
        return as_text(asked.failure(type(refused).__name__, str(refused))), None
    except Exception:
        log.exception("Unexpected error in the live call '%s'.", asked.request.call)
        return as_text(asked.failure("ServerError", UNEXPECTED)), None


def _encode(asked: PendingRequest, result: dict[str, Any] | tuple[dict[str, Any], np.ndarray]) -> Frames:
    value, array = result if isinstance(result, tuple) else (result, None)
    reply = asked.answer(plain(value))
    if array is None:
        return as_text(reply), None
    if array.dtype.hasobject:
        raise TypeError("A live call may answer with numbers only, not with an array of objects.")
    if array.nbytes > ARRAY_LIMIT:
        raise TooLarge(f"The answer has {array.nbytes} bytes; at most {ARRAY_LIMIT} are sent.")
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    reply.binary = BinaryHead(shape=list(array.shape), dtype=array.dtype.name)
    return as_text(reply), little.tobytes()
