"""Influence: how much a decision depends on each element of the memory, now and some steps ago."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from innerview.errors import LensError, UnknownName
from innerview.schema import Axis, Lens, MemorySite, Parameter, PerElement, Rows, Watch, of_kind, unwatched

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Output, Subject

TARGETS = ("action", "value")
MAX_BYTES = 256 << 20

LENS = Lens(
    name="influence",
    question="On which elements does the decision depend, and since when?",
    needs=("memory", "gradients", "episodes"),
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
    yields="per element",
    over="episode",
    cost="seconds",
    paper="Simonyan et al. 2013 (gradients); Werbos 1990: Backpropagation through time",
)


def look(
    rows: Rows,
    subject: Subject,
    *,
    array: str = "",
    target: str = "action",
    lags: int = 20,
    watch: Watch = unwatched,
) -> PerElement:
    """Gradients "influence" [steps, lags + 1, elements] of the target at a step by the state so many steps before.

    Rows are those of one episode. Lag 0 is the state that the heads of the same step read. The subject sees what was
    recorded and does what was recorded.
    """
    if target not in TARGETS:
        raise UnknownName("target", target, TARGETS)
    site, steps = _site(subject, array), rows.count
    elements = int(np.prod(site.shape))
    lags = min(lags, max(0, steps - 1))
    if steps * (lags + 1) * elements * 4 > MAX_BYTES:
        raise LensError(f"{steps} steps with {lags} lags are too many at once. Choose fewer steps, or fewer lags.")
    found = np.full((steps, lags + 1, elements), np.nan, np.float32)
    _Backwards(subject=subject, site=site, target=target, rows=rows, actions=_actions(rows)).fill(found, watch)
    span = (int(rows.numbers[0]), int(rows.numbers[-1]) + 1)
    return _output(found, array=array or "memory", target=target, rows=span)


def _output(found: np.ndarray, *, array: str, target: str, rows: tuple[int, int]) -> PerElement:
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
    return PerElement(
        values=by_lag.T,
        columns=tuple(Axis(name=f"lag {lag}", unit=f"|∂ {target}|") for lag in range(len(by_lag))),
        of=array,
        value=value,
        arrays={name: np.asarray(a, np.float32) for name, a in arrays.items()},
    )


def _site(subject: Subject, array: str) -> MemorySite:
    if not subject.info.memory:
        raise LensError(f"Subject '{subject.info.name}' has no memory.")
    return subject.info.memory_in(array) if array else subject.info.memory[0]


def _actions(rows: Rows) -> np.ndarray | None:
    taken = next((column for column in of_kind(rows.specs.values(), "action") if column.type == "int"), None)
    return rows.columns[taken.name] if taken is not None else None


@dataclass(frozen=True, kw_only=True)
class _Backwards:
    """Goes from the last recorded step to the first, carrying along what later decisions owe to the state.

    A nudge of nothing is added to each new state: the gradient by it is that by the state itself, wherever it is read.
    """

    subject: Subject
    site: MemorySite
    target: str
    rows: Rows
    actions: np.ndarray | None

    def fill(self, found: np.ndarray, watch: Watch) -> None:
        """Put every gradient into its place; only one step is differentiated at a time."""
        steps, before = self.rows.count, self._states(watch)
        owed: dict[str, Tensor] = {}
        for step in range(steps - 1, -1, -1):
            output, nudge, leaves = self._step(self._inputs(step), before[step])
            here, carried = self._one(self._score(output, step), nudge, leaves)
            found[step, 0] = _plain(here)[0]
            if owed:
                back, owed = self._several(output.memory, owed, nudge, leaves)
                for lag, gradient in enumerate(_plain(back), start=1):
                    found[step + lag, lag] = gradient
            if found.shape[1] > 1:
                owed = {name: _with_first(carried[name], owed.get(name), found.shape[1] - 1) for name in leaves}
            watch(2 * steps - step, 2 * steps, "gradients")

    def _inputs(self, step: int) -> Mapping[str, Tensor]:
        return self.rows.inputs(np.array([step]))

    def _states(self, watch: Watch) -> list[Mapping[str, Tensor]]:
        """What was remembered before each step."""
        before = [self.rows.memory_before(np.array([0]))]
        for number in range(self.rows.count):
            before.append(self.subject.run(self._inputs(number), before[-1]).memory)
            watch(number, 2 * self.rows.count, "states")
        return before

    def _step(
        self, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]
    ) -> tuple[Output, Tensor, dict[str, Tensor]]:
        import torch

        from innerview.subjects import Changes

        leaves = {name: value.detach().clone().requires_grad_() for name, value in memory.items()}
        nudge = torch.zeros_like(leaves[self.site.name]).requires_grad_()
        nudged = Changes({self.site.address: lambda state: state + nudge})
        with torch.enable_grad():
            return self.subject.run(inputs, leaves, grad=True, edits=nudged), nudge, leaves

    def _one(self, score: Tensor, nudge: Tensor, leaves: Mapping[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        """Gradients [1, …] of one decision by the state it read and by the one before."""
        import torch

        wanted = [nudge, *leaves.values()]
        given = torch.autograd.grad(score, wanted, retain_graph=True, allow_unused=True)
        here, *carried = (_or_zero(gradient, like)[None] for gradient, like in zip(given, wanted, strict=True))
        return here, dict(zip(leaves, carried, strict=True))

    def _several(
        self, after: Mapping[str, Tensor], owed: Mapping[str, Tensor], nudge: Tensor, leaves: Mapping[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """What decisions [decisions, …] that owe so much to the new state owe to it here, and to the one before."""
        import torch

        wanted = [nudge, *leaves.values()]
        tied = [name for name in owed if after[name].requires_grad]
        given = torch.autograd.grad(
            [after[name] for name in tied],
            wanted,
            [owed[name] for name in tied],
            allow_unused=True,
            is_grads_batched=True,
        )
        count = len(next(iter(owed.values())))
        here, *carried = (
            torch.zeros((count, *like.shape), dtype=like.dtype) if gradient is None else gradient
            for gradient, like in zip(given, wanted, strict=True)
        )
        return here, dict(zip(leaves, carried, strict=True))

    def _score(self, output: Output, step: int) -> Tensor:
        """What the gradient is taken of."""
        from innerview.subjects import scorer

        taken = None if self.actions is None else self.actions[step : step + 1]
        return scorer(self.subject, output.heads, self.target, taken=taken)(output.heads)[0]


def _or_zero(gradient: Tensor | None, like: Tensor) -> Tensor:
    return like.detach() * 0 if gradient is None else gradient


def _with_first(new: Tensor, others: Tensor | None, most: int) -> Tensor:
    """The newest decision's share before those of later ones, as far back as is asked."""
    import torch

    return (new if others is None else torch.cat([new, others]))[:most]


def _plain(gradients: Tensor) -> np.ndarray:
    """[decisions, elements]"""
    return np.asarray(gradients.flatten(1).cpu().numpy(), np.float32)
