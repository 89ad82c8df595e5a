"""How a module is called: forward or another method, and where inputs stand among its arguments."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from innerview.errors import SubjectError, UnknownName
from innerview.schema import InputSpec
from innerview.subjects.inputs import batched
from innerview.subjects.memory.probe import remembers
from innerview.subjects.structure import leaves, mapped
from innerview.subjects.trace import recurrent_layers

_METHODS = (("get_action_and_value",), ("act", "get_value"), ("get_action", "get_value"), ("act",), ("get_action",))
"""What agents without forward are called by."""
_OVER = frozenset({"done", "dones", "episode_start", "episode_starts"})
"""Arguments that say where an episode begins: innerview begins its memory afresh, so they are always zero."""
_GOING_ON = frozenset({"masks", "not_done"})


def unwrapped(module: Any) -> Any:
    """The module inside of torch.compile, DataParallel and DistributedDataParallel."""
    parallel = (nn.DataParallel, nn.parallel.DistributedDataParallel)
    while True:
        if isinstance(module, parallel):
            module = module.module
        elif isinstance(inner := getattr(module, "_orig_mod", None), nn.Module):
            module = inner
        else:
            return module


@dataclass(frozen=True)
class Entry:
    """What of a module is called: itself, or methods in turn."""

    module: nn.Module
    methods: tuple[str, ...] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What it returns; of several methods a dict by their names."""
        with self._eager():
            if not self.methods:
                return self.module(*args, **kwargs)
            found = {name: getattr(self.module, name)(*args, **kwargs) for name in self.methods}
        return found if len(found) > 1 else next(iter(found.values()))

    @property
    def title(self) -> str:
        """As messages name it."""
        return self.methods[0] if self.methods else "forward"

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """Its arguments."""
        if isinstance(self.module, torch.jit.ScriptModule):
            schema = getattr(self.module, self.title).schema
            return [_scripted(argument) for argument in schema.arguments[1:]]
        try:
            signature = inspect.signature(getattr(self.module, self.title))
        except (TypeError, ValueError):
            return []
        return list(signature.parameters.values())

    @property
    def names(self) -> list[str]:
        """Arguments that are given by name or place."""
        return [parameter.name for parameter in self.parameters if parameter.kind in _NAMED]

    def _eager(self) -> Any:
        """Hooks do not reach what torch.compile made of a part: it is run as it was written."""
        parts = self.module.modules()
        compiled = any(hasattr(p, "_orig_mod") or getattr(p, "_compiled_call_impl", None) is not None for p in parts)
        return torch.compiler.set_stance("force_eager") if compiled else contextlib.nullcontext()


_NAMED = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


def _scripted(argument: Any) -> inspect.Parameter:
    default = argument.default_value if argument.has_default_value() else inspect.Parameter.empty
    return inspect.Parameter(argument.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)


def entry_of(module: nn.Module, call: str | Sequence[str] | None) -> Entry | None:
    """What is to be called of a module: what was said, forward, or what agents without one are called by."""
    if call is not None:
        names = (call,) if isinstance(call, str) else tuple(call)
        for name in names:
            if not callable(getattr(module, name, None)):
                raise UnknownName(f"method of {type(module).__name__}", name, methods_of(module))
        return Entry(module, () if names == ("forward",) else names)
    if isinstance(module, torch.jit.ScriptModule) or type(module).forward is not nn.Module.forward:
        return Entry(module)
    for names in _METHODS:
        if all(callable(getattr(module, name, None)) for name in names):
            return Entry(module, names)
    return None


def methods_of(module: nn.Module) -> list[str]:
    """Methods that the author of a module wrote."""
    own = [name for cls in type(module).__mro__ if cls is not nn.Module for name in vars(cls)]
    known = set(dir(nn.Module))
    return [n for n in dict.fromkeys(own) if not n.startswith("_") and n not in known and callable(getattr(module, n))]


class Given:
    """Stands where an input belongs; no dataclass, which would be a structure."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Constant:
    """Stands where a number for each row belongs that never changes."""

    __slots__ = ("value",)

    def __init__(self, value: float) -> None:
        self.value = value


@dataclass(frozen=True)
class Arguments:
    """Structures with place holders for inputs: by place, and by name."""

    by_place: tuple[Any, ...] = ()
    by_name: Mapping[str, Any] = field(default_factory=dict)

    def filled(self, inputs: Mapping[str, Tensor], batch: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """With tensors in their places."""
        like = next(iter(inputs.values()))

        def fill(_: Any, item: Any) -> Any:
            if isinstance(item, Given):
                return inputs[item.name]
            if isinstance(item, Constant):
                return torch.full((batch,), item.value, device=like.device)
            return item

        return tuple(mapped(tree, fill) for tree in self.by_place), {
            name: mapped(tree, fill) for name, tree in self.by_name.items()
        }

    def caller(self, entry: Entry, inputs: Mapping[str, Tensor], batch: int) -> Callable[[Mapping[str, Any]], Any]:
        """The call with everything but its memory filled in."""
        args, kwargs = self.filled(inputs, batch)
        return lambda extra: entry(*args, **{**kwargs, **extra})


def read_example(
    entry: Entry, example: Any, inputs: Mapping[str, Any] | None, memory: Any
) -> tuple[dict[str, Tensor], Arguments]:
    """Tensors with a batch axis by name of the input, and where they stand among the arguments."""
    module, names = entry.module, entry.names or ["input"]
    if any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in entry.parameters):
        names += [f"{names[-1]}_{number}" for number in range(1, 16)]
    exact = example is None
    if exact and inputs is None:
        raise SubjectError(
            f"{type(module).__name__} needs an example of what it takes: example=torch.zeros(1, 3, 64, 112), or "
            f"inputs={{'{names[0]}': (3, 64, 112)}} with shapes for one row."
        )
    if example is None:
        assert inputs is not None
        example = {name: _blank(shape) for name, shape in inputs.items()}
        if len(example) == 1 and not set(example) & set(names):
            ((title, value),) = example.items()
            return {title: value}, Arguments((Given(title),), _constants(entry, {names[0]}))
    declared = set(memory) if isinstance(memory, Mapping) else set()
    if isinstance(example, Mapping):
        example = {t: part for t, part in example.items() if t not in declared and not _is_state(module, str(t), part)}
        any_name = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in entry.parameters)
        if set(example) <= set(names) or any_name:
            found, trees = _collected({str(name): part for name, part in example.items()}, module, exact=exact)
            return found, Arguments((), {**trees, **_constants(entry, set(trees))})
        found, trees = _collected({str(name): part for name, part in example.items()}, module, exact=exact)
        return found, Arguments((trees,), _constants(entry, {names[0]}))
    values = list(example) if isinstance(example, tuple | list) and not np.isscalar(example[0]) else [example]
    if len(values) > len(names):
        raise SubjectError(
            f"The example has {len(values)} parts, but {entry.title} takes {len(names)}: {', '.join(names)}."
        )
    given = {n: v for n, v in zip(names, values, strict=False) if n not in declared and not _is_state(module, n, v)}
    found, trees = _collected(given, module, exact=exact)
    return found, Arguments(tuple(trees.values()), _constants(entry, set(trees)))


def _collected(given: Mapping[str, Any], module: nn.Module, *, exact: bool) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Inputs by name; those inside of a tuple or dict are named after it and their place or key."""
    found: dict[str, Tensor] = {}
    trees: dict[str, Any] = {}
    for name, part in given.items():
        tree = _as_tree(part)

        def named(path: Any, item: Any, name: str = name) -> Any:
            if not isinstance(item, Tensor | np.ndarray) and not np.isscalar(item) and not _is_numbers(item):
                return item
            title = ".".join(map(str, (name, *path)))
            found[title] = item if exact else batched(item, module)
            return Given(title)

        trees[name] = mapped(tree, named)
    return found, trees


def _as_tree(part: Any) -> Any:
    """Lists of numbers are arrays, not structures."""
    return np.asarray(part, np.float32) if _is_numbers(part) else part


def _is_numbers(part: Any) -> bool:
    return isinstance(part, tuple | list) and bool(part) and all(np.isscalar(item) for _, item in leaves(part))


def _constants(entry: Entry, given: set[str]) -> dict[str, Any]:
    """Arguments that say where episodes begin."""
    rest = [p for p in entry.parameters if p.name not in given and p.default is inspect.Parameter.empty]
    carried = any(remembers(parameter.name) for parameter in rest)
    found = {p.name: Constant(0.0) for p in rest if p.name in _OVER}
    return found | {p.name: Constant(1.0) for p in rest if p.name in _GOING_ON and carried}


def unfilled(entry: Entry, arguments: Arguments) -> tuple[list[str], list[str]]:
    """Arguments that no input fills: those that must be given, and those that need not."""
    rest = [p for p in entry.parameters if p.kind in _NAMED][len(arguments.by_place) :]
    rest = [p for p in rest if p.name not in arguments.by_name]
    must = [p.name for p in rest if p.default is inspect.Parameter.empty]
    return must, [p.name for p in rest if p.default is not inspect.Parameter.empty]


def unfilled_without_default(entry: Entry, names: Sequence[str]) -> Iterator[str]:
    """Those of the names whose default is None: others are switches."""
    defaults = {parameter.name: parameter.default for parameter in entry.parameters}
    return (name for name in names if defaults[name] is None)


def _is_state(module: nn.Module, name: str, part: Any) -> bool:
    """Whether a part of the example is the recurrent state: that is found, not fed from outside."""
    if not recurrent_layers(module):
        return False
    return (isinstance(part, tuple | list) and not _is_numbers(part)) or remembers(name)


def _blank(shape: Any) -> Any:
    if isinstance(shape, InputSpec):
        return torch.zeros((1, *shape.shape), dtype=getattr(torch, shape.dtype))
    if isinstance(shape, Mapping):
        return {name: _blank(part) for name, part in shape.items()}
    if isinstance(shape, tuple | list) and any(isinstance(part, tuple | list | Mapping) for part in shape):
        return tuple(_blank(part) for part in shape)
    return torch.zeros((1, *((shape,) if isinstance(shape, int) else tuple(shape))))
