"""Every model that is known at several steps of its training: snapshots of the study, and live ones that say so."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from innerview.errors import StoreError, SubjectError
from innerview.rollouts.learning.curve import SCORE
from innerview.store import Snapshot, Study

if TYPE_CHECKING:
    from innerview.subjects import Subject

OF = "of"
"""Among the facts of a snapshot: the subject that was trained."""
HELD = 48
"""Snapshots of a study that are held as subjects at a time."""


@dataclass(frozen=True, kw_only=True)
class AgedSubject:
    """A subject by name, and where in which training it stands."""

    name: str
    run: str
    step: int
    score: float | None = None
    saved: bool = True
    """Whether it is a snapshot of the study."""


def ages(study: Study, live: Mapping[str, Any]) -> list[AgedSubject]:
    """All of them by run and step; asks every live subject, which loads it."""
    found = {}
    for name in live:
        age = live[name].info.age
        if age is not None:
            found[name] = AgedSubject(name=name, run=age.run, step=age.step, saved=False)
    for taken in study.snapshots():
        found[taken.subject] = AgedSubject(
            name=taken.subject, run=taken.run, step=taken.step, score=taken.facts.get(SCORE)
        )
    return sorted(found.values(), key=lambda aged: (aged.run, aged.step, aged.name))


def load_snapshot(study: Study | str | Path, run: str, step: int, *, like: Subject) -> Subject:
    """The subject as it was at a step of a training run, called by its age: "ppo @ 40,000 steps".

    `like` is the subject that was trained, or one built the same way, such as an untrained one: its module is copied
    and given the weights of that age, so that several ages are there at once and `like` stays as it is.

        young, old = (iv.load_snapshot("my.study", "ppo", step, like=agent) for step in (10_000, 1_000_000))
    """
    from innerview.rollouts.record import check_subject
    from innerview.subjects import first_difference

    check_subject(like)
    opened = study if isinstance(study, Study) else Study.open(study)
    taken, weights = opened.snapshot(run, step)
    other = first_difference(like.module, weights)
    if other:
        raise SubjectError(
            f"Snapshot '{taken.subject}' is of another architecture than '{like.info.name}': {other}. Give `like` the "
            "subject that was trained in this run, or one built the same way."
        )
    return like.copied(weights, name=taken.subject).aged(run, step)


class WithSnapshots(Mapping[str, Any]):
    """Live subjects by name; beside them every snapshot of the study can be asked for, and is loaded then.

    Snapshots are not listed: `ages` does. Each is made like the live subject that was trained, or that it fits.
    """

    def __init__(self, study: Study, live: Mapping[str, Any]) -> None:
        self._study, self._live = study, live
        self._loaded: dict[tuple[str, str], Subject] = {}
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> Any:
        if name in self._live:
            return self._live[name]
        taken = self._taken(name)
        if taken is None:
            raise KeyError(name)
        key = (name, self._study.snapshot_digest(taken.run, taken.step))
        with self._lock:
            if key not in self._loaded:
                self._loaded[key] = load_snapshot(self._study, taken.run, taken.step, like=self._like(taken))
                if len(self._loaded) > HELD:
                    del self._loaded[next(iter(self._loaded))]
            return self._loaded[key]

    def __contains__(self, name: object) -> bool:
        return name in self._live or (isinstance(name, str) and self._taken(name) is not None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._live)

    def __len__(self) -> int:
        return len(self._live)

    def _taken(self, name: str) -> Snapshot | None:
        run, at, _ = name.rpartition(" @ ")
        if not at or not self._live:
            return None
        with suppress(StoreError):  # no name of a run
            return next((each for each in self._study.snapshots(run) if each.subject == name), None)
        return None

    def _like(self, taken: Snapshot) -> Subject:
        """The live subject that was trained, else the first that it fits, else the first: it is refused in words."""
        trained = str(taken.facts.get(OF, ""))
        if trained in self._live:
            known: Subject = self._live[trained]
            return known
        from innerview.subjects import first_difference

        _, weights = self._study.snapshot(taken.run, taken.step)
        every: list[Subject] = [self._live[name] for name in self._live]
        return next((each for each in every if not first_difference(each.module, weights)), every[0])
