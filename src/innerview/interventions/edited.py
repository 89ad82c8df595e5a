"""Live subjects together with those that were made of them by edits of their weights and are kept in the study."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from innerview.errors import EditError
from innerview.interventions.jobs import AblationTestJob
from innerview.jobs.kinds import kind_of
from innerview.store import Edited, Study, edited_subjects, load_weights, rename_edited

if TYPE_CHECKING:
    from innerview.subjects import Subject


class WithEdited(Mapping[str, Any]):
    """Live subjects by name, and after them the edited ones of those: rebuilt when they are first used."""

    def __init__(self, study: Study, live: Mapping[str, Any]) -> None:
        self._study, self._live = study, live
        self._built: dict[tuple[str, str], Any] = {}
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> Any:
        if name in self._live:
            return self._live[name]
        edited = next((each for each in self._edited() if each.name == name), None)
        if edited is None:
            raise KeyError(name)
        key = (name, edited.info.identity)
        with self._lock:
            if key not in self._built:
                self._built[key] = rebuilt(self._study, edited, self._live[edited.root])
            return self._built[key]

    def __contains__(self, name: object) -> bool:
        return name in self._live or any(each.name == name for each in self._edited())

    def __iter__(self) -> Iterator[str]:
        yield from self._live
        yield from (each.name for each in self._edited())

    def __len__(self) -> int:
        return len(self._live) + len(self._edited())

    def _edited(self) -> list[Edited]:
        if not self._live:
            return []
        found = edited_subjects(self._study)
        return [each for each in found if each.root in self._live and each.name not in self._live]


def rebuilt(study: Study, edited: Edited, original: Subject) -> Subject:
    """An edited subject as it was kept, from the one that its first edit was made to."""
    kept = load_weights(study, edited.name)
    own = {**dict(original.module.named_parameters()), **dict(original.module.named_buffers())}
    made = original.copied({title: value for title, value in kept.items() if title in own}, name=edited.name)
    if made.identity() != edited.info.identity:
        raise EditError(
            f"'{edited.name}' cannot be rebuilt from '{original.info.name}': together they are not what was saved. The "
            "model has changed since, or the file did; check the study, or make the edit again."
        )
    return made


def rename(study: Study, name: str, wanted: str) -> Edited:
    """Another name for an edited subject, also in what was tested about it."""
    renamed, version = rename_edited(study, name, wanted), kind_of(AblationTestJob(edited=wanted)).version
    for result in study.results("ablation_test"):
        if name == wanted or result.arguments.get("edited") != name:
            continue
        told = study.result(result.id).value
        needed = ((result.arguments, "arms", "name"), (told, "arms", "name"), (told, "compared", "arm"))
        if not all(_has_lines(*each) for each in needed):
            continue  # no table of ours: nothing in it can be renamed
        arms = _called(result.arguments["arms"], "name", name, wanted)
        asked = {**result.arguments, "edited": wanted, "arms": arms}
        study.save_result(
            "ablation_test",
            recording=result.recording,
            arguments=asked,
            value={
                **told,
                "arms": _called(told["arms"], "name", name, wanted),
                "compared": _called(told["compared"], "arm", name, wanted),
            },
            title=result.title.replace(name, wanted, 1),
            provisional=result.provisional,
            result=study.result_id("ablation_test", result.recording, asked, version=version),
        )
        study.drop_result(result.id)
    return renamed


def _has_lines(told: Any, what: str, key: str) -> bool:
    """Whether it has lines that name something."""
    lines = told.get(what) if isinstance(told, Mapping) else None
    return isinstance(lines, list) and all(isinstance(line, Mapping) and key in line for line in lines)


def _called(lines: Sequence[Mapping[str, Any]], key: str, name: str, wanted: str) -> list[dict[str, Any]]:
    """Lines of an ablation test with who is called by the one name called by the other."""
    return [{**line, key: wanted if line[key] == name else line[key]} for line in lines]
