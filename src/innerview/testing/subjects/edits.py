"""Runs modules of the table by hand with their memory changed at each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

Change = Callable[[str, Tensor], Tensor]
Steps = Sequence[Mapping[str, Tensor]]
Heads = dict[str, Tensor]
Edited = Callable[[Any, Steps, Change], list[Heads]]
"""Heads of each step when `change` was made to every new state before the heads read it and before it was carried."""


def recurrent(
    encode: Callable[[Any, Tensor], Tensor], read: Callable[[Any, Tensor], Heads], *, start: Any = None
) -> Edited:
    """For modules that encode, remember in `core` and read their heads off the hidden state."""

    def run(module: Any, steps: Steps, change: Change) -> list[Heads]:
        state, found = start(module, len(steps[0]["x"])) if start else None, []
        for step in steps:
            hidden, state = remember(module.core, encode(module, step["x"]), state, "core", change)
            found.append(read(module, hidden))
        return found

    return run


def remember(core: nn.Module, code: Tensor, state: Any, name: str, change: Change) -> tuple[Tensor, Any]:
    """One step of a recurrent layer with its state changed: what the next layer reads, and what is carried."""
    if isinstance(core, nn.RNNBase):
        _, new = core(code.unsqueeze(1 if core.batch_first else 0), state)
    else:
        new = core(code, state)
    if isinstance(new, tuple):
        both = tuple(
            _changed(core, part, f"{name}.{title}", change) for part, title in zip(new, ("hidden", "cell"), strict=True)
        )
        return _read(core, both[0]), both
    hidden = _changed(core, new, name, change)
    return _read(core, hidden), hidden


def _read(core: nn.Module, hidden: Tensor) -> Tensor:
    return hidden[-1] if isinstance(core, nn.RNNBase) else hidden


def _changed(core: nn.Module, value: Tensor, name: str, change: Change) -> Tensor:
    if not isinstance(core, nn.RNNBase):
        return change(name, value)
    if core.num_layers == 1:
        return change(name, value[0])[None]
    return change(name, value.transpose(0, 1)).transpose(0, 1).contiguous()


def home_made(module: Any, steps: Steps, change: Change) -> list[Heads]:
    """Memory that was declared: the heads have read it before it can be changed."""
    carry, found = torch.zeros(len(steps[0]["x"]), 4), []
    for step in steps:
        out = module(step["x"], carry)
        carry = change("carry", out["carry"])
        found.append({"policy": out["policy"]})
    return found


def sb3(agent: Any, steps: Steps, change: Change) -> list[Heads]:
    """RecurrentPPO: both LSTMs are changed, and the critic without one of its own reads the actor's."""
    policy, found = agent.policy, []
    actor = critic = None
    for step in steps:
        features = policy.extract_features(next(iter(step.values())))
        seen, actor = remember(policy.lstm_actor, features, actor, "lstm_actor", change)
        if policy.lstm_critic is not None:
            valued, critic = remember(policy.lstm_critic, features, critic, "lstm_critic", change)
        else:
            valued = seen if policy.shared_lstm else policy.critic(features)
        logits = policy.action_net(policy.mlp_extractor.forward_actor(seen))
        found.append({"policy": logits, "value": policy.value_net(policy.mlp_extractor.forward_critic(valued))})
    return found
