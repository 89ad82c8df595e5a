"""Live subjects together with those that were made of them by edits of their weights and are kept in the study."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from innerview.errors import EditError
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
        key = (name, edited.info.weights_digest)
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
    own = dict(original.module.named_parameters())
    made = original.copied({title: value for title, value in kept.items() if title in own}, name=edited.name)
    if made.weights_digest() != edited.info.weights_digest:
        raise EditError(
            f"'{edited.name}' cannot be rebuilt from '{original.info.name}': together they are not what was kept. The "
            "model has changed since, or the file did; check the study, or make the edit again."
        )
    return made


def rename(study: Study, name: str, wanted: str) -> Edited:
    """Another name for an edited subject, also in what was proved about it."""
    renamed = rename_edited(study, name, wanted)
    for result in study.results("proof"):
        if name == wanted or result.arguments.get("edited") != name:
            continue
        study.keep_result(
            "proof",
            recording=result.recording,
            arguments=_called(result.arguments, name, wanted),
            value=_called(result.value, name, wanted),
            title=result.title.replace(name, wanted),
            provisional=result.provisional,
        )
        study.drop_result(result.id)
    return renamed


def _called(told: Any, name: str, wanted: str) -> Any:
    """What is told, with every word that is the one name replaced by the other."""
    if isinstance(told, Mapping):
        return {key: _called(value, name, wanted) for key, value in told.items()}
    if isinstance(told, list | tuple):
        return [_called(value, name, wanted) for value in told]
    return wanted if told == name else told
