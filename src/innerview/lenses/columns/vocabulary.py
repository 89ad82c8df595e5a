"""The names that a study's recordings know: what a page gives a colour each, the same in every view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import polars as pl

from innerview.errors import StoreError
from innerview.lenses.columns.derived import Derived
from innerview.schema import ArraySpec, Column, is_pose
from innerview.store import Recording

WORDS_OF = "words of "
"""Before the name of a column: the kind of its words."""
NOTHING = "background"
"""What masks call the places where nothing stands."""
MAX_VECTOR = 16
"""A vector that a subject saw is shown element by element up to this size."""
MAX_SCENES = 16
"""Scenes of a recording that are looked through: the things on a world's maps repeat."""
UNLISTED = ("index", "value", "reward")
"""Kinds of columns that have no colour, or one of their own in the page."""


def vocabulary(recordings: Iterable[Derived]) -> dict[str, list[str]]:
    """Names by kind: `action`, `domain`, `object`, `fact`, `outcome`, `subject`, `words of …` for each column of words.

    They stand in the order of the recordings, so that another recording adds its names after those of the others.
    """
    found: dict[str, dict[str, None]] = {}
    for recording in recordings:
        for kind, name in _named(recording):
            found.setdefault(kind, {})[name] = None
    return {kind: list(names) for kind, names in found.items()}


def _named(recording: Derived) -> Iterator[tuple[str, str]]:
    info = recording.recording.info
    if info.subject is not None:
        yield "subject", info.subject.name
    domains = (*(array.domain for array in info.arrays), *(column.domain for column in info.columns))
    yield from (("domain", domain) for domain in domains if domain)
    for spec in info.arrays:
        yield from _of_array(spec)
    yield from (("object", name) for name in recording.kinds)
    yield from _of_groups(recording.recording)
    # Where it was comes last: a map shows it better than a line.
    for column in sorted((*info.columns, *recording.specs), key=is_pose):
        yield from _of_column(column, recording)


def _of_array(spec: ArraySpec) -> Iterator[tuple[str, str]]:
    count = spec.shape[-1] if spec.shape else 0
    if spec.role == "probabilities":
        names = spec.elements if len(spec.elements) == count else [f"action {place}" for place in range(count)]
        yield from (("action", name) for name in names)
    elif spec.role == "mask":
        yield from (("object", name) for name in spec.elements if name != NOTHING)
    elif spec.role == "observation" and len(spec.shape) == 1 and count <= MAX_VECTOR:
        unnamed = [f"{spec.label or spec.name} {place}" for place in range(count)]
        yield from (("fact", name) for name in (*spec.elements, *unnamed[len(spec.elements) :]))


def _of_column(column: Column, recording: Derived) -> Iterator[tuple[str, str]]:
    if column.type == "objects":
        return
    if column.categories:
        kind = "action" if column.kind == "action" else WORDS_OF + column.name
        yield from ((kind, name) for name in column.categories)
    elif column.type == "text" and not column.derived:
        yield from ((WORDS_OF + column.name, word) for word in recording.words(column.name))
    elif column.kind not in UNLISTED and not column.derived.startswith("objects"):
        # What is derived from the things in view has the colour of its thing.
        yield "fact", column.name


def _of_groups(recording: Recording) -> Iterator[tuple[str, str]]:
    try:
        groups = recording.groups()
        keys = _words(groups, "scene")[:MAX_SCENES]
        things = {name for key in keys for name, _, _ in recording.scene(key).objects}
    except StoreError:
        return  # the recording itself tells of the damage
    yield from (("object", name) for name in sorted(things))
    yield from (("outcome", name) for name in sorted(_words(groups, "outcome")))


def _words(groups: pl.DataFrame, column: str) -> list[str]:
    """Every word of a column in the order in which they come; none where there is no such column."""
    if groups.schema.get(column) != pl.String:
        return []
    return [word for word in groups[column].unique(maintain_order=True) if word]
