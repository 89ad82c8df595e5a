"""Finds out whether a module divides pixels by 255 on its own, so that it is not done twice."""

from __future__ import annotations

from contextlib import suppress

import torch
from torch import Tensor, nn

from innerview.errors import SubjectError
from innerview.schema import parse_site
from innerview.subjects.inputs import Input
from innerview.subjects.sites.hooks import attached
from innerview.subjects.subject import Subject

_WHOLE = 255.0
_NEAR = 1.02
"""Dividing by 256 counts as well."""


def divided_inside(subject: Subject, item: Input, batch: int) -> bool:
    """Whether all that lies between black and white as 0 and 1 is a step of one byte when it is first looked at."""
    if item.normalise is not None or item.spec.kind != "image" or not subject.convolutions:
        return False
    conv = subject.module.get_submodule(parse_site(subject.convolutions[0]).module)
    black, white = (_reaching(subject, conv, item, level, batch) for level in (0.0, 1.0))
    if black is None or white is None or black.shape != white.shape:
        return False
    steps = float((white - black).abs().max()) * _WHOLE
    return 1 / _NEAR < steps < _NEAR


def _reaching(subject: Subject, conv: nn.Module, item: Input, level: float, batch: int) -> Tensor | None:
    """What a convolution is given when the picture is one even grey and all other inputs are blank."""
    given = {
        spec.name: torch.full(
            (batch, *spec.shape),
            level if spec.name == item.spec.name else 0,
            dtype=getattr(torch, spec.dtype),
            device=subject.device,
        )
        for spec in subject.info.inputs
    }
    caught: list[Tensor] = []
    hook = conv.register_forward_pre_hook(lambda layer, args: caught.append(args[0].detach().clone()))
    # What it says of such a picture is no matter here, also where that is no number.
    with attached([hook]), suppress(SubjectError):
        subject.run(given)
    return caught[0] if caught else None
