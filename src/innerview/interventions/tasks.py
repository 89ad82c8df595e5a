"""Jobs about edits of the memory, from what somebody asked over the wire."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from innerview.edits import checked
from innerview.errors import EditError, RequestError, StoreError
from innerview.interventions.ablation_test_task import prove_task
from innerview.interventions.reductions import ask_table, table_like
from innerview.interventions.smallest_memory import ask_minimal
from innerview.interventions.sweep import ask_sweep
from innerview.jobs.arguments import whole
from innerview.jobs.engine import Progress
from innerview.jobs.runner import Task
from innerview.rollouts.live import MOST_EPISODES, Live
from innerview.rollouts.rerun import Pair, check_same, rerun
from innerview.schema import EditSet, from_json

Arguments = Mapping[str, Any]


def rerun_task(live: Live, arguments: Arguments) -> Task:
    """Play recorded episodes again with the memory changed."""
    recording, subject, world = live.player(arguments)
    reduction = _reduction(live, arguments.get("reduction"))
    episodes = arguments.get("episodes")
    if episodes is not None and (not isinstance(episodes, list) or len(episodes) > MOST_EPISODES):
        raise RequestError(f"episodes is a list of episode numbers, not {episodes!r:.60}; all where left out.")
    check_same(recording, subject, world.info)
    if not checked(reduction.edits, subject.info):
        raise EditError(f"EditSet '{reduction.name}' has no edits: it would change nothing.")

    def work(progress: Progress) -> dict[str, Any]:
        made = rerun(live.study, recording.name, reduction, subject, world, episodes=episodes, progress=progress)
        return {"recording": made.recording.name, "of": made.of.name, "pairs": [told(pair) for pair in made.pairs]}

    return Task(title=f"Run {recording.name} again: {reduction.name}", work=work, unit="episodes")


def table_task(live: Live, arguments: Arguments) -> Task:
    """The table of reductions over new episodes."""
    recording, subject, world = live.player(arguments)
    given = arguments.get("reductions")
    if not isinstance(given, list) or not given:
        raise RequestError("reductions is a list of one reduction or more.")
    question = ask_table(
        table_like(live.study, recording, subject, world),
        recording,
        [_reduction(live, one) for one in given],
        episodes=whole(arguments, "episodes", usual=20, least=1, most=MOST_EPISODES),
        seed=None if arguments.get("seed") is None else whole(arguments, "seed", usual=0, least=0, most=2**31 - 1),
    )

    def work(progress: Progress) -> dict[str, Any]:
        return {"result": question.answer(progress).id}

    return Task(title=question.title, work=work, unit="episodes", promise={"result": question.id})


def sweep_task(live: Live, arguments: Arguments) -> Task:
    """Every element, or pairs of them, dropped and ranked by effect."""
    recording, subject, world = live.player(arguments)
    elements = arguments.get("elements") or ()
    if not isinstance(elements, list | tuple):
        raise RequestError(f"elements is a list of numbers, not {elements!r:.60}; all where left out.")
    question = ask_sweep(
        table_like(live.study, recording, subject, world),
        recording,
        site=str(arguments.get("site") or ""),
        episodes=whole(arguments, "episodes", usual=5, least=1, most=MOST_EPISODES),
        over=str(arguments.get("over", "single")),
        by=str(arguments.get("by", "decisions")),
        op=arguments.get("op", "zero"),
        value=arguments.get("value", 0.0),
        measure=str(arguments.get("measure", "return")),
        among=tuple(elements),
        rows=whole(arguments, "rows", usual=2000, least=1, most=1_000_000),
    )

    def work(progress: Progress) -> dict[str, Any]:
        return {"result": question.answer(progress).id}

    return Task(title=question.title, work=work, unit="edits", promise={"result": question.id})


def minimal_task(live: Live, arguments: Arguments) -> Task:
    """A search for the smallest memory that keeps the performance."""
    recording, subject, world = live.player(arguments)
    keep = arguments.get("keep", 0.95)
    if not isinstance(keep, int | float) or isinstance(keep, bool):
        raise RequestError(f"keep is a share from 0 to 1, not {keep!r:.40}.")
    question = ask_minimal(
        table_like(live.study, recording, subject, world),
        recording,
        site=str(arguments.get("site") or ""),
        keep=float(keep),
        measure=str(arguments.get("measure", "length")),
        outcome=str(arguments.get("outcome", "")),
        episodes=whole(arguments, "episodes", usual=20, least=1, most=MOST_EPISODES),
    )

    def work(progress: Progress) -> dict[str, Any]:
        return {"result": question.answer(progress).id}

    return Task(title=question.title, work=work, unit="tries", promise={"result": question.id})


def told(pair: Pair) -> dict[str, Any]:
    """A pair of runs as JSON."""
    return {
        "episode": pair.episode,
        "of": pair.of,
        "seed": pair.seed,
        "decision": pair.parts.decision,
        "action": pair.parts.action,
        "place": pair.parts.place,
        "alike": pair.alike,
    }


def _reduction(live: Live, given: Any) -> EditSet:
    """A reduction as JSON, or the name of one that the study keeps."""
    if isinstance(given, str):
        kept = {reduction.name: reduction for reduction in live.study.reductions()}
        if given not in kept:
            raise RequestError(f"No reduction is called '{given:.80}'. Kept: {', '.join(kept) or 'none'}.")
        return kept[given]
    try:
        return from_json(EditSet, given)
    except StoreError as error:
        raise EditError(f"This is no reduction: {error}") from error


MAKERS: dict[str, Callable[[Live, Arguments], Task]] = {
    "rerun": rerun_task,
    "table": table_task,
    "sweep": sweep_task,
    "minimal": minimal_task,
    "prove": prove_task,
}
"""Kinds of jobs that need a live subject and a world."""
