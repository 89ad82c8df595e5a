"""Regression activation maps: where a layer finds what moves a predicted number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from innerview.errors import LensError
from innerview.schema import Heat, Lens, Parameter, Rows, Watch, unwatched
from innerview.transfer.domains import picture_of, spatial_layers
from innerview.transfer.pose import METRES_PER_RADIAN, pose_head

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.schema import Head
    from innerview.subjects import Subject

Number = Literal["pose", "x", "y", "angle"]
NUMBERS: tuple[Number, ...] = ("pose", "x", "y", "angle")
Kind = Literal["true CAM", "gradient-weighted"]
_PROBES = 4
"""Rows of noise on which it is found out whether a number is a weighted mean over a layer's maps."""
_CLOSE = 1e-3

LENS = Lens(
    name="activation-map",
    question="Where does the layer find what moves the predicted pose?",
    needs=("image input", "convolution", "gradients", "pose"),
    parameters=(
        Parameter(
            name="number",
            type="choice",
            default="pose",
            choices=NUMBERS,
            description="One number of the pose, or all of it: sizes of x, y and the angle in metres, added up.",
        ),
        Parameter(
            name="layer",
            type="layer",
            default="",
            description="A layer with height and width; the last one unless said.",
        ),
        METRES_PER_RADIAN,
    ),
    yields="heat",
    over="row",
    cost="instant",
    paper="Zhou, Khosla, Lapedriza, Oliva, Torralba 2016; for regression: Jaunet, Bono, Vuillemot, Wolf 2021",
)


def look(
    rows: Rows,
    subject: Subject,
    *,
    number: Number = "pose",
    layer: str = "",
    metres_per_radian: float = 1.0,
    watch: Watch = unwatched,
) -> Heat:
    """Each cell's activations times the gradient of the number by them, added up over the channels."""
    from innerview.subjects import receptive_field

    image, layer, head = picture_of(subject), layer or _last_layer(subject), pose_head(subject)
    places = np.arange(rows.count)
    watch(0, rows.count, "going back")
    parts = _parts(head, number)
    maps = [_map(subject, dict(rows.inputs(places)), dict(rows.memory_before(places)), head, p, layer) for p in parts]
    kinds = {kind_of(subject, head, part, layer) for part in parts}
    heat = maps[0]
    if number == "pose":
        counts = [metres_per_radian if name == "angle" else 1.0 for name in NUMBERS[1:]]
        heat = sum((each.abs() * count for each, count in zip(maps, counts, strict=True)), start=maps[0] * 0)
    drawn = receptive_field(subject, layer).pictured(heat, image.shape[1:])
    kind: Kind = "true CAM" if kinds == {"true CAM"} else "gradient-weighted"
    return Heat(
        heat={image.name: drawn.cpu().float().numpy()},
        rows=rows.numbers,
        unit=f"{_unit(head, number)} per cell of '{layer}' ({kind})",
        signed=number != "pose",
        value={"layer": layer, "number": number, "kind": kind},
    )


def kind_of(subject: Subject, head: Head, part: int, layer: str) -> Kind:
    """A true CAM where the number is a weighted mean over the layer's maps; tried on noise.

    Then each channel's gradient is the same in all cells and for all rows.
    """
    import torch

    noise = torch.Generator().manual_seed(0)
    inputs = {
        spec.name: torch.rand(_PROBES, *spec.shape, generator=noise).to(getattr(torch, spec.dtype)).to(subject.device)
        for spec in subject.info.inputs
    }
    _, gradient = _flow(subject, inputs, subject.initial_memory(_PROBES), head, part, layer)
    mean = gradient.mean((0, 2, 3), keepdim=True)
    far = (gradient - mean).abs().max() > _CLOSE * gradient.abs().max()
    return "gradient-weighted" if bool(far) or not bool(mean.abs().max() > 0) else "true CAM"


def _map(
    subject: Subject, inputs: dict[str, Tensor], memory: dict[str, Tensor], head: Head, part: int, layer: str
) -> Tensor:
    """[row, 1, height, width] in the head's unit: added up over the cells of a true CAM, the number less its bias."""
    activation, gradient = _flow(subject, inputs, memory, head, part, layer)
    return (activation * gradient).sum(1, keepdim=True)


def _flow(
    subject: Subject, inputs: dict[str, Tensor], memory: dict[str, Tensor], head: Head, part: int, layer: str
) -> tuple[Tensor, Tensor]:
    """What the layer puts out, and the gradient of one number of the head by it."""
    import torch

    count = len(next(iter(inputs.values())))
    with torch.enable_grad():
        watched = {n: v.detach().clone().requires_grad_(v.is_floating_point()) for n, v in inputs.items()}
        output = subject.run(watched, memory, keep=(layer,), grad=True)
        activation = output.sites[layer]
        if activation.ndim != 4 or len(activation) != count:
            raise LensError(
                f"Layer '{layer}' puts out {list(activation.shape[1:])} per row and not one map [channel, height, "
                f"width]. Layers that have one: {', '.join(spatial_layers(subject)) or 'none'}."
            )
        number = output.heads[head.name][:, part].sum()
        (gradient,) = torch.autograd.grad(number, [activation], allow_unused=True)
    if gradient is None:
        raise LensError(
            f"'{head.parts[part]} of {head.name}' does not depend on layer '{layer}'. Choose another layer."
        )
    if not bool(torch.isfinite(gradient).all()):
        raise LensError(f"The gradient of '{head.parts[part]} of {head.name}' by layer '{layer}' is not finite.")
    return activation.detach(), gradient


def _parts(head: Head, number: Number) -> tuple[int, ...]:
    wanted = NUMBERS[1:] if number == "pose" else (number,)
    for part in wanted:
        if part not in head.pose_parts:
            raise LensError(f"Head '{head.name}' does not say the pose's {part}: it has {', '.join(head.parts)}.")
    return tuple(head.pose_parts.index(part) for part in wanted)


def _unit(head: Head, number: Number) -> str:
    if number == "pose" or not head.units:
        return "m" if number == "pose" else number
    return head.units[head.pose_parts.index(number)] or number


def _last_layer(subject: Subject) -> str:
    layers = spatial_layers(subject)
    if not layers:
        raise LensError(f"'{subject.info.name}' has no layer with height and width: there is no map to weight.")
    return layers[-1]
