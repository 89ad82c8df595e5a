"""Files of weights: safetensors, never pickle."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from innerview.errors import DamagedPart, StoreError
from innerview.schema import from_json, to_json
from innerview.store.files import Stamp, file_digest, json_bytes, plain_stat, read_json, read_plain, replace_file
from innerview.store.paths import is_plain_file
from innerview.store.seal import crc32c

if TYPE_CHECKING:
    from torch import Tensor

WEIGHTS = "weights.safetensors"
MAX_WEIGHT_BYTES = 8 << 30
_CARD_BYTES = 16 << 20
_WEIGHTS = "weights"
C = TypeVar("C")


def read_weights(path: Path, stamp: Stamp | None = None) -> dict[str, Tensor]:
    """Tensors of a safetensors file that looks as its card says; anything else is refused unread."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    grown = stamp is not None and plain_stat(path)[0] != stamp.size  # it is refused unread, however large it is
    content = b"" if grown else read_plain(path, limit=MAX_WEIGHT_BYTES)
    if stamp is not None and (len(content), crc32c(content)) != (stamp.size, stamp.crc32c):
        raise DamagedPart(
            f"'{path.parent.name}/{path.name}' was changed after it was written: its checksum (CRC32C) does not match."
        )
    try:
        return load(content)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise DamagedPart(
            f"'{path.parent.name}/{path.name}' is not a safetensors file ({error}). Pickled weights are never loaded: "
            "save them with safetensors.torch.save_file."
        ) from error


def check_weights(path: Path, stamp: Stamp) -> None:
    """Raise where a file of weights is not what was written, by its SHA-256."""
    read_weights(path, stamp)
    if file_digest(path) != stamp.sha256:
        raise DamagedPart(f"'{path.parent.name}/{path.name}' was changed: its SHA-256 digest differs.")


def card_bytes(card: Any, weights: Stamp) -> bytes:
    """A card as it is kept beside weights: it says what they must look like."""
    return json_bytes({**to_json(card), _WEIGHTS: to_json(weights)})


def read_card(kind: type[C], path: Path, *, deep: bool = False) -> tuple[C, Stamp]:
    """A card of that kind, and what the weights beside it must look like."""
    value = read_json(path, limit=_CARD_BYTES, deep=deep)
    try:
        stamp = from_json(Stamp, value.pop(_WEIGHTS, None))
        return from_json(kind, value), stamp
    except StoreError as error:
        raise DamagedPart(f"'{path.parent.name}/{path.name}' cannot be read: {error}") from error


def save_weights(path: Path, weights: Mapping[str, Tensor], *, beside: Path) -> Stamp:
    """Write tensors by name, and tell what the file must look like."""
    return replace_file(path, _packed(weights), beside=beside)


def holds_weights(path: Path, weights: Mapping[str, Tensor]) -> bool:
    """Whether a file holds just these tensors."""
    packed = _packed(weights)
    same_size = is_plain_file(path) and plain_stat(path)[0] == len(packed)
    return same_size and file_digest(path) == hashlib.sha256(packed).hexdigest()


def _packed(weights: Mapping[str, Tensor]) -> bytes:
    from safetensors.torch import save

    # Copies, as safetensors refuses tensors that share storage, which tied weights do.
    return save({name: tensor.detach().cpu().contiguous().clone() for name, tensor in weights.items()})
