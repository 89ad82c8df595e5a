"""Turns what a world shows into what a module takes: order of axes, numbers, type, device."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from innerview.errors import SubjectError, UnknownName
from innerview.schema import InputSpec

Normalise = None | bool | Callable[[Tensor], Tensor] | Sequence[Any]
"""None: images of bytes to 0..1. False: numbers as they are. (mean, std): of images in 0..1. Or any function."""
_PAIRS = (tuple, list, np.ndarray, Tensor)


@dataclass(frozen=True)
class Input:
    """One input, as innerview holds it ([batch, *spec.shape], images channel first) and as the module takes it."""

    spec: InputSpec
    channels_last: bool = False
    """The module takes height, width, channel."""
    time_axis: int | None = None
    """Where the module wants a time axis of length 1."""
    normalise: Normalise = None
    dtype: torch.dtype | None = None
    """What the module computes in, where that is not single precision."""

    def from_world(self, array: np.ndarray, device: torch.device) -> Tensor:
        """[batch, …] as the world gives it to [batch, *spec.shape]."""
        own = np.array(self._arranged(np.asarray(array)), order="C")
        value = torch.from_numpy(own).to(device).to(getattr(torch, self.spec.dtype))
        return self._normalised(value, own.dtype == np.uint8)

    def to_module(self, value: Tensor) -> Tensor:
        """[batch, *spec.shape] to the module's own layout."""
        if self.channels_last:
            value = value.movedim(1, -1)
        if self.dtype is not None and value.is_floating_point():
            value = value.to(self.dtype)
        return value if self.time_axis is None else value.unsqueeze(self.time_axis)

    def check(self, value: Tensor) -> None:
        """An error for a tensor that does not fit."""
        if tuple(value.shape[1:]) != self.spec.shape or value.ndim < 1:
            raise SubjectError(
                f"Input '{self.spec.name}' has shape {_axes(value.shape)}; "
                f"this subject takes {_axes(('batch', *self.spec.shape))}."
            )

    def _arranged(self, array: np.ndarray) -> np.ndarray:
        wanted, got = self.spec.shape, array.shape[1:]
        image = self.spec.kind == "image"
        if image and array.ndim == 4 and (got[2], got[0], got[1]) == wanted:
            return array.transpose(0, 3, 1, 2)
        if got == wanted:
            return array
        if image and array.ndim == 5 and (got[0] * got[3], *got[1:3]) == wanted:
            return array.transpose(0, 1, 4, 2, 3).reshape(-1, *wanted)  # Stacked frames, oldest first.
        if self.spec.kind == "vector" and array.dtype.kind in "iu" and got == (1,) and len(wanted) == 1:
            return np.asarray(np.eye(wanted[0])[array[:, 0]])  # One of so many: what is counted as what is marked.
        fits = int(np.prod(got)) == int(np.prod(wanted))
        if array.ndim and fits and (self.spec.kind == "vector" or _only_ones_differ(got, wanted)):
            return array.reshape(-1, *wanted)
        raise SubjectError(_misfit(self.spec, got))

    def _normalised(self, value: Tensor, is_bytes: bool) -> Tensor:
        if self.normalise is False or not value.is_floating_point():
            return value
        if callable(self.normalise):
            return self.normalise(value)
        if is_bytes and self.spec.kind == "image":
            value = value.div_(255.0)  # Bytes were just turned into new floats: nobody else has them.
        if isinstance(self.normalise, Sequence):
            mean, std = (_per_channel(part, value) for part in self.normalise)
            value = (value - mean) / std
        return value


def describe(
    name: str, example: Tensor, *, module: nn.Module, time_axis: int | None, normalise: Normalise
) -> tuple[Input, Tensor]:
    """An input read off an example with a batch axis, and the example as innerview holds it."""
    if time_axis is not None:
        example = example.select(time_axis, 0) if example.ndim in (3, 5) else example
    channels_last = False
    if example.dtype == torch.uint8:
        # Floats from 0 to 255 in place of bytes: the module divides on its own, and gradients can flow.
        example, normalise = example.float(), False if normalise is None else normalise
    kind = "vector" if example.is_floating_point() else "tokens"
    if example.ndim == 4:
        kind, channels_last = "image", _is_channels_last(example, module)
        example = example.movedim(-1, 1) if channels_last else example
    spec = InputSpec(name=name, kind=kind, shape=tuple(example.shape[1:]), dtype=_dtype(example))  # type: ignore[arg-type]
    if normalise is None and kind == "image" and example.is_floating_point() and example.max() > 16:
        normalise = False  # The example itself goes up to 255: the module divides on its own.
    own = next((p.dtype for p in module.parameters() if p.is_floating_point()), torch.float32)
    dtype = None if own is torch.float32 else own
    return Input(spec, channels_last, time_axis, _checked(normalise, spec), dtype), example.contiguous()


def batched(example: Any, module: nn.Module) -> Tensor:
    """An example as a tensor with a batch axis."""
    value = example if isinstance(example, Tensor) else torch.from_numpy(np.array(example, order="C"))
    value = value.detach()
    if value.is_floating_point():
        value = value.to(torch.float32)
    has_conv = any(isinstance(layer, nn.Conv2d) for layer in module.modules())
    return value.unsqueeze(0) if value.ndim <= 1 or (value.ndim == 3 and has_conv) else value


def feed(
    inputs: Sequence[Input], observation: Mapping[str, np.ndarray] | np.ndarray, device: torch.device
) -> dict[str, Tensor]:
    """World observations as inputs, matched by name; one to one whatever the names."""
    if not isinstance(observation, Mapping):
        if len(inputs) != 1:
            names = _names(i.spec.name for i in inputs)
            raise SubjectError(f"The subject takes {names}. Give a dict with an array [batch, …] for each of them.")
        observation = {inputs[0].spec.name: observation}
    if len(inputs) == 1 and len(observation) == 1:
        (array,) = observation.values()
        return {inputs[0].spec.name: inputs[0].from_world(array, device)}
    missing = [item.spec.name for item in inputs if item.spec.name not in observation]
    if missing:
        raise SubjectError(
            f"The subject takes {_names(i.spec.name for i in inputs)}; the world shows {_names(observation)}. "
            f"Missing: {_names(missing)}. Name the subject's inputs as the world names its observations."
        )
    return {item.spec.name: item.from_world(observation[item.spec.name], device) for item in inputs}


def probed(inputs: Sequence[Input], device: torch.device) -> str:
    """SHA-256 of what inputs become of fixed bytes and fractions: another normalisation gives another one."""
    digest = hashlib.sha256()
    for item in inputs:
        steps = np.arange(max(1, prod(item.spec.shape))).reshape(1, *item.spec.shape)
        bytes_, fractions = (steps % 251).astype(np.uint8), (steps % 83 / 83).astype(np.float32)
        for value in (bytes_, fractions) if item.spec.kind != "tokens" else (steps % 2,):
            taken = item.from_world(value, device).detach().cpu().numpy()
            digest.update(f"{item.spec.name} {taken.dtype} {taken.shape}\n".encode())
            digest.update((np.round(taken.astype(np.float64), 4) + 0.0).tobytes())  # no −0
    return digest.hexdigest()


def by_name(normalise: Normalise | Mapping[str, Normalise], names: Collection[str]) -> dict[str, Normalise]:
    """How each input is normalised: as is said of all of them, or of this one."""
    if not isinstance(normalise, Mapping):
        return dict.fromkeys(names, normalise)
    for name in normalise:
        if name not in names:
            raise UnknownName("input", str(name), names, "normalise= names inputs of the subject.")
    return {name: normalise.get(name) for name in names}


def _checked(normalise: Normalise, spec: InputSpec) -> Normalise:
    """None, a bool or a function as it is, mean and std as tuples of numbers; an error for anything else."""
    if normalise is None or isinstance(normalise, bool) or callable(normalise):
        return normalise
    channels = spec.shape[0] if spec.shape else 1
    if not isinstance(normalise, _PAIRS):
        raise _no_pair(normalise, channels)
    try:
        mean, std = (np.asarray(part, np.float64) for part in normalise)
    except (TypeError, ValueError) as error:
        raise _no_pair(normalise, channels) from error
    for part in (mean, std):
        if part.shape not in ((), (1,), (channels,)) or not np.isfinite(part).all():
            raise _no_pair(normalise, channels)
    if (std <= 0).any():
        raise SubjectError(f"normalise=(mean, std) divides by std, which has to be above 0; it is {std.tolist()}.")
    return tuple(part.tolist() if part.ndim == 0 else tuple(part.tolist()) for part in (mean, std))


def _no_pair(normalise: Any, channels: int) -> SubjectError:
    return SubjectError(
        f"normalise={normalise!r:.80} cannot be used. Give a pair (mean, std), each a number or {channels} of them "
        "(one per channel); or a function, False for numbers as they are, or nothing for bytes of images to 0 to 1."
    )


def _is_channels_last(example: Tensor, module: nn.Module) -> bool:
    first, last = example.shape[1], example.shape[3]
    conv = next((layer for layer in module.modules() if isinstance(layer, nn.Conv2d)), None)
    if conv is not None and (conv.in_channels == first) != (conv.in_channels == last):
        return conv.in_channels == last
    return last < first


def _only_ones_differ(got: Sequence[int], wanted: Sequence[int]) -> bool:
    return [n for n in got if n != 1] == [n for n in wanted if n != 1]


def _per_channel(value: Any, like: Tensor) -> Tensor:
    tensor = torch.as_tensor(value, dtype=like.dtype, device=like.device)
    return tensor.view(-1, *[1] * (like.ndim - 2)) if tensor.ndim else tensor


def _dtype(value: Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")


def _axes(shape: Sequence[Any]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"


def _names(names: Any) -> str:
    return ", ".join(f"'{name}'" for name in names) or "nothing"


def _misfit(spec: InputSpec, got: tuple[int, ...]) -> str:
    wanted = _axes(("batch", *spec.shape))
    if spec.kind == "image":
        channel, height, width = spec.shape
        wanted = f"[batch, {height}, {width}, {channel}] (height, width, channel)"
    return (
        f"The observation for input '{spec.name}' has shape {_axes(('batch', *got))}; this subject takes {wanted}. "
        "Resize or reorder it in the world, or adapt the module with an example of that shape."
    )
