"""The maps of the gallery: each method over the measured steps, saved in the gallery's study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import innerview as iv
from innerview_zoo.gallery.agents import RecordedAgent


@dataclass(frozen=True, kw_only=True)
class Method:
    """A lens with parameters, under the paper's name."""

    title: str
    lens: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


GRADIENT = Method(title="Gradient", lens="gradient")
GUIDED = Method(title="Guided backpropagation", lens="guided")
GRADCAM = Method(title="Grad-CAM", lens="gradcam")
GUIDED_GRADCAM = Method(title="Guided Grad-CAM", lens="guided-gradcam")
G1 = Method(title="G1Grad-CAM", lens="gradcam", parameters={"gradients": "guided"})
G2 = Method(title="G2Grad-CAM", lens="guided-gradcam", parameters={"gradients": "guided"})
METHODS = (GRADIENT, GUIDED, GRADCAM, GUIDED_GRADCAM, G1, G2)
DISCRIMINATIVE = Method(title="Action-discriminative guided backpropagation", lens="discriminative")


@dataclass(frozen=True, kw_only=True)
class Maps:
    """What one method says of the measured steps."""

    heat: np.ndarray
    """[step, frame, height, width]; a CAM has one frame."""
    signed: bool
    unit: str
    inverted: float | None
    """Share of the steps whose CAM is inverted; None of methods that are no CAM."""

    def last(self, back: int = 0) -> np.ndarray:
        """[step, height, width] of a frame, counted back from the last."""
        return np.asarray(self.heat[:, -1 - back] if self.heat.shape[1] > 1 else self.heat[:, 0])


def maps(agent: RecordedAgent, method: Method, **parameters: Any) -> Maps:
    """Over all measured steps."""
    made = iv.look(
        agent.study,
        method.lens,
        agent.recording.name,
        rows=(agent.steps.start, agent.steps.stop),
        subject=agent.subject,
        progress=False,
        **{**method.parameters, **parameters},
    )
    name = made.shown["inputs"][0]
    heat = agent.study.result_array(made.id, f"heat.{name}")
    inverted = agent.study.result_array(made.id, "inverted") if "inverted" in made.arrays else None
    return Maps(
        heat=np.asarray(heat),
        signed=bool(made.shown["signed"]),
        unit=str(made.shown["unit"]),
        inverted=None if inverted is None else float(np.mean(inverted)),
    )
