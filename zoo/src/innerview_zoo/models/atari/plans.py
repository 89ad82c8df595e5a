"""The agents: which game, which network, how it learns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import nn

from innerview.errors import UnknownName
from innerview_zoo.models.atari.actor_critic import PPO, PPOSettings
from innerview_zoo.models.atari.dqn import DQN, DQNSettings
from innerview_zoo.models.atari.networks import ActorCritic, Dueling, RecurrentActorCritic, SplitAttention
from innerview_zoo.models.atari.sampling import GROUPS, Shape

Kind = Literal["dueling", "split", "stacked", "lstm"]
Learner = DQN | PPO
ACTION_COUNTS = {"breakout": 4, "seaquest": 18}
FRAMES = {"dueling": 4, "split": 10, "stacked": 4, "lstm": 1}
"""How many frames a network sees at once; who remembers needs but one."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One agent and how it is trained."""

    name: str
    title: str
    game: str
    kind: Kind
    ages: tuple[str, ...]
    """Its snapshots on the way that the zoo has."""
    workers: int
    """Processes with emulators, where there are cores enough."""
    lanes: int

    @property
    def actions(self) -> int:
        """How many the game has."""
        return ACTION_COUNTS[self.game]

    @property
    def frames(self) -> int:
        """How many frames the network sees at once."""
        return FRAMES[self.kind]

    @property
    def learns_q(self) -> bool:
        """Whether it takes the action of the highest q, or draws from a policy."""
        return self.kind in ("dueling", "split")

    def network(self) -> nn.Module:
        """Fresh, with random weights."""
        kinds = {"dueling": Dueling, "split": SplitAttention, "stacked": ActorCritic, "lstm": RecurrentActorCritic}
        network: nn.Module = kinds[self.kind](self.actions, frames=self.frames)
        return network

    def learner(self, shape: Shape, device: torch.device, *, small: bool = False) -> Learner:
        """What decides and learns; `small` where there is no GPU."""
        network = self.network()
        if isinstance(network, Dueling | SplitAttention):
            dqn = DQNSettings()
            if small:
                dqn = replace(dqn, batch=64, capacity=100_000, reuse=4.0, prefill=5_000, target_every=1_000, rate=1e-4)
            return DQN(network, shape, dqn, device, actions=self.actions, frames=self.frames)
        assert isinstance(network, ActorCritic | RecurrentActorCritic)
        # Eight lanes of 64 steps each: 512 moments.
        return PPO(network, shape, PPOSettings(minibatches=max(shape.lanes // 8, 1)), device, frames=self.frames)

    def shape(self, workers: int | None = None, lanes: int | None = None) -> Shape:
        """Emulators shared among workers, as many as divide evenly."""
        workers = self.workers if workers is None else workers
        unit = GROUPS * workers if self.learns_q else 8 * GROUPS * workers
        lanes = self.lanes if lanes is None else lanes
        return Shape(workers, max(lanes // unit, 1) * unit)


_BOTH = ("early", "middle")
_TABLE: tuple[tuple[str, str, Kind, tuple[str, ...], int], ...] = (
    ("breakout_dqn", "Breakout, dueling double DQN", "dueling", _BOTH, 4),
    ("seaquest_dqn", "Seaquest, dueling double DQN", "dueling", _BOTH, 4),
    ("breakout_ac", "Breakout, actor-critic on stacked frames", "stacked", _BOTH, 3),
    ("seaquest_ac", "Seaquest, actor-critic on stacked frames", "stacked", (), 3),
    ("seaquest_lstm", "Seaquest, actor-critic with LSTM", "lstm", _BOTH, 2),
    ("seaquest_split", "Seaquest, split-attention recurrent dueling double DQN", "split", ("middle",), 4),
)
PLANS = {
    name: Plan(
        name=name,
        title=title,
        game=name.partition("_")[0],
        kind=kind,
        ages=ages,
        workers=workers,
        lanes=64 if kind == "lstm" else 96,
    )
    for name, title, kind, ages, workers in _TABLE
}


def plan_of(name: str) -> Plan:
    """An agent by name."""
    if name not in PLANS:
        raise UnknownName("Atari agent", name, list(PLANS))
    return PLANS[name]
