"""What-if rollouts from recorded rows: other actions, things moved or taken away, and what the subject says."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from innerview.errors import RequestError, UnknownName
from innerview.jobs.context import Context
from innerview.jobs.engine import CLOSE_S
from innerview.rollouts.jobs import WhatIfJob
from innerview.rollouts.what_if.factors import amounts
from innerview.rollouts.what_if.origin import Origin, origin, origin_of
from innerview.rollouts.what_if.rollout import Node, WhatIfRollout
from innerview.schema import ThingInView
from innerview.store import Study
from innerview.subjects import Subject
from innerview.worlds import World
from innerview.worlds import world as as_world

MAX_ROLLOUTS = 3
"""So many games stand ready; the one that was not asked for the longest is closed."""
MAX_STEPS = 256
"""The most that the subject goes on in one request; who asks again goes on from there."""
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """A rollout as somebody asked for it."""

    origin: Origin
    nodes: Sequence[Node]
    things: Sequence[ThingInView]
    """What can be changed at the last node."""
    why_fixed: str


class WhatIfSessions:
    """Rollouts of a study's recordings. All of it runs in one thread: many games may be used from one alone."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._rollouts: OrderedDict[str, WhatIfRollout] = OrderedDict()
        self._thread = ThreadPoolExecutor(1, "what-if")

    def play(self, asked: WhatIfJob, *, go_on: int = 0) -> WhatIf:
        """What the moves lead to from a row, and after them up to `go_on` moves of the subject's own."""
        if not 0 <= go_on <= MAX_STEPS:
            raise RequestError(f"go_on is a whole number from 0 to {MAX_STEPS}, not {go_on!r}.")

        def work() -> WhatIf:
            rollout = self._rollout(asked)
            nodes = rollout.go_on(asked.moves, go_on)
            things = rollout.things(len(nodes) - 1)
            return WhatIf(origin=rollout.origin, nodes=tuple(nodes), things=things, why_fixed=rollout.why_fixed)

        return self._run(work)

    def array(self, key: str, name: str, count: int) -> np.ndarray:
        """An array of the last `count` nodes up to that of the key, [nodes, *shape]."""

        def work() -> np.ndarray:
            rollout, index = self._node_at(key)
            nodes = rollout.nodes[max(0, index + 1 - count) : index + 1]
            given = {array: seen for seen, array in rollout.form.observations.items()}
            if name not in given:
                raise UnknownName("array", name, given)
            return np.stack([node.seen.get(given[name]) for node in nodes])

        return self._run(work)

    def factors(self, key: str, result: str) -> np.ndarray:
        """How much of each factor is where at a node, and what they leave out: [factors + 1, height, width]."""

        def work() -> np.ndarray:
            rollout, index = self._node_at(key)
            return amounts(self._context.study, result, rollout, rollout.nodes[index])

        return self._run(work)

    def close(self) -> None:
        """End every game, once what is under way has come to a stop."""
        closing = self._thread.submit(self._close_all)
        self._thread.shutdown(wait=False)
        wait([closing], CLOSE_S)

    def _close_all(self) -> None:
        for rollout in self._rollouts.values():
            rollout.close()
        self._rollouts.clear()

    def _run(self, work: Callable[[], T]) -> T:
        return self._thread.submit(work).result()

    def _rollout(self, asked: WhatIfJob) -> WhatIfRollout:
        begin = origin_of(asked, self._context)
        if begin.key not in self._rollouts:
            while len(self._rollouts) >= MAX_ROLLOUTS:
                self._rollouts.popitem(last=False)[1].close()
            self._rollouts[begin.key] = WhatIfRollout(begin)
        self._rollouts.move_to_end(begin.key)
        return self._rollouts[begin.key]

    def _node_at(self, key: str) -> tuple[WhatIfRollout, int]:
        for rollout in reversed(self._rollouts.values()):
            for index, node in enumerate(rollout.nodes):
                if node.key == key:
                    return rollout, index
        raise UnknownName("played moment", key, (), "It was left for another rollout: ask for its moves again.")


def what_if(
    study: Study | str | Path, recording: str, *, row: int, subject: Subject, world: Any, other: bool = False
) -> WhatIfRollout:
    """A rollout from a recorded row, to be played with `play([Move(do="agent"), …])` and closed in the end.

    With `other=True` the subject need not be the one that was recorded: what would another one expect here, and do?
    """
    opened = study if isinstance(study, Study) else Study.open(study)
    found, place = opened.recording(recording), as_world(world)
    assert isinstance(place, World)
    return WhatIfRollout(origin(found, row, subject, place, other=other))
