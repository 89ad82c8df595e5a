"""What authors of worlds and subjects check theirs with: sound ones pass, each broken promise is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.errors import SubjectError, WorldError
from innerview.schema import Column, Moment
from innerview.subjects import Subject
from innerview.testing.subjects import CASES, Case
from innerview.testing.subjects.check import check_subject
from innerview.testing.world_check import check_world
from innerview.testing.worlds import ContinuousWorld, CountingWorld, DictWorld


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_shape_of_module_keeps_what_subjects_promise(case: Case) -> None:
    subject = case.adapt(case.build())
    assert check_subject(subject) == subject.info


CALLS = [0]


class Drifting(nn.Module):
    """Counts its calls where nobody can put the count back, and says so."""

    def __init__(self) -> None:
        super().__init__()
        self.out = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        CALLS[0] += 1
        return self.out(x) + CALLS[0]


class Mixing(nn.Module):
    """Rows that depend on their neighbours."""

    def __init__(self) -> None:
        super().__init__()
        self.out = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(x - x.mean(0, keepdim=True))


class Learning(Drifting):
    """Changes a weight that nothing reads."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.seen.data += 1
        return self.out(x)


@pytest.mark.parametrize(
    ("module", "problem"),
    [
        (Drifting, "Drifting does not repeat itself: .* keeps something outside of the module"),
        (Mixing, "a row gives something else alone than among others"),
        (Learning, "changes its weights or buffers when it is run"),
    ],
)
def test_a_broken_promise_of_a_subject_is_named(module: Callable[[], nn.Module], problem: str) -> None:
    with pytest.raises(SubjectError, match=problem):
        check_subject(iv.subject(module(), name="odd", inputs={"x": (4,)}, heads="policy"))


def test_hooks_that_a_body_leaves_are_seen() -> None:
    subject = iv.subject(nn.Linear(4, 2), name="odd", inputs={"x": (4,)}, heads="policy")

    class Leaving(Subject):
        def act(self, *given: Any, **named: Any) -> np.ndarray:
            self.module.register_forward_hook(lambda *_: None)
            return super().act(*given, **named)

    with pytest.raises(SubjectError, match="leaves hooks"):
        check_subject(Leaving(subject.module, subject.info, subject._body))


@pytest.mark.parametrize("world", [CountingWorld, DictWorld, ContinuousWorld])
def test_worlds_keep_what_they_promise(world: Callable[[], Any]) -> None:
    made = world()
    assert check_world(made) == made.info


Change = Callable[[Moment, int, int], Moment]
"""Makes something else of a moment; told how often the world was opened and with how many lanes."""


class Broken(CountingWorld):
    """A counting world whose games say something else."""

    def __init__(self, change: Change, **info: Any) -> None:
        super().__init__()
        self._change, self._more = change, info
        self.opened = 0

    @property
    def info(self) -> Any:
        return replace(super().info, **self._more)

    def open(self, lanes: int) -> Any:
        inner = super().open(lanes)
        self.opened += 1
        change, opened = self._change, self.opened

        class Lanes:
            count = inner.count

            def reset(self, lane: int, seed: int) -> Moment:
                return change(inner.reset(lane, seed), opened, lanes)

            def step(self, actions: Any) -> Any:
                return {lane: change(moment, opened, lanes) for lane, moment in inner.step(actions).items()}

            def close(self) -> None:
                inner.close()

        return Lanes()


def without_observation(moment: Moment, opened: int, lanes: int) -> Moment:
    return replace(moment, observation={})


def larger(moment: Moment, opened: int, lanes: int) -> Moment:
    return replace(moment, observation={name: np.stack([v, v]) for name, v in moment.observation.items()})


def more_facts(moment: Moment, opened: int, lanes: int) -> Moment:
    return replace(moment, facts={**moment.facts, "weather": "rain"})


def wrong_fact(moment: Moment, opened: int, lanes: int) -> Moment:
    return replace(moment, facts={"wet": "yes"})


def other_each_time(moment: Moment, opened: int, lanes: int) -> Moment:
    return replace(moment, reward=float(opened))


def by_lanes(moment: Moment, opened: int, lanes: int) -> Moment:
    return replace(moment, reward=float(lanes == 2))


def no_number(moment: Moment, opened: int, lanes: int) -> Moment:
    return replace(moment, reward=float("nan"))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (without_observation, "announces the observation .* and gives none"),
        (larger, r"announces '.*' as \[.*\] uint8 and gives \[2, "),
        (more_facts, "gives the fact 'weather', which it does not announce"),
        (wrong_fact, "gives 'yes' for 'wet'"),
        (other_each_time, r"the same seed \(0\) and actions give something else at step 0"),
        (by_lanes, "a lane beside another one gives something else"),
        (no_number, "gives the reward nan"),
    ],
)
def test_a_broken_promise_of_a_world_is_named(change: Change, problem: str) -> None:
    facts = (*CountingWorld().info.facts, Column(name="wet", type="bool"))
    with pytest.raises(WorldError, match=problem):
        check_world(Broken(change, facts=facts))


def test_names_that_stand_twice_are_refused() -> None:
    facts = (Column(name="wet", type="bool"), Column(name="wet", type="bool"))
    with pytest.raises(WorldError, match="announces facts of the same name: wet"):
        check_world(Broken(lambda moment, opened, lanes: moment, facts=facts))
