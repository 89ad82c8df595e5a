"""Deep Q-learning with two streams: double, dueling, several steps ahead."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from innerview_zoo.models.atari.feed import Feed
from innerview_zoo.models.atari.graphs import prepared, recorded
from innerview_zoo.models.atari.networks import Dueling, SplitAttention
from innerview_zoo.models.atari.replay import Replay
from innerview_zoo.models.atari.sampling import GROUPS, Shape, Views


@dataclass(frozen=True, kw_only=True)
class DQNSettings:
    """How a Q network learns."""

    batch: int = 256
    capacity: int = 1_000_000
    reuse: float = 8.0
    """How often each moment is learnt from, on average."""
    steps: int = 3
    """Rewards that are counted before the network's own estimate."""
    discount: float = 0.99
    target_every: int = 400
    """Updates after which the target network is brought up to date."""
    rate: float = 2e-4
    last_rate: float = 5e-5
    prefill: int = 40_000
    """Moments that are played at random before learning begins."""
    explore_until: float = 0.06
    """Share of the time after which each lane explores at its own lasting rate."""
    max_random: float = 0.3
    min_random: float = 0.003


class DQN:
    """Decides for the lanes, keeps what they saw and learns from it."""

    def __init__(
        self,
        network: Dueling | SplitAttention,
        shape: Shape,
        settings: DQNSettings,
        device: torch.device,
        *,
        actions: int,
        frames: int,
    ) -> None:
        self.settings, self.shape, self.device = settings, shape, device
        self.network = network.to(device)
        self._target = copy.deepcopy(self.network).requires_grad_(False)
        self.replay = Replay(lanes=shape.lanes, capacity=settings.capacity, device=device, stack=frames)
        on_gpu = device.type == "cuda"
        self._rate = torch.tensor(settings.rate, device=device)
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), lr=self._rate, eps=1e-5, fused=on_gpu, capturable=on_gpu, foreach=False
        )
        self._feeds = [Feed(shape.group, device) for _ in range(GROUPS)]
        self._actions = actions
        self._random = torch.ones(shape.lanes, device=device)
        spread = torch.linspace(0, 1, shape.lanes, device=device)
        lasting = settings.max_random * (settings.min_random / settings.max_random) ** spread
        # Neighbouring lanes share a worker and a group; mixed, every group explores alike.
        self._lasting = lasting[torch.randperm(shape.lanes, generator=torch.Generator().manual_seed(0)).to(device)]
        self._loss, self._worth = torch.zeros((), device=device), torch.zeros((), device=device)
        self._debt, self.updates, self._seen = 0.0, 0, 0

    def prepare(self) -> None:
        """Record the repeated work, once weights are where they should be."""
        changing = [*self.replay.__dict__.values(), *self.network.parameters(), *prepared(self.optimizer)]
        small = [x for x in changing if isinstance(x, Tensor) and x is not self.replay.frames]
        self._decide = [
            recorded(partial(self._decide_group, group), self.device, changes=small) for group in range(GROUPS)
        ]
        self._update = recorded(self._learn_once, self.device, changes=small)
        self.replay.frames.zero_()
        self.sync()

    def keen_lanes(self) -> np.ndarray:
        """Lanes that hardly explore: their scores are told."""
        found: np.ndarray = (self._lasting < 0.03).cpu().numpy()
        return found

    def observe(self, group: int, views: Views) -> np.ndarray:
        """Actions for what the group shows."""
        feed = self._feeds[group]
        feed.take(views)
        self._decide[group]()
        return feed.decided()

    def learn(self, group: int, share: float) -> None:
        """As many updates as the last step of a group is worth; `share` of the time is over."""
        settings = self.settings
        self._seen += self.shape.group
        if self._seen < settings.prefill:
            return
        explored = min(share / settings.explore_until, 1.0)
        self._random.copy_(torch.lerp(torch.ones_like(self._lasting), self._lasting, explored))
        self._rate.fill_(settings.rate + (settings.last_rate - settings.rate) * share)
        self._debt += self.shape.group * settings.reuse / settings.batch
        while self._debt >= 1:
            self._update()
            self._debt -= 1
            self.updates += 1
            if self.updates % settings.target_every == 0:
                self.sync()

    def sync(self) -> None:
        """Bring the target network up to date."""
        with torch.no_grad():
            for old, new in zip(self._target.parameters(), self.network.parameters(), strict=True):
                old.copy_(new)

    def losses(self) -> dict[str, float]:
        """How learning goes."""
        return {"loss": float(self._loss), "q": float(self._worth)}

    @torch.no_grad()
    def _decide_group(self, group: int) -> None:
        feed = self._feeds[group]
        stacks = self.replay.add(group, feed.frames(), rewards=feed.rewards, ended=feed.ended, over=feed.over)
        best = self._q(self.network, stacks).argmax(1)
        mine = self._random[group * self.shape.group : (group + 1) * self.shape.group]
        any_action = torch.randint(self._actions, best.shape, device=best.device)
        feed.actions.copy_(torch.where(torch.rand(best.shape, device=best.device) < mine, any_action, best))
        self.replay.act(group, feed.actions)

    def _learn_once(self) -> None:
        settings = self.settings
        batch = self.replay.draw(settings.batch, steps=settings.steps, discount=settings.discount)
        with torch.no_grad():
            choice = self._q(self.network, batch.later).argmax(1, keepdim=True)
            later = self._q(self._target, batch.later).gather(1, choice)[:, 0]
            goal = batch.returns + batch.weight * later
        q = self._q(self.network, batch.frames).gather(1, batch.actions[:, None])[:, 0]
        loss = F.smooth_l1_loss(q, goal)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), 10.0)
        self.optimizer.step()
        self._loss.lerp_(loss.detach(), 0.01)
        self._worth.lerp_(q.detach().mean(), 0.01)

    def _q(self, network: Dueling | SplitAttention, stacks: Tensor) -> Tensor:
        """Eyes in half precision where that is quick; what small differences hang on in full."""
        half = self.device.type == "cuda"
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=half, cache_enabled=False):
            frames = stacks.to(torch.bfloat16 if half else torch.float32, memory_format=torch.channels_last)
            seen = network.see(frames / 255)
        return network.judge(seen.float())["q"]
