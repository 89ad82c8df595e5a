"""Finds, reads and changes attention maps, also those that a fused kernel never writes down.

A torch function mode sees every attention while the module runs: `nn.MultiheadAttention`,
`scaled_dot_product_attention`, and a softmax whose result is multiplied with values, as the transformers library's
eager modules have it.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils.hooks import RemovableHandle

from innerview.errors import EditError
from innerview.subjects.sites.hooks import hookable
from innerview.subjects.sites.streams import Streams

Place = tuple[str, int]
"""The module an attention belongs to, and which of its attentions in one run, from 0."""
Visit = Callable[[Place, Tensor], Tensor]
"""Takes a map [batch, heads, rows, columns] and gives the one to go on with; the same object where nothing changes."""

_MULTI_HEAD = inspect.signature(functional.multi_head_attention_forward)
_ATTENTIONS = (functional.multi_head_attention_forward, functional.scaled_dot_product_attention)
_SOFTMAX = (functional.softmax, torch.softmax, Tensor.softmax)
_PRODUCTS = (torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm, Tensor.bmm, torch.einsum)
_INSIDE = (nn.Softmax, nn.Dropout)
"""Modules that are a step of somebody's attention, not one of their own."""


class CallStack:
    """Which module is running, innermost last."""

    def __init__(self, module: nn.Module) -> None:
        self._modules = [(name, part) for name, part in hookable(module) if not isinstance(part, _INSIDE)]
        self._running: list[str] = []

    @property
    def innermost(self) -> str:
        """Qualified name of the module that runs now."""
        return self._running[-1] if self._running else ""

    def hooks(self) -> Iterator[RemovableHandle]:
        """Hooks that follow the calls, through errors too."""
        for name, module in self._modules:
            yield module.register_forward_pre_hook(self._enter(name))
            yield module.register_forward_hook(self._leave, always_call=True)

    def _enter(self, name: str) -> Callable[[nn.Module, Any], None]:
        return lambda module, args: self._running.append(name)

    def _leave(self, module: nn.Module, args: Any, output: Any) -> None:
        self._running.pop()


@dataclass
class Seen:
    """One attention that ran."""

    map: Tensor
    """[batch, heads, rows, columns]."""
    stream: str
    """`self` where tokens attend to those of their own stream, `cross` where to others; empty where nobody knows."""
    sure: bool
    """Whether it is an attention: of a softmax that is known when its result meets the values."""


class AttentionMode(TorchFunctionMode):
    """Shows every attention map to a visitor, which may put another in its place."""

    def __init__(self, stack: CallStack, rows: int, visit: Visit, streams: Streams | None = None) -> None:
        super().__init__()
        self._stack, self._rows, self._visit, self._streams = stack, rows, visit, streams
        self._counts: dict[str, int] = {}
        self._flow: dict[int, tuple[Tensor, Place]] = {}
        self.seen: dict[Place, Seen] = {}

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = dict(kwargs or {})
        if func in _ATTENTIONS:
            whole = func is functional.multi_head_attention_forward
            result = self._multi_head(_arguments(args, given)) if whole else self._fused(*args, **given)
            mixed = True
        else:
            result = func(*args, **given)
            if func in _SOFTMAX and isinstance(result, Tensor) and _over_last_axis(result, args, given):
                result, mixed = self._softmax(args[0] if args else given["input"], result), False
            else:
                mixed = self._follow(func, args, result)
        if self._streams is not None:
            self._streams.follow((args, given), result, mixed=mixed, product=func in _PRODUCTS)
        return result

    def _between(self, query: Tensor, key: Tensor) -> str:
        return "" if self._streams is None else self._streams.between(query, key)

    def _changed(self, maps: Tensor, *, stream: str, sure: bool) -> tuple[Tensor, Place | None]:
        """Maps [..., rows, columns] as the visitor wants them, and where they stand; they are heads of rows."""
        lead = maps.numel() // (maps.shape[-1] * maps.shape[-2])
        if lead % self._rows:
            return maps, None
        module = self._stack.innermost
        place = (module, self._counts.get(module, 0))
        self._counts[module] = place[1] + 1
        heads = maps.reshape(self._rows, lead // self._rows, *maps.shape[-2:])
        self.seen[place] = Seen(heads, stream, sure)
        new = self._visit(place, heads)
        return (maps if new is heads else new.reshape(maps.shape)), place

    def _multi_head(self, given: dict[str, Any]) -> tuple[Tensor, Tensor | None]:
        asked, averaged = given["need_weights"], given["average_attn_weights"]
        stream = self._between(given["query"], given["key"])
        told = {**given, "need_weights": True, "average_attn_weights": False}
        output, maps = functional.multi_head_attention_forward(**told)
        assert maps is not None, "weights were asked for"
        new, _ = self._changed(maps, stream=stream, sure=True)
        if new is not maps:
            output = _mixed(new, given)
        head_axis = new.ndim - 3
        return output, (new.mean(dim=head_axis) if averaged else new) if asked else None

    def _fused(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Tensor:
        stream = self._between(query, key)
        if enable_gqa:
            times = query.shape[-3] // key.shape[-3]
            key, value = key.repeat_interleave(times, -3), value.repeat_interleave(times, -3)
        maps = _fused_map(query, key, attn_mask, is_causal, scale)
        new, _ = self._changed(maps, stream=stream, sure=True)
        if new is not maps:
            return new @ value
        return functional.scaled_dot_product_attention(
            query, key, value, attn_mask=attn_mask, dropout_p=dropout_p, is_causal=is_causal, scale=scale
        )

    def _softmax(self, scores: Tensor, result: Tensor) -> Tensor:
        stream = "" if self._streams is None else self._streams.of_scores(scores)
        new, place = self._changed(result, stream=stream, sure=False)
        if place is not None:
            self._flow[id(new)] = (new, place)
        return new

    def _follow(self, func: Callable[..., Any], args: tuple[Any, ...], result: Any) -> bool:
        """A softmax is an attention once its result, dropped out or reshaped on the way, meets the values: here?"""
        if not self._flow:
            return False
        flat = [item for arg in args for item in (arg if isinstance(arg, tuple | list) else (arg,))]
        for item in flat:
            known = self._flow.get(id(item)) if isinstance(item, Tensor) else None
            if known is None:
                continue
            if func in _PRODUCTS:
                self.seen[known[1]].sure = True
                return True
            if isinstance(result, Tensor) and result.numel() == known[0].numel():
                self._flow[id(result)] = (result, known[1])
        return False


def _arguments(args: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
    bound = _MULTI_HEAD.bind(*args, **given)
    bound.apply_defaults()
    return dict(bound.arguments)


def _over_last_axis(result: Tensor, args: tuple[Any, ...], given: Mapping[str, Any]) -> bool:
    axis = given.get("dim", args[1] if len(args) > 1 else None)
    return result.ndim >= 3 and axis in (-1, result.ndim - 1)


def _fused_map(query: Tensor, key: Tensor, mask: Tensor | None, is_causal: bool, scale: float | None) -> Tensor:
    scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    # A row that may attend to nothing gets nothing, as in torch's own kernels.
    return torch.nan_to_num(scores.softmax(dim=-1))


def _mixed(maps: Tensor, given: Mapping[str, Any]) -> Tensor:
    """What multi-head attention puts out with these maps [batch, heads, rows, columns] (no batch axis: none there)."""
    if given["static_v"] is not None:
        raise EditError("An attention that is given its values from outside (static_v) cannot be changed.")
    single = given["value"].ndim == 2
    value = given["value"].unsqueeze(1) if single else given["value"]
    weight = given["v_proj_weight"] if given["use_separate_proj_weight"] else given["in_proj_weight"].chunk(3)[2]
    bias = None if given["in_proj_bias"] is None else given["in_proj_bias"].chunk(3)[2]
    values = functional.linear(value, weight, bias)
    batch, width, heads = values.shape[1], values.shape[2], given["num_heads"]
    if given["bias_v"] is not None:
        values = torch.cat([values, given["bias_v"].repeat(1, batch, 1)])
    if given["add_zero_attn"]:
        values = torch.cat([values, values.new_zeros(1, batch, width)])
    apart = values.reshape(-1, batch, heads, width // heads).permute(1, 2, 0, 3)
    mixed = (maps.unsqueeze(0) if single else maps) @ apart
    joined = mixed.permute(2, 0, 1, 3).reshape(-1, batch, width)
    output: Tensor = functional.linear(joined, given["out_proj_weight"], given["out_proj_bias"])
    return output.squeeze(1) if single else output
