"""Insertion and deletion on a network that adds up some pixels: every point of the curves is known."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.testing.feeds import fed_rows
from innerview.trust.deletion import FRACTIONS, curves, output_of
from innerview.trust.held import held
from innerview.trust.question import question_of

from .planted import deep, pictures


def total(places: np.ndarray, given: Tensor) -> np.ndarray:
    """The sum of the left half of the pictures."""
    return np.asarray(given[:, :, :, :5].sum((1, 2, 3)).double())


LEFT = np.zeros((4, 10, 10))
LEFT[:, :, :5] = 1
SEEN, BLANK = torch.ones(4, 1, 10, 10), torch.zeros(4, 1, 10, 10)


def test_the_right_map_inserts_at_once_and_deletes_at_once() -> None:
    found = curves(LEFT, SEEN, BLANK, total)
    assert found is not None
    shares = np.array(FRACTIONS)
    assert np.allclose(found.insertion, 50 * np.minimum(1, 2 * shares)), (
        "all of it is there when half of the pixels are"
    )
    assert np.allclose(found.deletion, 50 * np.maximum(0, 1 - 2 * shares))
    assert np.isclose(found.insertion_area.mean, 37.5) and np.isclose(found.deletion_area.mean, 12.5)
    assert found.ahead.low > 0
    wanted = (37.5 - 12.5 - (found.insertion_area_by_chance - found.deletion_area_by_chance)) / 50
    assert np.isclose(found.ahead.mean, wanted)


def test_the_wrong_map_is_behind() -> None:
    found = curves(1 - LEFT, SEEN, BLANK, total)
    assert found is not None and found.ahead.high < 0
    assert np.isclose(found.insertion_area.mean, 12.5) and np.isclose(found.deletion_area.mean, 37.5)


def test_an_output_that_the_baseline_leaves_as_it_is_says_nothing() -> None:
    assert curves(LEFT, SEEN, SEEN, total) is None


def test_the_output_is_the_probability_of_what_was_chosen() -> None:
    subject = deep()
    rows = pictures(subject)
    question = question_of(subject, rows, "action")
    places = np.arange(6)
    seen = rows.inputs(places)["x"]
    heads = subject.run({"x": seen}).heads
    wanted = heads["policy"].softmax(1).numpy().max(1)
    output = output_of(subject, rows, question, "x")
    assert np.allclose(output(places, seen), wanted, atol=1e-6)
    other = subject.run({"x": seen * 0}).heads["policy"].softmax(1).numpy()
    assert np.allclose(output(places[2:4], seen[2:4] * 0), other[[2, 3], question.chosen[2:4]], atol=1e-6)
    value = output_of(subject, rows, question_of(subject, rows, "value"), "x")
    assert np.allclose(value(places, seen), heads["value"][:, 0].numpy(), atol=1e-6)


def test_of_q_values_it_is_the_chosen_one() -> None:
    class Sides(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.q = nn.Linear(16, 2)

        def forward(self, x: Tensor) -> dict[str, Tensor]:
            return {"q": self.q(x.flatten(1))}

    subject = iv.subject(Sides(), example=torch.zeros(1, 1, 4, 4), actions=["l", "r"])
    rows = held(fed_rows(subject, {"x": torch.rand(3, 1, 4, 4)}), subject)
    places = np.arange(3)
    seen = rows.inputs(places)["x"]
    output = output_of(subject, rows, question_of(subject, rows, "action"), "x")
    assert np.allclose(output(places, seen), subject.run({"x": seen}).heads["q"].numpy().max(1), atol=1e-6)
