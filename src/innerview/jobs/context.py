"""What a job works with: the study, and the subjects and worlds that the running process has loaded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from innerview.errors import EditError, RequestError, UnknownName
from innerview.schema import EditSet, Step, SubjectInfo, WorldInfo, parse_filters
from innerview.store import Edited, Recording, Study

if TYPE_CHECKING:
    from innerview.subjects import Subject
    from innerview.worlds import World

T = TypeVar("T")
_SERVE = (
    "Serve the study with it: iv.show(study, subject=…, world=…), or innerview serve STUDY --subject zoo:NAME, which "
    "brings its world along."
)


class LazyMapping(Mapping[str, T], Generic[T]):
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


@dataclass(frozen=True, kw_only=True)
class Context:
    """Subjects and worlds come from whoever runs the process, by name, and never from the study."""

    study: Study
    subjects: Mapping[str, Subject] = field(default_factory=dict)
    worlds: Mapping[str, World] = field(default_factory=dict)
    opened: Callable[[str], Recording] | None = None
    """Gives a recording that is kept open, where many short questions are asked about it."""

    def recording(self, name: str) -> Recording:
        """The recording of that name, as it is now."""
        return self.opened(name) if self.opened else self.study.recording(name)

    def subject(self, name: str | None = None, recording: Recording | None = None) -> Subject:
        """The live subject of that name, else the one that recorded, else the only one."""
        if not name and recording is not None and self.subjects:
            name = _of_recording("subject", self.subjects, recording, recording.info.subject)
        return _chosen("subject", self.subjects, name)

    def original(self, edited: Edited) -> Subject:
        """The live subject that the first edit of an edited one was made to."""
        if edited.root not in self.subjects:
            raise EditError(
                f"'{edited.name}' was made of '{edited.root}', which is not live here. Live: "
                f"{', '.join(self.subjects) or 'none'}. {_SERVE}"
            )
        return self.subjects[edited.root]

    def world(self, name: str | None = None, recording: Recording | None = None) -> World:
        """The live world of that name, else the one that was recorded in, else the only one."""
        if not name and recording is not None and self.worlds:
            name = _of_recording("world", self.worlds, recording, recording.info.world)
        return _chosen("world", self.worlds, name)

    def reduction(self, given: EditSet | str) -> EditSet:
        """A reduction, or the one that the study keeps under that name."""
        if isinstance(given, EditSet):
            return given
        saved = {reduction.name: reduction for reduction in self.study.reductions()}
        if given not in saved:
            raise UnknownName("reduction", given, saved, "Saved reductions are listed by: innerview reductions STUDY.")
        return saved[given]

    def filters(self, given: str) -> tuple[Step, ...]:
        """Filters of pictures as they are written, or those that the study keeps under that name."""
        saved = {made.name: made.steps for made in self.study.filters()}
        return parse_filters(saved.get(given, given))


def _of_recording(
    what: str, live: Mapping[str, T], recording: Recording, recorded: SubjectInfo | WorldInfo | None
) -> str | None:
    """Name of the live one that a recording was made with; None where there is just one to choose."""
    if recorded is not None and recorded.name in live:
        return recorded.name
    if len(live) > 1:
        made = f"was made with {what} '{recorded.name}'" if recorded else f"does not say which {what} it was made with"
        raise RequestError(f"Recording '{recording.info.name}' {made}. Live here: {', '.join(live)}. Name one of them.")
    return None


def _chosen(what: str, live: Mapping[str, T], name: str | None) -> T:
    """The one named, or the first."""
    if not live:
        raise RequestError(f"No {what} is live, and this needs one. {_SERVE}")
    if not name:
        return next(iter(live.values()))
    if name not in live:
        raise UnknownName(f"live {what}", name, live, _SERVE)
    return live[name]
