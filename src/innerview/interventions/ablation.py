"""Ablates factors that a lens found from a subject, and keeps it in the study with its history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from innerview.errors import EditError, RequestError, StoreError, UnknownName
from innerview.features.factors import meant
from innerview.jobs.recorded import check_found_in
from innerview.schema import NamedFactor, Result, WeightEdit
from innerview.store import Edited, Study, edited_subjects, load_names, save_edited, subjects
from innerview.store.paths import free_name

if TYPE_CHECKING:
    from innerview.subjects import Subject

KIND = "factors"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Directions of a layer's channels: of factors that somebody chose, or from elsewhere."""

    layer: str
    directions: tuple[tuple[float, ...], ...]
    result: str = ""
    """The result that the factors are of; empty for directions from elsewhere."""
    factors: tuple[NamedFactor, ...] = ()

    @property
    def called(self) -> str:
        """What they are, in words: saw + coin, or factor 3 + 5."""
        if not self.factors:
            return f"{len(self.directions)} direction{'s' if len(self.directions) > 1 else ''} of {self.layer}"
        named = list(dict.fromkeys(factor.name for factor in self.factors if factor.name))
        unnamed = [str(factor.index + 1) for factor in self.factors if not factor.name]
        return " + ".join([*named, *([f"factor {' + '.join(unnamed)}"] if unnamed else [])])


def choose(study: Study, result: str, factors: Sequence[int]) -> Choice:
    """Factors by their place in a result, from 0."""
    found = factors_result(study, result)
    told: list[Mapping[str, Any]] = found.value["factors"]
    if isinstance(factors, int | str):
        raise RequestError(f"factors is a list of numbers from 0 to {len(told) - 1}, as in [2], not {factors!r:.40}.")
    for index in factors:
        whole = isinstance(index, int | np.integer) and not isinstance(index, bool)
        if not whole or not 0 <= index < len(told):
            raise RequestError(f"Factors of this result are numbers from 0 to {len(told) - 1}, not {index!r:.40}.")
    chosen = tuple(dict.fromkeys(int(index) for index in factors))
    if not chosen:
        raise RequestError(f"Choose at least one factor to ablate: numbers from 0 to {len(told) - 1}.")
    directions = study.result_array(result, "directions").astype(np.float64)
    names = load_names(study, result)
    return Choice(
        result=result,
        layer=str(found.value["layer"]),
        factors=tuple(NamedFactor(index=index, name=name_of(told[index], names.get(str(index)))) for index in chosen),
        directions=tuple(tuple(float(v) for v in directions[index]) for index in chosen),
    )


def factors_result(study: Study, result: str) -> Result:
    """A result that holds factors, whole."""
    found = study.result(result)
    if found.kind != KIND:
        raise RequestError(
            f"Result {result} is of '{found.kind}'. Ablation takes directions of '{KIND}': run that lens first."
        )
    if found.provisional:
        raise RequestError(f"Result {result} is still being made. Wait until its job has ended.")
    return found


def name_of(factor: Mapping[str, Any], given: str | None = None) -> str:
    """What a factor is called in an edit: by somebody, or by the class it means most; empty where neither."""
    return given or meant(factor)


def find_factors(found: Result, to: str) -> list[int]:
    """Factors of a result that were found to mean a class of things; an error shows what there is instead."""
    told: list[Mapping[str, Any]] = found.value["factors"]
    meanings = [factor.get("meaning") for factor in told]
    if not any(meanings):
        raise EditError(
            "The world provides no masks, so nobody knows which factors mean what. Record it in a world that provides "
            "them (iv.world(…, masks=…)), or say which factors to ablate by their numbers."
        )
    classes = list(dict.fromkeys(line["class"] for meaning in meanings for line in (meaning or {}).get("classes", ())))
    if to not in classes:
        raise UnknownName("class of things", to, classes)
    chosen = [place for place, factor in enumerate(told) if meant(factor) == to]
    if not chosen:
        nearest = sorted(range(len(told)), key=lambda place: -excess(told[place], to))[:3]
        shown = ", ".join(f"factor {place + 1} ({excess(told[place], to):+.2f})" for place in nearest)
        raise EditError(
            f"No factor at layer '{found.value['layer']}' clearly means '{to}'. Nearest, with how far beyond chance: "
            f"{shown}. Try another layer, target or number of factors, or say which factors by their numbers."
        )
    return chosen


def excess(factor: Mapping[str, Any], to: str) -> float:
    """How far beyond chance a factor lies on a class, from 0 to 1; less than chance is below 0."""
    lines = (factor.get("meaning") or {}).get("classes", ())
    return float(next((line["excess"] for line in lines if line["class"] == to), 0.0))


def make_ablated(study: Study, subject: Subject, choice: Choice, *, name: str | None = None) -> Edited:
    """Ablate the factors from a subject and keep it; one that is there already, made in the same way, is found."""
    from innerview.edits.ablation import ablate as ablated
    from innerview.edits.ablation import reader

    if choice.result:
        check_found_in(study, study.result_info(choice.result), subject)
    edit = WeightEdit(layer=choice.layer, directions=choice.directions, note=choice.called)
    after, _ = reader(subject, edit)
    line = WeightEdit(
        of=subject.info.name,
        made_of=subject.identity(),
        layer=edit.layer,
        after=after,
        directions=edit.directions,
        result=choice.result,
        factors=choice.factors,
        made=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )
    made = ablated(subject, replace(edit, after=after))
    kept = {each.name: each for each in edited_subjects(study)}
    before = next((e.history for e in kept.values() if _is(e, subject)), ())
    title = _free_name(study, subject, choice, made.info.identity, name)
    if title in kept:
        return kept[title]
    edited = Edited(info=replace(made.info, name=title), history=(*before, line))
    save_edited(study, edited, made.module.state_dict())
    return edited


def ablate(
    study: Study | str | Path,
    subject: Subject,
    result: Result | str,
    *,
    factors: Sequence[int],
    name: str | None = None,
) -> Subject:
    """A subject without factors (by their place, from 0) of a result of the lens `factors`, kept in the study.

        found = iv.look("coins.study", "factors", subject=agent, layer="conv3a")
        ablated = iv.ablate("coins.study", agent, found, factors=[2])

    Where its original is live it is live too: it can be recorded and opened in every workspace.
    """
    from innerview.interventions.edited import rebuilt
    from innerview.rollouts.record import check_subject

    check_subject(subject)
    opened = study if isinstance(study, Study) else Study.open(study)
    choice = choose(opened, result if isinstance(result, str) else result.id, factors)
    return rebuilt(opened, make_ablated(opened, subject, choice, name=name), subject)


def _is(edited: Edited, subject: Subject) -> bool:
    return edited.name == subject.info.name and edited.info.identity == subject.identity()


def _free_name(study: Study, subject: Subject, choice: Choice, digest: str, name: str | None) -> str:
    """The name asked for, or the usual one; numbered where another subject has it."""
    kept = {each.name: each.info.identity for each in edited_subjects(study)}
    taken = {*subjects(study), subject.info.name}
    if name is not None:
        if name in taken and kept.get(name) != digest:
            raise StoreError(f"A subject called '{name}' is saved already and is another one. Choose another name.")
        return name
    wanted = f"{subject.info.name} without {choice.called}"
    return free_name(wanted, lambda title: title not in taken or kept.get(title) == digest)
