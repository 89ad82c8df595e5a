"""What of a picture reaches a layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Subject

_NOISE = 16
"""Pictures of noise that show what a cell sees: in one alone, much is below zero and passes nothing on."""


def blanks(subject: Subject, rows: int) -> dict[str, Tensor]:
    """Every input with nothing in it."""
    import torch

    return {
        spec.name: torch.zeros(rows, *spec.shape, dtype=getattr(torch, spec.dtype), device=subject.device)
        for spec in subject.info.inputs
    }


def receptive_field(subject: Subject, layer: str) -> int:
    """How many pixels of the picture the middle cell of a layer sees, along the longer side: where noise moves it."""
    import torch

    picture = next(spec for spec in subject.info.inputs if spec.kind == "image")
    noise = torch.rand(_NOISE, *picture.shape, generator=torch.Generator().manual_seed(0)).to(subject.device)
    given = blanks(subject, _NOISE) | {picture.name: noise.requires_grad_()}
    with torch.enable_grad():
        said = subject.run(given, keep=(layer,), grad=True).activations[layer]
        middle = said[:, :, said.shape[2] // 2, said.shape[3] // 2].sum()
        moved = torch.autograd.grad(middle, [noise], allow_unused=True)[0] if middle.requires_grad else None
    if moved is None:
        return max(picture.shape[1:])
    places = moved.abs().sum(dim=(0, 1)).nonzero()
    return int((places.amax(dim=0) - places.amin(dim=0)).max()) + 1 if len(places) else 1
