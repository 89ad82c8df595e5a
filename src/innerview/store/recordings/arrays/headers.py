"""What compressed bytes say of themselves, compared with what was declared before anything is allocated for them."""

from __future__ import annotations

import struct

from innerview.errors import DamagedPart

MAX_CHUNK_BYTES = 256 << 20
_BLOSC = struct.Struct("<BBBBIII")
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_DICTIONARY_BYTES = (0, 1, 2, 4)
_SIZE_BYTES = (0, 2, 4, 8)


def check_blosc(packed: bytes, *, item_bytes: int, size: int | None = None) -> None:
    """Refuse Blosc bytes that are not of that size once unpacked, or lie about their own."""
    if len(packed) < _BLOSC.size:
        raise DamagedPart("it is too short for its header")
    _, _, _, typesize, unpacked, block, own = _BLOSC.unpack_from(packed)
    _check_size(unpacked, size)
    if own != len(packed) or typesize != item_bytes or block > unpacked or (unpacked and not block):
        raise DamagedPart("its header contradicts its content")


def check_zstd(packed: bytes, *, size: int) -> None:
    """Refuse a Zstandard frame that is not of that size once unpacked."""
    if len(packed) < 6 or packed[:4] != _ZSTD_MAGIC:
        raise DamagedPart("it is no Zstandard frame")
    flags = packed[4]
    single = bool(flags & 0x20)
    count = _SIZE_BYTES[flags >> 6] or int(single)
    start = 5 + int(not single) + _DICTIONARY_BYTES[flags & 3]
    if not count or len(packed) < start + count:
        raise DamagedPart("it does not say how large it is")
    unpacked = int.from_bytes(packed[start : start + count], "little") + (256 if count == 2 else 0)
    _check_size(unpacked, size)


def _check_size(unpacked: int, size: int | None) -> None:
    if unpacked > MAX_CHUNK_BYTES:
        raise DamagedPart(f"it would take {unpacked} bytes; at most {MAX_CHUNK_BYTES} are unpacked")
    if size is not None and unpacked != size:
        raise DamagedPart(f"it holds {unpacked} bytes instead of {size}")
