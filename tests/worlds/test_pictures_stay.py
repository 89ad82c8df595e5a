"""The zoo's agents were trained on these pictures. A change to them needs new training, and new digests here."""

from __future__ import annotations

import hashlib

import pytest
import torch

from innerview.worlds.office import Camera, Conditions, office_floor, render, sample_poses
from innerview.worlds.platformer import FIRST_TEST_LEVEL, Platformer, PlatformerSettings


def test_the_platformer_looks_as_it_did_in_training() -> None:
    game = Platformer(32, settings=PlatformerSettings(auto_reset=False), device="cpu", seed=0)
    digest = hashlib.sha256(game.reset(level_seeds=torch.arange(32) + FIRST_TEST_LEVEL).numpy().tobytes())
    actions = torch.randint(0, 9, (12, 32), generator=torch.Generator().manual_seed(0))
    for chosen in actions:
        digest.update(game.step(chosen).frames.numpy().tobytes())
    assert digest.hexdigest()[:16] == "0f56b65b938cc57b"


def test_the_office_looks_as_it_did_in_training() -> None:
    floor = office_floor(seed=0)
    poses = sample_poses(floor, 4, seed=5, clearance_m=0.25)
    seen = render(floor, poses, camera=Camera(size=64), conditions=Conditions.simulated(), device="cpu")
    means = seen.rgb.float().mean((1, 2, 3)).tolist() + seen.depth.mean((1, 2)).tolist()
    assert means == pytest.approx([143.3, 178.1, 152.0, 110.3, 2.3, 0.3, 0.8, 2.2], abs=0.2)
