"""Lanes made of single games, one thread a lane."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from innerview.errors import WorldError
from innerview.schema import Moment
from innerview.worlds.protocols import Game

T = TypeVar("T")


class ThreadedLanes:
    """A pool of games. Each lives in a thread of its own from opening to closing; a single one in the caller's."""

    def __init__(self, make: Callable[[int], Game], count: int) -> None:
        if count < 1:
            raise WorldError(f"A world needs at least one lane, not {count}.")
        self.count = count
        self._make = make
        self._games: dict[int, Game] = {}
        self._steps = [0] * count
        self._playing = [False] * count
        self.closed = False
        self._threads = [_InCaller() if count == 1 else _thread(lane) for lane in range(count)]
        try:
            self._run(self._open_game, {lane: (lane,) for lane in range(count)}, "while it was opened")
        except BaseException:
            self.close()
            raise

    def reset(self, lane: int, seed: int) -> Moment:
        """Begin an episode in one lane."""
        self._check(lane)
        self._steps[lane], self._playing[lane] = 0, False
        moment = self._run(self._games[lane].reset, {lane: (seed,)}, f"at reset with seed {seed}")[lane]
        self._playing[lane] = not moment.ended
        return moment

    def step(self, actions: Mapping[int, Any]) -> dict[int, Moment]:
        """Act in the lanes given, in parallel; when one fails the others finish their step first."""
        for lane in actions:
            self._check(lane)
            if not self._playing[lane]:
                raise WorldError(f"Lane {lane} has no running episode. Call reset({lane}, seed) before stepping it.")
        moments = self._run(self._step_game, {lane: (lane, action) for lane, action in actions.items()})
        for lane, moment in moments.items():
            self._playing[lane] = not moment.ended
        return moments

    def close(self) -> None:
        """Close every game, also when closing one fails; that failure is raised at the end."""
        if self.closed:
            return
        self.closed = True
        closing = {lane: self._threads[lane].submit(game.close) for lane, game in self._games.items()}
        wait(closing.values())
        for thread in self._threads:
            thread.shutdown()
        for lane, future in closing.items():
            if (error := future.exception()) is not None:
                raise WorldError(f"The game in lane {lane} could not be closed: {_error_text(error)}") from error

    def __enter__(self) -> ThreadedLanes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open_game(self, lane: int) -> None:
        self._games[lane] = self._make(lane)

    def _step_game(self, lane: int, action: Any) -> Moment:
        self._steps[lane] += 1
        return self._games[lane].step(action)

    def _check(self, lane: int) -> None:
        if self.closed:
            raise WorldError("These lanes are closed. Open the world again.")
        if lane not in self._games:
            raise WorldError(f"There is no lane {lane}; there are {self.count}, counted from 0.")

    def _run(self, call: Callable[..., T], arguments: Mapping[int, tuple[Any, ...]], when: str = "") -> dict[int, T]:
        futures = {lane: self._threads[lane].submit(call, *given) for lane, given in arguments.items()}
        wait(futures.values())
        for lane, future in futures.items():
            error = future.exception()
            if error is not None:
                self._playing[lane] = False
                raise self._failure(lane, error, when or f"at step {self._steps[lane]}") from error
        return {lane: future.result() for lane, future in futures.items()}

    def _failure(self, lane: int, error: BaseException, when: str) -> BaseException:
        if not isinstance(error, Exception):
            return error
        return WorldError(f"The game in lane {lane} failed {when}: {_error_text(error)}")


class _InCaller(Executor):
    """Runs a call at once in the thread that asks: no hand-over, and Ctrl-C reaches the game."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 the future carries it to whoever asks for the result
            future.set_exception(error)
        return future


def _thread(lane: int) -> Executor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"innerview-lane-{lane}")


def _error_text(error: BaseException) -> str:
    text = str(error).strip()
    return text if isinstance(error, WorldError) and text else f"{type(error).__name__}: {text}"
