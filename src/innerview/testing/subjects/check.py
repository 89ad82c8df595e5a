"""Checks any subject: for whoever adapts a family of models, and for the tests."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from innerview.errors import SubjectError
from innerview.schema import SubjectInfo
from innerview.subjects import Output, Subject, replay
from innerview.testing.subjects import random_inputs

ROWS, TOLERANCE = 4, 1e-4
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def check_subject(subject: Subject) -> SubjectInfo:
    """Run a subject on random inputs and hold it to what subjects promise; gives what is known of it.

    Raises SubjectError where heads or memory are not as announced, they differ from the model called by hand, a row
    depends on its neighbours, a site cannot be read, or something is left on the module.
    """
    before = {name: value.clone() for name, value in subject.module.state_dict().items()}
    flags = [part.training for part in subject.module.modules()]
    _check_shapes(subject, subject.run(random_inputs(subject.info, batch=ROWS, seed=0)))
    told = {site.name: site.shape for site in subject.info.memory if site.name in subject.told_names}
    replay(
        subject,
        [
            {
                **random_inputs(subject.info, batch=ROWS, seed=step),
                **{n: torch.zeros(ROWS, *s) for n, s in told.items()},
            }
            for step in range(3)
        ],
    )
    _check_sites(subject)
    _check_actions(subject)
    same = all(torch.equal(before[name], value) for name, value in subject.module.state_dict().items())
    _demand(same, subject, "changes its weights or buffers when it is run")
    _demand(flags == [part.training for part in subject.module.modules()], subject, "changes its training mode")
    _demand(not hooks_left(subject.module), subject, "leaves hooks on the module")
    return subject.info


def hooks_left(module: nn.Module) -> int:
    """How many hooks stand on a module and its parts."""
    return sum(len(getattr(part, table)) for part in module.modules() for table in _HOOKS)


def _check_shapes(subject: Subject, output: Output) -> None:
    wanted: dict[str, tuple[int, ...]] = {head.name: (ROWS, head.size) for head in subject.info.heads}
    got = {name: tuple(value.shape) for name, value in output.heads.items()}
    _demand(got == wanted, subject, f"announces heads {wanted} and gives {got}")
    wanted = {site.name: (ROWS, *site.shape) for site in subject.info.memory}
    got = {name: tuple(value.shape) for name, value in output.memory.items()}
    _demand(got == wanted, subject, f"announces the memory {wanted} and gives {got}")


def _demand_same(subject: Subject, one: Output, other: Output, problem: str) -> None:
    for name, value in (one.heads | one.memory).items():
        close = torch.allclose(value, (other.heads | other.memory)[name], atol=TOLERANCE, rtol=TOLERANCE)
        _demand(close, subject, f"is not repeatable at '{name}': {problem}")


def _check_sites(subject: Subject) -> None:
    inputs = random_inputs(subject.info, batch=ROWS, seed=9)
    plain = subject.run(inputs)
    read = subject.run(inputs, keep=[site.address for site in subject.sites])
    _demand_same(subject, plain, read, "reading its sites changes what it says")
    for site in subject.sites:
        rows = read.sites[site.address].shape[0]
        _demand(rows == ROWS, subject, f"gives {rows} rows at '{site.address}' for {ROWS} rows of input")


def _check_actions(subject: Subject) -> None:
    head = subject.acting_head
    if head is None:
        return
    output = subject.run(random_inputs(subject.info, batch=ROWS, seed=10))
    one, other = (
        subject.act(output, greedy=False, generators=[np.random.default_rng(row) for row in range(ROWS)])
        for _ in range(2)
    )
    _demand(np.array_equal(one, other), subject, "draws other actions from the same random numbers")
    greedy = subject.act(output, greedy=True)
    if greedy.ndim == 1:
        _demand(bool(((greedy >= 0) & (greedy < head.size)).all()), subject, f"chooses actions {greedy.tolist()}")


def _demand(holds: bool, subject: Subject, problem: str) -> None:
    if not holds:
        raise SubjectError(f"Subject '{subject.info.name}' {problem}.")
