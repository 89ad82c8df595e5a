"""Masks are kept with what was seen, and never given to the subject."""

from __future__ import annotations

import torch
from innerview_zoo.models.platformer.agent import SIZE, Agent
from innerview_zoo.worlds.platformer import ACTIONS, CLASSES

from innerview.capture.layout import layout
from innerview.subjects import subject
from innerview.worlds import world


def test_a_mask_is_beside_what_the_subject_sees() -> None:
    agent = subject(Agent(), name="novice", example=torch.zeros(1, 3, SIZE, SIZE), actions=list(ACTIONS))
    form = layout(agent, world("platformer", masks=True).info)
    arrays = {spec.name: spec for spec in form.arrays}
    assert form.fed == ("observation",)
    assert arrays["observation"].role == "observation"
    assert arrays["mask"].role == "mask" and arrays["mask"].elements == tuple(CLASSES)
