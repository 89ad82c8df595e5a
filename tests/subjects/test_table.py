"""Every shape of module in the table passes the same suite."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from innerview.errors import EditError, SubjectError
from innerview.subjects import Subject
from innerview.testing.subjects import CASES, Case, random_inputs
from tests.subjects.memory_changes import memory_changes

ROWS = 4


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    if request.param.needs_sb3:
        pytest.importorskip("stable_baselines3")
        pytest.importorskip("sb3_contrib")
    return request.param


@pytest.fixture
def model(case: Case) -> object:
    return case.build()


@pytest.fixture
def adapted(case: Case, model: object) -> Subject:
    return case.adapt(model)


def hooks(module: nn.Module) -> int:
    tables = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return sum(len(getattr(layer, table)) for layer in module.modules() for table in tables)


def comparable(kind: str, value: Tensor) -> Tensor:
    return torch.log_softmax(value, dim=1) if kind == "policy" else value


def test_layers_are_named_in_order_of_execution(case: Case, adapted: Subject) -> None:
    layers = adapted.info.layers
    assert layers[: len(case.first_layers)] == case.first_layers
    assert not case.last_layers or layers[-len(case.last_layers) :] == case.last_layers
    names = dict(adapted.module.named_modules())
    assert len(set(layers)) == len(layers) and all(name in names for name in layers)


def test_heads_are_found(case: Case, adapted: Subject) -> None:
    assert {head.name: (head.kind, head.size) for head in adapted.info.heads} == dict(case.heads)


def test_memory_is_found(case: Case, adapted: Subject) -> None:
    assert {site.name: site.shape for site in adapted.info.memory} == dict(case.memory)
    fresh = adapted.initial_memory(ROWS)
    assert {name: tuple(value.shape) for name, value in fresh.items()} == {
        name: (ROWS, *shape) for name, shape in case.memory.items()
    }


def test_several_steps_equal_the_module_run_by_hand(case: Case, model: object, adapted: Subject) -> None:
    steps = [random_inputs(adapted.info, batch=ROWS, seed=seed) for seed in range(5)]
    adapted.module.eval()
    with torch.no_grad():
        wanted = case.by_hand(model, steps)
    kinds = {head.name: head.kind for head in adapted.info.heads}
    memory = None
    for step, heads in zip(steps, wanted, strict=True):
        output = adapted.run(step, memory)
        memory = output.memory
        for name, value in heads.items():
            got, hand = (comparable(kinds[name], v) for v in (output.heads[name], value))
            torch.testing.assert_close(got, hand, atol=1e-6, rtol=1e-6)
            assert output.heads[name].shape == (ROWS, case.heads[name][1])


def test_a_row_does_not_depend_on_its_neighbours(adapted: Subject) -> None:
    inputs = random_inputs(adapted.info, batch=ROWS, seed=1)
    together = adapted.run(inputs)
    alone = adapted.run({name: value[2:3] for name, value in inputs.items()})
    for name, value in alone.heads.items():
        torch.testing.assert_close(together.heads[name][2:3], value, atol=1e-6, rtol=1e-5)


def test_memory_is_reset_in_rows_that_are_done(case: Case, adapted: Subject) -> None:
    inputs = random_inputs(adapted.info, batch=ROWS, seed=2)
    after = adapted.run(inputs).memory
    done = torch.tensor([True, False, True, False])
    mixed = adapted.reset_memory(after, done)
    fresh = adapted.initial_memory(ROWS)
    assert set(mixed) == set(case.memory)
    for name, value in mixed.items():
        assert torch.equal(value[done], fresh[name][done])
        assert torch.equal(value[~done], after[name][~done])
        assert not torch.equal(after[name], fresh[name])


def test_every_layer_can_be_saved_and_no_hook_is_left(adapted: Subject) -> None:
    before = hooks(adapted.module)
    inputs = random_inputs(adapted.info, batch=ROWS, seed=3)
    plain = adapted.run(inputs)
    output = adapted.run(inputs, keep=adapted.info.layers)
    assert set(output.sites) == set(adapted.info.layers)
    assert all(value.shape[0] == ROWS for value in output.sites.values())
    for name, value in plain.heads.items():
        assert torch.equal(output.heads[name], value)
    assert hooks(adapted.module) == before == 0


def reduced(name: str, state: Tensor) -> Tensor:
    """Some elements zeroed, one set; the cell of an LSTM otherwise than its hidden state."""
    new = state.clone()
    new[..., 1 if name.endswith("cell") else 2] = 0
    new[..., 0] = 0.5
    return new


def test_a_change_reaches_heads_and_carried_state_as_by_hand(case: Case, model: object, adapted: Subject) -> None:
    if case.edited_by_hand is None:
        assert not case.memory, "every shape that remembers is changed by hand too"
        return
    steps = [random_inputs(adapted.info, batch=ROWS, seed=seed) for seed in range(4)]
    adapted.module.eval()
    with torch.no_grad():
        wanted = case.edited_by_hand(model, steps, reduced)
    memory = None
    for step, heads in zip(steps, wanted, strict=True):
        output = adapted.run(step, memory, edits=memory_changes(adapted, reduced))
        memory = output.memory
        assert all(torch.equal(value, reduced(name, value)) for name, value in memory.items())
        for name, value in heads.items():
            torch.testing.assert_close(output.heads[name], value, atol=1e-6, rtol=1e-5)
    assert hooks(adapted.module) == 0


def test_where_a_change_reaches_is_reported(case: Case, adapted: Subject) -> None:
    inputs = random_inputs(adapted.info, batch=ROWS, seed=1)
    plain = adapted.run(inputs)
    for site in adapted.info.memory:

        def only(name: str, state: Tensor, chosen: str = site.name) -> Tensor:
            return torch.full_like(state, 2.0) if name == chosen else state

        changed = adapted.run(inputs, edits=memory_changes(adapted, only))
        seen = any(not torch.equal(changed.heads[name], value) for name, value in plain.heads.items())
        assert seen == (site.editable != "carried")
        assert (changed.memory[site.name] == 2.0).all()


def test_a_change_that_changes_nothing_leaves_every_bit(adapted: Subject) -> None:
    inputs = random_inputs(adapted.info, batch=ROWS, seed=1)
    plain, same = (
        adapted.run(inputs),
        adapted.run(inputs, edits=memory_changes(adapted, lambda name, state: state.clone())),
    )
    assert all(torch.equal(same.heads[name], value) for name, value in plain.heads.items())
    assert all(torch.equal(same.memory[name], value) for name, value in plain.memory.items())


def test_a_change_that_fails_leaves_no_hook(case: Case, adapted: Subject) -> None:
    def fail(name: str, state: Tensor) -> Tensor:
        raise EditError("no such element")

    inputs = random_inputs(adapted.info, batch=ROWS, seed=1)
    if case.memory:
        with pytest.raises(EditError, match="no such element"):
            adapted.run(inputs, edits=memory_changes(adapted, fail))
        with pytest.raises(SubjectError, match="keep the shape"):
            adapted.run(inputs, edits=memory_changes(adapted, lambda name, state: state[:1]))
    assert hooks(adapted.module) == 0


def test_a_change_is_what_is_saved_of_its_layer(case: Case, adapted: Subject) -> None:
    inputs = random_inputs(adapted.info, batch=ROWS, seed=1)
    for site in adapted.info.memory:
        if site.editable == "state":
            output = adapted.run(
                inputs, keep=(site.layer,), edits=memory_changes(adapted, lambda name, state: torch.zeros_like(state))
            )
            assert not output.sites[site.layer].any()


def test_gradients_flow_to_inputs_and_memory(case: Case, adapted: Subject) -> None:
    inputs = {n: v.requires_grad_() for n, v in random_inputs(adapted.info, batch=ROWS, seed=4).items()}
    memory = {n: (v + 0.1).requires_grad_() for n, v in adapted.initial_memory(ROWS).items()}
    output = adapted.run(inputs, memory, grad=True)
    head = adapted.acting_head
    assert head is not None
    torch.manual_seed(0)
    score = (output.heads[head.name] * torch.randn(head.size)).sum()
    wanted = [*inputs.values(), *(v for n, v in memory.items() if "critic" not in n)]
    for gradient in torch.autograd.grad(score, wanted):
        assert gradient.abs().sum() > 0
    assert not adapted.run(inputs, memory).heads[head.name].requires_grad


def test_training_flags_and_random_numbers_are_as_before(case: Case) -> None:
    model = case.build()
    module = getattr(model, "policy", model)
    module.train()
    list(module.modules())[-1].training = False
    flags = [layer.training for layer in module.modules()]
    state, legacy = torch.get_rng_state(), np.random.get_state()[1].copy()
    adapted = case.adapt(model)
    adapted.run(random_inputs(adapted.info, batch=ROWS, seed=5), grad=True)
    assert [layer.training for layer in module.modules()] == flags
    assert torch.equal(torch.get_rng_state(), state)
    assert np.array_equal(np.random.get_state()[1], legacy)


def test_after_an_error_the_module_is_as_before(adapted: Subject) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a layer that breaks")

    adapted.module.train()
    last = dict(adapted.module.named_modules())[adapted.info.layers[-1]]
    handle = last.register_forward_hook(fail)
    with pytest.raises(SubjectError, match="a layer that breaks"):
        adapted.run(random_inputs(adapted.info, batch=ROWS, seed=6), keep=adapted.info.layers)
    handle.remove()
    assert hooks(adapted.module) == 0
    assert all(layer.training for layer in adapted.module.modules())


def test_acting_is_repeatable_row_by_row(adapted: Subject) -> None:
    inputs = random_inputs(adapted.info, batch=ROWS, seed=7)
    output = adapted.run(inputs)
    head = adapted.acting_head
    assert head is not None
    shape = (ROWS, head.size) if head.kind == "gaussian" else (ROWS,)
    assert adapted.act(output, greedy=True).shape == shape
    drawn = adapted.act(output, greedy=False, generators=[np.random.default_rng(i) for i in range(ROWS)])
    alone = adapted.run({name: value[3:] for name, value in inputs.items()})
    again = adapted.act(alone, greedy=False, generators=[np.random.default_rng(3)])
    np.testing.assert_allclose(drawn[3:], again, atol=1e-5)
    table = adapted.probabilities(output)
    assert (table is None) == (head.kind == "gaussian")
    if table is not None:
        np.testing.assert_allclose(table.sum(axis=1), 1)
