"""Was this recorded by this subject in this world? The one check of everything that takes a recording further."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from innerview.errors import NotAsRecorded
from innerview.schema import Head, RecordingInfo, ResultInfo, SubjectInfo, WorldInfo, to_json
from innerview.store import Recording, Study, edited_subjects

if TYPE_CHECKING:
    from innerview.subjects import Subject

_WHAT_TO_DO = (
    "Load what it was recorded with, or record it again. other=True (--other in the terminal) goes on all the same, "
    "and the result says so."
)
_ACTING = ("policy", "gaussian", "q", "advantage")


def check_recorded(
    recording: Recording,
    *,
    subject: Subject | None = None,
    world: WorldInfo | None = None,
    other: bool = False,
) -> tuple[str, ...]:
    """How subject and world differ from those that made a recording; an error, unless `other` ones are wanted.

    Whoever goes on with others writes what is returned into the result.
    """
    found = differences(recording.info, subject=subject, world=world)
    if found and not other:
        raise NotAsRecorded(f"'{recording.name}': {' '.join(found)} {_WHAT_TO_DO}")
    return found


def noted(other: Sequence[str]) -> dict[str, list[str]]:
    """What `check_recorded` gave, for the arguments of a result or a recording."""
    return {"other": list(other)} if other else {}


def differences(
    info: RecordingInfo, *, subject: Subject | None = None, world: WorldInfo | None = None
) -> tuple[str, ...]:
    """In sentences; nothing where they are the same, or where a recording does not say who made it."""
    found: list[str] = []
    if subject is not None and info.subject is not None and info.subject.identity:
        identity = subject.identity()
        if identity != info.subject.identity:
            found += _of_subjects(info.subject, subject.info)
    if world is not None and info.world is not None:
        found += _of_worlds(info.world, world)
    return tuple(found)


def check_found_in(study: Study, result: ResultInfo, subject: Subject) -> None:
    """An error where directions were found in other weights than a subject has, or was edited from."""
    identity, own = result.arguments.get("identity"), subject.identity()
    if identity in (None, own):
        return
    edited = (each for each in edited_subjects(study) if each.info.identity == own)
    if any(line.made_of == identity for each in edited for line in each.history):
        return
    name = result.arguments.get("subject")
    renamed = name != subject.info.name
    how = f"in '{name}', and this is '{subject.info.name}'" if renamed else f"before the weights of '{name}' changed"
    raise NotAsRecorded(
        f"The {result.kind} of result '{result.id}' were found {how}: their directions mean nothing here. Look for "
        f"those of '{subject.info.name}' first."
    )


def _of_subjects(then: SubjectInfo, now: SubjectInfo) -> list[str]:
    if then.name != now.name:
        found = [f"It was recorded by '{then.name}', and this is '{now.name}'."]
    elif to_json(then.edits) != to_json(now.edits):
        found = [f"The edits of '{now.name}' changed since this was recorded."]
    else:
        found = [f"The weights of '{now.name}' changed since this was recorded."]
    before, after = _acting(then), _acting(now)
    if before and after and (before.size, before.names) != (after.size, after.names):
        found.append(f"It chose among {_choices(before)} then, and among {_choices(after)} now.")
    return found


def _acting(info: SubjectInfo) -> Head | None:
    return next((head for kind in _ACTING for head in info.heads if head.kind == kind), None)


def _choices(head: Head) -> str:
    return f"{head.size} actions ({', '.join(head.names)})" if head.names else f"{head.size} actions"


def _of_worlds(then: WorldInfo, now: WorldInfo) -> list[str]:
    before, after = to_json(then.identity), now.identity
    changed = [key for key in after if before.get(key) != after[key]]
    if not changed:
        return []
    told = [_changed(key, before.get(key), after[key]) for key in changed if key != "first" or changed == ["first"]]
    return [f"It was recorded in another world: {'; '.join(told)}."]


def _changed(key: str, before: Any, after: Any) -> str:
    if key in ("settings", "observations"):
        return _of_mappings(before or {}, after)
    if key == "files":
        return _of_files(dict(before or ()), dict(after))
    if key == "actions":
        was, now = (", ".join((each or {}).get("names", ())) for each in (before, after))
        return f"actions were {was} and are {now}" if was != now else "the bounds of its actions are others"
    if key == "first":
        return "with the same seed it begins otherwise (another level, reward or version, or it ignores seeds)"
    return f"its {key} was '{before}' and is '{after}'"


def _of_mappings(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    keys = sorted(key for key in {*before, *after} if before.get(key) != after.get(key))
    return ", ".join(f"{key} was {before.get(key)!r:.60} and is {after.get(key)!r:.60}" for key in keys)


def _of_files(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    gone, new = sorted({*before} - {*after}), sorted({*after} - {*before})
    other = sorted(key for key in {*before} & {*after} if before[key] != after[key])
    told = [*(f"its {key} has other content" for key in other), *(f"it had '{key}'" for key in gone)]
    return ", ".join([*told, *(f"'{key}' is new" for key in new)]) or "its files take turns in another order"
