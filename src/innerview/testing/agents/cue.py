"""A memory task with a known answer: a cue is shown once, left or right, and decides every step from then on."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from innerview.schema import Rows
from innerview.subjects import Subject, subject
from innerview.testing.feeds import carried_rows

SIZE = 6
ACTIONS = ("left", "right")
_SHUT = 12.0
"""How firmly a gate is shut without the cue, and open with it: as many nats either way."""


class CueMemory(nn.Module):
    """Reads a picture by a convolution; its cell takes the cue's side in when there is one, and else holds what it has.

    A cue is a bright left or right column. Noise a tenth as bright stands everywhere else, and hardly opens the gate.
    """

    def __init__(self, cell: Literal["lstm", "gru"]) -> None:
        super().__init__()
        self.see, self.read = nn.Conv2d(1, 1, 1), nn.Linear(SIZE * SIZE, 2)
        self.core = nn.LSTMCell(2, 1) if cell == "lstm" else nn.GRUCell(2, 1)
        self.policy = nn.Linear(1, 2)
        with torch.no_grad():
            for weights in self.parameters():
                weights.zero_()
            self.see.weight.fill_(1.0)
            sides = torch.zeros(2, SIZE, SIZE)
            sides[0, :, 0], sides[1, :, -1] = 1 / SIZE, 1 / SIZE
            self.read.weight.copy_(sides.view(2, -1))
            self.policy.weight.copy_(torch.tensor([[-4.0], [4.0]]))
            side = torch.tensor([-1.0, 1.0])
            if cell == "lstm":  # in, forget, new, out
                self.core.weight_ih[0], self.core.bias_ih[0] = 2 * _SHUT, -_SHUT
                self.core.bias_ih[1], self.core.bias_ih[3] = _SHUT, _SHUT
                self.core.weight_ih[2] = side
            else:  # reset, update (which holds), new
                self.core.weight_ih[1], self.core.bias_ih[1] = -2 * _SHUT, _SHUT
                self.core.weight_ih[2] = side

    def forward(
        self, x: Tensor, state: tuple[Tensor, Tensor] | Tensor | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor] | Tensor]:
        """Action logits, and the state after."""
        seen = self.read(torch.relu(self.see(x)).flatten(1))
        after = self.core(seen, state)
        hidden = after[0] if isinstance(after, tuple) else after
        return self.policy(hidden), after


def cue_agent(cell: Literal["lstm", "gru"] = "lstm") -> Subject:
    """The agent as a subject."""
    example = torch.zeros(1, 1, SIZE, SIZE)
    return subject(CueMemory(cell), name=f"cue ({cell})", example=example, heads="policy", actions=ACTIONS)


def cue_pictures(length: int, cue: int, side: int, *, seed: int = 0) -> Tensor:
    """Noise [length, 1, height, width], with the cue on one side (0 or 1) in one step."""
    pictures = 0.1 * torch.rand(length, 1, SIZE, SIZE, generator=torch.Generator().manual_seed(seed))
    pictures[cue, 0, :, -side] = 1.0
    return pictures


def cue_rows(agent: Subject, length: int, cue: int, side: int, *, seed: int = 0) -> Rows:
    """An episode with one cue, the memory as it was carried along."""
    return carried_rows(agent, {"x": cue_pictures(length, cue, side, seed=seed)}, ((0, length),))
