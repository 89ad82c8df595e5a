"""Modules made to deceive: what they do is another thing than it looks."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tests.subjects.shapes.modules import Base


class MaskedLayer(nn.Module):
    """A layer is called policy, and what comes out is masked and scaled after it."""

    def __init__(self) -> None:
        super().__init__()
        self.policy, self.value = nn.Linear(6, 3), nn.Linear(6, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.policy(x).masked_fill(torch.tensor([False, True, False]), -9.0) / 2, self.value(x)


class MaskedChoice(MaskedLayer):
    """Returns the action alone, chosen after masking."""

    def forward(self, x: Tensor) -> list[int]:  # type: ignore[override]
        return super().forward(x)[0].argmax(1).tolist()  # type: ignore[no-any-return]


class Swapped(Base):
    """Returns the value first."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.critic(x) * 1, self.actor(x) * 1


class SwappedTwins(nn.Module):
    """Two outputs of one size, in another order than the layers they are called after."""

    def __init__(self) -> None:
        super().__init__()
        self.policy, self.prior = nn.Linear(6, 3), nn.Linear(6, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        decided = self.policy(x)
        return self.prior(x), decided


class Noisy(Base):
    """Dropout that never stops."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.said(nn.functional.dropout(x, 0.5, training=True))


class NumpyNoise(Base):
    """Noise from numpy's own generator."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.said(x + float(np.random.normal()))


class OwnGenerator(Base):
    """Noise from a generator that no seed reaches."""

    def __init__(self) -> None:
        super().__init__()
        self.rng = np.random.default_rng(0)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.said(x + float(self.rng.normal()))


class SampledState(Base):
    """A latent state that is drawn at each step, in eval mode too."""

    def forward(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        state = torch.zeros_like(x) if state is None else state
        state = 0.5 * state + x + torch.randn_like(x)
        return (*self.said(state), state)


class OverTheBatch(Base):
    """Normalises by the rows it happens to be given."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.said((x - x.mean(0)) / (x.std(0, unbiased=False) + 1e-3))


class BatchStatistics(Base):
    """BatchNorm without running statistics normalises over the batch in eval mode too."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(6, track_running_stats=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.said(self.norm(x))


_CALLS = itertools.count()


class Elsewhere(Base):
    """Counts its calls outside of itself."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.said(x + 0.01 * next(_CALLS))


class InPlace(Base):
    """Writes into its input."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.said(x.mul_(2).add_(1))


class InPlaceState(Base):
    """Writes into the state that it is handed, and returns it."""

    def __init__(self) -> None:
        super().__init__()

    def forward(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        state = torch.zeros_like(x) if state is None else state
        state.mul_(0.5).add_(x)
        return (*self.said(state), state)


class Trained(Base):
    """Says nothing of the kind while it trains."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.said(-x if self.training else x)


class OwnEval(Base):
    """Does more than set a flag when it is put into eval mode."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = 1.0

    def train(self, mode: bool = True) -> OwnEval:
        self.scale = 1.0 if mode else 3.0
        return super().train(mode)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.said(x * self.scale)


class Tied(nn.Module):
    """Its value is a view of its logits, and both are changed when they are ready."""

    def __init__(self) -> None:
        super().__init__()
        self.both = nn.Linear(6, 4)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        out = self.both(x)
        found = {"logits": out[:, :3], "value": out[:, 3:]}
        out.mul_(2)
        return found


class Grows(Base):
    """A history without end."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[Tensor] = []

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.all.append(x)
        return self.said(torch.stack(self.all).amax(0))


class Context(Base):
    """A state under a name that says nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(12, 6)

    def forward(self, x: Tensor, z: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        z = torch.zeros_like(x) if z is None else z
        z = torch.tanh(self.mix(torch.cat([x, z], 1)))
        return (*self.said(z), z)


class Learns(Base):
    """Changes its weights when it is called."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.actor.weight.data += 0.01
        return self.said(x)


class FixedRows(Base):
    """Holds a state for two games, whatever it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.state = torch.zeros(2, 6)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.state = 0.5 * self.state + x
        return self.said(self.state)


class NumpyState(Base):
    """Keeps what it remembers in numpy."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: Any = 0.0

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.kept = 0.5 * self.kept + x.detach().numpy()
        return self.said(torch.from_numpy(np.asarray(self.kept, np.float32)))
