"""Ties live subjects to the service. What needs torch is loaded when it is first asked for, not when serving begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from innerview.jobs.context import Context
from innerview.rollouts.calls import ForwardCall, LensCall
from innerview.schema import Lens
from innerview.serve.arguments import read
from innerview.serve.context import Answer
from innerview.serve.live.what_if import LazyWhatIfSessions
from innerview.store import Study

if TYPE_CHECKING:
    from innerview.rollouts.what_if.sessions import WhatIfSessions


class AllLenses:
    """Every lens, found when they are first listed."""

    def __iter__(self) -> Iterator[Lens]:
        from innerview.lenses.discovery import all_lenses

        return (looking.lens for _, looking in all_lenses())


def live_parts(study: Study, subjects: Mapping[str, Any], worlds: Mapping[str, Any]) -> dict[str, Any]:
    """Live calls and what-if rollouts, as far as there are subjects and worlds to use them on, and lenses."""
    context = Context(study=study, subjects=subjects, worlds=worlds)

    def forward(arguments: dict[str, Any], stale: Callable[[], bool]) -> Answer:
        from innerview.rollouts import live

        return live.forward(context, read(ForwardCall, arguments, "call 'forward'"))

    def lens(arguments: dict[str, Any], stale: Callable[[], bool]) -> Answer:
        from innerview.rollouts import live

        return live.lens(context, read(LensCall, arguments, "call 'lens'"))

    def what_ifs() -> WhatIfSessions:
        from innerview.rollouts.what_if.sessions import WhatIfSessions

        return WhatIfSessions(context)

    return {
        "calls": {"forward": forward, "lens": lens} if subjects else {},
        "lenses": AllLenses(),
        "what_ifs": LazyWhatIfSessions(what_ifs) if subjects and worlds else None,
    }
