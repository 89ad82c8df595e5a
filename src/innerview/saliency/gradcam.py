"""Grad-CAM: where a layer's maps speak for the decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from innerview.saliency.backpropagation import as_heat
from innerview.saliency.cam import GRADIENTS, LAYER, SIGNED, cam_of
from innerview.schema import TARGET, Heat, Lens, Rows, Watch, unwatched

if TYPE_CHECKING:
    from innerview.subjects import Rule, Subject

LENS = Lens(
    name="gradcam",
    question="Where does the layer find what speaks for the decision?",
    needs=("image input", "convolution", "gradients"),
    parameters=(TARGET, LAYER, GRADIENTS, SIGNED),
    variants={"g1gradcam": {"gradients": "guided"}},
    yields="heat",
    over="row",
    cost="instant",
    paper="Selvaraju, Cogswell, Das, Vedantam, Parikh, Batra 2019: Grad-CAM; guided weights: Rosynski and others 2020",
)


def look(
    rows: Rows,
    subject: Subject,
    *,
    target: str = "action",
    layer: str = "",
    gradients: Rule = "plain",
    signed: bool = False,
    watch: Watch = unwatched,
) -> Heat:
    """The layer's maps, each weighted by how the target moves with it, summed and laid over the picture."""
    cam = cam_of(rows, subject, target, layer, rule=gradients)
    heat = {cam.image: cam.signed if signed else cam.rectified}
    return Heat(
        heat=as_heat(heat),
        rows=rows.numbers,
        unit=f"of '{target}', weighted maps of '{cam.layer}'",
        signed=signed,
        value={"layer": cam.layer},
        arrays={"inverted": cam.inverted},
    )
