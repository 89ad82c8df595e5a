"""Attribution through recurrent state: which of the last observations decide now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from innerview.errors import LensError
from innerview.saliency.backpropagation import as_planes, check_finite, inputs_of, vectors_of
from innerview.saliency.perturbation import FILLS, Fill, beginning
from innerview.schema import TARGET, Heat, Lens, Parameter, Rows, Watch, unwatched

if TYPE_CHECKING:
    from torch import Tensor

    from innerview.subjects import Output, Rule, Subject
    from innerview.subjects.attribution.targets import Target

Method = Literal["gradient", "times input", "integrated", "guided"]
METHODS: tuple[Method, ...] = ("gradient", "times input", "integrated", "guided")
LENS = Lens(
    name="recurrent",
    question="Which of the last observations decide now?",
    needs=("memory", "gradients", "episodes"),
    parameters=(
        TARGET,
        Parameter(
            name="method",
            type="choice",
            default="gradient",
            choices=METHODS,
            description="The gradient, the gradient times the input, integrated gradients, or guided backpropagation.",
        ),
        Parameter(
            name="lags",
            type="int",
            default=8,
            low=1,
            high=200,
            description="How many steps before this one are unrolled; fewer where the episode began later.",
        ),
        Parameter(
            name="steps", type="int", default=16, low=2, high=500, description="How finely an integral is followed."
        ),
        Parameter(
            name="baseline",
            type="choice",
            default="black",
            choices=FILLS,
            description="Where an integral begins: black pictures, their mean colour, or blurred; vectors begin at 0.",
        ),
    ),
    yields="heat",
    over="row",
    cost="seconds",
    paper="Rumelhart, Hinton, Williams 1986 (backpropagation through time); Sundararajan, Taly, Yan 2017",
)
_AT_ONCE = 256
"""Observations that are held with their gradients together."""


def look(
    rows: Rows,
    subject: Subject,
    *,
    target: str = "action",
    method: Method = "gradient",
    lags: int = 8,
    steps: int = 16,
    baseline: Fill = "black",
    watch: Watch = unwatched,
) -> Heat:
    """Attribution to the observations of the last steps, by every input; the memory before the oldest is the recorded.

    `mass` [row, step]: the share of each step in the sum of all sizes; `history` [row]: how many steps before this one
    there were; with integrated gradients `error`: what the sum of a row misses, as a share of what it should be.
    """
    from innerview.subjects import settled_target

    names, specs = inputs_of(subject), {spec.name: spec for spec in subject.info.inputs}
    history = np.minimum(rows.history(np.arange(rows.count)), lags)
    heat = {n: np.zeros((rows.count, lags + 1, *as_planes_shape(specs[n].shape)), np.float32) for n in names}
    mass, error = np.zeros((rows.count, lags + 1)), np.zeros(rows.count)
    for places in _alike(history):
        watch(int(places[0]), rows.count, "through time")
        past = _Past.read(rows, subject, places, int(history[places[0]]))
        asked = settled_target(subject, past.run().heads, target)
        if method == "integrated":
            found, error[places] = _integrated(rows, past, asked, steps, baseline)
        else:
            found = past.gradients(asked, rule="guided" if method == "guided" else "plain")
            if method == "times input":
                found = [{n: g * past.inputs[step][n] for n, g in by.items()} for step, by in enumerate(found)]
        for lag, by_input in enumerate(reversed(found)):
            for name, value in by_input.items():
                heat[name][places, lags - lag] = as_planes(value).detach().cpu().float().numpy()
                mass[places, lags - lag] += value.detach().abs().flatten(1).sum(1).cpu().double().numpy()
    whole = mass.sum(1, keepdims=True)
    shares = np.divide(mass, whole, out=np.zeros_like(mass), where=whole > 0)
    flat = {name: values.reshape(len(values), -1, *values.shape[3:]) for name, values in heat.items()}
    return Heat(
        heat=flat,
        rows=rows.numbers,
        unit=f"of '{target}'" + ("" if method in ("times input", "integrated") else " per unit of the input"),
        steps=step_names(lags),
        vectors=vectors_of(subject),
        arrays={"mass": shares, "history": history} | ({"error": error} if method == "integrated" else {}),
    )


def step_names(lags: int) -> tuple[str, ...]:
    """t−k, …, t−1, t."""
    return tuple(f"t−{lag}" if lag else "t" for lag in range(lags, -1, -1))


def as_planes_shape(shape: Sequence[int]) -> tuple[int, int, int]:
    """Channel, height, width of the heat of an input."""
    import torch

    planes: tuple[int, int, int] = tuple(as_planes(torch.empty(1, *shape)).shape[1:])  # type: ignore[assignment]
    return planes


def _alike(history: np.ndarray) -> Iterator[np.ndarray]:
    """Places that have as many steps before them, some at a time."""
    for steps in np.unique(history).tolist():
        places, size = np.flatnonzero(history == steps), max(1, _AT_ONCE // (steps + 1))
        yield from np.split(places, range(size, len(places), size))


@dataclass(frozen=True)
class _Past:
    """Some rows with as many steps before each, and the memory before the first of them."""

    subject: Subject
    inputs: list[dict[str, Tensor]]
    """Of each step, the oldest first, [rows, …] by name."""
    memory: Mapping[str, Tensor]
    done: list[tuple[np.ndarray, np.ndarray]]
    """What was done and earned in each step but the last, where the subject is told."""

    @staticmethod
    def read(rows: Rows, subject: Subject, places: np.ndarray, lags: int) -> _Past:
        """As it was recorded."""
        back = range(lags, -1, -1)
        inputs = [{n: v.detach().clone() for n, v in rows.inputs(places, back=lag).items()} for lag in back]
        memory = {n: v.detach() for n, v in rows.memory_before(places, back=lags).items()}
        done = [rows.done(places, back=lag) for lag in back if lag] if subject.told_names else []
        return _Past(subject, inputs, memory, done)

    def run(self, *, keep: Sequence[str] = (), rule: Rule = "plain", grad: bool = False) -> Output:
        """What is said in the last step, unrolled from the first."""
        memory = self.memory
        for step, inputs in enumerate(self.inputs[:-1]):
            memory = self.subject.run(inputs, memory, rule=rule, grad=grad).memory
            if self.done:
                memory = self.subject.acted(memory, *self.done[step])
        return self.subject.run(self.inputs[-1], memory, keep=keep, rule=rule, grad=grad)

    def gradients(self, target: Target, *, rule: Rule = "plain") -> list[dict[str, Tensor]]:
        """By every input of each step, the oldest first."""
        import torch

        names = inputs_of(self.subject)
        watched = [{n: v.detach().requires_grad_(n in names) for n, v in step.items()} for step in self.inputs]
        with torch.enable_grad():
            score = target.read(replace(self, inputs=watched).run(keep=target.keep, rule=rule, grad=True))
            sources = [step[n] for step in watched for n in names]
            found = torch.autograd.grad(score.sum(), sources, allow_unused=True) if score.requires_grad else ()
        by_step = [dict(zip(names, found[i : i + len(names)], strict=True)) for i in range(0, len(found), len(names))]
        reached = [{n: g for n, g in each.items() if g is not None} for each in by_step]
        if not any(reached):
            raise LensError(
                f"No gradient of '{target.words}' reached any observation: something between them cuts it off."
            )
        if len(reached) > 1 and not any(reached[:-1]):
            raise LensError(
                f"No gradient of '{target.words}' goes back through the memory of '{self.subject.info.name}': the "
                "module detaches it, or the target does not depend on it."
            )
        for each in reached:
            check_finite(self.subject, each)
        return reached


def _integrated(
    rows: Rows, past: _Past, target: Target, steps: int, baseline: Fill
) -> tuple[list[dict[str, Tensor]], np.ndarray]:
    """Integrated gradients from a baseline in every step at once, and what the sum misses, [rows]."""
    import torch

    names = inputs_of(past.subject)
    specs = {spec.name: spec for spec in past.subject.info.inputs}

    start = [{n: beginning(rows, specs[n], step[n], baseline) for n in names} for step in past.inputs]
    way = [{n: step[n] - begun[n] for n in names} for step, begun in zip(past.inputs, start, strict=True)]

    def between(share: float) -> _Past:
        return replace(
            past,
            inputs=[
                {**step, **{n: begun[n] + share * along[n] for n in names}}
                for step, begun, along in zip(past.inputs, start, way, strict=True)
            ],
        )

    total = [{n: torch.zeros_like(v) for n, v in along.items()} for along in way]
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        for sums, by_input in zip(total, between(float(node)).gradients(target), strict=True):
            for name, gradient in by_input.items():
                sums[name] += float(weight) * gradient
    found = [{n: sums[n] * along[n] for n in names} for sums, along in zip(total, way, strict=True)]
    with torch.no_grad():
        wanted = target.read(past.run(keep=target.keep)) - target.read(between(0.0).run(keep=target.keep))
    summed = torch.stack([value.flatten(1).sum(1) for by_input in found for value in by_input.values()]).sum(0)
    return found, ((summed - wanted).abs() / wanted.abs().clamp_min(1e-6)).cpu().numpy()
