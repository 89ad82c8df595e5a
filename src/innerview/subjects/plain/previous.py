"""Inputs that tell a module what was done and earned a step ago: carried as memory, since no world shows them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from innerview.errors import SubjectError, UnknownName
from innerview.schema import MemorySite
from innerview.subjects.inputs import Input
from innerview.subjects.memory.carriers import Slot

Told = Literal["action", "reward"]
_NAME = re.compile(r"(?:prev|previous|last)_?(action|reward)s?|(action|reward)s?_?(?:prev|previous|last)")


@dataclass(frozen=True)
class Previous:
    """One input that innerview fills with what was done, or earned, in the step before; zeros at the first."""

    input: Input
    tells: Told
    slot: Slot

    @property
    def name(self) -> str:
        """Of the input, and of the memory site that carries it."""
        return self.input.spec.name

    def given(self, rows: Tensor) -> Tensor:
        """[batch, *spec.shape] of what is carried."""
        spec = self.input.spec
        return rows.reshape(len(rows), *spec.shape).to(getattr(torch, spec.dtype))

    def told(self, actions: np.ndarray, rewards: np.ndarray, like: Tensor) -> Tensor:
        """What is carried after a step in which this was done and earned [rows, …]."""
        spec = self.input.spec
        if self.tells == "reward":
            return torch.from_numpy(np.array(rewards, np.float64)).to(like).reshape(like.shape)
        done = torch.from_numpy(np.array(actions))
        if done.ndim == 1 and prod(spec.shape) > 1:
            done = torch.nn.functional.one_hot(done.long(), prod(spec.shape))
        return done.to(like).reshape(like.shape)


def previous_inputs(
    inputs: Sequence[Input], declared: Mapping[str, str] | None, actions: Sequence[str]
) -> tuple[Previous, ...]:
    """Those of the inputs that are called so, or were declared to be."""
    names = [item.spec.name for item in inputs]
    for name, tells in (declared or {}).items():
        if name not in names:
            raise UnknownName("input", name, names, "previous= names inputs that are in the example.")
        if tells not in ("action", "reward"):
            raise UnknownName("thing to tell", tells, ("action", "reward"), "previous={'input': 'action'}.")
    found = []
    for item in inputs:
        tells = (declared or {}).get(item.spec.name) or (_by_name(item.spec.name) if declared is None else "")
        if tells:
            found.append(_previous(item, tells, actions))  # type: ignore[arg-type]
    if found and len(found) == len(inputs):
        raise SubjectError("All inputs tell of the step before: the example lacks what the world shows.")
    return tuple(found)


def _by_name(name: str) -> str:
    match = _NAME.fullmatch(name.split(".")[-1].lower())
    return (match[1] or match[2]) if match else ""


def _previous(item: Input, tells: Told, actions: Sequence[str]) -> Previous:
    spec = item.spec
    size = prod(spec.shape)
    if tells == "reward" and size != 1:
        raise SubjectError(f"Input '{spec.name}' {list(spec.shape)} is to tell the reward, which is one number.")
    if tells == "action" and actions and size not in (1, len(actions)):
        raise SubjectError(
            f"Input '{spec.name}' {list(spec.shape)} is to tell the action: a number, or one for each of the "
            f"{len(actions)} actions."
        )
    site = MemorySite(name=spec.name, layer="", kind="declared", shape=spec.shape or (1,), editable="carried")
    return Previous(item, tells, Slot(site, 0))
