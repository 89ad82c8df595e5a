"""What a model says of a fixed probe, as a digest that rounding does not change: code may, where answers stay."""

from __future__ import annotations

import copy
import hashlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from innerview.errors import SubjectError
from innerview.schema import InputSpec
from innerview.subjects.isolation import FAILURES, Evaluating, same_random_numbers, watching
from innerview.subjects.memory.convention import fresh_memory, seeded

_ROWS, _STEPS, _BINS = 2, 2, 8
_SEED = 20_263


def said_of_probe(body: Any, module: nn.Module, inputs: Sequence[InputSpec]) -> str:
    """SHA-256 of the heads over two steps, in coarse bins; computed in double precision on a copy, where it can be.

    So it is the same on another machine and another device. Empty where the module takes no probe.
    """
    scripted = any(isinstance(part, torch.jit.ScriptModule) for part in module.modules())  # cannot be converted
    if scripted and any(value.device.type != "cpu" for value in module.state_dict().values()):
        return ""
    steps = _probe(inputs)
    for way in ("as it is",) if scripted else ("double", "single", "as it is"):
        memo: dict[int, Any] = {}
        try:
            own, other = copy.deepcopy(module, memo), copy.deepcopy(body, memo)
            heads = _heads(_converted(own, way), other, steps, precise=way == "double")
        except (*FAILURES, SubjectError, RecursionError):
            continue
        return _digest(heads)
    return ""


def _converted(module: nn.Module, way: str) -> nn.Module:
    if isinstance(module, torch.jit.ScriptModule):
        return module
    on_cpu = module.cpu()
    return on_cpu.double() if way == "double" else on_cpu.float() if way == "single" else on_cpu


def code_of(thing: Any) -> str:
    """The class of a model, and the beginning of a SHA-256 of its source where that can be read."""
    cls = type(thing)
    try:
        source = inspect.getsource(cls)
    except (OSError, TypeError):
        return f"{cls.__module__}.{cls.__qualname__}"
    return f"{cls.__module__}.{cls.__qualname__} {hashlib.sha256(source.encode()).hexdigest()[:12]}"


def _probe(inputs: Sequence[InputSpec]) -> list[dict[str, Tensor]]:
    generator = torch.Generator().manual_seed(_SEED)
    return [
        {
            spec.name: torch.randint(0, 2, (_ROWS, *spec.shape), generator=generator)
            if spec.kind == "tokens"
            else torch.rand((_ROWS, *spec.shape), generator=generator)
            for spec in inputs
        }
        for _ in range(_STEPS)
    ]


def _heads(
    module: nn.Module, body: Any, steps: Sequence[Mapping[str, Tensor]], *, precise: bool
) -> list[Mapping[str, Tensor]]:
    like = torch.zeros((), dtype=torch.float64 if precise else torch.float32)
    memory, found = fresh_memory(body.slots, body.starts, _ROWS, like), []
    with same_random_numbers(like.device), watching(module), Evaluating(list(module.modules())), torch.no_grad():
        seeded(_SEED)
        for step in steps:
            given = {n: v.to(like.dtype) if v.is_floating_point() else v for n, v in step.items()}
            heads, memory = body.call(given, memory)
            found.append(heads)
    return found


def _digest(steps: Sequence[Mapping[str, Tensor]]) -> str:
    digest = hashlib.sha256()
    for heads in steps:
        for name, value in heads.items():
            rows = value.detach().double().flatten(1)
            finite = torch.where(torch.isfinite(rows), rows, 0.0)
            size = float(finite.abs().max()) if rows.numel() else 0.0
            exponent = round(float(torch.log2(torch.tensor(size)))) if size else 0
            bins = torch.where(torch.isfinite(rows), (finite / (size or 1.0) * _BINS).round(), float("inf"))
            digest.update(f"{name} {tuple(rows.shape)} {exponent} {bins.tolist()}\n".encode())
    return digest.hexdigest()
