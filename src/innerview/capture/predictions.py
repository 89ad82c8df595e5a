"""What a subject says of given rows, as columns and arrays: every head, and the sites that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from innerview.capture.heads import entropy
from innerview.capture.layout import estimate_columns
from innerview.schema import ArraySpec, Column, Head, Site, SubjectInfo, find_site
from innerview.subjects import Output

_HEAD_WORDS = "What the subject says."


@dataclass(frozen=True, kw_only=True)
class PredictionLayout:
    """What each row of predictions holds, beside which row of the recording it is about."""

    columns: tuple[Column, ...]
    arrays: tuple[ArraySpec, ...]
    heads: tuple[Head, ...]
    sites: tuple[str, ...]

    def values(self, output: Output) -> tuple[dict[str, list[float | int]], dict[str, np.ndarray]]:
        """Columns and arrays of a batch."""
        columns: dict[str, list[float | int]] = {}
        arrays: dict[str, np.ndarray] = {}
        for head in self.heads:
            said = _numpy(output.heads[head.name])
            arrays[f"head.{head.name}"] = said
            columns |= _head_values(head, said)
            if head.kind in ("policy", "answer"):
                arrays[f"probabilities.{head.name}"] = _softmax(said)
        arrays |= {site_array_name(site): _numpy(output.sites[site]) for site in self.sites}
        return columns, arrays


def prediction_layout(info: SubjectInfo, output: Output, *, keep: Sequence[str] = ()) -> PredictionLayout:
    """Columns and arrays of predictions, read off a first output."""
    columns = [column for head in info.heads for column in _head_columns(head)]
    arrays = [spec for head in info.heads for spec in _head_arrays(head)]
    arrays += [_site_array(each, find_site(each, info.sites), output.sites[each]) for each in keep]
    return PredictionLayout(columns=tuple(columns), arrays=tuple(arrays), heads=info.heads, sites=tuple(keep))


def _head_columns(head: Head) -> list[Column]:
    if head.kind == "answer":
        words = "The answer with the largest score."
        share = Column(name=f"{head.name}_probability", type="float", kind="decision", description="Of that answer.")
        return [
            Column(name=head.name, type="int", kind="decision", categories=head.names, description=words),
            share,
        ]
    if head.kind == "policy":
        words = "Entropy of the action probabilities: 0 is certain, 1 is a coin toss among all actions."
        return [Column(name=f"{head.name}_entropy", type="float", kind="decision", description=words)]
    if head.kind == "q":
        return [Column(name=head.name, type="float", kind="value", description="The best of the Q values.")]
    if head.size == 1:
        kind = "value" if head.kind == "value" else "decision"
        return [Column(name=head.name, type="float", kind=kind, description=_HEAD_WORDS)]  # type: ignore[arg-type]
    if head.kind == "pose":
        return estimate_columns(head, _HEAD_WORDS)
    return []


def _head_values(head: Head, said: np.ndarray) -> dict[str, list[float | int]]:
    if head.kind == "answer":
        best, shares = said.argmax(axis=1), _softmax(said).max(axis=1)
        return {head.name: best.tolist(), f"{head.name}_probability": shares.tolist()}
    if head.kind == "policy":
        return {f"{head.name}_entropy": entropy(_softmax(said)).tolist()}
    if head.kind == "q" or head.size == 1:
        return {head.name: said.max(axis=1).tolist()}
    if head.kind == "pose":
        return dict(zip(head.columns, said.T.tolist(), strict=True))
    return {}


def _head_arrays(head: Head) -> list[ArraySpec]:
    names = head.names if len(head.names) == head.size else ()
    said = ArraySpec(
        name=f"head.{head.name}", shape=(head.size,), dtype="float32", role="head", elements=names, label=head.name
    )
    if head.kind not in ("policy", "answer"):
        return [said]
    chances = ArraySpec(
        name=f"probabilities.{head.name}",
        shape=(head.size,),
        dtype="float32",
        role="probabilities",
        elements=names,
        label=head.name,
    )
    return [said, chances]


def _site_array(address: str, site: Site, value: torch.Tensor) -> ArraySpec:
    axes = site.axes if len(site.axes) == value.ndim - 1 else ()
    shape = tuple(value.shape[1:])
    return ArraySpec(
        name=site_array_name(address), shape=shape, dtype="float32", role=site.kind, axes=axes, label=address
    )


def site_array_name(address: str) -> str:
    """The array that holds a site's values: its address made of what a name may hold."""
    return "site." + "".join(letter if letter.isalnum() or letter in "._+-" else "+" for letter in address)


def _softmax(scores: np.ndarray) -> np.ndarray:
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True), np.float32)


def _numpy(value: torch.Tensor) -> np.ndarray:
    return value.detach().to("cpu", torch.float32).numpy()
