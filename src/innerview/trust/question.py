"""What maps are asked about, row by row, and stays the same whatever becomes of the weights; and how they are made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from innerview.errors import LensError
from innerview.schema import Heat, Rows

if TYPE_CHECKING:
    from innerview.subjects import Subject


class MakesMaps(Protocol):
    """Runs one method. It is given both a target and an action, and takes what it knows of."""

    def __call__(self, rows: Rows, subject: Subject, *, target: str, action: str) -> Heat: ...


@dataclass(frozen=True, kw_only=True)
class Method:
    """One method of attribution with its parameters."""

    name: str
    maps: MakesMaps
    takes_action: bool = True
    """Whether its maps are of one action, by target or by name."""
    baseline: bool = False
    """It depends on no weights and must fail."""
    slow: bool = False


@dataclass(frozen=True, kw_only=True)
class Question:
    """A target, and in every row the action that the subject chose with its own weights."""

    target: str
    """'action' stands for the chosen one's log-probability, or its Q value."""
    head: str = ""
    kind: str = ""
    actions: tuple[str, ...] = ()
    """None where there are no actions to choose between."""
    order: np.ndarray
    """int [row, action]: the largest number of the acting head first."""

    @property
    def chosen(self) -> np.ndarray:
        """int [row]."""
        return np.asarray(self.order[:, 0])

    def of(self, action: str) -> str:
        """The target of rows that chose this action."""
        if self.target != "action" or not action:
            return self.target
        return f"log {action}" if self.kind == "policy" else self.number(action)

    def number(self, action: str) -> str:
        """An action's own number, before any softmax."""
        return f"{action} of {self.head}"

    def part(self, places: np.ndarray) -> Question:
        """Of some rows."""
        return replace(self, order=self.order[places])


def image_of(subject: Subject) -> str:
    """The input whose maps are examined: the first that is a picture."""
    found = next((spec.name for spec in subject.info.inputs if spec.kind == "image"), None)
    if found is None:
        raise LensError(f"'{subject.info.name}' is given no picture: there are no maps to examine.")
    return found


def question_of(subject: Subject, rows: Rows, target: str) -> Question:
    """The question that a target asks of these rows."""
    head = subject.acting_head
    places = np.arange(rows.count)
    if head is None or head.kind == "gaussian" or head.size < 2:
        return Question(target=target, order=np.zeros((rows.count, 1), np.int64))
    values = rows.heads(places)[head.name].detach().cpu().numpy()
    order = np.argsort(-values, axis=1, kind="stable")
    return Question(target=target, head=head.name, kind=head.kind, actions=tuple(head.parts), order=order)


def maps_of(method: Method, rows: Rows, subject: Subject, question: Question) -> Heat:
    """The maps of all rows, each of the action that was chosen in it: rows of one action are run together."""
    if not question.actions or not method.takes_action:
        return method.maps(rows, subject, target=question.of(""), action="")
    return maps_of_actions(method, rows, subject, question, question.chosen)


def maps_of_actions(
    method: Method, rows: Rows, subject: Subject, question: Question, actions: np.ndarray, *, number: bool = False
) -> Heat:
    """The maps of all rows, each of one action [row]; of its bare `number` where that is asked for."""
    parts: list[tuple[np.ndarray, Heat]] = []
    for action in np.unique(actions):
        places = np.flatnonzero(actions == action)
        name = question.actions[action]
        target = question.number(name) if number else question.of(name)
        parts.append((places, method.maps(rows.part(places), subject, target=target, action=name)))
    order = np.argsort(np.concatenate([places for places, _ in parts]), kind="stable")
    first = parts[0][1]
    heat = {name: np.concatenate([found.heat[name] for _, found in parts])[order] for name in first.heat}
    return replace(first, heat=heat, rows=rows.numbers, arrays={})
