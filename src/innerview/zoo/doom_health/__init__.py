"""The health agent: conv + GRU-512 on ViZDoom's health_gathering_supreme."""

from __future__ import annotations

from pathlib import Path

import torch

from innerview.subjects import Subject, subject
from innerview.worlds import World, world
from innerview.zoo.doom_health.train import ACTIONS, FRAME_SKIP, INPUT_HW, SCREEN_HW, Agent


def load() -> tuple[Subject, World]:
    """The trained agent and the scenario it was trained on."""
    height, width = INPUT_HW
    example = torch.zeros(1, 3, height, width)
    adapted = subject(Agent(), name="health agent", example=example, actions=list(ACTIONS))
    adapted.load_weights(Path(__file__).with_name("weights.safetensors"))
    scenario = world(
        "doom:health_gathering_supreme",
        size=(width, height),
        frame_skip=FRAME_SKIP,
        resolution=f"{SCREEN_HW[1]}x{SCREEN_HW[0]}",
    )
    return adapted, scenario
