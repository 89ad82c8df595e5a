"""The four agents: which game, which network, how it learns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import nn

from innerview.errors import UnknownName
from innerview_zoo.models.atari.actor_critic import PPO, PPOSettings
from innerview_zoo.models.atari.dqn import DQN, DQNSettings
from innerview_zoo.models.atari.networks import ActorCritic, Dueling, RecurrentActorCritic
from innerview_zoo.models.atari.sampling import GROUPS, Shape

Kind = Literal["dueling", "stacked", "lstm"]
Learner = DQN | PPO
ACTION_COUNTS = {"breakout": 4, "seaquest": 18}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One agent and how it is trained."""

    name: str
    title: str
    game: str
    kind: Kind
    workers: int
    """Processes with emulators, where there are cores enough."""
    lanes: int

    @property
    def actions(self) -> int:
        """How many the game has."""
        return ACTION_COUNTS[self.game]

    @property
    def frames(self) -> int:
        """How many frames the network sees at once; who remembers needs but one."""
        return 1 if self.kind == "lstm" else 4

    def network(self) -> nn.Module:
        """Fresh, with random weights."""
        kinds = {"dueling": Dueling, "stacked": ActorCritic, "lstm": RecurrentActorCritic}
        network: nn.Module = kinds[self.kind](self.actions, frames=self.frames)
        return network

    def learner(self, shape: Shape, device: torch.device, *, small: bool = False) -> Learner:
        """What decides and learns; `small` where there is no GPU."""
        if self.kind == "dueling":
            dqn = DQNSettings()
            if small:
                dqn = replace(dqn, batch=64, capacity=100_000, reuse=4.0, prefill=5_000, target_every=1_000, rate=1e-4)
            return DQN(self.actions, shape, dqn, device)
        network = self.network()
        assert isinstance(network, ActorCritic | RecurrentActorCritic)
        # Eight lanes of 64 steps each: 512 moments.
        return PPO(network, shape, PPOSettings(minibatches=max(shape.lanes // 8, 1)), device, frames=self.frames)

    def shape(self, workers: int | None = None, lanes: int | None = None) -> Shape:
        """Emulators shared among workers, as many as divide evenly."""
        workers = self.workers if workers is None else workers
        unit = 8 * GROUPS * workers if self.kind != "dueling" else GROUPS * workers
        lanes = self.lanes if lanes is None else lanes
        return Shape(workers, max(lanes // unit, 1) * unit)


_TABLE: tuple[tuple[str, str, Kind, int, int], ...] = (
    ("breakout_dqn", "Breakout, dueling double DQN", "dueling", 4, 96),
    ("seaquest_dqn", "Seaquest, dueling double DQN", "dueling", 4, 96),
    ("breakout_ac", "Breakout, actor-critic on stacked frames", "stacked", 3, 96),
    ("seaquest_lstm", "Seaquest, actor-critic with LSTM", "lstm", 2, 64),
)
PLANS = {
    name: Plan(name=name, title=title, game=name.partition("_")[0], kind=kind, workers=workers, lanes=lanes)
    for name, title, kind, workers, lanes in _TABLE
}


def plan_of(name: str) -> Plan:
    """An agent by name."""
    if name not in PLANS:
        raise UnknownName("Atari agent", name, list(PLANS))
    return PLANS[name]
