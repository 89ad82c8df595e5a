"""Files of weights: safetensors, never pickle."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from innerview.errors import DamagedPart
from innerview.store.files import file_digest, replace_file
from innerview.store.paths import is_plain_file

if TYPE_CHECKING:
    from torch import Tensor

WEIGHTS = "weights.safetensors"


def read_weights(path: Path) -> dict[str, Tensor]:
    """Tensors of a safetensors file; anything else is refused unread."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    if not is_plain_file(path):
        raise DamagedPart(f"'{path.name}' is missing in '{path.parent.name}'.")
    try:
        return load(path.read_bytes())
    except SafetensorError as error:
        raise DamagedPart(
            f"'{path.parent.name}/{path.name}' is not a safetensors file ({error}). Pickled weights are never loaded: "
            "save them with safetensors.torch.save_file."
        ) from error


def save_weights(path: Path, weights: Mapping[str, Tensor], *, beside: Path) -> None:
    """Write tensors by name."""
    replace_file(path, _packed(weights), beside=beside)


def holds_weights(path: Path, weights: Mapping[str, Tensor]) -> bool:
    """Whether a file holds just these tensors."""
    return is_plain_file(path) and file_digest(path) == hashlib.sha256(_packed(weights)).hexdigest()


def _packed(weights: Mapping[str, Tensor]) -> bytes:
    from safetensors.torch import save

    # Copies, as safetensors refuses tensors that share storage, which tied weights do.
    return save({name: tensor.detach().cpu().contiguous().clone() for name, tensor in weights.items()})
