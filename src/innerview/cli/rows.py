"""Rows, inputs and who may look at them, as they are typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from innerview.errors import InnerviewError

Rows = Annotated[
    list[str] | None, typer.Option("--rows", help="Only rows START:STOP; may be repeated. All unless said.")
]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input", help='INPUT=ARRAY, with steps where needed: "rgb=real.rgb | resize 64x64"; may be repeated.'
    ),
]
Other = Annotated[
    bool,
    typer.Option("--other", help="Go on with another subject or world than was recorded; the result says so."),
]


def ranges(words: Sequence[str] | None) -> list[tuple[int, int]] | None:
    """(start, stop) of each; None where nothing was typed."""
    return [_range(word) for word in words] if words else None


def bound(words: Sequence[str] | None) -> dict[str, str]:
    """The array, with its steps, by input."""
    given: dict[str, str] = {}
    for word in words or ():
        name, equals, array = (part.strip() for part in word.partition("="))
        if not (name and equals and array):
            raise InnerviewError(f"--input takes INPUT=ARRAY, such as rgb=real.rgb, not '{word}'.")
        if name in given:
            raise InnerviewError(f"--input says twice what feeds '{name}'.")
        given[name] = array
    return given


def _range(word: str) -> tuple[int, int]:
    start, colon, stop = word.partition(":")
    if not (colon and start.isdigit() and stop.isdigit()):
        raise InnerviewError(f"--rows takes START:STOP, such as 0:100, not '{word}'.")
    return int(start), int(stop)
