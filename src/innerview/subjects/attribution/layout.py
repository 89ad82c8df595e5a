"""How pictures should lie in memory for a subject: a processor computes quicker with their channels together."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from innerview.errors import SubjectError
from innerview.subjects.attribution.receptive_field import blanks
from innerview.subjects.subject import Subject

_CLOSE = 1e-4
_FEW = 16
_KNOWN: WeakKeyDictionary[Subject, torch.memory_format] = WeakKeyDictionary()


def laid(subject: Subject, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Inputs of a subject, its pictures as they should lie."""
    layout = _layout_of(subject)
    return {n: _together(v) if v.ndim == 4 and layout == torch.channels_last else v for n, v in inputs.items()}


def _together(pictures: Tensor) -> Tensor:
    """The same with the channels of a pixel side by side: a few channels are quicker copied one by one."""
    if pictures.is_contiguous(memory_format=torch.channels_last) or pictures.shape[1] > _FEW:
        return pictures.contiguous(memory_format=torch.channels_last)
    found = torch.empty_like(pictures, memory_format=torch.channels_last)
    for channel in range(pictures.shape[1]):
        found[:, channel] = pictures[:, channel]
    return found


def _layout_of(subject: Subject) -> torch.memory_format:
    """Tried once: some modules do not take channels that lie together."""
    if subject.device.type != "cpu":
        return torch.contiguous_format
    if subject not in _KNOWN:
        _KNOWN[subject] = torch.channels_last if _stands_it(subject) else torch.contiguous_format
    return _KNOWN[subject]


def _stands_it(subject: Subject) -> bool:
    noise = torch.Generator().manual_seed(0)
    given = {
        name: torch.rand(value.shape, generator=noise).to(value) if value.ndim == 4 else value
        for name, value in blanks(subject, 2).items()
    }
    together = {n: _together(v) if v.ndim == 4 else v for n, v in given.items()}
    try:
        usual, found = subject.run(given).heads, subject.run(together).heads
    except SubjectError:
        return False
    return all(torch.allclose(found[name], usual[name], atol=_CLOSE, rtol=_CLOSE) for name in usual)
