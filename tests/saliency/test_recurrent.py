"""Attribution through recurrent state: on a task with a known answer, and beside gradients of the run by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.errors import LensError, NoRectifier
from innerview.saliency import recurrent
from innerview.schema import Heat, restored_rows
from innerview.testing.agents.cue import cue_agent, cue_rows
from innerview.testing.feeds import carried_rows
from innerview.testing.lenses import check_lens
from innerview.testing.subjects import TORCH_CASES, Case, random_inputs
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import recurrent as recurrent_player

CUE, LENGTH, LAGS = 2, 24, 20
REMEMBERING = [case for case in TORCH_CASES if case.memory]


def mass_on_cue(agent: iv.Subject, lag: int, method: Any, side: int = 1) -> float:
    rows = cue_rows(agent, LENGTH, CUE, side).part(np.array([CUE + lag]))
    return float(recurrent.look(rows, agent, method=method, lags=LAGS).arrays["mass"][0, LAGS - lag])


@pytest.mark.parametrize("cell", ["lstm", "gru"])
@pytest.mark.parametrize("method", recurrent.METHODS)
def test_the_cue_k_steps_ago_has_four_fifths_of_the_mass(cell: Any, method: Any) -> None:
    agent = cue_agent(cell)
    for side in (0, 1):
        rows = cue_rows(agent, LENGTH, CUE, side)
        said = rows.heads(np.array([CUE + LAGS]))["policy"]
        assert int(said.argmax()) == side, "the cue is remembered"
        for lag in range(LAGS + 1):
            assert mass_on_cue(agent, lag, method, side) >= 0.8, (side, lag)


def test_without_its_memory_nothing_is_left_of_the_cue() -> None:
    agent = cue_agent("lstm")
    with torch.no_grad():
        agent.module.core.bias_ih[1] = -12.0  # type: ignore[union-attr, index]
    assert mass_on_cue(agent, 5, "gradient") < 0.2


@pytest.mark.parametrize("case", REMEMBERING, ids=lambda case: case.name)
def test_each_step_has_the_gradient_of_a_run_by_hand(case: Case) -> None:
    module = case.build()
    adapted = case.adapt(module)
    steps, head = 4, next(iter(case.heads))
    inputs = random_inputs(adapted.info, batch=steps, seed=3)
    rows = carried_rows(adapted, inputs, ((0, steps),))
    found = recurrent.look(rows, adapted, target=f"{adapted.info.heads[0].parts[0]} of {head}", lags=2)
    named = [{n: v[t : t + 1].clone().requires_grad_() for n, v in inputs.items()} for t in range(steps)]
    score = case.by_hand(module.eval(), named)[-1][head][0, 0]
    for name in found.heat:
        wanted = torch.autograd.grad(score, [step[name] for step in named], retain_graph=True)
        for lag in range(3):
            got = found.heat[name][-1, 2 - lag].ravel()
            assert np.allclose(got, wanted[steps - 1 - lag].flatten(), atol=1e-5), (name, lag)
    assert found.arrays["history"].tolist() == [0, 1, 2, 2]
    assert np.allclose(found.arrays["mass"].sum(1), 1)
    assert not found.heat[name][0, :2].any(), "nothing comes before an episode"


class Forgets(nn.Module):
    """Keeps a state, and lets no gradient through it."""

    def __init__(self) -> None:
        super().__init__()
        self.core, self.policy = nn.GRUCell(3, 4), nn.Linear(4, 2)

    def forward(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        after = self.core(x, None if state is None else state.detach())
        return self.policy(after), after


def test_a_module_that_detaches_its_memory_is_refused() -> None:
    torch.manual_seed(0)
    agent = iv.subject(Forgets(), example=torch.zeros(1, 3), heads="policy", actions=["a", "b"])
    rows = carried_rows(agent, {"x": torch.rand(4, 3)}, ((0, 4),))
    with pytest.raises(LensError, match="goes back through the memory"):
        recurrent.look(rows, agent)
    with pytest.raises(NoRectifier, match="No rectifier"):
        recurrent.look(rows, agent, method="guided")


def test_integrated_gradients_through_time_are_complete() -> None:
    agent = cue_agent("gru")
    rows = cue_rows(agent, 8, CUE, 1).part(np.array([7]))
    found = recurrent.look(rows, agent, target="right of policy", method="integrated", lags=7, steps=200)
    pictures = torch.cat([rows.inputs(np.array([0]), back=lag)["x"] for lag in range(7, -1, -1)])

    def said(frames: Tensor) -> float:
        state = None
        for frame in frames:
            logits, state = agent.module(frame[None], state)
        return logits[0, 1].item()

    assert np.isclose(found.heat["x"].sum(), said(pictures) - said(pictures * 0), rtol=1e-3)
    assert found.arrays["error"][0] < 1e-3


def test_it_keeps_what_lenses_promise() -> None:
    assert {"lstm", "lstm of numbers", "stacked lstm of numbers", "declared memory of numbers"} <= set(
        check_lens("recurrent")
    )


def test_a_gradient_that_is_no_number_is_reported() -> None:
    class Root(Forgets):
        def forward(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
            after = self.core((x - x).sqrt() + x, state)
            return self.policy(after), after

    agent = iv.subject(Root(), example=torch.zeros(1, 3), heads="policy", actions=["a", "b"])
    rows = carried_rows(agent, {"x": torch.rand(4, 3)}, ((0, 4),))
    with pytest.raises(LensError, match="not finite in 1 of 1 rows"):
        recurrent.look(rows.part(np.array([3])), agent)


def test_a_recording_is_unrolled_from_its_recorded_memory(tmp_path: Path) -> None:
    player = recurrent_player()
    iv.record(tmp_path / "a.study", player, CountingWorld(), episodes=2, name="x", progress=False)
    study = iv.Study.open(tmp_path / "a.study")
    made = iv.look(study, "recurrent", "x", subject=player, progress=False, lags=3, target="value")
    assert made.shown["steps"] == ["t−3", "t−2", "t−1", "t"]
    again = restored_rows(made, {name: study.result_array(made.id, name) for name in made.arrays})
    assert isinstance(again, Heat) and again.steps == ("t−3", "t−2", "t−1", "t")
    starts = study.recording("x").group_starts(np.arange(study.recording("x").rows))
    assert (again.arrays["history"] == np.minimum(np.arange(len(starts)) - starts, 3)).all()
    late = iv.look(study, "recurrent", "x", rows=np.array([5]), subject=player, progress=False, lags=3, target="value")
    (name,) = again.heat
    assert np.allclose(study.result_array(late.id, f"heat.{name}")[0], again.heat[name][5], atol=1e-6)
