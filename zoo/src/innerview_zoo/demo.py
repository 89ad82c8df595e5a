"""The demo: trained agents from the zoo, recorded on the first start and live afterwards."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from rich.console import Console

from innerview.store import Study
from innerview_zoo.manifest import weights_file


@dataclass(frozen=True)
class Show:
    """One agent of the demo and the episodes that are recorded of it."""

    entry: str
    """Its name in the zoo."""
    subject: str
    world: str
    seed: int
    episodes: int
    about: str

    @property
    def recording(self) -> str:
        """The usual name of its recording."""
        return self.subject

    @cached_property
    def weights(self) -> str:
        """Which weights these are; of the file, as loading the model itself would make every start slow."""
        return f"Weights {sha256(_weights_file(self.entry).read_bytes()).hexdigest()[:8]}"


SHOWS = (
    Show(
        entry="doom_health",
        subject="health agent",
        world="health_gathering_supreme",
        seed=1_000_004,  # none of these was trained on; four of the twelve end in death
        episodes=12,
        about="A trained agent gathers health packs in Doom.",
    ),
    Show(
        entry="doom_kitems",
        subject="k-items agent",
        world="kitems",
        seed=1_000_000,  # mazes that it was not trained in
        episodes=8,
        about="Another gathers four items in the right order in mazes it has never seen.",
    ),
    Show(
        entry="platformer_sparse",  # plays as well as the plain one, and its factors are few and clear
        subject="sparse platformer agent",
        world="platformer",
        seed=1_000_000_000,  # levels that it was not trained on
        episodes=8,
        about="A third runs and jumps to the coin, in levels it has never seen.",
    ),
    Show(
        entry="platformer_100",
        subject="platformer agent of 100 levels",
        world="platformer",
        seed=1_000_000_000,  # the same levels
        episodes=8,
        about="A fourth was trained on a hundred levels only: it fails in about half of all others.",
    ),
)
"""What the page opens on comes first."""


def make_demo(path: Path, *, episodes: int | None) -> tuple[Study, dict[str, Any], dict[str, Any]]:
    """The study with a recording of each agent, made unless it is there; what loads subjects and worlds, by name."""
    study = Study.open_or_create(path)
    subjects, worlds = {}, {}
    shows = [show for show in SHOWS if _weights_file(show.entry).is_file()]
    for show in shows:
        model = _Model(show.entry)
        name = _recording_name(study, show)
        if name not in study.recordings() or not study.recording(name).complete:
            _record(study, show, model, name, episodes)
        subjects[show.subject], worlds[show.world] = model.subject, model.world
    return study, subjects, worlds


def _recording_name(study: Study, show: Show) -> str:
    """The usual name, or one of its own where that was recorded with the weights of another version."""
    recorded = show.recording in study.recordings() and study.recording(show.recording).info.note
    return show.recording if recorded in (False, show.weights) else f"{show.recording} {show.weights[-8:]}"


def _record(study: Study, show: Show, model: _Model, name: str, episodes: int | None) -> None:
    from innerview.rollouts.record import record

    Console(stderr=True).print(f"Recording the demo: {show.about} This happens once.")
    subject, world = model.both()
    count = episodes or show.episodes
    if name in study.recordings():
        count = len(study.recording(name).info.seeds)
    record(study, subject, world, episodes=count, seeds=show.seed, name=name, note=show.weights)


class _Model:
    """A zoo model, loaded once, when it is first needed."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._pair: tuple[Any, Any] | None = None
        self._lock = threading.Lock()

    def both(self) -> tuple[Any, Any]:
        import innerview_zoo as zoo

        with self._lock:
            self._pair = self._pair or zoo.load(self._name)
            return self._pair

    def subject(self) -> Any:
        return self.both()[0]

    def world(self) -> Any:
        return self.both()[1]


def _weights_file(entry: str) -> Path:
    family = "platformer" if entry.startswith("platformer") else "doom"
    return weights_file(family, entry)
