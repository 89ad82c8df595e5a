"""One step of a subject in several rows side by side, for every driver.

What is seen becomes inputs, the subject runs on them with what it remembers and with its edits, an action is sampled
and brought within the world's bounds, and the memory moves on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from innerview.schema import ActionSpace, Edit
from innerview.subjects import Changes, Editor, Output, Subject

Given = TypeVar("Given")
Answer = Callable[[Given, Mapping[str, Tensor], Changes], Output]
"""Runs a subject on what it is given, with the memory before and the changes of this step."""


@dataclass(frozen=True, kw_only=True)
class Sampler:
    """How actions follow from what a subject says; each row draws from its own generator alone."""

    space: ActionSpace
    greedy: bool = False
    noise: float = 0.0
    """How often any action is taken instead, for discrete actions."""

    @property
    def is_random(self) -> bool:
        """Whether no subject is asked."""
        return self.noise >= 1

    def actions(self, subject: Subject, output: Output, generators: Sequence[np.random.Generator] = ()) -> np.ndarray:
        """[rows] or [rows, dimensions], as the world takes them; a subject that does not act takes the only action."""
        if subject.acting_head is None:
            return np.zeros(len(next(iter(output.heads.values()))), np.int64)
        chosen = subject.act(output, greedy=self.greedy, generators=generators)
        if self.noise:
            pairs = zip(chosen, generators, strict=True)
            return np.array([self._any(g) if g.random() < self.noise else action for action, g in pairs], np.int64)
        return within_bounds(self.space, chosen)

    def random_actions(self, generators: Sequence[np.random.Generator]) -> np.ndarray:
        """Any actions."""
        return np.array([self._any(generator) for generator in generators], np.int64)

    def _any(self, generator: np.random.Generator) -> int:
        return int(generator.integers(self.space.size))


def within_bounds(space: ActionSpace, actions: np.ndarray) -> np.ndarray:
    """What is recorded is what was done: a continuous action may lie outside of what the world takes."""
    if space.kind != "continuous" or not space.low:
        return actions
    return np.asarray(np.clip(actions, space.low, space.high))


class Stepper(Generic[Given]):
    """A subject in several rows, and what it remembers in each.

    `programs` are edits, one set for each program; a step says at which of its steps each row is, and which program
    it follows. `answer` runs the subject; by default on its inputs, all rows at once, with the sites `keep` read.
    """

    def __init__(
        self,
        subject: Subject,
        memory: Mapping[str, Tensor] | int = 0,
        *,
        programs: Sequence[Sequence[Edit]] = (),
        keep: Sequence[str] = (),
        answer: Answer[Given] | None = None,
    ) -> None:
        self.subject = subject
        self.memory = subject.initial_memory(memory) if isinstance(memory, int) else dict(memory)
        self._keep = tuple(keep)
        self._editor = Editor(programs, subject.info, device=subject.device) if any(programs) else None
        self._answer: Answer[Any] = answer or self._run

    def step(
        self,
        given: Given,
        *,
        steps: Sequence[int] = (),
        programs: Sequence[int] | None = None,
        waiting: Sequence[int] = (),
    ) -> Output:
        """What the subject says; the memory moves on, but in rows that wait."""
        before = self.memory
        output = self._answer(given, before, self.changes(steps, programs))
        self.memory = output.memory
        if waiting:
            self.memory = {site: state.clone() for site, state in output.memory.items()}
            for site, state in self.memory.items():
                state[list(waiting)] = before[site][list(waiting)]
        return output

    def acted(
        self, output: Output, actions: np.ndarray, rewards: np.ndarray, rows: Sequence[int] | None = None
    ) -> Output:
        """The output of this step with what was done and earned in it, where the subject is told of it in the next.

        In some `rows` alone where they are named.
        """
        if not self.subject.told_names:
            return output
        told = self.subject.acted(self.memory, actions, rewards)
        if rows is not None:
            for site, state in told.items():
                after = self.memory[site].clone()
                after[list(rows)] = state[list(rows)]
                told[site] = after
        self.memory = told
        sites = {f"/{name}": told[name] for name in self.subject.told_names if f"/{name}" in output.sites}
        return replace(output, memory=told, sites={**output.sites, **sites})

    def changes(self, steps: Sequence[int], programs: Sequence[int] | None = None) -> Changes:
        """What the edits change in this step."""
        if self._editor is None:
            return Changes()
        return self._editor.changes(self.memory, steps, [0] * len(steps) if programs is None else programs)

    def join(self, rows: int) -> None:
        """Further rows behind those there are, with fresh memory."""
        fresh = self.subject.initial_memory(rows)
        self.memory = {site: torch.cat((state, fresh[site])) for site, state in self.memory.items()}
        if self._editor is not None:
            self._editor.join(rows)

    def begin(self, rows: np.ndarray) -> None:
        """Fresh memory where a row of booleans is true."""
        if rows.any():
            self.memory = self.subject.reset_memory(self.memory, rows)

    def stay(self, rows: Sequence[int] | np.ndarray) -> None:
        """Only these rows go on."""
        chosen = torch.as_tensor(np.asarray(rows, np.int64))
        self.memory = {site: state[chosen.to(state.device)] for site, state in self.memory.items()}
        if self._editor is not None:
            self._editor.stay(chosen)

    def _run(self, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor], changes: Changes) -> Output:
        return self.subject.run(inputs, memory, keep=self._keep, edits=changes)


def joined(parts: Sequence[Output]) -> Output:
    """Outputs of rows that follow each other as one."""
    heads, memory, sites = (
        {name: torch.cat([getattr(part, what)[name] for part in parts]) for name in getattr(parts[0], what)}
        for what in ("heads", "memory", "sites")
    )
    return Output(heads, memory, sites)


def row_of(output: Output, place: int) -> Output:
    """One row of an output, by itself: the others can go."""
    heads, memory, sites = (
        {name: value[place : place + 1].clone() for name, value in part.items()}
        for part in (output.heads, output.memory, output.sites)
    )
    return Output(heads, memory, sites)


@contextmanager
def fewer_threads(sharers: int = 2) -> Iterator[None]:
    """Torch's threads shared with others, such as games: small steps on more threads than cores wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(max(1, threads // sharers))
    try:
        yield
    finally:
        torch.set_num_threads(threads)
