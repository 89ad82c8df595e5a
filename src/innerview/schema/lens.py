"""How a lens describes itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from innerview.errors import LensError, UnknownName
from innerview.schema.output import OutputType

Need = Literal[
    "subject",  # runs the model again
    "image input",
    "vector input",
    "policy",
    "value",
    "q",
    "memory",
    "attention",
    "convolution",
    "gradients",
    "masks",
    "classes",  # masks, or named things with their boxes in the picture
    "episodes",  # rows with time
    "domains",  # paired arrays: each row as two domains show it
    "pose",  # a head that says a pose, and the recorded pose to compare it with
    "depth",  # a picture of lengths, the camera and the recorded pose
]
RUNS: tuple[Need, ...] = ("subject", "gradients", "convolution", "attention")
"""A lens with one of these needs is given a subject."""


Setting = bool | int | float | str
"""The value of a parameter."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One thing a person can set."""

    name: str
    type: Literal["int", "float", "bool", "choice", "layer", "target", "head", "array", "column", "result", "text"]
    """A `result` is one that the lens of the parameter's name made; it is given as `Output`, "" where none is."""
    default: Setting
    description: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    of_type: OutputType | Literal[""] = ""
    """Of a `result`: any of this type will do, whichever lens made it."""


TARGET = Parameter(
    name="target",
    type="target",
    default="action",
    description="The chosen action's log-probability (or Q value), the value, one action, or one over another.",
)


@dataclass(frozen=True, kw_only=True)
class Lens:
    """A method that turns rows, and a subject where it needs one, into a typed output."""

    name: str
    question: str
    """The question it answers, as a title."""
    needs: tuple[Need, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    yields: OutputType = "per row"
    over: Literal["row", "episode", "rows"] = "rows"
    """Which rows it looks at together: each on its own (then it also runs live, and as a job in batches), those of one
    episode, or all."""
    cost: Literal["instant", "seconds", "minutes"] = "seconds"
    paper: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    variants: Mapping[str, Mapping[str, Setting]] = field(default_factory=dict)
    """Methods that have a name of their own in the literature: which parameters make this lens one of them."""
    baseline: bool = False
    """It depends on no weights: it stands beside methods that must do better."""

    runs_subject: bool = field(init=False, default=False)
    """Whether it is given a subject: as its needs say."""

    def __post_init__(self) -> None:
        for need in self.needs:
            if need not in get_args(Need):
                raise UnknownName("need", need, get_args(Need), f"Lens '{self.name}' says that it needs it.")
        known = {parameter.name for parameter in self.parameters}
        for name, settings in self.variants.items():
            for given in settings:
                if given not in known:
                    raise UnknownName("parameter", given, known, f"Variant '{name}' of lens '{self.name}' sets it.")
        if self.over == "row" and self.yields not in ("heat", "per row"):
            raise LensError(
                f"Lens '{self.name}' looks at single rows and yields '{self.yields}'. Of single rows it is 'heat' or "
                "'per row'; what is made of many rows together is over=\"rows\"."
            )
        object.__setattr__(self, "runs_subject", any(need in RUNS for need in self.needs))
