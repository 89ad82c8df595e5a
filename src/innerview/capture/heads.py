"""What a subject's answer is as arrays and columns of a recording."""

from __future__ import annotations

import numpy as np
import torch

from innerview.capture.layout import Layout
from innerview.subjects import Output, Subject


def output_arrays(subject: Subject, form: Layout, output: Output) -> dict[str, np.ndarray]:
    """Memory, activations, probabilities and q values, [batch, *shape] by name of the array."""
    arrays = {array: _numpy(output.memory[site]) for site, array in form.memory.items()}
    arrays |= {array: _numpy(output.sites[layer]) for layer, array in form.activations.items()}
    probabilities = subject.probabilities(output)
    if probabilities is not None:
        arrays["probabilities"] = probabilities
    head = subject.acting_head
    if head is not None and head.kind == "q":
        arrays["q"] = _numpy(output.heads[head.name])
    return arrays


def decisions(form: Layout, output: Output, probabilities: np.ndarray | None) -> dict[str, list[float]]:
    """Values, entropy and estimates by name of the column, a number for each row of the batch."""
    columns = {name: output.heads[head.name].amax(dim=1).tolist() for name, head in form.value_heads.items()}
    if probabilities is not None:
        columns["entropy"] = entropy(probabilities).tolist()
    for head, names in form.estimates.items():
        columns |= dict(zip(names, output.heads[head].T.tolist(), strict=True))
    return columns


def entropy(probabilities: np.ndarray) -> np.ndarray:
    """Entropy of each row of [batch, actions] over that of a coin toss among all actions."""
    if probabilities.shape[1] < 2:
        return np.zeros(len(probabilities))
    safe = np.clip(probabilities, 1e-12, 1.0)
    return np.asarray(-(safe * np.log(safe)).sum(axis=1) / np.log(probabilities.shape[1]))


def _numpy(value: torch.Tensor) -> np.ndarray:
    return value.detach().to("cpu", torch.float32).numpy()
