"""Proximal policy optimisation for both actor-critics: on stacked frames, or on one frame with an LSTM."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from innerview.worlds.atari.frames import push_frames
from innerview_zoo.models.atari.feed import Feed
from innerview_zoo.models.atari.graphs import prepared, recorded
from innerview_zoo.models.atari.networks import ActorCritic, RecurrentActorCritic
from innerview_zoo.models.atari.rollout import Rollout
from innerview_zoo.models.atari.sampling import GROUPS, Shape, Views


@dataclass(frozen=True, kw_only=True)
class PPOSettings:
    """How an actor-critic learns."""

    steps: int = 64
    """Steps of each lane between two lessons."""
    epochs: int = 4
    minibatches: int = 8
    discount: float = 0.99
    smoothing: float = 0.95
    clip: float = 0.1
    entropy: float = 0.01
    value: float = 0.5
    rate: float = 2.5e-4
    last_rate: float = 1e-5


class PPO:
    """Decides for the lanes and learns from every stretch once it is played."""

    def __init__(
        self,
        network: ActorCritic | RecurrentActorCritic,
        shape: Shape,
        settings: PPOSettings,
        device: torch.device,
        *,
        frames: int,
    ) -> None:
        self.settings, self.shape, self.device = settings, shape, device
        self.network = network.to(device)
        self._memory = network.lstm.hidden_size if isinstance(network, RecurrentActorCritic) else 0
        on_gpu = device.type == "cuda"
        self._rate = torch.tensor(settings.rate, device=device)
        self.optimizer = torch.optim.Adam(
            network.parameters(), lr=self._rate, eps=1e-5, fused=on_gpu, capturable=on_gpu, foreach=False
        )
        self.rollout = Rollout(
            lanes=shape.lanes, steps=settings.steps, frames=frames, memory=self._memory, device=device
        )
        self._feeds = [Feed(shape.group, device) for _ in range(GROUPS)]
        self._stacks = torch.zeros_like(self.rollout.frames[0])
        self._states = torch.zeros(2, shape.lanes, self._memory, device=device)
        units = shape.lanes if self._memory else shape.lanes * settings.steps
        self._chosen = torch.zeros(units // settings.minibatches, dtype=torch.int64, device=device)
        self._losses = torch.zeros(3, device=device)
        self._played, self.updates = -1, 0

    def prepare(self) -> None:
        """Record the repeated work, once weights are where they should be."""
        told = [x for x in self.rollout.__dict__.values() if isinstance(x, Tensor) and x is not self.rollout.frames]
        learnt = [*self.network.parameters(), *prepared(self.optimizer)]
        changes = [*told, *learnt, self._states, self._stacks, self._losses]
        self._decide = [
            recorded(partial(self._decide_group, group), self.device, changes=changes) for group in range(GROUPS)
        ]
        self._judge = recorded(self._judge_stretch, self.device, changes=changes)
        self._update = recorded(self._learn_once, self.device, changes=changes)

    def keen_lanes(self) -> np.ndarray:
        """All lanes play alike."""
        return np.ones(self.shape.lanes, bool)

    def observe(self, group: int, views: Views) -> np.ndarray:
        """Actions for what the group shows."""
        feed = self._feeds[group]
        feed.take(views)
        self._decide[group]()
        return feed.decided()

    def learn(self, group: int, share: float) -> None:
        """A lesson, where a stretch is complete; `share` of the time is over."""
        settings = self.settings
        self._played += group == GROUPS - 1
        if group != GROUPS - 1 or self._played < settings.steps:
            return
        self._rate.fill_(settings.rate + (settings.last_rate - settings.rate) * share)
        self._judge()
        size = len(self._chosen)
        for _ in range(settings.epochs):
            order = torch.randperm(size * settings.minibatches, device=self.device)
            for part in order.view(-1, size):
                self._chosen.copy_(part)
                self._update()
                self.updates += 1
        self.rollout.shift()
        self._played = 0

    def losses(self) -> dict[str, float]:
        """How learning goes."""
        policy, value, entropy = self._losses.tolist()
        return {"policy": policy, "value": value, "entropy": entropy}

    @torch.no_grad()
    def _decide_group(self, group: int) -> None:
        feed, rows = self._feeds[group], slice(group * self.shape.group, (group + 1) * self.shape.group)
        over = feed.over | (self.rollout.slot[group] < 0)
        stacks = push_frames(self._stacks[rows], feed.frames(), over)
        self._stacks[rows] = stacks
        before = self._states[:, rows] * ~over[:, None]
        logits, value, after = self._look(_floats(stacks), before)
        self._states[:, rows] = after
        logs = logits.log_softmax(1)
        # The least of exponential times falls on each action as often as its probability says.
        action = (logs.exp() / torch.empty_like(logs).exponential_()).argmax(1)
        feed.actions.copy_(action)
        self.rollout.add(
            group,
            rewards=feed.rewards,
            ended=feed.ended,
            frames=stacks,
            over=over,
            states=before,
            actions=action,
            logs=logs.gather(1, action[:, None])[:, 0],
            values=value,
        )

    def _look(self, frames: Tensor, states: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        if isinstance(self.network, ActorCritic):
            logits, value = self.network(frames)
            return logits, value[:, 0], states
        logits, value, hidden, cell = self.network(frames, states[0], states[1])
        return logits, value[:, 0], torch.stack((hidden, cell))

    @torch.no_grad()
    def _judge_stretch(self) -> None:
        self.rollout.judge(self.settings.discount, self.settings.smoothing)

    def _learn_once(self) -> None:
        settings, chosen = self.settings, self._chosen
        logits, values = self._again(chosen)
        past = self.rollout.past(chosen, by_lane=bool(self._memory))
        logs = logits.log_softmax(1)
        ratio = (logs.gather(1, past.actions[:, None])[:, 0] - past.logs).exp()
        gain = (past.advantages - past.advantages.mean()) / (past.advantages.std() + 1e-8)
        kept = ratio.clamp(1 - settings.clip, 1 + settings.clip)
        policy = -torch.minimum(ratio * gain, kept * gain).mean()
        value = 0.5 * (values - past.returns).square().mean()
        entropy = -(logs.exp() * logs).sum(1).mean()
        loss = policy + settings.value * value - settings.entropy * entropy
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), 0.5)
        self.optimizer.step()
        self._losses.lerp_(torch.stack((policy, value, entropy)).detach(), 0.02)

    def _again(self, chosen: Tensor) -> tuple[Tensor, Tensor]:
        """What the network thinks now of moments that were played: [n, actions] and [n], step by step of each lane."""
        steps, rollout = self.settings.steps, self.rollout
        if isinstance(self.network, ActorCritic):
            logits, values = self.network(_floats(rollout.frames[:steps].flatten(0, 1)[chosen]))
            return logits, values[:, 0]
        seen = self.network.see(_floats(rollout.frames[:steps, chosen].flatten(0, 1))).view(steps, len(chosen), -1)
        going_on = (~rollout.over[:steps, chosen]).float()[..., None]
        hidden, cell = rollout.states[0, 0, chosen], rollout.states[0, 1, chosen]
        kept = []
        for step in range(steps):
            hidden, cell = self.network.lstm(seen[step], (hidden * going_on[step], cell * going_on[step]))
            kept.append(hidden)
        memory = torch.stack(kept).flatten(0, 1)
        return self.network.policy(memory), self.network.value(memory)[:, 0]


def _floats(stacks: Tensor) -> Tensor:
    return stacks.to(torch.float32, memory_format=torch.channels_last) / 255
