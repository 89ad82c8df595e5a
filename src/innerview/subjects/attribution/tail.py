"""Finds out whether the part of a module after a layer can be run alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from innerview.errors import SubjectError
from innerview.subjects.body import Output
from innerview.subjects.subject import Subject

_CLOSE = 1e-4


@dataclass(frozen=True)
class Tail:
    """What comes after a layer: activations in, heads out."""

    subject: Subject
    layer: str
    alone: bool
    """Only the tail is computed; otherwise the whole module is, with the layer's output replaced."""
    why: str = ""
    """Why the tail cannot run alone, in words."""
    layout: torch.memory_format = torch.contiguous_format
    """How activations should lie in memory: it computes quicker from these, and takes any."""

    def heads(
        self,
        activation: Tensor,
        inputs: Mapping[str, Tensor],
        memory: Mapping[str, Tensor] | None = None,
        *,
        grad: bool = True,
    ) -> dict[str, Tensor]:
        """Heads for activations [times · rows, …] of inputs [rows, …]: all rows once, then all rows again."""
        rows = next(iter(inputs.values())).shape[0]
        times, rest = divmod(activation.shape[0], rows)
        if rest:
            raise SubjectError(f"{activation.shape[0]} activations of '{self.layer}' do not fit {rows} inputs.")
        carried = None if memory is None else {name: _again(value, times) for name, value in memory.items()}
        # Alone, the front sees a blank row: whatever leads past the layer then shows in the trial run.
        given = {n: torch.zeros_like(v[:1]) if self.alone else _again(v, times) for n, v in inputs.items()}
        return self.subject.run_after(self.layer, activation, given, carried, grad=grad)


def tail(
    subject: Subject, layer: str, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor] | None = None
) -> Tail:
    """The tail after a layer, run alone where that gives the same heads as the whole module, tried on these inputs."""
    few = {name: value[:2] for name, value in inputs.items()}
    state = None if memory is None else {name: value[:2] for name, value in memory.items()}
    whole = subject.run(few, state, keep=(layer,))
    found = Tail(subject, layer, alone=False)
    for layout in _layouts(whole.sites[layer]):
        trial = Tail(subject, layer, alone=True, layout=layout)
        why = _differs(trial, whole, few, state)
        if not why:
            return trial
        found = Tail(subject, layer, alone=False, why=why)
    return found


def _layouts(activation: Tensor) -> tuple[torch.memory_format, ...]:
    """Those worth a trial, the quickest first: on a processor, channels together; some modules do not take them."""
    together = activation.ndim == 4 and activation.device.type == "cpu"
    return (torch.channels_last, torch.contiguous_format) if together else (torch.contiguous_format,)


def _differs(trial: Tail, whole: Output, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor] | None) -> str:
    """Why the tail alone is not the whole module, in words; nothing where it is."""
    twice = torch.cat([whole.sites[trial.layer]] * 2).contiguous(memory_format=trial.layout)
    try:
        heads = trial.heads(twice, inputs, memory, grad=False)
    except SubjectError as error:
        return str(error)
    for name, wanted in whole.heads.items():
        got = heads[name]
        if name.endswith("log_std") and got.shape[0] == 1:
            continue  # a learned spread is the same for every row
        if got.shape != (2 * wanted.shape[0], wanted.shape[1]) or not _same(got, wanted):
            return f"head '{name}' depends on more than '{trial.layer}': another way leads past it."
    return ""


def _same(got: Tensor, wanted: Tensor) -> bool:
    return torch.allclose(got, torch.cat([wanted] * 2), atol=_CLOSE, rtol=_CLOSE)


def _again(value: Tensor, times: int) -> Tensor:
    return value.repeat(times, *[1] * (value.ndim - 1))
