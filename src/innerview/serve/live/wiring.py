"""Ties live subjects to the service. What needs torch is loaded when it is first asked for, not when serving begins."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from innerview.jobs.runner import Task
from innerview.schema import Lens
from innerview.serve.context import JobMaker, LiveCall
from innerview.serve.live.playouts import LatePlayouts
from innerview.store import Study

if TYPE_CHECKING:
    from innerview.rollouts.live import Live
    from innerview.rollouts.what_if.sessions import Playouts

T = TypeVar("T")
CALLS = ("forward", "lens")
EDITS = ("rerun", "table", "sweep", "minimal", "prove")


class Later(Mapping[str, T], Generic[T]):
    """Things by name that are loaded when they are first used, once, whichever thread asks first."""

    def __init__(self, loaders: Mapping[str, Callable[[], T]]) -> None:
        self._loaders, self._loaded = dict(loaders), dict[str, T]()
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> T:
        with self._lock:
            if name not in self._loaded:
                self._loaded[name] = self._loaders[name]()
            return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._loaders

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaders)

    def __len__(self) -> int:
        return len(self._loaders)


class AllLenses:
    """Every lens, found when they are first listed."""

    def __iter__(self) -> Iterator[Lens]:
        from innerview.lenses.discovery import all_lenses

        return (looking.lens for _, looking in all_lenses())


def live_parts(study: Study, subjects: Mapping[str, Any], worlds: Mapping[str, Any]) -> dict[str, Any]:
    """Live calls and job makers, as far as there are subjects and worlds to use them on, and lenses."""

    def live() -> Live:
        from innerview.rollouts.live import Live

        return Live(study, subjects, worlds)

    def call(name: str) -> LiveCall:
        return lambda arguments, stale: live().calls()[name](arguments, stale)

    def record(arguments: dict[str, Any]) -> Task:
        return live().record_more(arguments)

    def look(arguments: dict[str, Any]) -> Task:
        from innerview.lenses.look import lens_task

        return lens_task(study, subjects, arguments)

    def edit(kind: str) -> JobMaker:
        def make(arguments: dict[str, Any]) -> Task:
            from innerview.interventions.tasks import MAKERS

            return MAKERS[kind](live(), arguments)

        return make

    def playouts() -> Playouts:
        from innerview.rollouts.what_if.sessions import Playouts

        return Playouts(live)

    late = LatePlayouts(playouts)
    played = {"record": record, **{kind: edit(kind) for kind in EDITS}}
    played["playout"] = lambda arguments: late.get().keep(arguments)
    return {
        "calls": {name: call(name) for name in CALLS} if subjects else {},
        "makers": {"lens": look} | (played if subjects and worlds else {}),
        "lenses": AllLenses(),
        "playouts": late if subjects and worlds else None,
    }
