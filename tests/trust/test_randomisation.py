"""Cascading randomisation: from the output down, what depends on weights changes, and an edge detector never does."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.errors import LensError
from innerview.testing.feeds import carried_rows, fed_rows
from innerview.trust.held import held
from innerview.trust.question import maps_of, question_of
from innerview.trust.randomisation import MAX_STAGES, cascade, randomisation

from .planted import deep, halves, method, pictures, showing


def test_layers_are_randomised_from_the_output_down_and_stay_so() -> None:
    subject = deep()
    (stages,) = cascade(subject, pictures(subject), "action")
    assert [stage.layer for stage in stages] == ["policy", "two", "one"], "the value says nothing of what is done"
    before = {name: value.detach() for name, value in subject.module.named_parameters()}
    for place, stage in enumerate(stages):
        changed = {
            name.split(".")[0]
            for name, value in stage.subject.module.named_parameters()
            if not torch.equal(value, before[name])
        }
        assert changed == {each.layer for each in stages[: place + 1]}
    for name, value in stages[-1].subject.module.named_parameters():
        if not name.startswith("value") and value.numel() > 100:
            size = float(before[name].square().mean().sqrt())
            assert abs(float(value.detach().square().mean().sqrt()) / size - 1) < 0.25, "as large as before"
            assert abs(float(value.detach().mean())) < size / 4


def test_draws_differ_and_a_seed_repeats_them() -> None:
    subject = deep()
    rows = pictures(subject)
    first, other = cascade(subject, rows, "action", draws=2)
    again = cascade(subject, rows, "action")[0]

    def last(stages: list[object]) -> Tensor:
        return stages[-1].subject.module.one.weight  # type: ignore[attr-defined, no-any-return]

    assert torch.equal(last([*first]), last([*again])) and not torch.equal(last([*first]), last([*other]))


def test_the_value_is_randomised_along_its_own_way() -> None:
    subject = deep()
    (stages,) = cascade(subject, pictures(subject), "value")
    assert [stage.layer for stage in stages] == ["value", "two", "one"]


def test_many_layers_go_a_few_at_a_time() -> None:
    layers: list[nn.Module] = [part for _ in range(20) for part in (nn.Linear(36, 36), nn.Tanh())]
    module = nn.Sequential(nn.Flatten(), *layers, nn.Linear(36, 2))
    subject = iv.subject(module, example=torch.zeros(1, 1, 6, 6), heads="q", actions=["l", "r"])
    (stages,) = cascade(subject, pictures(subject), "action")
    assert len(stages) == MAX_STAGES and stages[-1].layer == "1"
    same = [torch.equal(a, b) for a, b in zip(module.parameters(), stages[-1].subject.module.parameters(), strict=True)]
    assert not any(same)


def test_an_edge_detector_keeps_everything_and_fails() -> None:
    subject = deep()
    rows = pictures(subject)
    found = randomisation(
        method("laplacian"), rows, subject, question_of(subject, rows, "action"), cascade(subject, rows, "action")
    )
    assert found is not None and found.passes is False
    for values in (found.rank, found.strength, found.ssim):
        assert np.allclose(values, 1)
    assert found.remains.low == pytest.approx(1) and found.empty == 0


def test_a_gradient_loses_its_map_and_passes() -> None:
    subject = deep()
    rows = pictures(subject, 24)
    found = randomisation(
        method("gradient"),
        rows,
        subject,
        question_of(subject, rows, "action"),
        cascade(subject, rows, "action", draws=2),
    )
    assert found is not None and found.passes is True and found.draws == 2
    assert found.remains.high < 0.4 and abs(found.rank[-1]) < 0.2
    assert np.isclose(found.remains.mean, np.mean(found.rank)), "the figure that decides is the mean over the cascade"
    for mean, low, high in zip(found.rank, found.rank_low, found.rank_high, strict=True):
        assert low <= mean <= high


def test_each_row_is_asked_about_what_the_subject_chose_with_its_own_weights() -> None:
    subject = halves()
    rows = pictures(subject)
    question = question_of(subject, rows, "action")
    (stages,) = cascade(subject, rows, "action")
    random = stages[0].subject
    weight = random.module.policy.weight.detach().view(2, 6, 6).numpy()  # type: ignore[union-attr, operator]
    heat = maps_of(method("gradient"), rows, random, question).heat["x"][:, 0]
    assert np.allclose(heat, weight[question.chosen]), "not what it would choose now"


def test_memory_is_the_recorded_one_whatever_the_weights() -> None:
    class Recalls(nn.Module):
        """What is done depends on what is remembered alone; the picture changes the memory after."""

        def __init__(self) -> None:
            super().__init__()
            self.core, self.policy = nn.GRUCell(16, 4), nn.Linear(4, 2)

        def forward(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
            state = self.core(x.flatten(1), state)
            return self.policy(state), state

    subject = iv.subject(Recalls(), example=torch.zeros(1, 1, 4, 4), heads="policy", actions=["l", "r"])
    whole = carried_rows(subject, {"x": torch.rand(6, 1, 4, 4)}, ((0, 6),))
    rows = held(whole.part(np.arange(2, 6)), subject)
    (stages,) = cascade(subject, rows, "action")
    assert [stage.layer for stage in stages] == ["policy", "core"]
    places = np.arange(4)
    assert all(
        torch.equal(value, whole.memory_before(places + 2)[name]) for name, value in rows.memory_before(places).items()
    )
    found = randomisation(method("gradient"), rows, subject, question_of(subject, rows, "action"), [stages])
    assert found is not None and found.stages == ("policy", "core")


def test_empty_maps_are_left_out_counted_or_not_tested() -> None:
    subject = deep()
    rows = pictures(subject, 4)
    question, drawn = question_of(subject, rows, "action"), cascade(subject, rows, "action")
    maps = np.random.default_rng(0).random((4, 1, 8, 8))
    maps[0] = 0.5
    found = randomisation(showing("one empty", maps), rows, subject, question, drawn)
    assert found is not None and found.remains.n == 3 and found.remains.mean == pytest.approx(1)
    maps[:] = 0
    assert randomisation(showing("empty", maps), rows, subject, question, drawn) is None


def test_what_has_no_weights_cannot_be_randomised() -> None:
    class Sums(nn.Module):
        def forward(self, x: Tensor) -> dict[str, Tensor]:
            return {"q": torch.stack([x.flatten(1).sum(1), x.flatten(1).mean(1)], 1)}

    subject = iv.subject(Sums(), example=torch.zeros(1, 1, 4, 4), actions=["l", "r"])
    rows = held(fed_rows(subject, {"x": torch.rand(2, 1, 4, 4)}), subject)
    with pytest.raises(LensError, match="no weights"):
        cascade(subject, rows, "action")
