"""Ties live subjects to the service. What needs torch is loaded when it is first asked for, not when serving begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from innerview.jobs.context import Context
from innerview.rollouts.calls import ForwardCall, LensCall
from innerview.schema import Lens
from innerview.serve.arguments import read
from innerview.serve.context import Answer
from innerview.serve.openings import Openings
from innerview.store import Study


class AllLenses:
    """Every lens, found when they are first listed."""

    def __iter__(self) -> Iterator[Lens]:
        from innerview.lenses.discovery import all_lenses

        return (looking.lens for _, looking in all_lenses())


def live_parts(study: Study, subjects: Mapping[str, Any], worlds: Mapping[str, Any]) -> dict[str, Any]:
    """Live calls, as far as there are subjects to make them of, what they read recordings from, and lenses."""
    openings = Openings(study)
    context = Context(study=study, subjects=subjects, worlds=worlds, opened=openings.recording)

    def forward(arguments: dict[str, Any], stale: Callable[[], bool]) -> Answer:
        from innerview.rollouts import live

        return live.forward(context, read(ForwardCall, arguments, "call 'forward'"))

    def lens(arguments: dict[str, Any], stale: Callable[[], bool]) -> Answer:
        from innerview.rollouts import live

        return live.lens(context, read(LensCall, arguments, "call 'lens'"))

    return {
        "openings": openings,
        "calls": {"forward": forward, "lens": lens} if subjects else {},
        "lenses": AllLenses(),
    }
