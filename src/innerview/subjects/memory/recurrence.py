"""Takes a recurrent policy apart: what its recurrent layer is fed, how it goes on, and how its state becomes logits.

What was taken apart can be computed anywhere else, such as in a page without torch. It is checked on a run of the
module itself before it is believed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from innerview.errors import SubjectError
from innerview.subjects.sites.hooks import attached, main_tensor
from innerview.subjects.subject import Subject

CAN_BE_EXPORTED = (
    "What can be taken apart: one GRU, GRUCell, LSTM or LSTMCell (one layer, one direction, with biases) whose state "
    "becomes the action logits through Linear layers with ReLU, Tanh, Sigmoid or ELU modules between them."
)
_BETWEEN: dict[type[nn.Module], str] = {
    nn.ReLU: "relu",
    nn.Tanh: "tanh",
    nn.Sigmoid: "sigmoid",
    nn.ELU: "elu",
    nn.Identity: "same",
    nn.Dropout: "same",
}
_CLOSE = 1e-5


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One step from the state to the logits: a matrix with a bias, or a function of each number."""

    kind: str
    weight: Tensor | None = None
    bias: Tensor | None = None


@dataclass(frozen=True, kw_only=True)
class Recurrence:
    """A recurrent policy in parts. Gates stand in torch's order: reset, update, new; or in, forget, new, out."""

    kind: Literal["gru", "lstm"]
    size: int
    layer: str
    site: str
    """Name of the memory site whose elements the policy reads."""
    weight_ih: Tensor
    bias_ih: Tensor
    weight_hh: Tensor
    bias_hh: Tensor
    start: tuple[Tensor, ...]
    """The state before the first step: hidden, or hidden and cell."""
    policy: tuple[Stage, ...]

    def project(self, fed: Tensor) -> Tensor:
        """[rows, gates × size] of what the recurrent layer is fed [rows, features]: all that it takes of the input."""
        return torch.nn.functional.linear(fed, self.weight_ih, self.bias_ih)


def take_apart(subject: Subject, inputs: Mapping[str, Tensor]) -> Recurrence:
    """The recurrence and the policy of a subject, found on one run and checked against it."""
    sites = subject.info.memory
    if not sites:
        raise SubjectError(f"'{subject.info.name}' has no memory: there is nothing to reduce. {CAN_BE_EXPORTED}")
    names = {site.layer for site in sites}
    layer = dict(subject.module.named_modules()).get(sites[0].layer) if len(names) == 1 else None
    kind = _kind(layer)
    if layer is None or kind is None:
        told = ", ".join(f"'{site.name}' ({site.kind}, {'×'.join(map(str, site.shape))})" for site in sites)
        raise SubjectError(f"The memory of '{subject.info.name}' cannot be taken apart: {told}. {CAN_BE_EXPORTED}")
    seen = _watched(subject, inputs, layer)
    start = subject.initial_memory(1)
    return Recurrence(
        kind=kind,
        size=int(layer.hidden_size),
        layer=sites[0].layer,
        site=sites[0].name,
        **_weights(layer),
        start=tuple(start[site.name][0].detach().cpu() for site in sites),
        policy=_policy(subject, seen),
    )


def fed(subject: Subject, recurrence: Recurrence, inputs: Mapping[str, Tensor]) -> Tensor:
    """What the recurrent layer is fed [rows, features], as the module computes it."""
    layer = dict(subject.module.named_modules())[recurrence.layer]
    return _watched(subject, inputs, layer).fed[0]


@dataclass
class _Seen:
    """What went through the layers of one run, in order."""

    fed: list[Tensor] = field(default_factory=list)
    state: list[Tensor] = field(default_factory=list)
    calls: list[tuple[nn.Module, Tensor, Tensor]] = field(default_factory=list)
    logits: Tensor | None = None


def _watched(subject: Subject, inputs: Mapping[str, Tensor], layer: nn.Module) -> _Seen:
    seen = _Seen()
    with attached(_watching(subject.module, layer, seen)):
        output = subject.run(inputs)
    head = subject.acting_head
    if head is None or head.kind not in ("policy", "q"):
        raise SubjectError(f"'{subject.info.name}' does not choose among actions. {CAN_BE_EXPORTED}")
    if len(seen.fed) != 1:
        raise SubjectError(f"The recurrent layer ran {len(seen.fed)} times in one call. {CAN_BE_EXPORTED}")
    seen.logits = output.heads[head.name].detach()
    rows = seen.logits.shape[0]
    seen.fed[0], seen.state[0] = seen.fed[0].reshape(rows, -1), seen.state[0].reshape(rows, -1)
    return seen


def _watching(module: nn.Module, layer: nn.Module, seen: _Seen) -> Iterator[RemovableHandle]:
    def before(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        value = args[0] if args else kwargs["input"]
        seen.fed.append(value.detach())

    def after(_: nn.Module, args: Any, output: Any) -> None:
        value = main_tensor(output)
        assert value is not None, "a recurrent layer puts out its state"
        seen.state.append(value.detach())

    def passed(part: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        if seen.state and args and isinstance(args[0], Tensor) and isinstance(output, Tensor):
            seen.calls.append((part, args[0].detach().clone(), output.detach().clone()))

    yield layer.register_forward_pre_hook(before, with_kwargs=True)
    yield layer.register_forward_hook(after)
    for part in module.modules():
        if isinstance(part, nn.Linear) or type(part) in _BETWEEN:
            yield part.register_forward_hook(passed)


def _kind(layer: nn.Module | None) -> Literal["gru", "lstm"] | None:
    single = not isinstance(layer, nn.RNNBase) or (
        layer.num_layers == 1 and not layer.bidirectional and not layer.proj_size
    )
    if not single or not getattr(layer, "bias", False):
        return None
    if isinstance(layer, nn.GRU | nn.GRUCell):
        return "gru"
    return "lstm" if isinstance(layer, nn.LSTM | nn.LSTMCell) else None


def _weights(layer: nn.Module) -> dict[str, Any]:
    end = "_l0" if isinstance(layer, nn.RNNBase) else ""
    names = ("weight_ih", "bias_ih", "weight_hh", "bias_hh")
    return {name: getattr(layer, name + end).detach().float().cpu() for name in names}


def _policy(subject: Subject, seen: _Seen) -> tuple[Stage, ...]:
    """The chain of layers from the state to the logits, followed backwards by the numbers that went through."""
    wanted, chain = seen.logits, list[nn.Module]()
    assert wanted is not None, "a run gives logits"
    for part, given, gave in reversed(seen.calls):
        if _same(gave, wanted):
            chain.insert(0, part)
            wanted = given
    stages = tuple(stage for stage in map(_stage, chain) if stage.kind != "same")
    if not _same(wanted, seen.state[0]) or not _same(follow(stages, seen.state[0].cpu()), seen.logits):
        raise SubjectError(
            f"It cannot be seen how '{subject.info.name}' makes its decision from its memory. {CAN_BE_EXPORTED}"
        )
    return stages


def follow(stages: Sequence[Stage], state: Tensor) -> Tensor:
    """Logits [rows, actions] of states [rows, size]."""
    value = state
    functions = {"relu": torch.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "elu": torch.nn.functional.elu}
    for stage in stages:
        if stage.kind == "linear":
            assert stage.weight is not None, "a linear stage has a weight"
            value = torch.nn.functional.linear(value, stage.weight, stage.bias)
        else:
            value = functions[stage.kind](value)
    return value


def _stage(part: nn.Module) -> Stage:
    if not isinstance(part, nn.Linear):
        return Stage(kind=_BETWEEN[type(part)])
    bias = None if part.bias is None else part.bias.detach().float().cpu()
    return Stage(kind="linear", weight=part.weight.detach().float().cpu(), bias=bias)


def _same(a: Tensor, b: Tensor | None) -> bool:
    if b is None or a.numel() != b.numel():
        return False
    return bool(torch.allclose(a.cpu().flatten().float(), b.cpu().flatten().float(), rtol=_CLOSE, atol=_CLOSE))
