"""SIM/REAL occlusion: what the subject says when a patch of one domain's picture is replaced by the other's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np

from innerview.errors import LensError
from innerview.schema import Heat, Lens, Parameter, Rows, Watch, unwatched
from innerview.transfer.domains import DOMAIN, other_domain
from innerview.transfer.patches import Patches, Swap
from innerview.transfer.pose import MEASURE, METRES_PER_RADIAN, Measure, truth_of

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Subject

Channels = Literal["both", "colour", "depth"]
CHANNELS: tuple[Channels, ...] = ("both", "colour", "depth")

LENS = Lens(
    name="domain-occlusion",
    question="Which patches of the other domain bring the prediction closer to the truth?",
    needs=("subject", "image input", "domains", "pose"),
    parameters=(
        DOMAIN,
        Parameter(
            name="channels",
            type="choice",
            default="both",
            choices=CHANNELS,
            description="What is replaced: colour, depth or both.",
        ),
        Parameter(
            name="patch",
            type="int",
            default=0,
            low=0,
            high=1024,
            description="Side of a patch, in pixels; 0: a sixth of the picture, which makes 6 × 6 patches.",
        ),
        Parameter(
            name="step",
            type="int",
            default=0,
            low=0,
            high=1024,
            description="To the next patch, in pixels; 0: as far as a patch is wide.",
        ),
        MEASURE,
        METRES_PER_RADIAN,
    ),
    yields="heat",
    over="row",
    cost="seconds",
    paper="Jaunet, Bono, Vuillemot, Wolf 2021: Sim2RealViz, after Zeiler, Fergus 2013",
)


def look(
    rows: Rows,
    subject: Subject,
    *,
    domain: str = "real",
    channels: Channels = "both",
    patch: int = 0,
    step: int = 0,
    measure: Measure = "pose",
    metres_per_radian: float = 1.0,
    watch: Watch = unwatched,
) -> Heat:
    """By how much the error falls when a patch is replaced, as a mean over the patches that cover a pixel.

    Above zero: the prediction comes closer to the truth.
    """
    other = other_domain(domain)
    own, others = rows.in_domain(domain), rows.in_domain(other)
    truth = truth_of(rows, subject, measure, domain)
    names = _replaced(rows, subject, channels)
    heats: dict[str, list[np.ndarray]] = {name: [] for name in names}
    errors = np.zeros((rows.count, 2), np.float32)
    for place in range(rows.count):
        watch(place, rows.count, "replacing patches")
        here = np.array([place])

        def error(heads: Mapping[str, Tensor], at: int = place) -> Tensor:
            places = np.full(len(next(iter(heads.values()))), at)
            return truth.errors(heads, measure, places, metres_per_radian)

        inputs, instead, memory = own.inputs(here), others.inputs(here), own.memory_before(here)
        errors[place, 1] = float(error(subject.run(instead, others.memory_before(here)).heads))
        for name, which in names.items():
            swap = Swap(inputs, memory, name, mixed(inputs[name], instead[name], which))
            patches = Patches.over(inputs[name].shape[-2], inputs[name].shape[-1], patch, step)
            found = error(patches.heads(subject, swap))
            errors[place, 0], gained = float(found[0]), found[0] - found[1:]
            heats[name].append(patches.pictured(gained.cpu()).numpy())
    return Heat(
        heat={name: np.stack(found).astype(np.float32) for name, found in heats.items()},
        rows=rows.numbers,
        unit=f"{truth.unit_of(measure)} closer to the truth ({measure})",
        domain=domain,
        positive="blue",
        value={"measure": measure, "channels": channels, "with": other},
        arrays={"errors": errors},
    )


def _replaced(rows: Rows, subject: Subject, channels: Channels) -> dict[str, tuple[bool, ...]]:
    """Which channels are replaced, by name of the picture."""
    found = {}
    for spec in subject.info.inputs:
        if spec.kind != "image":
            continue
        if channels != "both" and spec.name not in rows.channels:
            raise LensError(f"Which channels of input '{spec.name}' are depth is not known. Replace both.")
        holds = rows.channels.get(spec.name, ("",) * spec.shape[0])
        which = tuple(channels in ("both", held) for held in holds)
        if any(which):
            found[spec.name] = which
    if not found:
        raise LensError(f"No input of '{subject.info.name}' has {channels}: nothing can be replaced.")
    return found


def mixed(own: Tensor, instead: Tensor, which: tuple[bool, ...]) -> Tensor:
    """Pictures [row, channel, height, width] with some channels of others."""
    import torch

    return torch.where(torch.tensor(which, device=own.device).view(1, -1, 1, 1), instead, own)
