"""Other ways to go back through a ReLU: guided backpropagation and the deconvolutional network's."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from innerview.errors import UnknownName

Rule = Literal["plain", "guided", "deconvnet"]
"""What passes back through a ReLU. `plain`: where its input was positive. `deconvnet`: where the gradient is positive.
`guided`: where both are."""

_RELU = (functional.relu, torch.relu, Tensor.relu)
_RELU_IN_PLACE = (torch.relu_, Tensor.relu_)


@contextlib.contextmanager
def backward_rule(rule: Rule) -> Iterator[None]:
    """Graphs made in the block go back by this rule, whether a ReLU is a module, a function or works in place."""
    if rule not in get_args(Rule):
        raise UnknownName("backward rule", str(rule), get_args(Rule))
    with contextlib.nullcontext() if rule == "plain" else _ReluMode(rule == "guided"):
        yield


class _ReluMode(TorchFunctionMode):
    def __init__(self, guided: bool) -> None:
        super().__init__()
        self._guided = guided

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = dict(kwargs or {})
        if func not in _RELU and func not in _RELU_IN_PLACE:
            return func(*args, **given)
        value = args[0] if args else given["input"]
        flagged = (args[1] if len(args) > 1 else given.get("inplace", False)) if func is functional.relu else False
        if not torch.is_grad_enabled() or not value.requires_grad:
            return func(*args, **given)
        return _Relu.apply(value, self._guided, bool(flagged) or func in _RELU_IN_PLACE)  # type: ignore[no-untyped-call]


class _Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor, guided: bool, in_place: bool) -> Tensor:
        ctx.guided = guided
        if guided:
            ctx.save_for_backward(value > 0)
        if in_place:
            ctx.mark_dirty(value)
            return value.relu_()
        return value.clamp(min=0)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        back = gradients[0].clamp(min=0)
        return (back * ctx.saved_tensors[0] if ctx.guided else back), None, None
