"""Adapts any torch.nn.Module."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from innerview.errors import SubjectError
from innerview.registry import plugins
from innerview.schema import ActionSpace, InputSpec, SubjectInfo
from innerview.subjects.heads import Declared, HeadSource, find_heads
from innerview.subjects.input_scale import divided_inside
from innerview.subjects.inputs import Input, Normalise, batched, by_name, describe
from innerview.subjects.isolation import FAILURES, Written, restoring
from innerview.subjects.memory import declaration as declarations
from innerview.subjects.memory.carriers import Carrier, NoMemory, Slot
from innerview.subjects.memory.discovery import Found, Probe, Start, find_memory, in_layers, layout_problem
from innerview.subjects.plugins import by_adapter, named_model
from innerview.subjects.sites.discovery import DeclaredAttention, find_attention
from innerview.subjects.sites.hooks import Layers, attached, capturing
from innerview.subjects.subject import Subject, device_of
from innerview.subjects.trace import recurrent_layers

_STATES = ("h", "c", "hx", "cx", "hc")
_STATE_WORDS = ("hidden", "state", "memory", "carry")
Style = Literal["positional", "keyword", "dict"]


@dataclass(frozen=True)
class PlainBody:
    """Calls forward as it was written, with memory and heads as they were found."""

    module: nn.Module
    inputs: tuple[Input, ...]
    style: Style
    carrier: Carrier
    heads: tuple[HeadSource, ...] = ()
    starts: Mapping[str, Start] = field(default_factory=dict)
    layers: Layers = field(default_factory=Layers)
    written: tuple[Written, ...] = ()
    """Attributes that forward writes: put back after each call."""
    read_layers: tuple[str, ...] = ()
    """Layers that heads are read off."""

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The tensors of its memory."""
        return self.carrier.slots

    def call(
        self, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]
    ) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Heads and memory of one forward."""
        batch = inputs[self.inputs[0].spec.name].shape[0]
        kept: dict[str, Tensor] = {}
        call = self.caller(inputs)
        if self.read_layers or self.written:
            chosen = ((name, self.module.get_submodule(name)) for name in self.read_layers)
            with restoring(self.written), attached(capturing(chosen, kept, self.layers)):
                result, after = self.carrier.run(call, memory)
        else:
            result, after = self.carrier.run(call, memory)
        heads = {source.head.name: source.read(result, self.module, kept, batch) for source in self.heads}
        return heads, after

    def caller(self, inputs: Mapping[str, Tensor]) -> Callable[[Mapping[str, Any]], Any]:
        """Forward with everything but its memory filled in."""
        given = {item.spec.name: item.to_module(inputs[item.spec.name]) for item in self.inputs}
        if self.style == "dict":
            return lambda extra: self.module(given, **extra)
        if self.style == "keyword":
            return lambda extra: self.module(**given, **extra)
        return lambda extra: self.module(*given.values(), **extra)

    def bounded(self, action: np.ndarray) -> np.ndarray:
        """A module says nothing of bounds: the world clips."""
        return action


def subject(
    module: Any,
    /,
    *,
    name: str | None = None,
    example: Any = None,
    inputs: Mapping[str, Any] | None = None,
    heads: Declared = None,
    memory: Any = None,
    actions: Sequence[str] | ActionSpace | None = None,
    normalise: Normalise | Mapping[str, Normalise] = None,
    attention: DeclaredAttention = None,
    device: str | torch.device | None = None,
) -> Subject:
    """Adapt a module: name its inputs, layers, heads and memory by running it once on an example.

    `module`: a torch.nn.Module; a model of another library, where a package with an adapter for it is installed; or the
    name of one, as PACKAGE:NAME ("zoo:platformer") or MODULE:FUNCTION with a function that returns a subject or module.
    `example`: a tensor or array, a tuple of them (forward's first arguments) or a dict (by argument, or as one dict).
    `inputs`: instead of an example, the shape of each input for one row. `heads`: a kind for a single output, or
    {part of the output or layer: kind}. `memory`: found where possible; False for none, a list of recurrent layers,
    or {argument or attribute: shape for one row}. `attention`: found where possible; {module: {"stream": …,
    "row_tokens": …, "column_tokens": …}} says more of it, or that a softmax in this module is one.
    """
    given = {title: value for title, value in locals().items() if title != "module" and value is not None}
    if isinstance(module, str):
        return _of_name(module, given)
    if not isinstance(module, nn.Module) or type(module).forward is nn.Module.forward:
        adapted = by_adapter(module, given)
        if adapted is not None:
            return adapted
        raise SubjectError(_no_forward(module) if isinstance(module, nn.Module) else _no_module(module))
    where = _device(module, device)
    examples, style = _examples(module, example, inputs)
    space = actions if isinstance(actions, ActionSpace) else None
    names = actions.names if isinstance(actions, ActionSpace) else tuple(actions or ())
    body, found, batch = _fit(module, examples, style, memory=memory, normalise=normalise, device=where)
    sources = find_heads(
        module, found.trace, batch=batch, memory=found.paths, declared=heads, actions=names, space=space
    )
    layers = found.trace.named_layers(batch, body.inputs[0].time_axis)
    body = PlainBody(
        module,
        body.inputs,
        style,
        found.carrier,
        sources,
        found.starts,
        layers,
        tuple(found.trace.written),
        tuple(dict.fromkeys(source.layer for source in sources if source.layer)),
    )
    info = _info(name or type(module).__name__, body)
    info = replace(info, attention=find_attention(Subject(module, info, body), batch, attention))
    made = Subject(module, info, body)
    own = tuple(replace(i, normalise=False) if divided_inside(made, i, batch) else i for i in body.inputs)
    return made if own == body.inputs else Subject(module, info, replace(body, inputs=own))


def _info(name: str, body: PlainBody) -> SubjectInfo:
    return SubjectInfo(
        name=name,
        family="torch",
        inputs=tuple(item.spec for item in body.inputs),
        heads=tuple(source.head for source in body.heads),
        layers=body.layers.addresses,
        layer_shapes=body.layers.shapes,
        memory=tuple(slot.site for slot in body.slots),
        parameters=sum(p.numel() for p in body.module.parameters()),
    )


def _of_name(text: str, settings: Mapping[str, Any]) -> Subject:
    made, _ = named_model(text)
    if not isinstance(made, Subject):
        return subject(made, **settings)
    title = settings.get("name", made.info.name)
    if rest := [setting for setting in settings if setting != "name"]:
        raise SubjectError(f"'{text}' is a subject already; it takes a name, and no {', '.join(rest)}.")
    return made if title == made.info.name else made.named(title)


def _no_module(model: Any) -> str:
    known = ", ".join(plugins("adapters")) or "none is installed"
    return (
        f"subject() takes a torch.nn.Module, not {type(model).__name__}. For SB3 use from_sb3(). Models of another "
        f"library need a package with an adapter for them (entry points innerview.adapters: {known})."
    )


def _no_forward(module: nn.Module) -> str:
    name = type(module).__name__
    return (
        f"{name} has no forward, so nobody knows how to run it. Write a module around it that has one: class Playing("
        "nn.Module), which keeps it as self.agent, and whose forward(self, image, state) calls its methods and returns "
        "logits, value and the new state (no state where it has no memory). Then adapt that: subject(Playing(…), …)."
    )


def _fit(
    module: nn.Module,
    examples: Mapping[str, Tensor],
    style: Style,
    *,
    memory: Any,
    normalise: Normalise | Mapping[str, Normalise],
    device: torch.device,
) -> tuple[PlainBody, Found, int]:
    """The way of calling that keeps the rows of a batch apart, and the memory found with it."""
    problems: list[str] = []
    cause: Exception | None = None
    refused: SubjectError | None = None
    batch = _batch(module, examples)
    required, optional = _unfilled(module, examples, style)
    ways = by_name(normalise, examples)
    for axis in _time_axes(module, examples):
        described = {
            name: describe(
                name,
                value,
                module=module,
                time_axis=axis,
                normalise=ways[name],
            )
            for name, value in examples.items()
        }
        body = PlainBody(module, tuple(item for item, _ in described.values()), style, NoMemory())
        rows = {n: v[:1].expand(batch, *v.shape[1:]).clone().to(device) for n, (_, v) in described.items()}
        probe = Probe(module, body.caller(rows), batch, device)
        try:
            found = _memory(probe, memory, required, optional)
        except FAILURES as error:
            problems.append(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'}")
            cause = cause or error
            continue
        except SubjectError as error:
            refused = refused or error
            continue
        problem = layout_problem(found.trace, batch)
        if not problem:
            return body, found, batch
        problems.append(problem)
    if refused:
        raise refused
    shapes = ", ".join(f"'{name}' {[batch, *value.shape[1:]]}" for name, value in examples.items())
    raise SubjectError(
        f"{type(module).__name__} could not be run on a batch made from the example ({shapes}): "
        f"{'; '.join(dict.fromkeys(problems))}. Give an example with a batch axis first, as forward takes it: "
        "example=tensor, a tuple for several arguments, or a dict."
    ) from cause


def _memory(probe: Probe, memory: Any, required: Sequence[str], optional: Sequence[str]) -> Found:
    if memory is None:
        return find_memory(probe, required=required, optional=optional)
    if memory is False or not isinstance(memory, Mapping):
        layers = recurrent_layers(probe.module)
        only = () if memory is False else ([memory] if isinstance(memory, str) else list(memory))
        declarations.check_layers(only, layers)
        return in_layers(probe, only=only)
    return declarations.declared_memory(probe, memory, arguments=[*required, *optional])


def _examples(module: nn.Module, example: Any, inputs: Mapping[str, Any] | None) -> tuple[dict[str, Tensor], Style]:
    names = [name for name, _ in _parameters(module)] or ["input"]
    if example is None and inputs is None:
        raise SubjectError(
            f"{type(module).__name__} needs an example of what it takes: example=torch.zeros(1, 3, 64, 112), or "
            f"inputs={{'{names[0]}': (3, 64, 112)}} with shapes for one row."
        )
    if example is None:
        assert inputs is not None
        example = {name: _blank(shape) for name, shape in inputs.items()}
        if len(example) == 1 and not set(example) & set(names):
            ((title, value),) = example.items()
            return {title: batched(value, module)}, "positional"
    if isinstance(example, Mapping):
        example = {title: part for title, part in example.items() if not _is_state(module, str(title), part)}
        style: Style = "keyword" if set(example) <= set(names) else "dict"
        return {str(name): batched(value, module) for name, value in example.items()}, style
    values = list(example) if isinstance(example, tuple | list) and not np.isscalar(example[0]) else [example]
    if len(values) > len(names):
        raise SubjectError(f"The example has {len(values)} parts, but forward takes {len(names)}: {', '.join(names)}.")
    given = [(n, v) for n, v in zip(names, values, strict=False) if not _is_state(module, n, v)]
    return {n: batched(v, module) for n, v in given}, "positional"


def _is_state(module: nn.Module, name: str, part: Any) -> bool:
    """Whether a part of the example is the recurrent state: that is found, not fed from outside."""
    if not recurrent_layers(module):
        return False
    return isinstance(part, tuple | list) or name in _STATES or any(word in name for word in _STATE_WORDS)


def _blank(shape: Any) -> Tensor:
    if isinstance(shape, InputSpec):
        return torch.zeros((1, *shape.shape), dtype=getattr(torch, shape.dtype))
    return torch.zeros((1, *((shape,) if isinstance(shape, int) else tuple(shape))))


def _parameters(module: nn.Module) -> Iterator[tuple[str, bool]]:
    """Arguments of forward by name, and whether each must be given."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    try:
        signature = inspect.signature(module.forward)
    except (TypeError, ValueError):
        return
    for parameter in signature.parameters.values():
        if parameter.kind in kinds:
            yield parameter.name, parameter.default is inspect.Parameter.empty


def _unfilled(module: nn.Module, examples: Mapping[str, Tensor], style: Style) -> tuple[list[str], list[str]]:
    rest = list(_parameters(module))
    if style == "keyword":
        rest = [(name, must) for name, must in rest if name not in examples]
    else:
        rest = rest[1 if style == "dict" else len(examples) :]
    return [name for name, must in rest if must], [name for name, must in rest if not must]


def _batch(module: nn.Module, examples: Mapping[str, Tensor]) -> int:
    """A number of rows that can be told from every other size around, so that the batch axis is plain to see."""
    sizes = {size for value in examples.values() for size in value.shape[1:]} | {1}
    for layer in recurrent_layers(module).values():
        sizes |= {int(n) for n in (layer.hidden_size, getattr(layer, "num_layers", 1)) if isinstance(n, int)}
        sizes.add(2 * int(getattr(layer, "num_layers", 1)))
    return next(size for size in (3, 5, 7, 11, 13, 17, 19, 23, 29) if size not in sizes)


def _time_axes(module: nn.Module, examples: Mapping[str, Tensor]) -> list[int | None]:
    layers = list(recurrent_layers(module).values())
    if not layers:
        return [None]
    rows_first = all(not isinstance(layer, nn.RNNBase) or layer.batch_first for layer in layers)
    axes: list[int | None] = [1, 0] if rows_first else [0, 1]
    if any(value.ndim in (3, 5) for value in examples.values()):
        return [*axes, None]
    return [None, *axes] if any(isinstance(layer, nn.RNNBase) for layer in layers) else [None]


def _device(module: nn.Module, wanted: str | torch.device | None) -> torch.device:
    have = device_of(module)
    if wanted is not None and torch.device(wanted).type != have.type:
        raise SubjectError(f"The module is on {have}, not {wanted}. Move it first: module.to('{wanted}').")
    return have
