"""Attribution to inputs that are not pictures: a bar per feature, a board."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.errors import LensError, NoRectifier
from innerview.lenses.discovery import all_lenses, as_loaded_lens
from innerview.lenses.needs import unmet_needs
from innerview.saliency import blurring, gradient, guided, integrated_input, occlusion, sarfa
from innerview.testing.feeds import fed_rows
from innerview.testing.lens_subjects import lens_cases

WEIGHTS = torch.tensor([[1.0, -2.0, 0.0, 4.0], [0.5, 0.5, 0.5, 0.5]])


class Linear(nn.Module):
    """Two Q values, each a sum of features."""

    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(4, 2, bias=False)
        with torch.no_grad():
            self.q.weight.copy_(WEIGHTS)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"q": self.q(x)}


@pytest.fixture
def linear() -> iv.Subject:
    return iv.subject(Linear(), example=torch.zeros(1, 4), actions=["one", "two"])


def test_of_a_linear_subject_every_method_is_known(linear: iv.Subject) -> None:
    values = torch.rand(3, 4) + 0.1
    rows, given = fed_rows(linear, {"x": values}), values.numpy()[:, None, None]
    weights, target = WEIGHTS[0].numpy(), "one of q"
    assert np.allclose(gradient.look(rows, linear, target=target).heat["x"], weights)
    for method in (
        gradient.look(rows, linear, target=target, times_input=True),
        integrated_input.look(rows, linear, target=target),
        occlusion.look(rows, linear, target=target),
    ):
        assert np.allclose(method.heat["x"], weights * given, atol=1e-5)
        assert method.vectors == ("x",) and method.shown()["vectors"] == ["x"]
        method.check()
    change = np.stack([WEIGHTS[:, i].numpy()[None] * given[:, 0, 0, i, None] for i in range(4)], axis=1)
    assert np.allclose(blurring.look(rows, linear, head="q").heat["x"][:, 0, 0], 0.5 * (change**2).sum(2), atol=1e-5)
    before = linear.run({"x": values}).heads["q"]
    for feature in range(4):
        less = values.clone()
        less[:, feature] = 0
        wanted = sarfa.sarfa(before, linear.run({"x": less}).heads["q"], before.argmax(1))
        assert np.allclose(sarfa.look(rows, linear).heat["x"][:, 0, 0, feature], wanted, atol=1e-6)


def test_what_has_no_meaning_for_a_vector_is_refused_in_words(linear: iv.Subject) -> None:
    with pytest.raises(NoRectifier, match="No rectifier ran"):
        guided.look(fed_rows(linear, {"x": torch.rand(1, 4)}), linear)
    case = next(case for case in lens_cases() if case.name == "mlp of numbers")
    for name in ("gradcam", "guided-gradcam", "integrated"):
        (*_, said) = unmet_needs(as_loaded_lens(name).lens, case.info, case.subject.info)
        assert "needs a" in said and "has no" in said


class Board(nn.Module):
    """A grid of numbers, of which one square counts."""

    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(12, 2, bias=False)
        with torch.no_grad():
            self.q.weight.zero_()
            self.q.weight[0, 5] = 3.0

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"q": self.q(x.flatten(1))}


def test_a_board_is_a_board() -> None:
    agent = iv.subject(Board(), example=torch.zeros(1, 3, 4), actions=["one", "two"])
    rows = fed_rows(agent, {"x": torch.ones(2, 3, 4)})
    wanted = np.zeros((2, 1, 3, 4))
    wanted[..., 1, 1] = 3
    for lens in (gradient, integrated_input, occlusion):
        found = lens.look(rows, agent, target="one of q")
        assert np.allclose(found.heat["x"], wanted, atol=1e-5) and found.vectors == ()


def test_planes_of_a_small_board_are_covered_in_small_patches() -> None:
    class Planes(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.see, self.q = nn.Conv2d(2, 1, 1, bias=False), nn.Linear(64, 2, bias=False)
            with torch.no_grad():
                self.see.weight.fill_(1.0)
                self.q.weight.zero_()
                self.q.weight[0, 0] = 1.0

        def forward(self, x: Tensor) -> dict[str, Tensor]:
            return {"q": self.q(self.see(x).flatten(1))}

    agent = iv.subject(Planes(), example=torch.zeros(1, 2, 8, 8), actions=["one", "two"])
    rows = fed_rows(agent, {"x": torch.rand(1, 2, 8, 8)})
    heat = occlusion.look(rows, agent, target="one of q").heat["x"][0, 0]
    assert np.count_nonzero(heat) == 4, "a patch of two squares a side, not the whole board"


def test_a_dict_has_pictures_first_and_every_vector() -> None:
    case = next(case for case in lens_cases() if case.name == "dict")
    for name in ("gradient", "integrated-input", "smoothgrad", "occlusion", "blurring", "sarfa"):
        found = as_loaded_lens(name).look(case.rows.part(np.array([0])), case.subject)
        assert list(found.heat) == ["camera", "speed"] and found.vectors == ("speed",), name
        assert found.heat["speed"].shape == (1, 1, 1, 2)


def test_tokens_alone_have_no_gradient() -> None:
    class Reads(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.policy = nn.Embedding(5, 3), nn.Linear(3, 2)

        def forward(self, x: Tensor) -> Tensor:
            said: Tensor = self.policy(self.words(x).mean(1))
            return said

    agent = iv.subject(Reads(), example=torch.zeros(1, 4, dtype=torch.int64), heads="policy", actions=["a", "b"])
    rows = fed_rows(agent, {"x": torch.zeros(1, 4, dtype=torch.int64)})
    with pytest.raises(LensError, match="takes tokens alone"):
        gradient.look(rows, agent)
    assert all_lenses().get("gradient").lens.needs == ("gradients",)
