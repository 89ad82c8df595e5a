"""Adapts any torch.nn.Module."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from innerview.errors import SubjectError
from innerview.registry import plugins
from innerview.schema import ActionSpace, SubjectInfo
from innerview.subjects.agreement import replay
from innerview.subjects.heads import Declared, find_heads
from innerview.subjects.identity import code_of
from innerview.subjects.inputs import Normalise, by_name, describe
from innerview.subjects.isolation import FAILURES
from innerview.subjects.memory import declaration as declarations
from innerview.subjects.memory.discovery import find_memory, in_layers
from innerview.subjects.memory.probe import Found, Probe, layout_problem
from innerview.subjects.plain.body import PlainBody
from innerview.subjects.plain.calls import Arguments, Entry, entry_of, methods_of, read_example, unfilled, unwrapped
from innerview.subjects.plain.input_scale import divided_inside
from innerview.subjects.plain.previous import previous_inputs
from innerview.subjects.plain.probes import changed_inputs, drawn_parts, varied
from innerview.subjects.plugins import by_adapter, named_model
from innerview.subjects.sites.discovery import DeclaredAttention, find_attention
from innerview.subjects.subject import Subject, device_of
from innerview.subjects.trace import recurrent_layers
from innerview.subjects.weights import weights_digest

_STEPS = 6
"""How many steps are tried before what was found is believed."""


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
    call: str | Sequence[str] | None = None,
    previous: Mapping[str, str] | None = None,
    device: str | torch.device | None = None,
) -> Subject:
    """Adapt a module: name its inputs, layers, heads and memory by running it a few steps from an example.

    `module`: a torch.nn.Module; a model of another library, where a package with an adapter for it is installed; or the
    name of one, as PACKAGE:NAME ("zoo:platformer") or MODULE:FUNCTION with a function that returns a subject or module.
    `example`: a tensor or array, a tuple of them (forward's first arguments) or a dict (by argument, or as one dict).
    `inputs`: instead of an example, the shape of each input for one row. `heads`: a kind for a single output, or
    {part of the output or layer: kind}. `memory`: found where possible; False for none, a list of recurrent layers,
    or {argument or attribute: shape for one row}. `attention`: found where possible; {module: {"stream": …,
    "row_tokens": …, "column_tokens": …}} says more of it, or that a softmax in this module is one. `call`: the method
    to call, or several, where that is not forward. `previous`: {input: "action" or "reward"} for inputs that tell what
    was done and earned a step ago; prev_action and prev_reward are known.
    """
    given = {title: value for title, value in locals().items() if title != "module" and value is not None}
    if isinstance(module, str):
        return _of_name(module, given)
    module = unwrapped(module)
    entry = entry_of(module, call) if isinstance(module, nn.Module) else None
    if entry is None:
        adapted = by_adapter(module, given)
        if adapted is not None:
            return adapted
        raise SubjectError(_no_forward(module) if isinstance(module, nn.Module) else _no_module(module))
    where = _device(module, device)
    space = actions if isinstance(actions, ActionSpace) else None
    names = actions.names if isinstance(actions, ActionSpace) else tuple(actions or ())
    title = name or type(module).__name__
    examples, arguments = read_example(entry, example, inputs, memory)
    with _same_weights(module, title):
        fitted = _fit(
            entry,
            examples,
            arguments,
            memory=memory,
            normalise=normalise,
            previous=previous,
            actions=names,
            device=where,
        )
        made = _made(fitted, title, heads, names, space, attention)
        replay(made, fitted.steps)
    return made


@contextlib.contextmanager
def _same_weights(module: nn.Module, title: str) -> Iterator[None]:
    """An error where weights are others after the module was run, whatever else went wrong with it."""
    lazy = any(is_lazy(parameter) for parameter in module.parameters())  # the first run makes them
    before = "" if lazy else weights_digest(module)
    try:
        yield
    finally:
        if before and weights_digest(module) != before:
            raise SubjectError(
                f"'{title}' changes its weights or buffers when it is run, and did so now: load them again. Write them "
                "in training mode only (if self.training: …)."
            )


def _made(
    fitted: _Fitted,
    name: str,
    heads: Declared,
    actions: Sequence[str],
    space: ActionSpace | None,
    attention: DeclaredAttention,
) -> Subject:
    """The subject of a body with its heads and layers."""
    body, found, batch, module = fitted.body, fitted.found, fitted.batch, fitted.body.entry.module
    sources = find_heads(
        module,
        found.trace,
        batch=batch,
        memory=found.paths,
        declared=heads,
        actions=actions,
        space=space,
        drawn=drawn_parts(fitted.probe, found.convention),
    )
    body = replace(
        body,
        carrier=found.carrier,
        convention=found.convention,
        heads=sources,
        starts=found.starts,
        layers=found.trace.named_layers(batch, fitted.probe.time_axis),
        written=tuple(found.trace.written),
        read_layers=tuple(dict.fromkeys(source.layer for source in sources if source.layer)),
    )
    info = _info(name, body)
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
        parameters=sum(p.numel() for p in body.entry.module.parameters()),
        code=code_of(body.entry.module),
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
    name, methods = type(module).__name__, methods_of(module)
    there = f" It has {', '.join(methods)}: say which to call, subject(…, call='{methods[0]}')." if methods else ""
    return (
        f"{name} has no forward, so nobody knows how to run it.{there} Or write a module around it that has one: class "
        "Playing(nn.Module), which keeps it as self.agent, and whose forward(self, image, state) calls its methods and "
        "returns logits, value and the new state (no state where it has no memory)."
    )


@dataclass(frozen=True)
class _Fitted:
    body: PlainBody
    found: Found
    batch: int
    probe: Probe
    steps: list[dict[str, Tensor]]


def _fit(
    entry: Entry,
    examples: Mapping[str, Tensor],
    arguments: Arguments,
    *,
    memory: Any,
    normalise: Normalise | Mapping[str, Normalise],
    previous: Mapping[str, str] | None,
    actions: Sequence[str],
    device: torch.device,
) -> _Fitted:
    """The way of calling that keeps the rows of a batch apart, and the memory found with it."""
    problems: list[str] = []
    cause: Exception | None = None
    refused: SubjectError | None = None
    module = entry.module
    batch = _batch(module, examples)
    ways = by_name(normalise, examples)
    for axis in _time_axes(module, examples):
        described = {
            name: describe(name, value, module=module, time_axis=axis, normalise=ways[name])
            for name, value in examples.items()
        }
        told = previous_inputs([item for item, _ in described.values()], previous, actions)
        names = {item.name for item in told}
        own = tuple(item for name, (item, _) in described.items() if name not in names)
        body = PlainBody(entry, own, arguments, previous=told)
        rows = {n: v[:1].expand(batch, *v.shape[1:]).clone().to(device) for n, (_, v) in described.items()}
        steps = varied(body, rows, _STEPS, [item for item, _ in described.values()])
        probe = Probe(module, tuple(body.caller(step, copies=True) for step in steps), batch, device, axis)
        try:
            found = _memory(probe, memory, *unfilled(entry, arguments))
        except FAILURES as error:
            problems.append(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'}")
            cause = cause or error
            continue
        except SubjectError as error:
            refused = refused or error
            continue
        problem = layout_problem(found.trace, batch)
        if not problem:
            body = replace(body, copies=changed_inputs(body, rows, found))
            return _Fitted(body, found, batch, probe, steps)
        problems.append(problem)
    if refused:
        raise refused
    shapes = ", ".join(f"'{name}' {[batch, *value.shape[1:]]}" for name, value in examples.items())
    raise SubjectError(
        f"{type(module).__name__} could not be run on a batch made from the example ({shapes}): "
        f"{'; '.join(dict.fromkeys(problems))}. Give an example with a batch axis first, as {entry.title} takes it: "
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


def _batch(module: nn.Module, examples: Mapping[str, Tensor]) -> int:
    """A number of rows that can be told from every other size around, so that the batch axis is plain to see."""
    sizes = {size for value in examples.values() for size in value.shape[1:]} | {1}
    for buffer in module.buffers():
        sizes |= set(buffer.shape)
    for layer in recurrent_layers(module).values():
        sizes |= {int(n) for n in (layer.hidden_size, getattr(layer, "num_layers", 1)) if isinstance(n, int)}
        sizes.add(2 * int(getattr(layer, "num_layers", 1)))
    return next((size for size in (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41) if size not in sizes), 43)


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
