"""A study of the crossing world with factors that are known: each is one channel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from innerview.rollouts.record import record
from innerview.schema import Result
from innerview.store import Study
from innerview.testing.crossing import CLASSES, Crossing, walker

RECORDING = "walks"


def crossing_study(folder: Path) -> Study:
    """Three episodes, with factors red, green and one that means nothing."""
    study = Study.create(folder, "crossing")
    record(study, walker(), Crossing(), episodes=3, seeds=12, name=RECORDING, lanes=2, progress=False)
    save_factors(study)
    return study


def save_factors(study: Study, *, layer: str = "see", names: tuple[str, ...] = ("red", "green", "")) -> Result:
    """Factors as the lens tells them."""
    said = {"layer": layer, "target": "value", "of": "attributions", "explained": 1.0}
    return study.save_result(
        "factors",
        recording=RECORDING,
        arguments={"layer": layer, "names": list(names)},
        value={**said, "factors": [_meaning(name) for name in names]},
        arrays={"directions": np.eye(4, dtype=np.float32)[: len(names)]},
    )


def _meaning(name: str) -> dict[str, Any]:
    classes = [{"class": c, "excess": 0.9 if c == name else 0.1} for c in CLASSES]
    return {"share": 0.3, "meaning": {"name": name, "means": name, "score": 0.9, "classes": classes}}
