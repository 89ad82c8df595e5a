"""What is known of a model without running it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal, get_args

from innerview.errors import EditError, SubjectError, UnknownName
from innerview.schema.data import PosePart
from innerview.schema.edit import Edit
from innerview.schema.site import Site

HeadKind = Literal["policy", "value", "q", "advantage", "gaussian", "pose", "answer", "other"]
InputKind = Literal["image", "vector", "tokens"]
Editable = Literal["state", "last layer", "carried"]
POSE: tuple[PosePart, ...] = ("x", "y", "angle")
"""What the numbers of a pose head are, in this order, unless it says so itself."""
MAX_PAIRED = 9
"""Actions up to which one over another is listed; pairs of more would be a long list."""


@dataclass(frozen=True, kw_only=True)
class InputSpec:
    """One named input as the module takes it, without the batch axis. An image is channel, height, width."""

    name: str
    kind: InputKind
    shape: tuple[int, ...]
    dtype: str = "float32"


@dataclass(frozen=True, kw_only=True)
class Head:
    """One named output. `policy` holds logits over `names`; `gaussian` the mean of a continuous action."""

    name: str
    kind: HeadKind
    size: int
    names: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    """Of each number: "m", "rad"; where empty, those of the recorded columns that it is about."""
    pose: tuple[PosePart, ...] = ()
    """Of a pose head: which part of a pose each number is, "" for none; x, y and angle unless said."""

    def __post_init__(self) -> None:
        if self.pose and (self.kind != "pose" or len(self.pose) != self.size):
            raise SubjectError(
                f"Head '{self.name}' is a {self.kind} head of {self.size} numbers; pose={self.pose} says a part of a "
                "pose for each number of a pose head."
            )
        known = get_args(PosePart)
        if not self.pose and any(a != b and a in known for a, b in zip(self.names, self.pose_parts, strict=False)):
            raise SubjectError(
                f"Head '{self.name}' calls its numbers {', '.join(self.names)}; those of a pose are x, y and angle. "
                "Say which part of a pose each of them is: Head(…, pose=('x', 'y', 'z', 'angle'))."
            )

    @property
    def pose_parts(self) -> tuple[PosePart, ...]:
        """Which part of a pose each number is; none of a head that is no pose."""
        if self.kind != "pose":
            return ()
        unsaid: tuple[PosePart, ...] = ("",)
        return self.pose or (POSE + unsaid * self.size)[: self.size]

    @property
    def parts(self) -> tuple[str, ...]:
        """A name for each of its numbers."""
        if self.names:
            return self.names
        said = self.pose_parts or ("",) * self.size
        return tuple(part or str(place) for place, part in enumerate(said))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of its numbers as columns, of a head that estimates something about the world."""
        return tuple(f"{self.name}_{part}" for part in self.parts)


@dataclass(frozen=True, kw_only=True)
class MemorySite:
    """A recurrent state; `shape` is without the batch axis: (size,) or (layers, size)."""

    name: str
    layer: str
    kind: str
    """gru, gru cell, lstm hidden, lstm cell, declared."""
    shape: tuple[int, ...]
    editable: Editable = "state"
    """What a change made here reaches. `state`: the heads of the same step and every step after. `carried`: only the
    steps after. `last layer`: as `state` in the last of the stacked layers, as `carried` in those below."""

    address: str = ""
    """As a site, made of the others: `gru/h`, `lstm/c`, or `/name` where it was declared."""

    def __post_init__(self) -> None:
        layered = f"{self.layer}/{'c' if self.kind == 'lstm cell' else 'h'}"
        object.__setattr__(self, "address", f"/{self.name}" if self.kind == "declared" else layered)

    @property
    def site(self) -> Site:
        """As a place that can be read and changed."""
        axes = ("element",) if len(self.shape) == 1 else ("layer", "element")
        return Site(address=self.address, kind="memory", shape=self.shape, axes=axes)


@dataclass(frozen=True, kw_only=True)
class Age:
    """Where in its training a model stands."""

    run: str
    step: int


@dataclass(frozen=True, kw_only=True)
class SubjectInfo:
    """A model's parts by name."""

    name: str
    family: str
    inputs: tuple[InputSpec, ...] = ()
    heads: tuple[Head, ...] = ()
    layers: tuple[str, ...] = ()
    """Addresses of activations in the order in which they are ready."""
    layer_shapes: tuple[tuple[int, ...], ...] = ()
    """Of each of the layers, without the batch axis."""
    convolutions: tuple[str, ...] = ()
    """Those of the layers that are convolutions over pictures; none where it is not known."""
    memory: tuple[MemorySite, ...] = ()
    attention: tuple[Site, ...] = ()
    parameters: int = 0
    edits: tuple[Edit, ...] = ()
    """What is changed at its sites and inputs in every run."""
    identity: str = ""
    """SHA-256 of what decides what it says: its weights, what it says of a fixed probe, its edits and how observations
    become inputs."""
    code: str = ""
    """The class it was made of, and a digest of its source: logged, and no part of the identity."""
    age: Age | None = None
    """Of a model that is known at several steps of its training."""

    @property
    def sites(self) -> tuple[Site, ...]:
        """Every place that can be read and changed: activations, memory, attention maps."""
        shapes = self.layer_shapes or ((),) * len(self.layers)
        activations = (
            Site(address=name, kind="activation", shape=shape, axes=_axes(shape))
            for name, shape in zip(self.layers, shapes, strict=True)
        )
        return (*activations, *(memory.site for memory in self.memory), *self.attention)

    @property
    def memory_arrays(self) -> dict[str, str]:
        """The array of a recording that holds each memory site, by name of the site."""
        alone = len(self.memory) == 1
        return {site.name: "memory" if alone else f"memory.{site.name}" for site in self.memory}

    def memory_site(self, address: str = "") -> MemorySite:
        """The memory site of that address; the only one for ""."""
        if not self.memory:
            raise EditError(f"'{self.name}' has no memory: there is nothing that an edit could change, or drop.")
        if not address and len(self.memory) > 1:
            several = ", ".join(site.address for site in self.memory)
            raise EditError(f"'{self.name}' has several memory sites: say which with site=… ({several}).")
        for site in self.memory:
            if address in ("", site.address):
                return site
        raise UnknownName("memory site", address, [site.address for site in self.memory])

    def memory_in(self, array: str) -> MemorySite:
        """The memory site whose states an array of a recording holds."""
        arrays = self.memory_arrays
        for site in self.memory:
            if arrays[site.name] == array:
                return site
        raise UnknownName("memory array", array, arrays.values(), f"It is to hold states of '{self.name}'.")

    def __str__(self) -> str:
        """A line for each kind of part, for people who print it."""
        return "\n".join(
            (
                f"{self.name} ({self.family}, {self.parameters:,} parameters)",
                f"inputs: {_listed(f'{i.name} ({i.kind} {_size(i.shape)})' for i in self.inputs)}",
                f"layers: {_listed(self.layers)}",
                f"memory: {_listed(f'{m.name} ({_size(m.shape)})' for m in self.memory)}",
                f"heads: {_listed(f'{h.name} ({h.kind} of {h.size})' for h in self.heads)}",
            )
        )


def acting_head(heads: Sequence[Head]) -> Head | None:
    """The head that decides: a policy, else a continuous action, else q values, else advantages."""
    for kind in ("policy", "gaussian", "q", "advantage"):
        for head in heads:
            if head.kind == kind:
                return head
    return None


def targets_of(heads: Sequence[Head]) -> tuple[str, ...]:
    """Every target, in words: the value, the chosen action, each number of a head, one action over another.

    Of the policy that decides, log-probabilities stand for its numbers.
    """
    acting = acting_head(heads)
    found = ["value"] if any(head.kind in ("value", "q") for head in heads) else []
    found += ["action"] if acting else []
    for head in heads:
        if head is acting and head.kind == "policy":
            found += [f"log {part}" for part in head.parts]
        elif head.kind != "value":
            found += [f"{part} of {head.name}" for part in head.parts]
    if acting and acting.kind != "gaussian" and acting.size <= MAX_PAIRED:
        found += [f"{one} over {other}" for one, other in permutations(acting.parts, 2)]
    return tuple(found)


def _axes(shape: tuple[int, ...]) -> tuple[str, ...]:
    names = {1: ("feature",), 2: ("token", "feature"), 3: ("channel", "height", "width")}
    return names.get(len(shape), ("channel", *(f"axis {place}" for place in range(1, len(shape)))) if shape else ())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _size(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))
