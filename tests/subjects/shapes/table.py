"""Every shape of module, with a run by hand as its author writes it, one episode at a time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from innerview import subject
from innerview.schema import ActionSpace, InputSpec
from innerview.subjects import Subject
from tests.subjects.shapes import modules
from tests.subjects.shapes.world import Shown, continuous, discrete

Said = dict[str, Tensor]
Steps = Sequence[Mapping[str, Tensor]]
ByHand = Callable[[Any, Steps], list[Said]]
VECTOR = torch.zeros(1, 6)
NUMBER = InputSpec(name="a", kind="tokens", shape=(), dtype="int64")
ONE = {"x": Shown((6,))}
TWO = {"place": Shown((3,)), "speed": Shown((1,))}


@dataclass(frozen=True, kw_only=True)
class Shape:
    """One shape of module."""

    name: str
    build: Callable[[], Any]
    adapt: Callable[[Any], Subject] = lambda m: subject(m, example=VECTOR)
    by_hand: ByHand | None = None
    """What it says in each step of one episode; given what it did and earned, where it is told of that."""
    refused: str = ""
    """The message that refuses it."""
    shown: Mapping[str, Shown] = field(default_factory=lambda: ONE)
    actions: ActionSpace = field(default_factory=lambda: discrete(3))
    memory: tuple[str, ...] | None = None
    """Names of what is carried, where that is worth saying."""
    close: float = 1e-6


def seeded(make: Callable[[], Any]) -> Any:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        return make()


def stateless(*names: str) -> ByHand:
    """A module that takes the observations and gives logits, and a value."""

    def run(module: Any, steps: Steps) -> list[Said]:
        return [pair(module(*(step[name] for name in names or ("x",)))) for step in steps]

    return run


def pair(out: Any) -> Said:
    """Logits and value of whatever a module returned."""
    if isinstance(out, Tensor):
        return {"policy": out}
    if isinstance(out, Mapping):
        return {"policy": out["logits"], **({"value": out["value"]} if "value" in out else {})}
    if hasattr(out, "value"):
        decided = out.policy.logits if hasattr(out, "policy") else out.logits
        return {"policy": decided, "value": out.value.reshape(-1, 1)}
    return {"policy": out[0], "value": out[1]}


def handed_back(start: Callable[[Any], Any] = lambda module: None, key: Any = 2) -> ByHand:
    """The state that is returned is handed in again."""

    def run(module: Any, steps: Steps) -> list[Said]:
        state, found = start(module), []
        for step in steps:
            out = module(step["x"], state)
            state = out[key]
            found.append(pair(out))
        return found

    return run


def required(module: Any, steps: Steps) -> list[Said]:
    h = c = torch.zeros(1, 8)
    found = []
    for step in steps:
        logits, value, (h, c) = module(step["x"], h, c)
        found.append({"policy": logits, "value": value})
    return found


def afresh(**fresh: Callable[[], Any]) -> ByHand:
    """A module that remembers by itself, begun afresh for each episode."""

    def run(module: Any, steps: Steps) -> list[Said]:
        for name, make in fresh.items():
            setattr(module, name, make())
        found = [pair(module(step["x"])) for step in steps]
        for name, make in fresh.items():
            setattr(module, name, make())
        return found

    return run


def reset(module: Any, steps: Steps) -> list[Said]:
    module.reset()
    found = [pair(module(step["x"])) for step in steps]
    module.reset()
    return found


def in_one_call(module: Any, steps: Steps) -> list[Said]:
    out = module(torch.stack([step["x"] for step in steps], 1))
    return [{"policy": out["policy"][:, t], "value": out["value"][:, t]} for t in range(len(steps))]


def cast(dtype: torch.dtype) -> ByHand:
    def run(module: Any, steps: Steps) -> list[Said]:
        state, found = None, []
        for step in steps:
            logits, value, state = module(step["x"].to(dtype), state)
            found.append({"policy": logits.float(), "value": value.float()})
        return found

    return run


def mean_of(out: Any) -> Said:
    return {"gaussian": out.mean}


def cleanrl(module: Any, steps: Steps) -> list[Said]:
    """Log probabilities of each action, asked for one by one."""
    found = []
    for step in steps:
        told = [module.get_action_and_value(step["x"], torch.tensor([a])) for a in range(3)]
        found.append({"policy": torch.stack([each[1] for each in told], 1), "value": told[0][3]})
    return found


def cleanrl_lstm(module: Any, steps: Steps) -> list[Said]:
    state, found = (torch.zeros(1, 1, 8), torch.zeros(1, 1, 8)), []
    for number, step in enumerate(steps):
        done = torch.tensor([float(number == 0)])
        told = [module.get_action_and_value(step["x"], state, done, torch.tensor([a])) for a in range(3)]
        found.append({"policy": torch.stack([each[1] for each in told], 1), "value": told[0][3]})
        state = told[0][4]
    return found


def told(module: Any, steps: Steps) -> list[Said]:
    did, earned, h, found = torch.zeros(1, 3), torch.zeros(1, 1), None, []
    for step in steps:
        logits, value, h = module(step["x"], did, earned, h)
        found.append({"policy": logits, "value": value})
        did = torch.nn.functional.one_hot(step["did"], 3).float()
        earned = step["earned"].float().reshape(1, 1)
    return found


def told_by_number(module: Any, steps: Steps) -> list[Said]:
    did, found = torch.zeros(1, dtype=torch.int64), []
    for step in steps:
        found.append(pair(module(step["x"], did)))
        did = step["did"]
    return found


def compiled_part() -> nn.Module:
    made = modules.Tuple()
    made.actor = torch.compile(nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)), backend="eager")
    return made


def compiled_in_place() -> nn.Module:
    made = modules.Tuple()
    made.compile(backend="eager")
    return made


def scripted() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return torch.jit.script(modules.Tuple())


def traced() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return torch.jit.trace(modules.Tuple(), torch.zeros(2, 6))


def half(make: Callable[[], nn.Module], dtype: torch.dtype) -> Callable[[], nn.Module]:
    return lambda: make().to(dtype)


def gru() -> nn.Module:
    return modules.Recurrent(nn.GRU(6, 8))


def lstm_start(module: Any) -> Any:
    return torch.zeros(1, 1, 8), torch.zeros(1, 1, 8)


ACCEPTED: tuple[Shape, ...] = (
    Shape(name="tuple", build=modules.Tuple, by_hand=stateless()),
    Shape(name="named tuple with a distribution", build=modules.Named, by_hand=stateless()),
    Shape(name="dataclass", build=modules.Dataclass, by_hand=stateless()),
    Shape(name="object", build=modules.ObjectOut, by_hand=stateless()),
    Shape(
        name="dict input",
        build=modules.DictInput,
        adapt=lambda m: subject(m, example={"place": torch.zeros(1, 3), "speed": torch.zeros(1, 1)}),
        by_hand=lambda m, steps: [pair(m(dict(step))) for step in steps],
        shown=TWO,
    ),
    Shape(
        name="tuple argument",
        build=modules.TupleInput,
        adapt=lambda m: subject(m, example=((torch.zeros(1, 3), torch.zeros(1, 1)),)),
        by_hand=lambda m, steps: [pair(m((step["both.0"], step["both.1"]))) for step in steps],
        shown={"both.0": Shown((3,)), "both.1": Shown((1,))},
    ),
    Shape(
        name="any number of arguments",
        build=modules.ManyInputs,
        adapt=lambda m: subject(m, example=(torch.zeros(1, 3), torch.zeros(1, 1))),
        by_hand=stateless("input", "input_1"),
        shown={"input": Shown((3,)), "input_1": Shown((1,))},
    ),
    Shape(
        name="keyword arguments",
        build=modules.KeywordInputs,
        adapt=lambda m: subject(m, inputs={"place": (3,), "speed": 1}),
        by_hand=lambda m, steps: [pair(m(place=step["place"], speed=step["speed"])) for step in steps],
        shown=TWO,
    ),
    Shape(
        name="image of bytes",
        build=modules.Image,
        adapt=lambda m: subject(m, example=torch.zeros(1, 3, 8, 8)),
        by_hand=lambda m, steps: [pair(m(step["image"].permute(0, 3, 1, 2) / 255)) for step in steps],
        shown={"image": Shown((8, 8, 3), "uint8")},
    ),
    Shape(
        name="tokens",
        build=modules.Tokens,
        adapt=lambda m: subject(m, example=torch.arange(3)[None]),
        by_hand=stateless("tokens"),
        shown={"tokens": Shown((3,), "int64", 7)},
    ),
    Shape(
        name="masked actions",
        build=modules.Masked,
        adapt=lambda m: subject(m, example=VECTOR, heads="policy"),
        by_hand=stateless(),
    ),
    *(
        Shape(
            name=f"continuous, {kind}",
            build=lambda kind=kind: modules.Normals(kind),
            by_hand=lambda m, steps: [mean_of(m(step["x"])) for step in steps],
            actions=continuous(2),
        )
        for kind in ("normal", "independent", "with covariance")
    ),
    Shape(
        name="several switches",
        build=modules.Switches,
        by_hand=lambda m, steps: [
            {
                "policy": torch.stack(
                    [m(s["x"]).log_prob(torch.tensor([[float(b) for b in f"{number:03b}"]])) for number in range(8)],
                    1,
                )
            }
            for s in steps
        ],
        actions=discrete(8),
    ),
    Shape(
        name="several choices",
        build=modules.Several,
        by_hand=lambda m, steps: [
            {"policy": torch.stack([m(s["x"]).log_prob(torch.tensor([[a, b]])) for a in range(3) for b in range(3)], 1)}
            for s in steps
        ],
        actions=discrete(9),
    ),
    Shape(name="gru, state as argument", build=gru, by_hand=handed_back(), memory=("core",)),
    Shape(
        name="lstm, state a tuple",
        build=lambda: modules.Recurrent(nn.LSTM(6, 8)),
        by_hand=handed_back(lstm_start),
        memory=("core.hidden", "core.cell"),
    ),
    Shape(name="lstm cell, two states that must be given", build=modules.Required, by_hand=required),
    Shape(
        name="state a dict, made when it is missing",
        build=modules.Whole,
        by_hand=handed_back(key="state"),
        memory=("core", "state.mean"),
    ),
    Shape(
        name="state a dict, made by a method",
        build=modules.Begun,
        by_hand=handed_back(lambda module: module.initial_state(1), key="state"),
        memory=("core", "state.mean"),
    ),
    Shape(name="state a dataclass with a list", build=modules.DataclassState, by_hand=handed_back()),
    Shape(name="state an attribute", build=modules.Attribute, by_hand=afresh(hidden=lambda: None), memory=("core",)),
    Shape(
        name="state in a dict of an object",
        build=modules.NestedAttribute,
        by_hand=afresh(kept=lambda: modules.Plain(torch.zeros(1, 6), {"sum": torch.zeros(1, 6)})),  # type: ignore[arg-type]
    ),
    Shape(name="state a list that fills up", build=modules.ListAttribute, by_hand=afresh(seen=list)),
    Shape(name="state a window that fills up", build=modules.Window, by_hand=reset),
    Shape(name="state a window, first frame repeated", build=modules.Repeated, by_hand=reset),
    Shape(name="state a window, handed back", build=modules.WindowArgument, by_hand=handed_back()),
    Shape(name="state in whole numbers", build=modules.PerRowCounter, by_hand=handed_back()),
    Shape(name="a whole episode in one call", build=modules.Sequence, by_hand=in_one_call, memory=("core",)),
    Shape(name="a cell that is begun afresh", build=modules.Forgets, by_hand=stateless(), memory=()),
    Shape(
        name="compiled",
        build=lambda: torch.compile(modules.Tuple(), backend="eager"),
        by_hand=stateless(),
    ),
    Shape(name="compiled in place", build=compiled_in_place, by_hand=stateless()),
    Shape(name="a part compiled", build=compiled_part, by_hand=stateless()),
    Shape(name="scripted", build=scripted, by_hand=stateless()),
    Shape(name="traced", build=traced, by_hand=stateless()),
    Shape(name="data parallel", build=lambda: nn.DataParallel(gru()), by_hand=handed_back()),
    Shape(name="double precision", build=half(gru, torch.float64), by_hand=cast(torch.float64)),
    Shape(name="half precision", build=half(gru, torch.float16), by_hand=cast(torch.float16), close=2e-3),
    Shape(name="bfloat16", build=half(gru, torch.bfloat16), by_hand=cast(torch.bfloat16), close=2e-2),
    Shape(name="cleanrl, discrete", build=modules.Agent, by_hand=cleanrl),
    Shape(
        name="cleanrl, continuous",
        build=modules.ContinuousAgent,
        by_hand=lambda m, steps: (
            [{"gaussian": m.actor_mean(s["x"]), "value": m.get_value(s["x"])} for s in steps]
            if hasattr(m, "get_value")
            else [{"gaussian": m.actor_mean(s["x"]), "value": m.critic(s["x"])} for s in steps]
        ),
        actions=continuous(2),
    ),
    Shape(name="cleanrl, lstm", build=modules.LstmAgent, by_hand=cleanrl_lstm, memory=("lstm.hidden", "lstm.cell")),
    Shape(
        name="act and get_value",
        build=modules.TwoMethods,
        by_hand=lambda m, steps: [{"policy": m.act(s["x"]), "value": m.get_value(s["x"])} for s in steps],
    ),
    Shape(
        name="a method of another name",
        build=modules.Decides,
        adapt=lambda m: subject(m, example=VECTOR, call="decide"),
        by_hand=lambda m, steps: [pair(m.decide(s["x"])) for s in steps],
    ),
    Shape(
        name="previous action and reward",
        build=modules.Told,
        adapt=lambda m: subject(m, inputs={"x": (6,), "prev_action": (3,), "prev_reward": (1,)}),
        by_hand=told,
        memory=("core", "prev_action", "prev_reward"),
    ),
    Shape(
        name="previous action by its number, declared",
        build=modules.ToldByNumber,
        adapt=lambda m: subject(m, inputs={"x": (6,), "a": NUMBER}, previous={"a": "action"}),
        by_hand=told_by_number,
        memory=("a",),
    ),
)


def did(played: Any) -> list[dict[str, Tensor]]:
    """The steps of an episode, with what was done and earned in each."""
    rows = played.rows
    return [
        {**step, "did": torch.tensor([int(rows["action"][t])]), "earned": torch.tensor([rows["reward"][t]])}
        if "action" in rows
        else step
        for t, step in enumerate(played.steps())
    ]


def compared(played: Any) -> dict[str, np.ndarray]:
    """What was recorded of each head, by its kind."""
    found = {"policy": played.arrays["probabilities"]} if "probabilities" in played.arrays else {}
    if "value" in played.rows:
        found["value"] = np.array(played.rows["value"])[:, None]
    acted = [np.array(column) for name, column in played.rows.items() if name.startswith("action_")]
    return {**found, **({"gaussian": np.stack(acted, 1)} if acted else {})}
