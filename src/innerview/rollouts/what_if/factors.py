"""How much of each factor is where in what was rolled out: the directions that were found in the recording, live."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from innerview.errors import DamagedPart, LensError
from innerview.features.directions import Factors
from innerview.jobs.recorded import check_found_in
from innerview.rollouts.what_if.rollout import Node, WhatIfRollout
from innerview.schema import Result
from innerview.store import Study
from innerview.subjects import attribute


def amounts(study: Study, result: str, rollout: WhatIfRollout, node: Node) -> np.ndarray:
    """[factors + 1, height, width], signed, in the unit of the target; the last is what the factors leave out."""
    found = study.result(result)
    if found.kind != "factors" or "directions" not in found.arrays:
        raise LensError(
            f"Result '{result}' is of '{found.kind}'; what is rolled out is split by a result of 'factors'."
        )
    check_found_in(study, found, rollout.origin.subject)
    told, subject = _checked(found), rollout.subject_at(node)
    inputs, layer = rollout.inputs(node), told["layer"]
    if told["of"] == "activations":
        values = subject.run(inputs, node.before, keep=(layer,)).sites[layer]
    else:
        steps = found.parameters.get("steps", 10)
        values = attribute(subject, inputs, node.before, layer=layer, target=told["target"], steps=steps).values
    directions = study.result_array(result, "directions")
    split = Factors(
        directions=directions, explained=told["explained"], shares=np.zeros(len(directions)), method=told["method"]
    )
    each = split.amounts(values)
    rest = split.residual(values, each)
    return np.concatenate([each[0].detach().cpu().numpy(), rest.detach().cpu().numpy()]).astype(np.float32)


def _checked(found: Result) -> Mapping[str, Any]:
    """How factors were found, as a result of them says."""
    told, steps = found.value, found.parameters.get("steps", 10)
    named = isinstance(told, Mapping) and all(isinstance(told.get(n), str) for n in ("of", "layer", "target", "method"))
    if not named or type(told.get("explained")) not in (int, float) or type(steps) is not int:
        raise DamagedPart(f"Result '{found.id}' does not say how its factors were found. Find them again.")
    return told  # type: ignore[no-any-return]
