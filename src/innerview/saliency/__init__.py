"""Says which inputs mattered. Pure: tensors in, new ones out; no disk, no network, no other compute room.

One lens a file: a module with a `LENS` that describes it and a function `look`.
"""
