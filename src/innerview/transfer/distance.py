"""Feature distance: how differently a layer responds to the two domains, cell by cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from innerview.errors import LensError
from innerview.schema import Heat, Lens, Parameter, Rows, Watch, unwatched
from innerview.transfer.domains import DOMAIN, maps_of, other_domain, picture_of, spatial_layers

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Subject

Measure = Literal["product", "cosine", "l1"]
MEASURES: tuple[Measure, ...] = ("product", "cosine", "l1")
UNITS = {
    "product": "cosine distance × mean |difference| of '{}'",
    "cosine": "cosine distance of '{}'",
    "l1": "mean |difference| of '{}'",
}
FINE = 8
"""Unless said, the last layer whose cells are at most so many pixels apart."""

LENS = Lens(
    name="feature-distance",
    question="Where does the network see the two domains differently?",
    needs=("subject", "image input", "convolution", "domains"),
    parameters=(
        DOMAIN,
        Parameter(
            name="layer",
            type="layer",
            default="",
            description=f"A layer with height and width; the last one with a cell every {FINE} pixels unless said.",
        ),
        Parameter(
            name="measure",
            type="choice",
            default="product",
            choices=MEASURES,
            description="Cosine distance times mean difference, or one of them alone.",
        ),
    ),
    yields="heat",
    over="row",
    cost="instant",
    paper="Jaunet, Bono, Vuillemot, Wolf 2021: Sim2RealViz, visualizing the sim2real gap in robot ego-pose estimation",
)


def look(
    rows: Rows,
    subject: Subject,
    *,
    domain: str = "real",
    layer: str = "",
    measure: Measure = "product",
    watch: Watch = unwatched,
) -> Heat:
    """The distance of the two responses at each cell, laid over the picture where the cell looks."""
    from innerview.subjects import receptive_field

    image, layer = picture_of(subject), layer or fine_layer(subject)
    own, others = (maps_of(rows.in_domain(side), subject, layer) for side in (domain, other_domain(domain)))
    field = receptive_field(subject, layer)
    heat = field.pictured(distance(own, others, measure), image.shape[1:])
    return Heat(
        heat={image.name: heat.cpu().float().numpy()},
        rows=rows.numbers,
        unit=UNITS[measure].format(layer),
        signed=False,
        domain=domain,
        value={"layer": layer, "measure": measure, "reach_px": field.reach},
    )


def distance(own: Tensor, others: Tensor, measure: Measure) -> Tensor:
    """[row, 1, height, width] of two responses [row, channel, height, width].

    Where both are zero in all channels the cosine distance is 0; where one of them is, it is 1.
    """
    import torch

    mean = (own - others).abs().mean(1, keepdim=True)
    if measure == "l1":
        return mean
    lengths = own.norm(dim=1, keepdim=True), others.norm(dim=1, keepdim=True)
    both = lengths[0] * lengths[1]
    alike = torch.where(both > 0, (own * others).sum(1, keepdim=True) / both.clamp_min(1e-30), both)
    empty = (lengths[0] == 0) & (lengths[1] == 0)
    cosine = torch.where(empty, both, 1 - alike).clamp(0, 2)
    return cosine if measure == "cosine" else cosine * mean


def fine_layer(subject: Subject) -> str:
    """The last layer that still has a cell every few pixels; the first with height and width where none has."""
    layers = spatial_layers(subject)
    if not layers:
        raise LensError(f"'{subject.info.name}' has no layer with height and width.")
    image = picture_of(subject)
    shapes = dict(zip(subject.info.layers, subject.info.layer_shapes, strict=False))
    fine = [name for name in layers if shapes[name][1] * FINE >= image.shape[1]]
    return fine[-1] if fine else layers[0]
