"""The platformer must stay as it was when the agents were trained: else their weights are worth nothing."""

from __future__ import annotations

import hashlib

import torch
from innerview_zoo.worlds.platformer import FIRST_TEST_LEVEL, Platformer

SEEN_IN_TRAINING = "2bbbbc0076634bff5cb35aa44bcde667fcfe100937e8717619e5a45988b3daa2"


def test_levels_movement_and_pictures_are_those_of_the_training() -> None:
    game = Platformer(32, seed=0)
    seeds = torch.arange(FIRST_TEST_LEVEL, FIRST_TEST_LEVEL + 32)
    seen = hashlib.sha256(game.reset(level_seeds=seeds).numpy().tobytes())
    for step in range(40):
        action = (1, 5, 5, 1)[step % 4]
        seen.update(game.step(torch.full((32,), action)).frames.numpy().tobytes())
    told = "frames, levels, movement or the numbers of actions changed: train the agents of zoo/platformer anew"
    assert seen.hexdigest() == SEEN_IN_TRAINING, told
