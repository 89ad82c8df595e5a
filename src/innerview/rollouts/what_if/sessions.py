"""Plays recorded episodes out in another way: other actions, things moved or taken away, and what the subject says."""

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
from innerview.rollouts.what_if.branch import Branch, Node
from innerview.rollouts.what_if.factors import amounts
from innerview.rollouts.what_if.origin import Origin, origin, origin_of
from innerview.schema import ThingInView
from innerview.store import Study
from innerview.subjects import Subject
from innerview.worlds import World
from innerview.worlds import world as as_world

MOST_BRANCHES = 3
"""So many games stand ready; the one that was not asked for the longest is closed."""
MOST_STEPS = 256
"""The most that the subject goes on in one request; who asks again goes on from there."""
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class PlayedOut:
    """A branch as somebody asked for it."""

    origin: Origin
    nodes: Sequence[Node]
    things: Sequence[ThingInView]
    """What can be changed at the last node."""
    why_fixed: str


class Playouts:
    """Branches of a study's recordings. All of it runs in one thread: many games may be used from one alone."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._branches: OrderedDict[str, Branch] = OrderedDict()
        self._thread = ThreadPoolExecutor(1, "playout")

    def play(self, asked: WhatIfJob, *, go_on: int = 0) -> PlayedOut:
        """What the moves lead to from a row, and after them up to `go_on` moves of the subject's own."""
        if not 0 <= go_on <= MOST_STEPS:
            raise RequestError(f"go_on is a whole number from 0 to {MOST_STEPS}, not {go_on!r}.")

        def work() -> PlayedOut:
            branch = self._branch(asked)
            nodes = branch.go_on(asked.moves, go_on)
            things = branch.things(len(nodes) - 1)
            return PlayedOut(origin=branch.origin, nodes=tuple(nodes), things=things, why_fixed=branch.why_fixed)

        return self._run(work)

    def array(self, key: str, name: str, count: int) -> np.ndarray:
        """An array of the last `count` nodes up to that of the key, [nodes, *shape]."""

        def work() -> np.ndarray:
            branch, index = self._found(key)
            nodes = branch.nodes[max(0, index + 1 - count) : index + 1]
            given = {array: seen for seen, array in branch.form.observations.items()}
            if name not in given:
                raise UnknownName("array", name, given)
            return np.stack([node.seen.get(given[name]) for node in nodes])

        return self._run(work)

    def factors(self, key: str, result: str) -> np.ndarray:
        """How much of each factor is where at a node, and what they leave out: [factors + 1, height, width]."""

        def work() -> np.ndarray:
            branch, index = self._found(key)
            return amounts(self._context.study, result, branch, branch.nodes[index])

        return self._run(work)

    def close(self) -> None:
        """End every game, once what is under way has come to a stop."""
        closing = self._thread.submit(self._close_all)
        self._thread.shutdown(wait=False)
        wait([closing], CLOSE_S)

    def _close_all(self) -> None:
        for branch in self._branches.values():
            branch.close()
        self._branches.clear()

    def _run(self, work: Callable[[], T]) -> T:
        return self._thread.submit(work).result()

    def _branch(self, asked: WhatIfJob) -> Branch:
        begin = origin_of(asked, self._context)
        if begin.key not in self._branches:
            while len(self._branches) >= MOST_BRANCHES:
                self._branches.popitem(last=False)[1].close()
            self._branches[begin.key] = Branch(begin)
        self._branches.move_to_end(begin.key)
        return self._branches[begin.key]

    def _found(self, key: str) -> tuple[Branch, int]:
        for branch in reversed(self._branches.values()):
            for index, node in enumerate(branch.nodes):
                if node.key == key:
                    return branch, index
        raise UnknownName("played moment", key, (), "It was left for another branch: ask for its moves again.")


def play_out(study: Study | str | Path, recording: str, *, row: int, subject: Subject, world: Any) -> Branch:
    """A branch from a recorded row, to be played with `play([Move(do="agent"), …])` and closed in the end.

    The subject need not be the one that was recorded: what would another one expect here, and do?
    """
    opened = study if isinstance(study, Study) else Study.open(study)
    found, place = opened.recording(recording), as_world(world)
    assert isinstance(place, World)
    own = found.info.subject is None or found.info.subject.name == subject.info.name
    return Branch(origin(found, row, subject, place, own=own))
