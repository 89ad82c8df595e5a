"""How a lens describes itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Need = Literal["image input", "vector input", "policy", "value", "q", "memory", "attention", "convolution", "gradients"]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One thing a person can set."""

    name: str
    type: Literal["int", "float", "bool", "choice", "layer", "target", "head", "array", "column", "result", "text"]
    """A `result` is one that the lens of the parameter's name found; it is given as `Found`, "" where none is."""
    default: Any
    description: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Lens:
    """A method that turns a subject and rows into something to look at."""

    name: str
    question: str
    """The question it answers, as a title."""
    needs: tuple[Need, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    yields: Literal["heat per input", "value per element", "value per row", "layout", "table", "chart"] = (
        "value per row"
    )
    over: Literal["row", "episode", "recording", "frames"] = "row"
    """What it looks at: one row at a time as somebody points at it; or, as a job, an episode, what was recorded, or
    what the subject was given in every row, with the subject to run on it again."""
    cost: Literal["instant", "seconds", "minutes"] = "seconds"
    paper: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
