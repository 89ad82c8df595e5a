"""Reads and writes weights without ever unpickling anything, and tells two versions of a model apart."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from innerview.errors import SubjectError

_SHOWN = 8
_ZIP = b"PK\x03\x04"


def tensors_of(module: nn.Module) -> dict[str, Tensor]:
    """Everything a module has learnt, by name: parameters and buffers; what is not a tensor is left out."""
    return {name: value for name, value in module.state_dict().items() if isinstance(value, Tensor)}


def first_difference(module: nn.Module, given: Mapping[str, Tensor]) -> str:
    """The first tensor that weights of another architecture have otherwise, in words; empty where all fit."""
    own = tensors_of(module)
    for name, value in own.items():
        if name not in given:
            return f"'{name}' {_shape(value)} is missing"
        if given[name].shape != value.shape or given[name].is_floating_point() != value.is_floating_point():
            return f"'{name}' is {_shape(given[name])} and not {_shape(value)}"
    extra = next((name for name in given if name not in own), None)
    return "" if extra is None else f"'{extra}' {_shape(given[extra])} is not in the module"


def _shape(value: Tensor) -> str:
    kind = "" if value.is_floating_point() else f" of {str(value.dtype).removeprefix('torch.')}"
    return f"{list(value.shape)}{kind}"


def weights_digest(module: nn.Module) -> str:
    """SHA-256 over names, types, shapes and values of all weights."""
    digest = hashlib.sha256()
    for described, content in _described(module):
        digest.update(described)
        digest.update(content.data)
    return digest.hexdigest()


def weights_checksum(module: nn.Module) -> int:
    """CRC32C over the same, many times as quick: whether weights changed since a moment ago."""
    checksum = 0
    for described, content in _described(module):
        checksum = google_crc32c.extend(google_crc32c.extend(checksum, described), content)
    return checksum


def _described(module: nn.Module) -> Iterator[tuple[bytes, np.ndarray]]:
    for name, value in sorted(tensors_of(module).items()):
        flat = value.detach().cpu().contiguous().flatten()
        content = flat.view(torch.uint8).numpy() if flat.numel() else np.zeros(0, np.uint8)
        yield f"{name} {value.dtype} {tuple(value.shape)}\n".encode(), content


def save_weights(module: nn.Module, path: str | os.PathLike[str], *, bits: int | None = None) -> None:
    """Write all weights as safetensors; a tensor that has several names is written once.

    With `bits=8`, matrices and kernels are stored in 8 bits a weight with a scale for each output channel.
    """
    if bits not in (None, 8):
        raise SubjectError(f"Weights are stored as they are (bits=None) or in 8 bits each (bits=8), not with {bits!r}.")
    unique: dict[tuple[Any, ...], str] = {}
    for name, value in tensors_of(module).items():
        unique.setdefault(_identity(value, name), name)
    tensors = tensors_of(module)
    target = Path(path)
    temporary = target.with_name(target.name + ".part")
    stored = {name: tensors[name].detach().cpu().contiguous().clone() for name in unique.values()}
    save_file(pack(stored) if bits == 8 else stored, temporary)
    temporary.replace(target)


SCALE = "::scale"
"""Behind a tensor's name: what its 8-bit numbers are multiplied by, for each output channel."""
MIN_PACKED = 8192
"""Smaller tensors, such as first and last layers, cost little and matter most; they are stored as they are."""


def pack(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Large matrices and kernels [out, …] as whole numbers from −127 to 127 and a scale [out]; all else as it is."""
    packed = {}
    for name, value in tensors.items():
        if value.ndim < 2 or value.numel() < MIN_PACKED or not value.is_floating_point():
            packed[name] = value
            continue
        rows = value.detach().float().flatten(1)
        scale = (rows.abs().amax(1) / 127).clamp_min(torch.finfo(torch.float32).tiny)
        packed[name] = (rows / scale[:, None]).round().to(torch.int8).view(value.shape)
        packed[name + SCALE] = scale
    return packed


def unpack(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights as they are used, of those that `pack` made smaller and of all others."""
    plain = {}
    for name, value in tensors.items():
        if name.endswith(SCALE):
            continue
        scale = tensors.get(name + SCALE)
        if scale is None:
            plain[name] = value
        elif scale.shape != value.shape[:1] or value.dtype is not torch.int8:
            raise SubjectError(f"The scale of '{name}' does not fit: {list(scale.shape)} for {list(value.shape)}.")
        else:
            plain[name] = (value.float().flatten(1) * scale[:, None]).view(value.shape)
    return plain


def read_weights(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """Weights by name from safetensors or a plain torch state dict; anything pickled is refused."""
    return unpack(_read(Path(path)))


def load_weights(module: nn.Module, path: str | os.PathLike[str]) -> None:
    """Put weights from safetensors or a plain torch state dict into a module; anything pickled is refused."""
    given = read_weights(path)
    own = tensors_of(module)
    names: dict[tuple[Any, ...], str] = {}
    for name, value in own.items():
        if name in given:
            names.setdefault(_identity(value, name), name)
    missing = [name for name, value in own.items() if _identity(value, name) not in names]
    unknown = [name for name in given if name not in own]
    if missing or unknown:
        raise SubjectError(
            f"The weights in {path} are for another module. Missing: {_some(missing)}. "
            f"Not known here: {_some(unknown)}."
        )
    for name, value in given.items():
        if value.shape != own[name].shape:
            raise SubjectError(
                f"Weight '{name}' in {path} has shape {list(value.shape)}, expected {list(own[name].shape)}."
            )
    module.load_state_dict({n: given[n] if n in given else given[names[_identity(v, n)]] for n, v in own.items()})


def _identity(value: Tensor, name: str) -> tuple[Any, ...]:
    return (value.data_ptr(), tuple(value.shape), value.stride()) if value.numel() else (name,)


def _read(path: Path) -> dict[str, Tensor]:
    if not path.is_file():
        raise SubjectError(f"There are no weights at {path}.")
    if _is_safetensors(path):
        try:
            return dict(load_file(path))
        except SafetensorError as error:
            raise SubjectError(f"The weights in {path} are damaged: {error}.") from error
    if path.suffix == ".safetensors" and _is_cut_short(path):
        raise SubjectError(
            f"The weights in {path} ({path.stat().st_size:,} bytes) are damaged or cut short: the file ends before "
            "the description of what it holds does."
        )
    try:
        with path.open("rb") as file:
            if file.read(len(_ZIP)) != _ZIP:
                raise pickle.UnpicklingError("not a zip archive, which torch.save writes since torch 1.6")
            file.seek(0)
            loaded = torch.load(file, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, KeyError, AttributeError) as error:
        raise SubjectError(
            f"{path} holds no plain weights but pickled objects, or is damaged. Unpickling runs whatever code the file "
            "brings along, so innerview refuses. Save the weights as safetensors "
            "(safetensors.torch.save_file(module.state_dict(), path)) or with torch.save(module.state_dict(), path)."
        ) from error
    if not isinstance(loaded, dict) or not all(isinstance(value, Tensor) for value in loaded.values()):
        raise SubjectError(
            f"{path} holds {type(loaded).__name__}, not a table of named tensors. Save module.state_dict() alone."
        )
    return loaded


def _is_safetensors(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(9)
    return len(head) == 9 and head[8:] == b"{" and int.from_bytes(head[:8], "little") <= path.stat().st_size


def _is_cut_short(path: Path) -> bool:
    """Whether a description is announced that the file is too short for, or not even that."""
    with path.open("rb") as file:
        head = file.read(9)
    return len(head) < 9 or head[8:] == b"{"


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN]) + (f", … ({len(names)} in all)" if len(names) > _SHOWN else "")
    return shown or "none"
