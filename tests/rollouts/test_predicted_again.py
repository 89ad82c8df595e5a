"""What a subject predicts over its own recording is what was recorded, for every shape of subject."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
from sb3_contrib import RecurrentPPO
from torch import Tensor, nn

import innerview as iv
from innerview.errors import SubjectError
from innerview.testing.lens_subjects import lens_cases
from innerview.testing.prediction_check import check_predictions
from innerview.testing.worlds import CountingWorld, DictWorld
from tests.rollouts.players import recurrent


class Named(nn.Module):
    """A picture and a place by name, and an LSTM behind them."""

    def __init__(self) -> None:
        super().__init__()
        self.eye, self.core = nn.Conv2d(3, 4, 3), nn.LSTM(7, 5, batch_first=True)
        self.policy, self.value = nn.Linear(5, 3), nn.Linear(5, 1)

    def forward(self, observation: Mapping[str, Tensor]) -> dict[str, Tensor]:
        seen = self.eye(observation["image"]).mean((2, 3))
        hidden = self.core(torch.cat([seen, observation["pose"]], 1)[:, None])[0][:, 0]
        return {"policy": self.policy(hidden), "value": self.value(hidden)}


def named() -> iv.Subject:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        example = {"image": torch.zeros(1, 3, 8, 8), "pose": torch.zeros(1, 3)}
        return iv.subject(Named(), name="named", example=example, memory=["core"])


def table(name: str) -> Callable[[], tuple[iv.Subject, Any]]:
    return lambda: (next(case.subject for case in lens_cases() if case.name == name), CountingWorld())


def recurrent_ppo() -> tuple[iv.Subject, Any]:
    return iv.from_sb3(RecurrentPPO("MlpLstmPolicy", "CartPole-v1", device="cpu", seed=0)), "CartPole-v1"


SAID = {"probabilities", "entropy", "value"}
SUBJECTS: dict[str, tuple[Callable[[], tuple[iv.Subject, Any]], set[str]]] = {
    "gru cell": (lambda: (recurrent(), CountingWorld()), SAID | {"memory"}),
    "lstm cell": (table("lstm"), SAID | {"memory.core.hidden", "memory.core.cell"}),
    "dueling": (table("dueling"), {"head.q", "value.q", "value.value", "probabilities", "entropy"}),
    "attention": (table("attention"), SAID),
    "in-place relu": (table("in-place relu"), SAID),
    "dict with lstm": (
        lambda: (named(), DictWorld()),
        SAID | {"memory.core.hidden", "memory.core.cell"},
    ),
    "recurrent ppo": (
        recurrent_ppo,
        SAID | {f"memory.lstm_{who}.{part}" for who in ("actor", "critic") for part in ("hidden", "cell")},
    ),
}


@pytest.mark.parametrize("name", SUBJECTS)
def test_it_says_again_what_was_recorded(name: str, tmp_path: Path) -> None:
    make, compared = SUBJECTS[name]
    assert set(check_predictions(iv.Study.create(tmp_path / "a.study"), *make())) == compared


CALLS = count()
DRIFTS = [1 << 30]
"""From this call on it says something else each time."""


class Moody(nn.Module):
    """What it says depends on more than its inputs and its memory."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.policy(x.mean((2, 3))) + max(0, next(CALLS) - DRIFTS[0]) * torch.tensor([0.0, 0.01, 0.0])
        return out


def test_a_subject_that_says_something_else_is_noticed(tmp_path: Path) -> None:
    odd = iv.subject(Moody(), name="odd", example=torch.zeros(1, 3, 8, 8), heads="policy")
    DRIFTS[0] = next(CALLS) + 30  # it is held to its module when it is made, and in the first steps of a recording
    with pytest.raises(SubjectError, match="another 'probabilities' over its own recording"):
        check_predictions(iv.Study.create(tmp_path / "a.study"), odd, CountingWorld())
