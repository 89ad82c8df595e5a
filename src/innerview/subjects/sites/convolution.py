"""Passes by other convolutions that give the same numbers sooner on a processor.

The way back through a convolution with strides and few channels is one without strides. A large linear layer is one
over its inputs laid out as a picture: some processors' matrix products use half of what their convolutions do.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import conv2d, linear, pad
from torch.overrides import TorchFunctionMode

_FEW = 16
"""With as many channels or more, the processor's own way back is as quick."""
_SIDE = 8
"""A linear layer's inputs are laid out as a picture of this side: with fewer pixels nothing is won."""
_ROWS, _WEIGHTS = 16, 2**17
"""From as many rows and weights on."""
_Pair = tuple[int, int]


@contextlib.contextmanager
def quick_passes(wanted: bool) -> Iterator[None]:
    """Graphs made in the block go these ways, on a processor."""
    with _QuickMode() if wanted and torch.is_grad_enabled() else contextlib.nullcontext():
        yield


class _QuickMode(TorchFunctionMode):
    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = dict(kwargs or {})
        if func is linear and not given:
            return _as_picture(*args)
        if func is not torch.conv2d or len(args) != 7 or given:
            return func(*args, **given)
        value, weight, _, stride, padding, dilation, groups = args
        fits = isinstance(stride, tuple) and isinstance(padding, tuple) and tuple(dilation) == (1, 1) and groups == 1
        few = value.ndim == 4 and value.shape[1] < _FEW and not value.is_cuda
        if not (fits and few and value.requires_grad and max(stride) > 1):
            return func(*args)
        said = func(value.detach(), *args[1:])
        return _Back.apply(value, said, weight.detach(), stride, padding)  # type: ignore[no-untyped-call]


def _as_picture(value: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """A linear layer over many rows; a small one, or of another kind, as it is."""
    outs, ins = weight.shape if weight.ndim == 2 else (0, 0)
    plain = value.dtype == weight.dtype == torch.float32 and not value.is_cuda
    worth = value.ndim == 2 and len(value) >= _ROWS and outs * ins >= _WEIGHTS and ins % _SIDE**2 == 0
    if not (plain and worth):
        return linear(value, weight, bias)
    pictures, kernels = (of.reshape(-1, _SIDE, _SIDE, ins // _SIDE**2).permute(0, 3, 1, 2) for of in (value, weight))
    return conv2d(pictures, kernels, bias)[:, :, 0, 0]


class _Back(torch.autograd.Function):
    """Leaves what the convolution said as it is; the gradient by the weights goes its usual way."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, said: Tensor, weight: Tensor, stride: _Pair, padding: _Pair) -> Tensor:
        ctx.save_for_backward(weight)
        ctx.stride, ctx.padding, ctx.size = stride, padding, value.shape[2:]
        ctx.mark_dirty(said)
        return said

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        (weight,) = ctx.saved_tensors
        return _by_input(gradients[0], weight, ctx.stride, ctx.padding, ctx.size), gradients[0], None, None, None


def _by_input(gradient: Tensor, weight: Tensor, stride: _Pair, padding: _Pair, size: Sequence[int]) -> Tensor:
    """Each of stride × stride pixels beside each other is a channel of a convolution of its own over the gradient."""
    (down, across), (outs, ins) = stride, weight.shape[:2]
    high, wide = (-(-side // step) for side, step in zip(weight.shape[2:], stride, strict=True))
    whole = pad(weight, (0, wide * across - weight.shape[3], 0, high * down - weight.shape[2]))
    parts = whole.view(outs, ins, high, down, wide, across).permute(3, 5, 1, 0, 2, 4).flip(4, 5)
    found = conv2d(gradient, parts.reshape(down * across * ins, outs, high, wide), padding=(high - 1, wide - 1))
    rows, _, cells_y, cells_x = found.shape
    pixels = found.permute(0, 2, 3, 1).reshape(rows, cells_y, cells_x, down, across, ins).transpose(2, 3)
    whole = pixels.reshape(rows, cells_y * down, cells_x * across, ins).permute(0, 3, 1, 2)
    (top, left), (height, width) = padding, size
    # Pixels at the far edges that no window reached have no gradient.
    missing = (max(0, left + width - whole.shape[3]), max(0, top + height - whole.shape[2]))
    whole = pad(whole, (0, missing[0], 0, missing[1])) if any(missing) else whole
    return whole[:, :, top : top + height, left : left + width]
