"""Adapts agents of stable-baselines3 and sb3-contrib, and holds each to its own predict."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from innerview.errors import SubjectError
from innerview.schema import Head, InputSpec, SubjectInfo
from innerview.subjects.agreement import replay
from innerview.subjects.combinations import check_combinations
from innerview.subjects.identity import code_of
from innerview.subjects.inputs import Input, Normalise
from innerview.subjects.memory.carriers import layer_slots
from innerview.subjects.sb3.bodies import (
    ActorCriticBody,
    ArsBody,
    DeterministicBody,
    QBody,
    Sb3Body,
    SquashedBody,
    choices,
)
from innerview.subjects.sites.discovery import find_attention
from innerview.subjects.subject import Subject, device_of
from innerview.subjects.trace import Trace, trace

_ROWS, _TRIED = 2, 4
"""Rows and steps that are tried."""


def from_sb3(model: Any, *, name: str | None = None, actions: Sequence[str] = ()) -> Subject:
    """Adapt a trained or fresh agent of any algorithm of stable-baselines3 or sb3-contrib."""
    policy, body_kind = _policy(model)
    inputs = _inputs(policy, _observation_normaliser(model))
    slots = tuple(
        slot
        for title in ("lstm_actor", "lstm_critic")
        if isinstance(getattr(policy, title, None), nn.LSTM)
        for slot in layer_slots(title, getattr(policy, title))
    )
    body = body_kind(policy, inputs, slots)
    seen = _trace(body)
    layers = seen.named_layers(_ROWS, None)
    info = SubjectInfo(
        name=name or type(model).__name__,
        family="stable-baselines3",
        inputs=tuple(item.spec for item in inputs),
        heads=_heads(policy, seen.result[0], tuple(actions)),
        layers=layers.addresses,
        layer_shapes=layers.shapes,
        memory=tuple(slot.site for slot in slots),
        parameters=sum(p.numel() for p in body.module.parameters()),
        code=code_of(policy),
    )
    made = Subject(body.module, info, body_kind(policy, inputs, slots, {}, layers))
    made = made.with_info(replace(info, attention=find_attention(made, _ROWS)))
    replay(made, _steps(policy, inputs))
    return made


def _policy(model: Any) -> tuple[Any, type[Sb3Body]]:
    try:
        from stable_baselines3.common.policies import BasePolicy
    except ImportError as error:
        raise SubjectError(
            "from_sb3() needs stable-baselines3, which is not installed. Install it with: pip install 'innerview[sb3]'."
        ) from error
    policy = getattr(model, "policy", model)
    if isinstance(policy, BasePolicy):
        known = [cls.__name__ for cls in type(policy).__mro__]
        for title, body in _BODIES.items():
            if title in known:
                sizes = choices(policy.action_space)
                check_combinations(sizes or ())
                return policy, body
        raise SubjectError(
            f"{type(policy).__name__} of {type(model).__name__} is a policy that from_sb3() does not know; it knows "
            f"{', '.join(_BODIES)}. Adapt the network itself: subject(model.policy, example=…, call='forward')."
        )
    if isinstance(model, str | Path):
        raise SubjectError(
            f"from_sb3() takes a model, not a path. Load it with the class that saved it: PPO.load({str(model)!r})."
        )
    raise SubjectError(
        f"{type(model).__name__} was not understood: from_sb3() knows PPO, A2C, DQN, SAC, TD3, DDPG and those of "
        "sb3-contrib (ARS, CrossQ, MaskablePPO, QRDQN, RecurrentPPO, TQC, TRPO). For a torch module use subject()."
    )


_BODIES: dict[str, type[Sb3Body]] = {
    "ActorCriticPolicy": ActorCriticBody,
    "MaskableActorCriticPolicy": ActorCriticBody,
    "DQNPolicy": QBody,
    "QRDQNPolicy": QBody,
    "SACPolicy": SquashedBody,
    "TQCPolicy": SquashedBody,
    "CrossQPolicy": SquashedBody,
    "TD3Policy": DeterministicBody,
    "ARSPolicy": ArsBody,
}
"""By the class of a policy, or one that it is derived from."""


def _steps(policy: Any, inputs: Sequence[Input]) -> list[dict[str, Tensor]]:
    """Observations that the space allows, for some steps."""
    space = copy.deepcopy(policy.observation_space)
    space.seed(20_264)
    device = device_of(policy)
    found = []
    for _ in range(_TRIED):
        drawn = [space.sample() for _ in range(_ROWS)]
        step = {}
        for item in inputs:
            name = item.spec.name
            rows = [one[name] if isinstance(one, Mapping) else one for one in drawn]
            dtype = getattr(torch, item.spec.dtype)
            step[name] = torch.as_tensor(np.stack(rows)).to(device, dtype).reshape(-1, *item.spec.shape)
        found.append(step)
    return found


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


def _trace(body: Sb3Body) -> Trace:
    device = device_of(body.module)
    rows = {
        item.spec.name: torch.zeros((_ROWS, *item.spec.shape), dtype=getattr(torch, item.spec.dtype), device=device)
        for item in body.inputs
    }
    memory = {slot.site.name: torch.zeros((_ROWS, *slot.site.shape), device=device) for slot in body.slots}
    return trace(body.module, lambda: body.call(rows, memory), device=device)


def _heads(policy: Any, values: Mapping[str, Tensor], names: tuple[str, ...]) -> tuple[Head, ...]:
    kinds: dict[str, Any] = {"policy": "policy", "action": "gaussian", "value": "value", "q": "q"}
    heads = []
    for name, value in values.items():
        kind, size = kinds.get(name, "other"), value.shape[1]
        acts = kind in ("policy", "gaussian", "q")
        names = names or (_combined(policy.action_space) if acts else ())
        if acts and names and len(names) != size:
            raise SubjectError(f"{len(names)} action names were given, but head '{name}' has {size}.")
        heads.append(Head(name=name, kind=kind, size=size, names=names if acts else ()))
    return tuple(heads)


def _combined(space: Any) -> tuple[str, ...]:
    """Names of combinations: "2 + 0" where two decisions are made at once."""
    sizes = choices(space)
    return tuple(" + ".join(map(str, numbers)) for numbers in np.ndindex(*sizes)) if sizes else ()
