"""Guided Grad-CAM: guided backpropagation where Grad-CAM is positive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from innerview.saliency.backpropagation import as_heat, flow_back
from innerview.saliency.cam import GRADIENTS, LAYER, SIGNED, cam_of
from innerview.schema import TARGET, Heat, Lens, Rows, Watch, unwatched

if TYPE_CHECKING:
    from innerview.subjects import Rule, Subject

LENS = Lens(
    name="guided-gradcam",
    question="Which pixels speak for the decision, where the layer finds it?",
    needs=("image input", "convolution", "gradients"),
    parameters=(TARGET, LAYER, GRADIENTS, SIGNED),
    variants={"g2gradcam": {"gradients": "guided"}},
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
    """Guided backpropagation times Grad-CAM, pixel by pixel."""
    cam = cam_of(rows, subject, target, layer, rule=gradients)
    guided = flow_back(rows, subject, target, rule="guided").inward
    product = guided[cam.image] * (cam.signed if signed else cam.rectified)
    return Heat(
        heat=as_heat({cam.image: product}),
        rows=rows.numbers,
        unit=f"of '{target}' squared, with maps of '{cam.layer}'",
        value={"layer": cam.layer},
        arrays={"inverted": cam.inverted},
    )
