"""Runs policies of stable-baselines3 and sb3-contrib step by step, without drawing an action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from innerview.subjects.body import Heard
from innerview.subjects.combinations import joint_bits, joint_logits
from innerview.subjects.inputs import Input
from innerview.subjects.memory.carriers import Slot
from innerview.subjects.memory.convention import Start, as_author, seeded
from innerview.subjects.sites.hooks import Layers

_TINY = 1e-6
Heads = dict[str, Tensor]


@dataclass(frozen=True)
class Sb3Body:
    """What the bodies of this family share."""

    policy: Any
    """What acts; also the module, but for DQN and QRDQN, where that is the network alone."""
    inputs: tuple[Input, ...]
    slots: tuple[Slot, ...] = ()
    starts: Mapping[str, Start] = field(default_factory=dict)
    layers: Layers = field(default_factory=Layers)
    told_names: tuple[str, ...] = ()
    apart: bool = False

    @property
    def module(self) -> nn.Module:
        """What is looked into."""
        found: nn.Module = self.policy
        return found

    def call(self, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]) -> tuple[Heads, dict[str, Tensor]]:
        """Heads and memory of one forward."""
        raise NotImplementedError

    def groups(self, memory: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        """All rows together."""
        return ()

    def acted(self, memory: Mapping[str, Tensor], actions: np.ndarray, rewards: np.ndarray) -> dict[str, Tensor]:
        """Nothing is told of the step before."""
        return dict(memory)

    def observation(self, inputs: Mapping[str, Tensor]) -> Any:
        """Inputs as SB3 passes them around: one tensor, or a dict for a Dict space."""
        if hasattr(self.policy.observation_space, "spaces"):
            return {item.spec.name: inputs[item.spec.name] for item in self.inputs}
        return inputs[self.inputs[0].spec.name]

    def by_hand(self, steps: Sequence[Mapping[str, Tensor]], seed: int) -> list[Heard]:
        """What `predict` does without chance, its state handed back."""
        found: list[Heard] = []
        state: Any = None
        rows = len(next(iter(steps[0].values())))
        with as_author(self.policy, next(self.policy.parameters()).device):
            for number, step in enumerate(steps):
                seeded(seed + number)
                seen = self._as_shown(step)
                starts = np.full(rows, number == 0)
                action, state = self.policy.predict(seen, state, episode_start=starts, deterministic=True)
                found.append(Heard({}, action=self._numbered(action, rows)))
        return found

    def _as_shown(self, step: Mapping[str, Tensor]) -> Any:
        spaces = getattr(self.policy.observation_space, "spaces", None)
        named = dict(spaces) if spaces else {self.inputs[0].spec.name: self.policy.observation_space}
        shown = {name: step[name].detach().cpu().numpy().astype(_shown_type(space)) for name, space in named.items()}
        return shown if spaces else next(iter(shown.values()))

    def _numbered(self, action: np.ndarray, rows: int) -> np.ndarray:
        """As `Subject.act` gives it: combinations of several choices as one number."""
        sizes = choices(self.policy.action_space)
        if sizes is None:
            return action.reshape(rows, -1) if type(self.policy.action_space).__name__ == "Box" else action
        return np.asarray(np.ravel_multi_index(tuple(action.reshape(rows, -1).astype(np.int64).T), sizes))

    def bounded(self, action: np.ndarray) -> np.ndarray:
        """As SB3's predict does: squashed actions to the space's scale, others clipped to it."""
        space = self.policy.action_space
        if self.policy.squash_output:
            scaled = self.policy.unscale_action(self.squashed(action).reshape(-1, *space.shape))
            action = np.asarray(scaled).reshape(len(action), -1)
        clipped: np.ndarray = np.clip(action, space.low.reshape(-1), space.high.reshape(-1))
        return clipped

    def squashed(self, action: np.ndarray) -> np.ndarray:
        """To -1…1, where the head holds what comes before."""
        return np.asarray(np.tanh(action))


def _shown_type(space: Any) -> Any:
    return space.dtype if space.dtype is not None else np.float32


def choices(space: Any) -> tuple[int, ...] | None:
    """How many choices each of several decisions has; none where there is one decision."""
    kind = type(space).__name__
    if kind == "MultiDiscrete":
        return tuple(int(n) for n in space.nvec.reshape(-1))
    return (2,) * int(np.prod(space.shape)) if kind == "MultiBinary" else None


@dataclass(frozen=True)
class QBody(Sb3Body):
    """DQN and QRDQN: the network of Q values alone; of quantiles their mean."""

    @property
    def module(self) -> nn.Module:
        """The network."""
        found: nn.Module = getattr(self.policy, "q_net", None) or self.policy.quantile_net
        return found

    def call(self, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]) -> tuple[Heads, dict[str, Tensor]]:
        """Q values; nothing is remembered."""
        value = self.module(self.observation(inputs))
        return {"q": value.mean(dim=1) if value.ndim == 3 else value}, {}


@dataclass(frozen=True)
class ArsBody(Sb3Body):
    """ARS: one network, that says what to do."""

    def call(self, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]) -> tuple[Heads, dict[str, Tensor]]:
        """Scores of actions, or the action itself."""
        policy = self.policy
        said = policy.action_net(policy.extract_features(self.observation(inputs), policy.features_extractor))
        return {"action" if type(policy.action_space).__name__ == "Box" else "policy": said}, {}

    def squashed(self, action: np.ndarray) -> np.ndarray:
        """The network ends in a tanh."""
        return action


@dataclass(frozen=True)
class DeterministicBody(Sb3Body):
    """TD3 and DDPG: an actor whose action has no spread, and critics."""

    def call(self, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]) -> tuple[Heads, dict[str, Tensor]]:
        """The action from -1 to 1, and what the more doubtful critic expects of it."""
        observation = self.observation(inputs)
        action = self.policy.actor(observation)
        return {"action": action, "value": expected(self.policy.critic, observation, action)}, {}

    def squashed(self, action: np.ndarray) -> np.ndarray:
        """The actor ends in a tanh."""
        return action


@dataclass(frozen=True)
class SquashedBody(Sb3Body):
    """SAC, TQC and CrossQ: a gaussian that is squashed by a tanh, and critics."""

    def call(self, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]) -> tuple[Heads, dict[str, Tensor]]:
        """The mean before it is squashed, the logarithm of its spread, and what the critics expect of it."""
        observation, actor = self.observation(inputs), self.policy.actor
        mean, spread, further = actor.get_action_dist_params(observation)
        if actor.use_sde:
            spread = state_dependent(actor.action_dist, actor.log_std, further["latent_sde"])
        value = expected(self.policy.critic, observation, torch.tanh(mean))
        return {"action": mean, "action.log_std": spread, "value": value}, {}


def expected(critic: Any, observation: Any, action: Tensor) -> Tensor:
    """[batch, 1]: the smallest of what several critics say; of quantiles the mean of all."""
    said = critic(observation, action)
    if isinstance(said, Tensor):
        return said.flatten(1).mean(dim=1, keepdim=True)
    smallest: Tensor = torch.stack(list(said)).amin(dim=0)
    return smallest


def state_dependent(distribution: Any, log_std: Tensor, latent: Tensor) -> Tensor:
    """The logarithm of the spread of exploration that depends on the state (gSDE)."""
    std = distribution.get_std(log_std)
    own = latent if distribution.learn_features else latent.detach()
    return 0.5 * torch.log(torch.mm(own**2, std**2) + _TINY)


@dataclass(frozen=True)
class ActorCriticBody(Sb3Body):
    """PPO, A2C, TRPO, MaskablePPO and RecurrentPPO: the steps of policy.forward without drawing an action."""

    def call(self, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]) -> tuple[Heads, dict[str, Tensor]]:
        """The policy's logits or mean, the value, and the LSTM states afterwards."""
        policy, after = self.policy, dict[str, Tensor]()
        features = policy.extract_features(self.observation(inputs))
        actor, critic = (features, features) if policy.share_features_extractor else features
        if self.slots:
            actor, critic = self._remember(actor, critic, memory, after)
        if policy.share_features_extractor and not self.slots:
            actor, critic = policy.mlp_extractor(features)
        else:
            actor = policy.mlp_extractor.forward_actor(actor)
            critic = policy.mlp_extractor.forward_critic(critic)
        heads = self._decide(actor)
        heads["value"] = policy.value_net(critic)
        return heads, after

    def _remember(
        self, actor: Tensor, critic: Tensor, memory: Mapping[str, Tensor], after: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        policy = self.policy
        remembered = self._step("lstm_actor", actor, memory, after)
        if policy.lstm_critic is not None:
            return remembered, self._step("lstm_critic", critic, memory, after)
        return remembered, remembered.detach() if policy.shared_lstm else policy.critic(critic)

    def _step(self, name: str, features: Tensor, memory: Mapping[str, Tensor], after: dict[str, Tensor]) -> Tensor:
        slots = [slot for slot in self.slots if slot.site.layer == name]
        state = tuple(slot.pack(memory[slot.site.name]) for slot in slots)
        output, new = getattr(self.policy, name)(features.unsqueeze(0), state)
        after |= {slot.site.name: slot.unpack(value) for slot, value in zip(slots, new, strict=True)}
        step: Tensor = output.squeeze(0)
        return step

    def _decide(self, latent: Tensor) -> Heads:
        policy = self.policy
        decided = policy.action_net(latent)
        if hasattr(policy, "log_std"):
            if policy.use_sde:
                return {
                    "action": decided,
                    "action.log_std": state_dependent(policy.action_dist, policy.log_std, latent),
                }
            return {"action": decided, "action.log_std": policy.log_std.reshape(1, -1).expand(len(decided), -1)}
        sizes = choices(policy.action_space)
        if sizes is None:
            return {"policy": decided}
        bits = decided.shape[1] == len(sizes)  # one number for each switch, not one for each choice
        return {"policy": joint_bits(decided) if bits else joint_logits(decided, sizes)}
