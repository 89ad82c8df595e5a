"""Tiny modules of every shape people write, each with what innerview must find in it and a run by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from innerview.schema import SubjectInfo
from innerview.subjects import Subject, from_sb3, subject
from innerview.testing.subjects import edits, modules, sb3

Heads = dict[str, Tensor]
ByHand = Callable[[Any, Sequence[Mapping[str, Tensor]]], list[Heads]]
"""Runs a module over several steps as its author would, carrying its state along; gives the heads of each step."""
ACTIONS = ("left", "stay", "right")


@dataclass(frozen=True, kw_only=True)
class Case:
    """One shape of module."""

    name: str
    build: Callable[[], Any]
    """Makes the module (or SB3 model) with fixed weights."""
    adapt: Callable[[Any], Subject]
    by_hand: ByHand
    heads: Mapping[str, tuple[str, int]]
    memory: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    first_layers: tuple[str, ...] = ()
    last_layers: tuple[str, ...] = ()
    needs_sb3: bool = False
    edited_by_hand: edits.Edited | None = None
    """For those that remember: the run by hand with the memory changed at each step."""


def random_inputs(info: SubjectInfo, *, batch: int, seed: int) -> dict[str, Tensor]:
    """Inputs a subject takes, the same for the same seed."""
    generator = torch.Generator().manual_seed(seed)
    return {
        spec.name: torch.randint(0, 2, (batch, *spec.shape), generator=generator)
        if spec.kind == "tokens"
        else torch.rand((batch, *spec.shape), generator=generator)
        for spec in info.inputs
    }


def _seeded(make: Callable[[], Any]) -> Callable[[], Any]:
    def build() -> Any:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(7)
            return make()

    return build


def _stateless(read: Callable[[Any], Heads], *names: str) -> ByHand:
    def run(module: nn.Module, steps: Sequence[Mapping[str, Tensor]]) -> list[Heads]:
        return [read(module(*(step[name] for name in names) if names else step.values())) for step in steps]

    return run


def _argument_by_hand(module: nn.Module, steps: Sequence[Mapping[str, Tensor]]) -> list[Heads]:
    state, found = None, []
    for step in steps:
        logits, value, state = module(step["x"], state)
        found.append({"policy": logits, "value": value})
    return found


def _two_states_by_hand(module: nn.Module, steps: Sequence[Mapping[str, Tensor]]) -> list[Heads]:
    state, found = (torch.zeros(len(steps[0]["x"]), 8),) * 2, []
    for step in steps:
        logits, value, state = module(step["x"], *state)
        found.append({"policy": logits, "value": value})
    return found


def _dict_by_hand(module: Any, steps: Sequence[Mapping[str, Tensor]]) -> list[Heads]:
    state, found = module.initial_state(len(steps[0]["x"])), []
    for step in steps:
        out = module(step["x"], state)
        state = out["state"]
        found.append({"policy": out["policy"], "value": out["value"]})
    return found


def _sequence_by_hand(module: Any, steps: Sequence[Mapping[str, Tensor]]) -> list[Heads]:
    axis = 1 if getattr(module.core, "batch_first", getattr(module, "batch_first", False)) else 0
    out = module(torch.stack([step["x"] for step in steps], dim=axis))
    return [{name: value.select(axis, t) for name, value in out.items()} for t in range(len(steps))]


def _stateful_by_hand(module: Any, steps: Sequence[Mapping[str, Tensor]]) -> list[Heads]:
    module.hidden = None
    found = [{"policy": module(step["x"])} for step in steps]
    module.hidden = None
    return found


def _learned_by_hand(module: nn.Module, steps: Sequence[Mapping[str, Tensor]]) -> list[Heads]:
    state, found = None, []
    for step in steps:
        q, state = module(step["x"], state)
        found.append({"q": q})
    return found


def _home_made_by_hand(module: nn.Module, steps: Sequence[Mapping[str, Tensor]]) -> list[Heads]:
    carry, found = torch.zeros(len(steps[0]["x"]), 4), []
    for step in steps:
        out = module(step["x"], carry)
        carry = out["carry"]
        found.append({"policy": out["policy"]})
    return found


def _actor_critic(module: Any, hidden: Tensor) -> Heads:
    return {"policy": module.policy(hidden), "value": module.value(hidden)}


_ENCODED = edits.recurrent(lambda m, x: torch.relu(m.encode(x)), _actor_critic)
_DIRECT = edits.recurrent(lambda m, x: x, _actor_critic)
_VECTOR = torch.zeros(1, 6)
_ACTOR_CRITIC = {"policy": ("policy", 3), "value": ("value", 1)}


def _recurrent(name: str, core: Callable[[], nn.Module], memory: dict[str, tuple[int, ...]]) -> Case:
    return Case(
        name=name,
        build=_seeded(lambda: modules.ArgumentRecurrent(core())),
        adapt=lambda m: subject(m, example=_VECTOR, actions=ACTIONS),
        by_hand=_argument_by_hand,
        heads=_ACTOR_CRITIC,
        memory=memory,
        first_layers=("encode", "core"),
        last_layers=("policy", "value"),
        edited_by_hand=_ENCODED,
    )


def _inner(name: str, core: Callable[[], Any], memory: dict[str, tuple[int, ...]]) -> Case:
    return Case(
        name=name,
        build=_seeded(lambda: modules.InnerRecurrent(core())),
        adapt=lambda m: subject(m, example=_VECTOR),
        by_hand=_sequence_by_hand,
        heads=_ACTOR_CRITIC,
        memory=memory,
        first_layers=("core",),
        last_layers=("policy", "value"),
        edited_by_hand=_DIRECT,
    )


def _looped(name: str, core: Callable[[], nn.Module], memory: dict[str, tuple[int, ...]], *, rows_first: bool) -> Case:
    return replace(
        _inner(name, core, memory),
        build=_seeded(lambda: modules.LoopedCell(core(), batch_first=rows_first)),
        adapt=lambda m: subject(m, example=torch.zeros((2, 9, 6) if rows_first else (9, 2, 6))),
    )


TORCH_CASES: tuple[Case, ...] = (
    Case(
        name="mlp",
        build=_seeded(modules.mlp),
        adapt=lambda m: subject(m, example=_VECTOR, heads="policy", actions=ACTIONS),
        by_hand=_stateless(lambda out: {"policy": out.log()}, "input"),
        heads={"policy": ("policy", 3)},
        first_layers=("0", "1", "2", "3"),
    ),
    Case(
        name="cnn with a tuple",
        build=_seeded(modules.cnn),
        adapt=lambda m: subject(m, example=torch.zeros(1, 3, 7, 7)),
        by_hand=_stateless(lambda out: {"policy": out[0], "value": out[1]}, "x"),
        heads=_ACTOR_CRITIC,
        first_layers=("conv.0", "conv.1", "conv.2", "conv.3", "conv", "head"),
        last_layers=("score",),
    ),
    Case(
        name="shared trunk with distributions",
        build=_seeded(modules.shared_trunk),
        adapt=lambda m: subject(m, example=_VECTOR, actions=ACTIONS),
        by_hand=_stateless(lambda out: {"policy": out.policy.logits, "value": out.value[:, None]}, "x"),
        heads=_ACTOR_CRITIC,
        first_layers=("trunk.0", "trunk.1", "trunk", "actor.0"),
        last_layers=("actor", "critic"),
    ),
    Case(
        name="dict observations and outputs",
        build=_seeded(modules.dict_observations),
        adapt=lambda m: subject(m, example={"camera": torch.zeros(1, 3, 8, 8), "speed": torch.zeros(1, 2)}),
        by_hand=lambda m, steps: [dict(m(step)) for step in steps],
        heads={"logits": ("policy", 3)},
        first_layers=("see", "feel", "out"),
    ),
    Case(
        name="two arguments",
        build=_seeded(modules.TwoArguments),
        adapt=lambda m: subject(m, example=(torch.zeros(1, 3, 8, 8), torch.zeros(1, 5))),
        by_hand=_stateless(lambda out: {"policy": out}, "image", "goal"),
        heads={"policy": ("policy", 3)},
        first_layers=("conv", "mix", "policy"),
    ),
    Case(
        name="continuous action as a distribution",
        build=_seeded(modules.normal),
        adapt=lambda m: subject(m, example=_VECTOR),
        by_hand=_stateless(lambda out: {"mean": out.mean, "mean.log_std": out.stddev.log()}, "x"),
        heads={"mean": ("gaussian", 2), "mean.log_std": ("other", 2)},
        first_layers=("mu", "spread"),
    ),
    Case(
        name="continuous action with a learned spread",
        build=_seeded(modules.Gaussian),
        adapt=lambda m: subject(m, example=_VECTOR),
        by_hand=_stateless(lambda out: {"gaussian": out[0], "value": out[1]}, "x"),
        heads={"gaussian": ("gaussian", 2), "value": ("value", 1), "gaussian.log_std": ("other", 2)},
        first_layers=("body", "mean", "value"),
    ),
    Case(
        name="dueling q",
        build=_seeded(modules.Dueling),
        adapt=lambda m: subject(m, example=_VECTOR, actions=ACTIONS),
        by_hand=_stateless(dict, "x"),
        heads={"q": ("q", 3), "advantage": ("advantage", 3), "value": ("value", 1)},
        first_layers=("trunk", "value", "advantage"),
    ),
    _recurrent("gru", lambda: nn.GRU(5, 8, batch_first=True), {"core": (8,)}),
    _recurrent("gru cell", lambda: nn.GRUCell(5, 8), {"core": (8,)}),
    _recurrent("rnn", lambda: nn.RNN(5, 8), {"core": (8,)}),
    _recurrent("rnn cell", lambda: nn.RNNCell(5, 8), {"core": (8,)}),
    _recurrent("lstm", lambda: nn.LSTM(5, 8), {"core.hidden": (8,), "core.cell": (8,)}),
    _recurrent("lstm cell", lambda: nn.LSTMCell(5, 8), {"core.hidden": (8,), "core.cell": (8,)}),
    _recurrent("stacked lstm", lambda: nn.LSTM(5, 8, num_layers=2), {"core.hidden": (2, 8), "core.cell": (2, 8)}),
    _inner("gru inside, rows first", lambda: nn.GRU(6, 8, batch_first=True), {"core": (8,)}),
    _inner("gru inside, time first", lambda: nn.GRU(6, 8, num_layers=2), {"core": (2, 8)}),
    _inner("lstm inside", lambda: nn.LSTM(6, 8, batch_first=True), {"core.hidden": (8,), "core.cell": (8,)}),
    _looped("gru cell in a loop, rows first", lambda: nn.GRUCell(6, 8), {"core": (8,)}, rows_first=True),
    _looped("gru cell in a loop, time first", lambda: nn.GRUCell(6, 8), {"core": (8,)}, rows_first=False),
    _looped(
        "lstm cell in a loop", lambda: nn.LSTMCell(6, 8), {"core.hidden": (8,), "core.cell": (8,)}, rows_first=False
    ),
    Case(
        name="lstm cell with two arguments",
        build=_seeded(modules.TwoStates),
        adapt=lambda m: subject(m, example=_VECTOR),
        by_hand=_two_states_by_hand,
        heads=_ACTOR_CRITIC,
        memory={"core.hidden": (8,), "core.cell": (8,)},
        first_layers=("core", "policy", "value"),
        edited_by_hand=_DIRECT,
    ),
    Case(
        name="lstm cell with a dict of states",
        build=_seeded(modules.DictState),
        adapt=lambda m: subject(m, example=_VECTOR),
        by_hand=_dict_by_hand,
        heads=_ACTOR_CRITIC,
        memory={"core.hidden": (8,), "core.cell": (8,)},
        first_layers=("core", "policy", "value"),
        edited_by_hand=_DIRECT,
    ),
    Case(
        name="gru cell with its state as an attribute",
        build=_seeded(modules.StatefulRecurrent),
        adapt=lambda m: subject(m, example=_VECTOR),
        by_hand=_stateful_by_hand,
        heads={"policy": ("policy", 3)},
        memory={"core": (8,)},
        first_layers=("core", "policy"),
        edited_by_hand=edits.recurrent(lambda m, x: x, lambda m, hidden: {"policy": m.policy(hidden)}),
    ),
    Case(
        name="gru cell with a learned start",
        build=_seeded(modules.LearnedStart),
        adapt=lambda m: subject(m, example=_VECTOR),
        by_hand=_learned_by_hand,
        heads={"q": ("q", 3)},
        memory={"core": (8,)},
        first_layers=("core", "q_values"),
        edited_by_hand=edits.recurrent(
            lambda m, x: x,
            lambda m, hidden: {"q": m.q_values(hidden)},
            start=lambda m, rows: m.start.expand(rows, -1),
        ),
    ),
    Case(
        name="declared memory",
        build=_seeded(modules.HomeMade),
        adapt=lambda m: subject(m, example=_VECTOR, memory={"carry": (4,)}),
        by_hand=_home_made_by_hand,
        heads={"policy": ("policy", 3)},
        memory={"carry": (4,)},
        first_layers=("mix", "policy"),
        edited_by_hand=edits.home_made,
    ),
)


def _sb3(name: str, build: Callable[[], Any], heads: dict[str, tuple[str, int]], memory: Any = None) -> Case:
    return Case(
        name=name,
        build=_seeded(build),
        adapt=from_sb3,
        by_hand=sb3.by_hand,
        heads=heads,
        memory=memory or {},
        needs_sb3=True,
        edited_by_hand=edits.sb3 if memory else None,
    )


_SB3_HEADS = {"policy": ("policy", 3), "value": ("value", 1)}
_SB3_GAUSSIAN = {"action": ("gaussian", 2), "action.log_std": ("other", 2), "value": ("value", 1)}
_ACTOR = {"lstm_actor.hidden": (8,), "lstm_actor.cell": (8,)}
_CRITIC = {"lstm_critic.hidden": (8,), "lstm_critic.cell": (8,)}
_STACKED = {"lstm_actor.hidden": (2, 8), "lstm_actor.cell": (2, 8)}

SB3_CASES: tuple[Case, ...] = (
    _sb3("sb3 ppo", lambda: sb3.model("PPO", "vector"), _SB3_HEADS),
    _sb3("sb3 ppo on images", lambda: sb3.model("PPO", "image"), _SB3_HEADS),
    _sb3("sb3 ppo on dicts", lambda: sb3.model("PPO", "dict"), _SB3_HEADS),
    _sb3("sb3 a2c, continuous", lambda: sb3.model("A2C", "vector", continuous=True), _SB3_GAUSSIAN),
    _sb3("sb3 dqn", lambda: sb3.model("DQN", "vector"), {"q": ("q", 3)}),
    _sb3("sb3 recurrent ppo", lambda: sb3.recurrent("separate"), _SB3_HEADS, _ACTOR | _CRITIC),
    _sb3("sb3 recurrent ppo, shared", lambda: sb3.recurrent("shared", layers=2), _SB3_HEADS, _STACKED),
    _sb3("sb3 recurrent ppo, actor only", lambda: sb3.recurrent("actor only"), _SB3_HEADS, _ACTOR),
)

CASES: tuple[Case, ...] = TORCH_CASES + SB3_CASES
"""Every shape of module that innerview must adapt."""
