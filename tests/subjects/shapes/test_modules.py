"""What is recorded of a module is what it says when it is run by hand, over 20 steps, or it is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from innerview.errors import SubjectError
from tests.subjects.shapes.deceptions import DECEIVERS
from tests.subjects.shapes.table import ACCEPTED, Shape, compared, did, seeded
from tests.subjects.shapes.world import LENGTHS, NoiseWorld, recorded

EVERY = (*ACCEPTED, *DECEIVERS)


@pytest.mark.parametrize("shape", [s for s in EVERY if not s.refused], ids=lambda shape: shape.name)
def test_what_is_recorded_is_what_the_module_says_by_hand(shape: Shape) -> None:
    model = seeded(shape.build)
    adapted = shape.adapt(model)
    if shape.memory is not None:
        assert tuple(site.name for site in adapted.info.memory) == shape.memory
    episodes = recorded(adapted, NoiseWorld(shape.shown, shape.actions))
    assert [len(played.rows["step"]) for played in episodes] == list(LENGTHS)
    getattr(model, "_orig_mod", model).eval()
    assert shape.by_hand is not None
    for played in episodes:
        got = compared(played)
        with torch.no_grad():
            wanted = shape.by_hand(model, did(played))
        for name in wanted[0]:
            hand = torch.cat([step[name] for step in wanted]).double()
            hand = torch.softmax(hand, 1) if name == "policy" else hand
            np.testing.assert_allclose(got[name], hand.numpy(), atol=shape.close, rtol=shape.close)


@pytest.mark.parametrize("shape", [s for s in EVERY if s.refused], ids=lambda shape: shape.name)
def test_what_cannot_be_believed_is_refused_with_what_to_declare(shape: Shape) -> None:
    with pytest.raises(SubjectError, match=shape.refused):
        shape.adapt(seeded(shape.build))


def test_at_least_a_dozen_are_made_to_deceive() -> None:
    assert len(DECEIVERS) >= 12 and len({shape.name for shape in EVERY}) == len(EVERY)
