"""What edits do to numbers: to a whole site at once, and to inputs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from innerview.errors import EditError
from innerview.schema import FILTERS, InputEdit, Site, SiteEdit

_TINY = 1e-9
_SAME = 1e-6
"""Directions that differ by less are the same: their numbers come from single precision."""


def changed_whole(edit: SiteEdit, site: Site, value: Tensor) -> Tensor:
    """`uniform`, `force` and `project out` at a site [rows, *shape]."""
    if edit.op == "project out":
        return _projected(edit, site, value)
    if edit.op == "uniform":
        # What is masked stays so: rows spread over the columns they may attend to.
        allowed = (value > 0).to(value.dtype)
        new = allowed / allowed.sum(dim=-1, keepdim=True).clamp(min=1)
    else:
        new = torch.as_tensor(edit.map, dtype=value.dtype, device=value.device)
        if new.shape != value.shape[-2:]:
            rows, columns = value.shape[-2:]
            raise EditError(f"'{site.address}' has maps of {rows} × {columns}; the edit gives {list(new.shape)}.")
        new = new.expand(value.shape)
    chosen = torch.zeros(value.shape[1], dtype=torch.bool, device=value.device)
    chosen[list(edit.elements)] = True
    return torch.where(chosen.view(1, -1, 1, 1), new, value)


def _projected(edit: SiteEdit, site: Site, value: Tensor) -> Tensor:
    basis = basis_of(edit.directions).to(value.device, value.dtype)
    if site.kind == "memory" or site.element_axis is None:
        flat = value.reshape(len(value), -1)
        kept: Tensor = flat - flat @ basis @ basis.T
        return kept.reshape(value.shape)
    moved = value.movedim(site.element_axis + 1, -1)
    left: Tensor = moved - moved @ basis @ basis.T
    return left.movedim(-1, site.element_axis + 1)


def basis_of(directions: Sequence[Sequence[float]]) -> Tensor:
    """Orthonormal columns [width, rank] that span the directions; in double precision and on the processor.

    So a subject that was ablated on a graphics card is the same to the last bit.
    """
    given = torch.as_tensor(directions, dtype=torch.float64)
    lengths = given.norm(dim=1, keepdim=True)
    if bool((lengths < _TINY).any()):
        raise EditError("A direction of nothing but zeros cannot be projected out.")
    units, independent = given / lengths, [0]
    # Without those that others before them make up: QR would put anything in their place.
    for place in range(1, len(units)):
        if int(torch.linalg.matrix_rank(units[[*independent, place]], rtol=_SAME)) > len(independent):
            independent.append(place)
    basis: Tensor = torch.linalg.qr(given[independent].T).Q
    return basis


def changed_input(edit: InputEdit, value: Tensor) -> Tensor:
    """An input [rows, …] with a patch, a filter or a frame of its stack changed."""
    if edit.op == "patch":
        return _patched(edit, value)
    if edit.op == "frame":
        return _other_frame(edit, value)
    amount = dict(edit.parameters).get(*FILTERS[edit.filter])
    if edit.filter == "blur":
        return blurred(value, amount)
    if edit.filter == "brightness":
        return value + amount
    if edit.filter == "contrast":
        middle = value.mean(dim=tuple(range(1, value.ndim)), keepdim=True)
        return middle + (value - middle) * amount
    goal = value.mean(dim=1, keepdim=True).expand_as(value) if edit.filter == "greyscale" else 1 - value
    return value + (goal - value) * amount


def _patched(edit: InputEdit, value: Tensor) -> Tensor:
    assert edit.box is not None, "a checked patch has a box"
    top, left, bottom, right = edit.box
    new = value.clone()
    new[..., top:bottom, left:right] = edit.value
    return new


def _other_frame(edit: InputEdit, value: Tensor) -> Tensor:
    size = value.shape[1] // edit.frames
    new = value.clone()
    here = slice(edit.frame * size, (edit.frame + 1) * size)
    if edit.source is None:
        new[:, here] = edit.value
    else:
        new[:, here] = value[:, edit.source * size : (edit.source + 1) * size]
    return new


def blurred(value: Tensor, sigma_px: float) -> Tensor:
    reach = max(1, math.ceil(3 * sigma_px))
    places = torch.arange(-reach, reach + 1, dtype=value.dtype, device=value.device)
    kernel = torch.exp(-(places**2) / (2 * sigma_px**2))
    kernel = kernel / kernel.sum()
    channels = value.shape[1]
    down, across = kernel.view(1, 1, -1, 1), kernel.view(1, 1, 1, -1)
    padded = functional.pad(value, (reach,) * 4, mode="replicate")
    half = functional.conv2d(padded, down.expand(channels, -1, -1, -1), groups=channels)
    return functional.conv2d(half, across.expand(channels, -1, -1, -1), groups=channels)
