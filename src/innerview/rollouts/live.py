"""What a live page may ask of subjects that are in memory: run one row again, or look at it through a lens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from innerview.errors import RequestError, UnknownName
from innerview.jobs.arguments import whole
from innerview.jobs.runner import Progress, Task
from innerview.lenses.discovery import all_lenses
from innerview.lenses.look import complete_parameters, run_lens, shown_of
from innerview.lenses.needs import check_needs
from innerview.lenses.rows.inputs import RowInputs
from innerview.lenses.rows.recorded import recorded_rows
from innerview.rollouts.record import default_name, plain_name, record
from innerview.schema import Heat, SubjectInfo, WorldInfo, to_json
from innerview.store import Recording, Study
from innerview.subjects import Subject
from innerview.worlds import World

Call = Callable[[dict[str, Any], Callable[[], bool]], "dict[str, Any] | tuple[dict[str, Any], np.ndarray]"]
MOST_EPISODES = 10_000
LARGEST_SEED = 2**62
T = TypeVar("T")


class Live:
    """Live subjects and worlds over one study."""

    def __init__(self, study: Study, subjects: Mapping[str, Subject], worlds: Mapping[str, World]) -> None:
        self.study, self.subjects, self.worlds = study, subjects, worlds

    def calls(self) -> dict[str, Call]:
        """Calls of the live channel by name."""
        return {"forward": self.forward, "lens": self.lens}

    def forward(self, arguments: dict[str, Any], stale: Callable[[], bool]) -> dict[str, Any]:
        """Every head's output for a recorded row."""
        recording, row, subject = self._row(arguments)
        heads = recorded_rows(self.study, recording, np.array([row]), subject).heads(np.array([0]))
        return {"heads": {name: value[0].tolist() for name, value in heads.items()}}

    def lens(self, arguments: dict[str, Any], stale: Callable[[], bool]) -> tuple[dict[str, Any], np.ndarray]:
        """A lens on a recorded row, by the function that also runs as a job: raw heat [channel, height, width] of an
        input, or the row's values."""
        looking = all_lenses().get(str(arguments.get("lens", "")))
        if looking.lens.over != "row":
            raise RequestError(f"'{looking.lens.name}' looks at many rows together; run it as a job.")
        recording, row, subject = self._row(arguments)
        check_needs(looking.lens, recording.info, subject.info)
        parameters = complete_parameters(self.study, looking, recording, arguments.get("parameters") or {})
        rows = recorded_rows(self.study, recording, np.array([row]), subject)
        output = run_lens(looking, rows, subject, parameters)
        said = {"lens": looking.lens.name, "subject": subject.info.name, "type": output.type}
        said |= shown_of(output, recording, subject)
        if isinstance(output, Heat):
            name = str(arguments.get("input") or next(iter(output.heat)))
            if name not in output.heat:
                raise UnknownName("input", name, output.heat)
            return {**said, "input": name}, np.asarray(output.heat[name][0], np.float32)
        return said, np.asarray(output.stored()["values"][0])

    def record_more(self, arguments: dict[str, Any]) -> Task:
        """A job that records new episodes with the subject and world named, those of recording `like`, or the first.

        With `same_seeds` they are those of `like`, with `seeds` those of the list, both played as `like` was.
        """
        like = self.study.recording(str(arguments["like"])) if arguments.get("like") else None
        subject = self._subject(arguments.get("subject") or (like and self._recorded_with(like)))
        world = self._world(arguments.get("world") or (like and self._recorded_in(like)))
        asked = _asked(arguments, like)
        if like and "seeds" in arguments:
            _check_world(like, world)
        name = str(arguments.get("recording") or _usual_name(like, subject, world))

        told = {"recording": name, "subject": subject.info.name}

        def work(progress: Progress) -> dict[str, Any]:
            made = record(self.study, subject, world, name=name, progress=progress, **asked)
            return {**told, "rows": made.rows}

        episodes = asked["episodes"] or len(asked["seeds"])
        title = f"Record {episodes} episodes of {subject.info.name}"
        return Task(title=title, work=work, unit="episodes", promise=told)

    def _subject(self, name: Any) -> Subject:
        return _chosen("subject", self.subjects, name)

    def _world(self, name: Any) -> World:
        return _chosen("world", self.worlds, name)

    def _row(self, arguments: dict[str, Any]) -> tuple[Recording, int, Subject]:
        """A recorded row and the subject, with its memory changed as it was there."""
        recording = self.study.recording(str(arguments.get("recording", "")))
        row = arguments.get("row")
        if not isinstance(row, int) or not 0 <= row < recording.rows:
            raise RequestError(f"row must be a number from 0 to {recording.rows - 1}, not {row!r}.")
        named = arguments.get("subject")
        subject = self._subject(named or self._recorded_with(recording))
        if named is None:
            _check_weights(recording, subject)
        given = RowInputs(subject, recording)
        return recording, row, given.as_edited(row, given.memory_before(np.array([row])))

    def player(self, arguments: Mapping[str, Any]) -> tuple[Recording, Subject, World]:
        """The recording somebody names, and the live subject and world that were named or that it was made with."""
        recording = self.study.recording(str(arguments.get("recording", "")))
        subject = self._subject(arguments.get("subject") or self._recorded_with(recording))
        return recording, subject, self._world(arguments.get("world") or self._recorded_in(recording))

    def _recorded_with(self, recording: Recording) -> str | None:
        return _of_recording("subject", self.subjects, recording, recording.info.subject)

    def _recorded_in(self, recording: Recording) -> str | None:
        return _of_recording("world", self.worlds, recording, recording.info.world)


def _asked(arguments: Mapping[str, Any], like: Recording | None) -> dict[str, Any]:
    """How many episodes of which seeds, and how they are played."""
    if arguments.get("same_seeds"):
        return _as_in(like, arguments.get("episodes"))
    greedy = bool(arguments.get("greedy", False))
    if "seeds" in arguments:
        return {"episodes": None, "seeds": _listed(arguments), "greedy": greedy, **_played(like)}
    return {
        "episodes": whole(arguments, "episodes", usual=10, least=1, most=MOST_EPISODES),
        "seeds": whole(arguments, "seed", usual=0, least=0, most=LARGEST_SEED),
        "greedy": greedy,
    }


def _as_in(like: Recording | None, episodes: Any) -> dict[str, Any]:
    """The seeds of a recording, or the first of them, played as they were."""
    before = like.info.arguments if like else {}
    if not before.get("seeds"):
        raise RequestError("same_seeds needs `like`: a recording that says which seeds it was made of.")
    most = len(before["seeds"])
    count = whole({"episodes": episodes}, "episodes", usual=most, least=1, most=most)
    seeds = [int(seed) for seed in before["seeds"][:count]]
    return {"episodes": None, "seeds": seeds, "lanes": before.get("lanes"), **_played(like)}


def _played(like: Recording | None) -> dict[str, Any]:
    before = like.info.arguments if like else {}
    return {name: before[name] for name in ("greedy", "max_steps") if name in before}


def _listed(arguments: Mapping[str, Any]) -> list[int]:
    seeds = arguments["seeds"]
    if "seed" in arguments or "episodes" in arguments:
        raise RequestError("seeds says which episodes there are; leave out seed and episodes.")
    fit = isinstance(seeds, list) and 1 <= len(seeds) <= MOST_EPISODES
    if not fit or not all(type(seed) is int and 0 <= seed <= LARGEST_SEED for seed in seeds):
        raise RequestError(f"seeds is a list of 1 to {MOST_EPISODES:,} whole numbers from 0 on, not {seeds!r:.60}.")
    return list(seeds)


def _usual_name(like: Recording | None, subject: Subject, world: World) -> str:
    """Of another subject than the one that played `like`: named after both."""
    recorded = like.info.subject if like else None
    if like is None or recorded is None or recorded.name == subject.info.name:
        return default_name(subject.info.name, world.info.name)
    return plain_name(f"{like.name} - {subject.info.name}")


def _of_recording(
    what: str, live: Mapping[str, Any], recording: Recording, recorded: SubjectInfo | WorldInfo | None
) -> str | None:
    """Name of the live one that a recording was made with; None where there is just one to choose."""
    if recorded is not None and recorded.name in live:
        return recorded.name
    if len(live) > 1:
        made = f"was made with {what} '{recorded.name}'" if recorded else f"does not say which {what} it was made with"
        raise RequestError(f"Recording '{recording.info.name}' {made}. Live here: {', '.join(live)}. Name one of them.")
    return None


def _chosen(what: str, live: Mapping[str, T], name: Any) -> T:
    """The one named, or the first."""
    if not live:
        raise RequestError(f"No {what} is live. Serve the study with iv.show(study, subject=…, world=…).")
    if name is None:
        return next(iter(live.values()))
    if not isinstance(name, str) or name not in live:
        raise UnknownName(f"live {what}", str(name), live)
    return live[name]


def _check_world(recording: Recording, world: World) -> None:
    recorded = recording.info.arguments.get("world")
    if recorded is not None and recorded != to_json({"name": world.info.name, **world.info.settings}):
        raise RequestError(
            f"'{recording.info.name}' was recorded in '{world.info.name}' with other settings than it has now: these "
            "levels would not be the same. Serve the study with the world that it was recorded in."
        )


def _check_weights(recording: Recording, subject: Subject) -> None:
    recorded = recording.info.subject
    if recorded is not None and recorded.weights_digest not in ("", subject.weights_digest()):
        raise RequestError(
            f"'{recording.info.name}' was recorded with other weights than '{subject.info.name}' has now: what it says "
            "today is not what was recorded. Record it again, or serve the subject that it was recorded with."
        )
