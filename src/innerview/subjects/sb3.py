"""Adapts agents of stable-baselines3 (PPO, A2C, DQN) and sb3-contrib (RecurrentPPO)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from innerview.errors import SubjectError
from innerview.schema import Head, InputSpec, SubjectInfo
from innerview.subjects.inputs import Input, Normalise
from innerview.subjects.memory.carriers import Slot, layer_slots
from innerview.subjects.memory.discovery import Start
from innerview.subjects.sites.discovery import find_attention
from innerview.subjects.sites.hooks import Layers
from innerview.subjects.subject import Subject, device_of
from innerview.subjects.trace import Trace, trace

_TINY = 1e-6
_ROWS = 2
"""How many rows the tracing run has."""


@dataclass(frozen=True)
class Sb3Body:
    """What the bodies of this family share."""

    policy: Any
    inputs: tuple[Input, ...]
    slots: tuple[Slot, ...] = ()
    starts: Mapping[str, Start] = field(default_factory=dict)
    layers: Layers = field(default_factory=Layers)

    def call(
        self, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]
    ) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Heads and memory of one forward."""
        raise NotImplementedError

    def observation(self, inputs: Mapping[str, Tensor]) -> Any:
        """Inputs as SB3 passes them around: one tensor, or a dict for a Dict space."""
        if hasattr(self.policy.observation_space, "spaces"):
            return {item.spec.name: inputs[item.spec.name] for item in self.inputs}
        return inputs[self.inputs[0].spec.name]

    def bounded(self, action: np.ndarray) -> np.ndarray:
        """As SB3's predict does: squashed actions to the space's scale, others clipped to it."""
        space = self.policy.action_space
        if self.policy.squash_output:
            action = self.policy.unscale_action(np.tanh(action))
        clipped: np.ndarray = np.clip(action, space.low.reshape(-1), space.high.reshape(-1))
        return clipped


class QBody(Sb3Body):
    """DQN: the q network alone."""

    def call(
        self, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]
    ) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Q values; nothing is remembered."""
        return {"q": self.policy(self.observation(inputs))}, {}


class ActorCriticBody(Sb3Body):
    """PPO, A2C and RecurrentPPO: the steps of policy.forward without drawing an action."""

    def call(
        self, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]
    ) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
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

    def _decide(self, latent: Tensor) -> dict[str, Tensor]:
        policy = self.policy
        decided = policy.action_net(latent)
        if not hasattr(policy, "log_std"):
            return {"policy": decided}
        if policy.use_sde:
            std = policy.action_dist.get_std(policy.log_std)
            spread = 0.5 * torch.log(torch.mm(latent**2, std**2) + _TINY)
        else:
            spread = policy.log_std.reshape(1, -1).expand(decided.shape[0], -1)
        return {"action": decided, "action.log_std": spread}


def from_sb3(model: Any, *, name: str | None = None, actions: Sequence[str] = ()) -> Subject:
    """Adapt a trained or fresh PPO, A2C, DQN or RecurrentPPO."""
    policy, body_kind = _policy(model)
    inputs = _inputs(policy, _observation_normaliser(model))
    slots = tuple(
        slot
        for title in ("lstm_actor", "lstm_critic")
        if isinstance(getattr(policy, title, None), nn.LSTM)
        for slot in layer_slots(title, getattr(policy, title))
    )
    body = body_kind(policy, inputs, slots)
    seen = _trace(policy, body)
    layers = seen.named_layers(_ROWS, None)
    info = SubjectInfo(
        name=name or type(model).__name__,
        family="stable-baselines3",
        inputs=tuple(item.spec for item in inputs),
        heads=_heads(policy, seen.result[0], tuple(actions)),
        layers=layers.addresses,
        layer_shapes=layers.shapes,
        memory=tuple(slot.site for slot in slots),
        parameters=sum(p.numel() for p in policy.parameters()),
    )
    made = Subject(policy, info, body_kind(policy, inputs, slots, {}, layers))
    return made.with_info(replace(info, attention=find_attention(made, _ROWS)))


def _policy(model: Any) -> tuple[Any, type[Sb3Body]]:
    try:
        from stable_baselines3.common.policies import ActorCriticPolicy
        from stable_baselines3.dqn.policies import DQNPolicy
    except ImportError as error:
        raise SubjectError(
            "from_sb3() needs stable-baselines3, which is not installed. Install it with: pip install 'innerview[sb3]'."
        ) from error
    policy = getattr(model, "policy", model)
    if isinstance(policy, DQNPolicy):
        return policy.q_net, QBody
    if isinstance(policy, ActorCriticPolicy):
        kind = type(policy.action_space).__name__
        if kind not in ("Discrete", "Box"):
            raise SubjectError(f"{kind} actions of SB3 agents are not supported; Discrete and Box are.")
        return policy, ActorCriticBody
    if isinstance(model, str | Path):
        raise SubjectError(
            f"from_sb3() takes a model, not a path. Load it with the class that saved it: PPO.load({str(model)!r})."
        )
    raise SubjectError(
        f"{type(model).__name__} was not understood: from_sb3() knows PPO, A2C, DQN and RecurrentPPO. "
        "Adapt the network itself with subject(model.policy.actor, example=…)."
    )


def _inputs(policy: Any, normaliser: Any) -> tuple[Input, ...]:
    space = policy.observation_space
    named = dict(space.spaces) if hasattr(space, "spaces") else {"observation": space}
    return tuple(
        Input(
            _spec(name, part, policy.normalize_images), normalise=_normalise(normaliser, name, hasattr(space, "spaces"))
        )
        for name, part in named.items()
    )


def _spec(name: str, space: Any, normalize_images: bool) -> InputSpec:
    from stable_baselines3.common.preprocessing import is_image_space

    shape = tuple(space.shape)
    if type(space).__name__ in ("Discrete", "MultiDiscrete"):
        return InputSpec(name=name, kind="tokens", shape=shape, dtype="int64")
    image = len(shape) == 3 and is_image_space(space, normalized_image=not normalize_images)
    return InputSpec(name=name, kind="image" if image else "vector", shape=shape)


def _observation_normaliser(model: Any) -> Any:
    """The VecNormalize an agent was trained with, where the model still has its environment."""
    find = getattr(model, "get_vec_normalize_env", None)
    found = find() if find else None
    return found if found is not None and found.norm_obs else None


def _normalise(normaliser: Any, name: str, in_dict: bool) -> Normalise:
    if normaliser is None or (in_dict and name not in (normaliser.norm_obs_keys or ())):
        return False  # The policy divides images by 255 on its own.

    def normalise(value: Tensor) -> Tensor:
        stats = normaliser.obs_rms[name] if in_dict else normaliser.obs_rms
        mean, var = (torch.as_tensor(part, dtype=value.dtype, device=value.device) for part in (stats.mean, stats.var))
        return ((value - mean) / torch.sqrt(var + normaliser.epsilon)).clamp(-normaliser.clip_obs, normaliser.clip_obs)

    return normalise


def _trace(policy: Any, body: Sb3Body) -> Trace:
    device = device_of(policy)
    rows = {
        item.spec.name: torch.zeros((_ROWS, *item.spec.shape), dtype=getattr(torch, item.spec.dtype), device=device)
        for item in body.inputs
    }
    memory = {slot.site.name: torch.zeros((_ROWS, *slot.site.shape), device=device) for slot in body.slots}
    return trace(policy, lambda: body.call(rows, memory), device=device)


def _heads(policy: Any, values: Mapping[str, Tensor], names: tuple[str, ...]) -> tuple[Head, ...]:
    kinds: dict[str, Any] = {"policy": "policy", "action": "gaussian", "value": "value", "q": "q"}
    heads = []
    for name, value in values.items():
        kind, size = kinds.get(name, "other"), value.shape[1]
        acts = kind in ("policy", "gaussian", "q")
        if acts and names and len(names) != size:
            raise SubjectError(f"{len(names)} action names were given, but head '{name}' has {size}.")
        heads.append(Head(name=name, kind=kind, size=size, names=names if acts else ()))
    return tuple(heads)
