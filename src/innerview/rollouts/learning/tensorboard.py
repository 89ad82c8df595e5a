"""TensorBoard, where it is installed."""

from __future__ import annotations

from importlib.util import find_spec

from innerview.errors import SubjectError


def check_tensorboard() -> None:
    """Raise where scalars cannot be written, before hours of training are spent."""
    if find_spec("tensorboard") is None:
        raise SubjectError("Scalars are written for TensorBoard, which is not installed: pip install tensorboard.")
