"""Jobs about edits of the memory, from what somebody asked over the wire."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from innerview.errors import EditError, RequestError, StoreError
from innerview.jobs.engine import Progress
from innerview.jobs.live import MOST_EPISODES, Live
from innerview.jobs.reduce import ask_table, table_like
from innerview.jobs.rerun import Pair, check_same, rerun
from innerview.jobs.runner import Task
from innerview.schema import Reduction, from_json

Arguments = Mapping[str, Any]


def rerun_task(live: Live, arguments: Arguments) -> Task:
    """Play recorded episodes again with the memory changed."""
    recording, subject, world = live.player(arguments)
    reduction = _reduction(live, arguments.get("reduction"))
    episodes = arguments.get("episodes")
    if episodes is not None and (not isinstance(episodes, list) or len(episodes) > MOST_EPISODES):
        raise RequestError(f"episodes is a list of episode numbers, not {episodes!r:.60}; all where left out.")
    check_same(recording, subject, world.info)

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


def whole(arguments: Arguments, name: str, *, usual: int, least: int, most: int) -> int:
    """A whole number of a request, within its bounds."""
    value = arguments.get(name)
    value = usual if value is None else value
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise RequestError(f"{name} must be a number from {least} to {most}, not {value!r:.40}.")
    return value


def _reduction(live: Live, given: Any) -> Reduction:
    """A reduction as JSON, or the name of one that the study keeps."""
    if isinstance(given, str):
        kept = {reduction.name: reduction for reduction in live.study.reductions()}
        if given not in kept:
            raise RequestError(f"No reduction is called '{given:.80}'. Kept: {', '.join(kept) or 'none'}.")
        return kept[given]
    try:
        return from_json(Reduction, given)
    except StoreError as error:
        raise EditError(f"This is no reduction: {error}") from error


MAKERS: dict[str, Callable[[Live, Arguments], Task]] = {"rerun": rerun_task, "table": table_task}
"""Kinds of jobs that need a live subject and a world."""
