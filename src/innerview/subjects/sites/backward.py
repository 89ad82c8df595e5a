"""Other ways to go back through a rectifier: guided backpropagation and the deconvolutional network's."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from innerview.errors import NoRectifier, UnknownName

Rule = Literal["plain", "guided", "deconvnet"]
"""What passes back through a rectifier. `plain`: the gradient times the rectifier's slope, for a ReLU 1 where its input
was positive and else 0. `deconvnet`: the positive part of the gradient. `guided`: the positive part times the slope."""

_RECTIFIERS = frozenset({"relu", "relu6", "leaky_relu", "rrelu", "prelu", "threshold"})
_CLAMPS = frozenset({"clamp", "clip", "clamp_min"})
_SMOOTH = frozenset({"elu", "celu", "selu", "gelu", "silu", "mish", "hardswish", "rnn_relu", "rnn_relu_cell"})
"""What stands in place of rectifiers in some models, and has no such rule; recurrent kernels hide theirs."""


@contextlib.contextmanager
def backward_rule(rule: Rule) -> Iterator[None]:
    """Graphs made in the block go back by this rule, whether a rectifier is a module, a function or works in place.

    An error where the rule would change nothing, or only a part: a plain gradient under another name misleads.
    """
    if rule not in get_args(Rule):
        raise UnknownName("backward rule", str(rule), get_args(Rule))
    if rule == "plain" or not torch.is_grad_enabled():
        yield
        return
    with _RectifierMode(rule) as mode:
        yield
    if not mode.met:
        raise NoRectifier(f"No rectifier ran, so '{rule}' would be the plain gradient. Use rule='plain'.")


class _RectifierMode(TorchFunctionMode):
    def __init__(self, rule: Rule) -> None:
        super().__init__()
        self._rule = rule
        self.met = False
        """Whether a rectifier ran."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = dict(kwargs or {})
        name = getattr(func, "__name__", "").strip("_")
        if name in _SMOOTH and self._rule != "plain" and torch.is_grad_enabled():
            raise NoRectifier(
                f"The rule '{self._rule}' is one of rectifiers, such as ReLU; this model uses {name}, which would pass "
                "the plain gradient. Use rule='plain'."
            )
        if not _is_rectifier(name, args, given):
            return func(*args, **given)
        self.met = True
        value, rest = (args[0], args[1:]) if args else (given.pop("input"), ())
        if not torch.is_grad_enabled() or not value.requires_grad:
            return func(value, *rest, **given)
        rectify = _Call(func, rest, given)
        return self._rectified(value, rectify)

    def _rectified(self, value: Tensor, rectify: _Call) -> Tensor:
        return _Rectified.apply(value, rectify, self._rule == "guided")  # type: ignore[no-untyped-call, no-any-return]


class Secants(_RectifierMode):
    """Graphs made in the block go back through rectifiers by secants, from each of some points on a path to the next.

    A batch holds all rows at the first point, then all at the next, and so on. The slope is what the rectifier gains on
    the way over what its input gains: the mean slope, wherever between the points the input crosses zero. So, where all
    else is linear, what goes back adds up to just what the score gains. The last point is passed nothing.
    """

    def __init__(self, rows: int) -> None:
        super().__init__("plain")
        self._rows = rows

    def _rectified(self, value: Tensor, rectify: _Call) -> Tensor:
        return _Secant.apply(value, rectify, self._rows)  # type: ignore[no-untyped-call, no-any-return]


def _is_rectifier(name: str, args: tuple[Any, ...], given: Mapping[str, Any]) -> bool:
    """A clamp is one where it cuts at 0 and nowhere else: between two bounds it is how a picture is clipped."""
    if name in _RECTIFIERS:
        return True
    if name == "hardtanh":
        return _is_zero(args[1] if len(args) > 1 else given.get("min_val", -1.0))
    if name not in _CLAMPS:
        return False
    highest = args[2] if len(args) > 2 else given.get("max")
    return highest is None and _is_zero(args[1] if len(args) > 1 else given.get("min"))


def _is_zero(bound: Any) -> bool:
    return bound is not None and not torch.as_tensor(bound).any()


class _Call:
    """A rectifier with all but its input."""

    def __init__(self, func: Callable[..., Any], rest: tuple[Any, ...], given: Mapping[str, Any]) -> None:
        self._func, self._rest, self._given = func, rest, given
        self.is_relu = getattr(func, "__name__", "").strip("_") == "relu"
        """What comes out of it tells its slope."""

    def alone(self, value: Tensor) -> Tensor:
        """What it gives; one that works in place changes the value itself."""
        found: Tensor = self._func(value.detach(), *self._rest, **self._given)
        return found

    def __call__(self, value: Tensor) -> tuple[Tensor, Tensor, bool]:
        """What it gives, its slope, and whether it works in place."""
        if self.is_relu:
            own = value.detach().clone()
            after = self._func(own, *self._rest, **self._given)
            return after, (after > 0).to(after), after is own
        with torch.enable_grad():
            before = value.detach().requires_grad_()
            own = before.clone()
            after = self._func(own, *self._rest, **self._given)
            (slope,) = torch.autograd.grad(after.sum(), before)
        return after.detach(), slope, after is own


class _Rectified(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor, rectify: _Call, guided: bool) -> Tensor:
        ctx.guided = guided
        if rectify.is_relu:
            after = slope = rectify.alone(value)
            in_place = after.data_ptr() == value.data_ptr()
        else:
            after, slope, in_place = rectify(value)
            if in_place:
                value.copy_(after)
        if in_place:
            ctx.mark_dirty(value)
            slope = value if slope is after else slope
        if guided:
            ctx.save_for_backward(slope)
        ctx.is_relu = rectify.is_relu
        return value if in_place else after

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = gradients
        if not ctx.guided:
            return gradient.clamp(min=0), None, None
        (slope,) = ctx.saved_tensors
        if ctx.is_relu:
            return torch.ops.aten.threshold_backward(gradient, slope, 0).clamp_(min=0), None, None
        return gradient.clamp(min=0) * slope, None, None


class _Secant(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor, rectify: _Call, rows: int) -> Tensor:
        after, slope, in_place = rectify(value)
        on = value[rows:] - value[:-rows]
        gained = (after[rows:] - after[:-rows]).div_(on)
        torch.where(on == 0, slope[:-rows], gained, out=slope[:-rows])
        ctx.save_for_backward(slope)
        if in_place:
            ctx.mark_dirty(value)
            return value.copy_(after)
        return after

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return gradients[0] * ctx.saved_tensors[0], None, None
