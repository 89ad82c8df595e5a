"""What heads say as columns and arrays of rows: under the same names whether rows are recorded or predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from innerview.schema import ArraySpec, Column, Head, SubjectInfo, entropy, entropy_column
from innerview.subjects import Output, head_probabilities

Values = tuple[dict[str, list[float | int]], dict[str, np.ndarray]]
"""Columns and arrays of a batch, by name."""


@dataclass(frozen=True, kw_only=True)
class HeadForm:
    """One head as columns and arrays; a name that is empty is not written."""

    head: Head
    actions: tuple[str, ...] = ()
    """What the choices are called."""
    value: str = ""
    """Column of its only number, or of the best of its Q values."""
    estimates: tuple[str, ...] = ()
    """A column for each of its numbers."""
    answer: str = ""
    """Column of the choice with the largest score; that of its probability is named after it."""
    probabilities: str = ""
    """Array."""
    entropy: str = ""
    """Column."""
    scores: str = ""
    """Array of its numbers as they are."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """What stands in a table."""
        found = []
        if self.answer:
            words = "The answer with the largest score."
            found.append(
                Column(name=self.answer, type="int", kind="decision", categories=self.actions, description=words)
            )
            share = f"{self.answer}_probability"
            found.append(Column(name=share, type="float", kind="decision", description="Of that answer."))
        if self.value:
            kind, words = _VALUE_WORDS.get(self.head.kind, ("decision", "What the subject says."))
            found.append(Column(name=self.value, type="float", kind=kind, description=words))  # type: ignore[arg-type]
        if self.entropy:
            found.append(entropy_column(self.entropy))
        units = self.head.units or ("",) * len(self.estimates)
        words = "What the subject estimates."
        found += [
            Column(name=name, type="float", kind="decision", unit=unit, description=words)
            for name, unit in zip(self.estimates, units, strict=True)
        ]
        return tuple(found)

    @property
    def arrays(self) -> tuple[ArraySpec, ...]:
        """What has several numbers a row."""
        axis = "action" if self.head.kind != "answer" else "answer"
        names = (("probabilities", self.probabilities), ("head", self.scores))
        return tuple(
            ArraySpec(
                name=name,
                shape=(self.head.size,),
                dtype="float32",
                role=role,  # type: ignore[arg-type]
                axes=(axis,) if self.actions else (),
                elements=self.actions,
                label=self.head.name,
            )
            for role, name in names
            if name
        )

    def values(self, heads: Mapping[str, Tensor]) -> Values:
        """Of a batch."""
        said = heads[self.head.name].detach()
        columns: dict[str, list[float | int]] = {}
        arrays: dict[str, np.ndarray] = {}
        if self.scores:
            arrays[self.scores] = said.to("cpu", torch.float32).numpy()
        if self.probabilities or self.answer:
            chances = head_probabilities(self.head, heads)
            assert chances is not None, "its choices are discrete"
            chances = chances.astype(np.float32)
            arrays |= {self.probabilities: chances} if self.probabilities else {}
            columns |= {self.entropy: entropy(chances).tolist()} if self.entropy else {}
            if self.answer:
                columns[self.answer] = chances.argmax(axis=1).tolist()
                columns[f"{self.answer}_probability"] = chances.max(axis=1).tolist()
        if self.value:
            columns[self.value] = said.amax(dim=1).tolist()
        columns |= dict(zip(self.estimates, said.T.tolist(), strict=True)) if self.estimates else {}
        return columns, arrays


_VALUE_WORDS = {
    "value": ("value", "What the subject expects to earn from here on."),
    "q": ("value", "The best of the Q values."),
}


@dataclass(frozen=True, kw_only=True)
class HeadLayout:
    """Some heads of a subject as columns and arrays."""

    forms: tuple[HeadForm, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """Values and answers, then how sure they are, then estimates."""
        return tuple(column for form in self.forms for column in form.columns)

    @property
    def arrays(self) -> tuple[ArraySpec, ...]:
        """Probabilities, then scores."""
        return tuple(spec for form in self.forms for spec in form.arrays)

    def values(self, output: Output) -> Values:
        """Of a batch."""
        columns: dict[str, list[float | int]] = {}
        arrays: dict[str, np.ndarray] = {}
        for form in self.forms:
            some_columns, some_arrays = form.values(output.heads)
            columns |= some_columns
            arrays |= some_arrays
        return columns, arrays


def recorded_heads(info: SubjectInfo, acting: Head | None, actions: Sequence[str]) -> HeadLayout:
    """What a recording holds: the head that acts, values and estimates."""
    forms = (_head_form(head, info.heads, acting, tuple(actions)) for head in info.heads)
    return HeadLayout(forms=tuple(form for form in forms if form.columns or form.arrays))


def predicted_heads(info: SubjectInfo, acting: Head | None) -> HeadLayout:
    """What predictions hold: every head, with its scores."""
    return HeadLayout(forms=tuple(_head_form(head, info.heads, acting, every=True) for head in info.heads))


def _head_form(
    head: Head, heads: Sequence[Head], acting: Head | None, actions: tuple[str, ...] = (), *, every: bool = False
) -> HeadForm:
    valued = [each for each in heads if each.kind == "q" or (each.kind == "value" and each.size == 1)]
    acts = head == acting and head.kind != "gaussian"
    chooses = acts or (every and head.kind in ("policy", "answer"))
    own = head.names if len(head.names) == head.size else ()
    end = "" if acts else f".{head.name}"
    value = ""
    if head in valued:
        value = "value" if len(valued) == 1 else f"value.{head.name}"
    elif every and head.size == 1 and not chooses and head.kind != "pose":
        value = head.name
    return HeadForm(
        head=head,
        actions=(actions or own) if acts else own,
        value=value,
        estimates=head.columns if head.kind == "pose" else (),
        answer=head.name if every and head.kind == "answer" else "",
        probabilities=f"probabilities{end}" if chooses else "",
        entropy=f"entropy{end}" if chooses and head.kind != "answer" else "",
        scores=f"head.{head.name}" if every or head.kind == "q" else "",
    )
