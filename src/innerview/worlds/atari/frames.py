"""Atari's frames as agents see them: the same whole numbers on every machine, whether trained on or recorded.

Each new pixel is the mean over the area it covers. That area is counted in fractions of a pixel which are whole
numbers, so the sums are exact in any order of adding and halves are rounded up: CPU and GPU cannot differ.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd

import torch
from torch import Tensor

from innerview.errors import WorldError

SCREEN_HW = (210, 160)
INPUT_HW = (84, 84)
STACK = 4
_EXACT_WITH_TF32 = 2**11


def shrink_grey(frames: Tensor, size: tuple[int, int] = INPUT_HW) -> Tensor:
    """Grey frames uint8 [n, height, width] as uint8 [n, 84, 84], on the device they are on."""
    if frames.ndim != 3 or frames.dtype != torch.uint8:
        kind = str(frames.dtype).removeprefix("torch.")
        raise WorldError(f"Grey frames are uint8 [n, height, width], not {kind} {list(frames.shape)}.")
    down, across, total = _shares(frames.shape[1], frames.shape[2], size, frames.device)
    with torch.autocast(frames.device.type, enabled=False):  # half precision would round the sums
        sums = down @ frames.to(down.dtype) @ across
    return ((sums.to(torch.int32) + total // 2) // total).to(torch.uint8)


def push_frames(stacks: Tensor, frames: Tensor, fresh: Tensor) -> Tensor:
    """New stacks uint8 [n, 4, 84, 84], oldest first: one frame moves in; where fresh, it fills the whole stack."""
    moved = torch.cat((stacks[:, 1:], frames[:, None]), dim=1)
    filled = frames[:, None].expand_as(moved)
    return torch.where(fresh.view(-1, 1, 1, 1), filled, moved)


@lru_cache(maxsize=16)
def _shares(height: int, width: int, size: tuple[int, int], device: torch.device) -> tuple[Tensor, Tensor, int]:
    """Matrices to multiply with from the left and from the right, and what their weights add up to."""
    down, across = _covered(height, size[0]), _covered(width, size[1])
    down_total, across_total = int(down[0].sum()), int(across[0].sum())
    # The middle product may be rounded to 11 bits where TF32 is allowed; larger sums need double precision.
    kind = torch.float32 if 255 * down_total < _EXACT_WITH_TF32 else torch.float64
    return (
        down.to(device, kind),
        across.T.contiguous().to(device, kind),
        down_total * across_total,
    )


def _covered(source: int, target: int) -> Tensor:
    """[target, source] whole numbers: how much of each source pixel a target pixel covers."""
    common = gcd(source, target)
    step, unit = source // common, target // common  # a target pixel is `step` long, a source pixel `unit`
    starts, pixels = torch.arange(target)[:, None] * step, torch.arange(source)[None, :] * unit
    first, last = torch.maximum(starts, pixels), torch.minimum(starts + step, pixels + unit)
    return (last - first).clamp(min=0)
