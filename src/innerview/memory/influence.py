"""Influence: how much a decision depends on each element of the memory, now and some steps ago."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import LensError, UnknownName
from innerview.schema import Found, Lens, Parameter, Rows, Watch, unwatched

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Output, Subject

TARGETS = ("action", "value")
TOGETHER = 32
"""Steps that are unrolled in one go, after as many as there are lags: bounds what must be kept for the way back."""
MOST_BYTES = 256 << 20

LENS = Lens(
    name="influence",
    question="On which elements does the decision depend, and since when?",
    needs=("memory", "gradients"),
    parameters=(
        Parameter(name="array", type="array", default="", description="Which memory; the first where not said."),
        Parameter(
            name="target",
            type="choice",
            default="action",
            choices=TARGETS,
            description="The log-probability of the action that was taken, or the value of the state.",
        ),
        Parameter(name="lags", type="int", default=20, low=0, high=200, description="How many steps to look back."),
    ),
    yields="value per element",
    over="episode",
    cost="seconds",
    paper="Simonyan et al. 2013 (gradients); Werbos 1990: Backpropagation through time",
)


def look(
    subject: Subject,
    steps: Sequence[Mapping[str, Tensor]],
    memory: Mapping[str, Tensor],
    *,
    rows: Rows | None = None,
    progress: Watch = unwatched,
    array: str = "",
    target: str = "action",
    lags: int = 20,
) -> Found:
    """Gradients "influence" [steps, lags + 1, elements] of the target at a step by the state so many steps before.

    `steps` are the subject's inputs along one episode, `memory` what it remembered before the first. Lag 0 is the state
    that the heads of the same step read. The subject sees what was recorded and does what was recorded.
    """
    if target not in TARGETS:
        raise UnknownName("target", target, TARGETS)
    site = _site(subject, array)
    elements = int(np.prod(next(s.shape for s in subject.info.memory if s.name == site)))
    lags = min(lags, max(0, len(steps) - 1))
    if len(steps) * (lags + 1) * elements * 4 > MOST_BYTES:
        raise LensError(f"{len(steps)} steps with {lags} lags are too many at once. Choose fewer steps, or fewer lags.")
    found = np.full((len(steps), lags + 1, elements), np.nan, np.float32)
    unroll = _Unroll(subject=subject, site=site, target=target, actions=_actions(rows, len(steps)))
    before: list[Mapping[str, Tensor]] = [memory]
    """States before each step so far, cut off from what made them; the last few are enough."""
    for first in range(0, len(steps), TOGETHER):
        stop = min(first + TOGETHER, len(steps))
        begin = max(0, first - lags)
        states = unroll.gradients(steps, before[begin], begin=begin, first=first, stop=stop, found=found)
        before[begin + 1 :] = states
        before[: max(0, stop - lags)] = [{}] * max(0, stop - lags)
        progress(stop, len(steps), "steps")
    start = rows.first if rows else 0
    return _told(found, array=array or "memory", target=target, rows=(start, start + len(steps)))


def _told(found: np.ndarray, *, array: str, target: str, rows: tuple[int, int]) -> Found:
    size = np.abs(found)
    known = np.isfinite(size)
    by_lag = np.where(known, size, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    value = {
        "array": array,
        "target": target,
        "rows": list(rows),
        "lags": list(range(found.shape[1])),
        "elements": by_lag.sum(axis=0).tolist(),
        "by_lag": by_lag.sum(axis=1).tolist(),
        "order": np.argsort(-by_lag.sum(axis=0), kind="stable").tolist(),
    }
    arrays = {
        "influence": np.nan_to_num(found),
        "by_step": np.where(known, size, 0).sum(axis=2),
        "by_element": by_lag.T.astype(np.float32),
    }
    return Found(value=value, arrays={name: np.asarray(a, np.float32) for name, a in arrays.items()})


def _site(subject: Subject, array: str) -> str:
    sites = [site.name for site in subject.info.memory]
    if not sites:
        raise LensError(f"Subject '{subject.info.name}' has no memory.")
    name = array.removeprefix("memory.") if array not in ("", "memory") else sites[0]
    if name not in sites:
        raise UnknownName("memory site", name, sites)
    return name


def _actions(rows: Rows | None, count: int) -> np.ndarray | None:
    if rows is None or "action" not in rows.specs:
        return None
    actions = rows.columns["action"]
    return actions if len(actions) == count and actions.dtype.kind == "f" else None


@dataclass(frozen=True, kw_only=True)
class _Unroll:
    """Runs the subject along recorded steps and asks for gradients by a nudge of nothing at each new state."""

    subject: Subject
    site: str
    target: str
    actions: np.ndarray | None

    def gradients(
        self,
        steps: Sequence[Mapping[str, Tensor]],
        memory: Mapping[str, Tensor],
        *,
        begin: int,
        first: int,
        stop: int,
        found: np.ndarray,
    ) -> list[Mapping[str, Tensor]]:
        """Fill in steps first … stop; steps from `begin` on are run before. Gives the state after each, cut off."""
        import torch

        nudges: list[Tensor] = []
        after: list[Mapping[str, Tensor]] = []
        with torch.enable_grad():
            for step in range(begin, stop):
                output, nudge = self._step(steps[step], memory)
                nudges.append(nudge)
                memory = output.memory
                after.append({name: value.detach() for name, value in memory.items()})
                if step >= first:
                    score, back = self._score(output, step), nudges[::-1][: found.shape[1]]
                    gradients = torch.autograd.grad(score, back, retain_graph=True, allow_unused=True)
                    for lag, gradient in enumerate(gradients):
                        told = torch.zeros_like(nudges[0]) if gradient is None else gradient
                        found[step, lag] = told.flatten().cpu().numpy()
        return after

    def _step(self, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]) -> tuple[Output, Tensor]:
        import torch

        nudge = torch.zeros_like(memory[self.site]).requires_grad_()

        def nudged(name: str, state: Tensor) -> Tensor:
            return state + nudge if name == self.site else state

        return self.subject.run(inputs, memory, grad=True, change=nudged), nudge

    def _score(self, output: Output, step: int) -> Tensor:
        """What the gradient is taken of: the log-probability of the action taken, the q of it, or a value."""
        info = self.subject.info
        if self.target == "value":
            heads = [head for head in info.heads if head.kind in ("value", "q")]
            if not heads:
                raise LensError(f"Subject '{info.name}' has no value head; choose the target 'action'.")
            return output.heads[heads[0].name].amax()
        head = self.subject.acting_head
        if head is None:
            raise LensError(f"Subject '{info.name}' has no head that acts; choose the target 'value'.")
        scores = output.heads[head.name][0]
        if head.kind == "gaussian":
            return scores.abs().sum()
        scores = scores.log_softmax(dim=0) if head.kind == "policy" else scores
        known = self.actions is not None and np.isfinite(self.actions[step])
        return scores[int(self.actions[step])] if known and self.actions is not None else scores.amax()
