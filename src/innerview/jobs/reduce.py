"""The table of reductions: how a subject fares with its full memory and without parts of it, over the same seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from innerview.edits import fingerprint, keep_only
from innerview.edits.checking import checked
from innerview.edits.comparing import table_row
from innerview.errors import EditError, UnknownName
from innerview.jobs.engine import Progress
from innerview.jobs.ordering import order_of
from innerview.jobs.playing import FULL, Games, Table
from innerview.jobs.record import check_subject, seeds_of
from innerview.jobs.terminal import bar
from innerview.schema import MemoryEdit, MemorySite, Reduction, Result, to_json
from innerview.store import Recording, Study
from innerview.subjects import Subject
from innerview.worlds import world as as_world

MOST_REDUCTIONS = 1000
RANDOM_SEED = 0


def reduce_table(
    study: Study | str | Path,
    recording: str,
    reductions: Sequence[Reduction],
    subject: Subject,
    world: Any,
    *,
    episodes: int = 100,
    seed: int | None = None,
    greedy: bool | None = None,
    lanes: int | None = None,
    progress: Progress | bool = True,
) -> Result:
    """Play `episodes` seeds with full memory and under every reduction, and keep the table.

    Actions are chosen as in the recording. Seeds follow the largest one of the recording unless `seed` says the
    first, so that elements chosen by an order of the recording are tried on episodes they were not chosen on.
    """
    opened = study if isinstance(study, Study) else Study.open(study)
    check_subject(subject)
    source = opened.recording(recording)
    wanted = distinct((FULL, *reductions), subject.info.memory)
    table = Table(
        study=opened,
        subject=subject,
        world=as_world(world),
        greedy=bool(source.info.arguments.get("greedy", False)) if greedy is None else greedy,
        max_steps=source.info.arguments.get("max_steps"),
        lanes=lanes,
    )
    seeds = seeds_of(episodes, other_seed(source) if seed is None else seed)
    arguments = {**table.setting, "seeds": list(seeds), "reductions": to_json(wanted)}
    result = opened.result_id("table", recording, arguments)
    with suppress(UnknownName):
        return opened.result(result)
    title = f"{len(wanted) - 1} reductions of {subject.info.name}"
    with bar(progress, title, "episodes") as report:
        games = table.play(wanted, seeds, report)
    return opened.keep_result(
        "table",
        recording=recording,
        arguments=arguments,
        value=table_value(games, subject, source, seeds),
        title=title,
        result=result,
    )


def table_value(games: Games, subject: Subject, recording: Recording, seeds: Sequence[int]) -> dict[str, Any]:
    """The table as JSON."""
    full = games.fared(0)
    compared = full if games.repeats else None
    overlap = sorted(set(seeds) & {int(seed) for seed in recording.info.arguments.get("seeds", ())})
    size = sum(math.prod(site.shape) for site in subject.info.memory)
    rows = [
        {
            "name": reduction.name,
            "note": reduction.note,
            "edits": fingerprint(checked(reduction.edits, subject.info.memory)),
            "kept": size - touched(reduction),
            **table_row(games.fared(which), compared if which else None),
        }
        for which, reduction in enumerate(games.reductions)
    ]
    return {
        "rows": rows,
        "elements": size,
        "seeds": list(seeds),
        "repeats": games.repeats,
        "chosen_on": {"recording": recording.name, "seeds_in_both": overlap},
        "note": "" if games.repeats else "This world does not repeat itself with the same seed: nothing is paired.",
    }


def distinct(reductions: Sequence[Reduction], memory: Sequence[MemorySite]) -> tuple[Reduction, ...]:
    """The reductions, checked; names must tell them apart."""
    if not memory:
        raise EditError("This subject has no memory: there is nothing to reduce.")
    if len(reductions) > MOST_REDUCTIONS:
        raise EditError(f"A table has at most {MOST_REDUCTIONS} lines, not {len(reductions)}.")
    names = [reduction.name for reduction in reductions]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise EditError(f"Two reductions are called '{twice[0]}': give one of them another name.")
    return tuple(Reduction(name=each.name, edits=checked(each.edits, memory), note=each.note) for each in reductions)


def touched(reduction: Reduction) -> int:
    """How many elements a reduction changes."""
    return len({(edit.site, element) for edit in reduction.edits for element in edit.elements})


def other_seed(recording: Recording) -> int:
    """A first seed beyond all seeds of a recording."""
    return max((int(seed) for seed in recording.info.arguments.get("seeds", ())), default=-1) + 1


def keep_by(study: Study, recording: Recording, site: MemorySite, *, by: str, count: int | None = None) -> Reduction:
    """Keep the first `count` elements (half where nothing is said) of an order over a whole recording."""
    size = math.prod(site.shape)
    kept = size // 2 if count is None else count
    if not 0 <= kept <= size:
        raise EditError(f"Between 0 and {size} elements of '{site.name}' can be kept, not {kept}.")
    several = len([spec for spec in recording.info.arrays if spec.role == "memory"]) > 1
    title = "half" if count is None else str(kept)
    if by == "random":
        order = np.random.default_rng(RANDOM_SEED).permutation(size)
        how = f"drawn at random (generator with seed {RANDOM_SEED})"
    else:
        found = order_of(study, recording, by=by, array=f"memory.{site.name}" if several else "memory")
        order, how = found.order, f"first by {by} over '{recording.name}' ({recording.rows:,} rows). {found.explains}"
    kept_elements = [int(place) for place in order[:kept]]
    return keep_only(kept_elements, site, name=f"{title} by {by}", note=f"Keeps {kept} of {size} elements, {how}")


def nothing_left(site: MemorySite) -> Reduction:
    """Every element of a site zeroed."""
    elements = tuple(range(math.prod(site.shape)))
    edit = MemoryEdit(elements=elements, site=site.name)
    return Reduction(name="no memory", edits=(edit,), note=f"All {len(elements)} elements of '{site.name}' zeroed.")
