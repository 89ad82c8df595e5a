"""What a user notices beyond the table: kept activations, attributes, odd shapes, other ways to declare."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from innerview.errors import SubjectError
from innerview.schema import ActionSpace, from_json, to_json
from innerview.schema.subject import SubjectInfo
from innerview.subjects import subject
from innerview.testing.subjects.modules import (
    ArgumentRecurrent,
    Gaussian,
    InnerRecurrent,
    LearnedStart,
    StatefulRecurrent,
    cnn,
)

VECTOR = torch.zeros(1, 6)


def test_captured_activations_are_safe_from_in_place_layers() -> None:
    torch.manual_seed(0)
    module = cnn()
    adapted = subject(module, example=torch.zeros(1, 3, 7, 7))
    x = torch.rand(2, 3, 7, 7)
    kept = adapted.run({"x": x}, keep=["conv.0", "conv.1"]).sites
    assert bool((kept["conv.0"] < 0).any())
    assert torch.equal(kept["conv.0"].relu(), kept["conv.1"])


def test_gradients_can_be_taken_at_captured_activations() -> None:
    torch.manual_seed(0)  # with some weights every unit is silent
    adapted = subject(cnn(), example=torch.zeros(1, 3, 7, 7))
    output = adapted.run({"x": torch.rand(2, 3, 7, 7)}, keep=["conv.2"], grad=True)
    (gradient,) = torch.autograd.grad(output.heads["value"].sum(), output.sites["conv.2"])
    assert gradient.abs().sum() > 0
    timed = subject(InnerRecurrent(nn.GRU(6, 8)), example=VECTOR)
    output = timed.run({"x": torch.rand(2, 6)}, keep=["core", "value"], grad=True)
    assert output.sites["core"].shape == (2, 8)
    for layer in ("core", "value"):
        (gradient,) = torch.autograd.grad(output.heads["value"].sum(), output.sites[layer], retain_graph=True)
        assert gradient.abs().sum() > 0


def test_a_state_kept_as_an_attribute_stays_the_users() -> None:
    module = StatefulRecurrent()
    module(torch.ones(1, 6))
    mine = module.hidden
    adapted = subject(module, example=VECTOR)
    after = adapted.run({"x": torch.ones(4, 6)}).memory
    adapted.run({"x": torch.ones(4, 6)}, after)
    assert module.hidden is mine
    assert bool((adapted.initial_memory(2)["core"] == 0).all())


def test_a_learned_start_follows_training() -> None:
    module = LearnedStart()
    adapted = subject(module, example=VECTOR)
    assert torch.equal(adapted.initial_memory(2)["core"][1], module.start.detach())
    with torch.no_grad():
        module.start.add_(1)
    assert torch.equal(adapted.initial_memory(2)["core"][1], module.start.detach())


def test_a_modules_own_initial_state_is_used() -> None:
    class Own(ArgumentRecurrent):
        def initial_state(self, batch: int) -> Tensor:
            return torch.full((1, batch, 8), 0.5)

    adapted = subject(Own(nn.GRU(5, 8)), example=VECTOR)
    assert torch.equal(adapted.initial_memory(3)["core"], torch.full((3, 8), 0.5))


def test_memory_can_be_declared_as_an_attribute() -> None:
    class Echo(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.policy = nn.Linear(4, 3)
            self.register_buffer("trace", torch.zeros(1, 4))

        def forward(self, x: Tensor) -> Tensor:
            self.trace = 0.5 * self.trace + x
            return self.policy(self.trace)  # type: ignore[no-any-return]

    module = Echo()
    adapted = subject(module, example=torch.zeros(1, 4), memory={"trace": 4})
    x = torch.ones(2, 4)
    first = adapted.run({"x": x})
    second = adapted.run({"x": x}, first.memory)
    assert torch.equal(second.memory["trace"], torch.full((2, 4), 1.5))
    assert torch.equal(module.trace, torch.zeros(1, 4))


def test_memory_can_be_declined() -> None:
    adapted = subject(InnerRecurrent(nn.GRU(6, 8)), example=VECTOR, memory=False)
    assert adapted.info.memory == () and adapted.run({"x": torch.ones(2, 6)}).memory == {}


def test_sequences_as_examples_lead_to_single_steps() -> None:
    for rows_first, shape in ((True, (2, 9, 6)), (False, (9, 2, 6))):
        adapted = subject(InnerRecurrent(nn.LSTM(6, 8, batch_first=rows_first)), example=torch.zeros(shape))
        assert adapted.info.inputs[0].shape == (6,)
        assert adapted.run({"x": torch.ones(5, 6)}).heads["policy"].shape == (5, 3)


class Reader(nn.Module):
    """Reads a sentence in one call, by a layer or by a loop over a cell."""

    def __init__(self, read: nn.Module) -> None:
        super().__init__()
        self.words, self.read, self.answer = nn.Embedding(20, 4), read, nn.Linear(8, 5)

    def forward(self, tokens: Tensor) -> Tensor:
        words, state = self.words(tokens), None
        if isinstance(self.read, nn.RNNBase):
            return self.answer(self.read(words)[1][0])  # type: ignore[no-any-return]
        for word in words.unbind(1):
            state = self.read(word, state)
        return self.answer(state[0] if isinstance(state, tuple) else state)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "read", [nn.GRU(4, 8, batch_first=True), nn.GRUCell(4, 8), nn.LSTMCell(4, 8), nn.RNNCell(4, 8)]
)
def test_a_recurrent_layer_that_reads_a_sentence_is_no_memory(read: nn.Module) -> None:
    adapted = subject(Reader(read), example=torch.zeros(1, 7, dtype=torch.int64))
    assert adapted.info.memory == ()
    assert adapted.info.inputs[0].kind == "tokens" and adapted.info.heads[0].kind == "answer"
    tokens = torch.arange(14).reshape(2, 7)
    torch.testing.assert_close(adapted.run({"tokens": tokens}).heads["answer"], adapted.module(tokens))


def test_a_cell_that_runs_twice_from_a_state_of_its_own_remembers() -> None:
    class Pondering(StatefulRecurrent):
        def forward(self, x: Tensor) -> Tensor:
            super().forward(x)
            return super().forward(x)

    adapted = subject(Pondering(), example=VECTOR)
    x = torch.ones(2, 6)
    first = adapted.run({"x": x})
    assert [site.name for site in adapted.info.memory] == ["core"]
    module: StatefulRecurrent = adapted.module  # type: ignore[assignment]
    wanted = [module(x), module(x)]
    for output, right in zip((first, adapted.run({"x": x}, first.memory)), wanted, strict=True):
        torch.testing.assert_close(output.heads["policy"], right)


@pytest.mark.parametrize("cell", [nn.GRUCell, nn.LSTMCell, nn.RNNCell])
def test_a_bare_cell_is_not_looped_over_a_sequence(cell: type[nn.Module]) -> None:
    with pytest.raises(SubjectError, match="Expected input to be 1D or 2D, got 3D"):
        subject(cell(6, 8), example=torch.zeros(2, 5, 6), heads="q")  # type: ignore[call-arg, arg-type]


def test_two_recurrent_layers_in_one_argument() -> None:
    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fast, self.slow = nn.GRUCell(6, 8), nn.LSTMCell(8, 5)
            self.policy = nn.Linear(5, 3)

        def forward(self, x: Tensor, state: tuple[Tensor, tuple[Tensor, Tensor]]) -> dict[str, object]:
            fast = self.fast(x, state[0])
            slow = self.slow(fast, state[1])
            return {"policy": self.policy(slow[0]), "state": (fast, slow)}

    adapted = subject(Two(), example=VECTOR)
    assert [site.name for site in adapted.info.memory] == ["fast", "slow.hidden", "slow.cell"]


def test_a_dataclass_and_declared_heads_in_order() -> None:
    @dataclass
    class Out:
        first: Tensor
        second: Tensor

    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(6, 3), nn.Linear(6, 3)

        def forward(self, x: Tensor) -> Out:
            return Out(self.a(x), self.b(x))

    adapted = subject(Odd(), example=VECTOR, heads={"first": "q", "second": "advantage"})
    assert [(head.name, head.kind) for head in adapted.info.heads] == [("first", "q"), ("second", "advantage")]
    renamed = subject(Odd(), example=VECTOR, heads={"online": "q", "target": "other"})
    assert [head.name for head in renamed.info.heads] == ["online", "target"]


def test_an_action_space_reports_logits_from_means() -> None:
    space = ActionSpace(kind="continuous", names=("steer", "gas"), low=(-1, 0), high=(1, 1))
    adapted = subject(nn.Sequential(nn.Linear(6, 2)), example=VECTOR, actions=space)
    (head,) = adapted.info.heads
    assert (head.kind, head.names) == ("gaussian", ("steer", "gas"))


def test_sampled_actions_follow_the_probabilities() -> None:
    adapted = subject(nn.Sequential(nn.Linear(6, 3)), example=VECTOR, heads="policy")
    output = adapted.run({"input": torch.randn(1, 6).expand(4000, 6)})
    drawn = adapted.act(output, greedy=False, generators=[np.random.default_rng(i) for i in range(4000)])
    table = adapted.probabilities(output)
    assert table is not None
    np.testing.assert_allclose(np.bincount(drawn, minlength=3) / 4000, table[0], atol=0.04)


def test_sampled_continuous_actions_have_the_learned_spread() -> None:
    adapted = subject(Gaussian(), example=VECTOR)
    output = adapted.run({"x": torch.zeros(4000, 6)})
    drawn = adapted.act(output, greedy=False, generators=[np.random.default_rng(i) for i in range(4000)])
    np.testing.assert_allclose(drawn.std(axis=0), np.exp([-0.5, -1.0]), rtol=0.05)


def test_info_goes_to_json_and_back() -> None:
    info = subject(ArgumentRecurrent(nn.LSTM(5, 8, num_layers=2)), example=VECTOR, actions=("a", "b", "c")).info
    assert from_json(SubjectInfo, to_json(info)) == info


def test_dropout_and_batch_norm_are_in_eval_mode_and_unchanged() -> None:
    module = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 3)).train()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    adapted = subject(module, example=VECTOR, heads="policy")
    one, two = (adapted.run({"input": torch.ones(2, 6)}).heads["policy"] for _ in range(2))
    assert torch.equal(one, two)
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())


def test_runs_from_several_threads_do_not_mix() -> None:
    adapted = subject(InnerRecurrent(nn.GRU(6, 8)), example=VECTOR)
    batches = [{"x": torch.full((rows, 6), float(rows))} for rows in range(1, 9)]
    wanted = [adapted.run(batch, keep=["core"]) for batch in batches]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(10):
            for one, other in zip(pool.map(lambda b: adapted.run(b, keep=["core"]), batches), wanted, strict=True):
                assert torch.equal(one.memory["core"], other.memory["core"])
                assert torch.equal(one.sites["core"], other.sites["core"])


def test_printed_a_subject_reports_its_parts_in_a_few_lines() -> None:
    told = str(subject(ArgumentRecurrent(nn.GRUCell(5, 8)), example=torch.zeros(1, 6)).info).splitlines()
    assert told[0].startswith("ArgumentRecurrent (torch, ") and told[1] == "inputs: x (vector 6)"
    assert [line.split(":")[0] for line in told[1:]] == ["inputs", "layers", "memory", "heads"]
    assert "core (8)" in told[3] and "policy (policy of" in told[4]


class Rescaled(nn.Module):
    """A layer is called as the head is, and what comes out is something else."""

    def __init__(self) -> None:
        super().__init__()
        self.policy, self.value = nn.Linear(4, 3), nn.Linear(4, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.policy(x).masked_fill(torch.tensor([False, True, False]), -50.0) / 2, self.value(x) * 10


class OnlyPolicy(Rescaled):
    def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return super().forward(x)[0]


@torch.no_grad()
def test_a_head_is_what_the_module_puts_out_and_no_layer_of_that_name() -> None:
    x = torch.rand(5, 4)
    both, single = Rescaled(), OnlyPolicy()
    heads = {"policy": "policy", "value": "value"}
    output = subject(both, inputs={"x": (4,)}, heads=heads).run({"x": x}).heads
    torch.testing.assert_close(output["policy"], both(x)[0])
    torch.testing.assert_close(output["value"], both(x)[1])
    output = subject(single, inputs={"x": (4,)}, heads="policy").run({"x": x}).heads
    torch.testing.assert_close(output["policy"], single(x))
