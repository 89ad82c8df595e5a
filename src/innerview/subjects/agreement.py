"""Holds a subject to the module it is made of, called as its author calls it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from innerview.errors import SubjectError
from innerview.subjects.body import Heard, Output
from innerview.subjects.isolation import FAILURES
from innerview.subjects.memory.convention import apart
from innerview.subjects.subject import Subject

_OTHER_SEED = 1_000
_ALONE = 10.0
"""Rows run alone are rounded otherwise than among others: so many times more is allowed."""


def replay(subject: Subject, steps: Sequence[Mapping[str, Tensor]]) -> None:
    """An error where a subject says something else over these steps than its module called by hand.

    Inputs that tell of the step before stand among the inputs of each step. All rows begin with a fresh state.
    """
    bare = subject.unedited
    with bare.alone():
        try:
            heard = bare.by_hand(steps)
            again = bare.by_hand(steps, seed=_OTHER_SEED)
        except FAILURES as error:
            said = str(error).splitlines()[0] if str(error) else "no message"
            raise SubjectError(
                f"'{subject.info.name}' cannot be replayed: called by hand it failed, {type(error).__name__}: {said}"
            ) from error
        _check_chance(subject, heard, again)
        rows = len(next(iter(steps[0].values())))
        memory, alone = bare.initial_memory(rows), bare.initial_memory(1)
        for number, (step, author) in enumerate(zip(steps, heard, strict=True)):
            if author.problem:
                raise SubjectError(f"'{subject.info.name}' cannot be believed: {author.problem}")
            told = {name: step[name].reshape(memory[name].shape).to(memory[name]) for name in bare.told_names}
            memory = (bare.initial_memory(rows) if bare.apart else memory) | told
            output = bare.run(step, memory)
            for name, value in author.heads.items():
                gap = apart(output.heads[name], value, dtype=bare.dtype)
                if gap:
                    raise SubjectError(_differs(subject, name, gap, number, len(steps)))
            if author.action is not None:
                _check_action(subject, bare.act(output, greedy=True), author.action, output.heads, number)
            if rows > 1:
                own = {name: value[:1] for name, value in step.items()}
                single = _alone(bare, own, alone | {name: value[:1] for name, value in told.items()})
                _check_alone(subject, single.heads, output.heads, bare.dtype)
                alone = bare.initial_memory(1) if bare.apart else single.memory
            memory = output.memory


def _check_chance(subject: Subject, heard: Sequence[Heard], again: Sequence[Heard]) -> None:
    for one, other in zip(heard, again, strict=True):
        for name, value in one.heads.items():
            if apart(value, other.heads[name]):
                raise SubjectError(
                    f"Head '{name}' of '{subject.info.name}' is drawn at random: the same inputs give another one at "
                    "each call, in eval mode too. Return what it is drawn from (logits, a mean) beside it, and declare "
                    "that: heads={'logits': 'policy'}; a latent state that is sampled must be its mean in eval mode."
                )


def _differs(subject: Subject, head: str, gap: float, step: int, steps: int) -> str:
    carried = ", ".join(f"'{site.name}'" for site in subject.info.memory) or "none"
    return (
        f"'{subject.info.name}' is not believed: head '{head}' differs by up to {gap:.2g} from the module called by "
        f"hand, in step {step + 1} of {steps}. Carried as memory: {carried}. If something else is carried from step to "
        "step, take it as an argument of forward and return the new one, and declare it: memory={'state': (size,)}, or "
        "a dict or tuple of shapes. If the module has an eval() of its own, call it before."
    )


def _check_action(
    subject: Subject, got: np.ndarray, wanted: np.ndarray, heads: Mapping[str, Tensor], step: int
) -> None:
    head = subject.acting_head
    assert head is not None
    for row, (one, other) in enumerate(zip(got, wanted, strict=True)):
        if got.ndim > 1:
            same = np.allclose(one, other, atol=1e-4, rtol=1e-4)
        else:
            scores = heads[head.name][row]
            near = float(scores[int(one)] - scores[int(other)]) <= 1e-4 * max(1.0, float(scores.abs().max()))
            same = int(one) == int(other) or near
        if not same:
            raise SubjectError(
                f"'{subject.info.name}' is not believed: in step {step + 1} it does {one}, and its own predict "
                f"{other}. Please report this with the algorithm and its settings."
            )


def _alone(subject: Subject, inputs: Mapping[str, Tensor], memory: Mapping[str, Tensor]) -> Output:
    try:
        return subject.run(inputs, memory)
    except SubjectError as error:
        raise SubjectError(
            f"'{subject.info.name}' takes several rows and not one alone, so it depends on the other rows of a batch. "
            f"Normalise by fixed numbers (BatchNorm with track_running_stats). {error}"
        ) from error


def _check_alone(
    subject: Subject, alone: Mapping[str, Tensor], among: Mapping[str, Tensor], dtype: torch.dtype
) -> None:
    for name, value in alone.items():
        gap = apart(value / _ALONE, among[name][:1] / _ALONE, dtype=dtype)
        if gap:
            raise SubjectError(
                f"Head '{name}' of '{subject.info.name}' depends on the other rows of a batch: a row gives something "
                f"else alone than among others, by up to {gap * _ALONE:.2g}. Normalise by fixed numbers (BatchNorm in "
                "eval mode with track_running_stats), not over the batch: episodes are run side by side."
            )
