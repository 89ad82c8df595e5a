"""An agent that is told its last action and reward: lenses, re-runs, what-if rollouts and sweeps tell it them too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.jobs.context import Context
from innerview.jobs.work import run_job
from innerview.rollouts.jobs import WhatIfJob
from innerview.schema import EditSet, Move, SiteEdit
from innerview.testing.worlds import CountingWorld

LENGTH = 7


class Told(nn.Module):
    """Sees, remembers, and is told what it did and earned one step before."""

    def __init__(self) -> None:
        super().__init__()
        self.eye, self.cell = nn.Conv2d(3, 4, 3), nn.GRUCell(4 + 3 + 1, 6)
        self.policy, self.value = nn.Linear(6, 3), nn.Linear(6, 1)

    def forward(self, x: Tensor, prev_action: Tensor, prev_reward: Tensor, h: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        seen = self.eye(x).relu().mean((2, 3))
        h = self.cell(torch.cat([seen, 3 * prev_action, 3 * prev_reward], 1), h)
        return self.policy(h), self.value(h), h


@pytest.fixture(scope="module")
def agent() -> iv.Subject:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        inputs = {"x": (3, 8, 8), "prev_action": (3,), "prev_reward": (1,)}
        return iv.subject(Told(), name="told", inputs=inputs)


@pytest.fixture(scope="module")
def study(agent: iv.Subject, tmp_path_factory: pytest.TempPathFactory) -> iv.Study:
    path = tmp_path_factory.mktemp("told") / "a.study"
    iv.record(path, agent, CountingWorld(length=LENGTH), episodes=2, lanes=1, name="run", progress=False)
    return iv.Study.open(path)


def by_hand(
    agent: iv.Subject, made: iv.Recording, start: int, *, less: Sequence[int] = ()
) -> Iterator[tuple[Tensor, Tensor]]:
    """Picture and logits of each step of an episode, by the module itself; `less` elements of its memory are 0."""
    rows = made.columns(["action", "reward"], start, start + LENGTH)
    h, did, got = torch.zeros(1, 6), torch.zeros(1, 3), torch.zeros(1, 1)
    module = agent.module
    for row, (action, reward) in enumerate(rows.iter_rows(), start):
        x = agent.inputs({"x": made.array("observation", row, row + 1)})["x"].requires_grad_()
        logits, _, h = module(x, did, got, h.detach())
        if less:
            h = h.index_fill(1, torch.tensor(less), 0.0)
            logits = module.policy(h)
        yield x, logits
        did = nn.functional.one_hot(torch.tensor([action]), 3).float()
        got = torch.tensor([[reward]], dtype=torch.float32)


def probabilities(agent: iv.Subject, made: iv.Recording, start: int, less: Sequence[int] = ()) -> np.ndarray:
    found = [torch.softmax(logits, 1)[0].detach() for _, logits in by_hand(agent, made, start, less=less)]
    return torch.stack(found).numpy()


def context(agent: iv.Subject, study: iv.Study) -> Context:
    world = CountingWorld(length=LENGTH)
    return Context(study=study, subjects={agent.info.name: agent}, worlds={world.info.name: world})


def test_what_it_is_told_matters(agent: iv.Subject, study: iv.Study) -> None:
    made = study.recording("run")
    assert made.columns(["action", "reward"])["reward"].sum() > 0
    told = probabilities(agent, made, 0)
    blank, h = [], torch.zeros(1, 6)
    for row in range(LENGTH):
        x = agent.inputs({"x": made.array("observation", row, row + 1)})["x"]
        logits, _, h = agent.module(x, torch.zeros(1, 3), torch.zeros(1, 1), h)
        blank.append(torch.softmax(logits, 1)[0].detach().numpy())
    assert np.abs(told - np.stack(blank)).max() > 0.01


def test_a_lens_tells_it_what_was_done_and_earned(agent: iv.Subject, study: iv.Study) -> None:
    made = study.recording("run")
    found = iv.look(study, "gradient", "run", subject=agent, progress=False)
    (name,) = (name for name, array in found.arrays.items() if array.shape[-2:] == (8, 8))
    heat = study.result_array(found.id, name)
    for start in (0, LENGTH):
        for row, (x, logits) in enumerate(by_hand(agent, made, start), start):
            (wanted,) = torch.autograd.grad(logits.log_softmax(1).max(), x)
            np.testing.assert_allclose(heat[row], wanted[0].numpy(), atol=1e-7)


@pytest.mark.parametrize("less", [(0,), (1, 4)])
def test_a_re_run_tells_it_what_it_does_now(agent: iv.Subject, study: iv.Study, less: tuple[int, ...]) -> None:
    edit = EditSet(name=f"less {less}", edits=(SiteEdit(site="cell/h", elements=less),))
    again = iv.rerun(study, "run", edit, agent, CountingWorld(length=LENGTH), progress=False)
    made = again.recording
    for start in (0, LENGTH):
        recorded = made.array("probabilities", start, start + LENGTH)
        np.testing.assert_allclose(recorded, probabilities(agent, made, start, less), atol=1e-6)


def test_a_what_if_rollout_tells_it_what_was_done_instead(agent: iv.Subject, study: iv.Study) -> None:
    actions = study.recording("run").columns(["action"], 0, LENGTH)["action"].to_list()
    moves = (Move(do="act", action=2), Move(do="act", action=1), *[Move(do="agent")] * (LENGTH - 5))
    made = run_job(WhatIfJob(recording="run", row=3, moves=moves), context(agent, study), progress=False)

    assert made.columns(["action"])["action"].to_list()[:5] == [*actions[:3], 2, 1]
    np.testing.assert_allclose(
        made.array("probabilities", 0, LENGTH), probabilities(agent, made, 0)[: made.rows], atol=1e-6
    )


def test_a_sweep_tells_it_what_was_done_and_earned(agent: iv.Subject, study: iv.Study) -> None:
    made = study.recording("run")
    swept = iv.sweep(study, "run", agent, CountingWorld(length=LENGTH), by="decisions", site="cell/h", progress=False)
    full = np.concatenate([probabilities(agent, made, start) for start in (0, LENGTH)])
    for line in swept.value["ranked"]:
        less = np.concatenate([probabilities(agent, made, start, line["elements"]) for start in (0, LENGTH)])
        assert line["effect"] == pytest.approx((full * np.log(full / less)).sum(1).mean(), abs=1e-6)
