"""Bad input gets an error that says what is wrong and what to do."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from innerview.errors import SubjectError, UnknownName
from innerview.subjects import from_sb3, subject
from innerview.testing.subjects.modules import ArgumentRecurrent, Gaussian, HomeMade


def actor_critic() -> ArgumentRecurrent:
    return ArgumentRecurrent(nn.GRUCell(5, 8))


def test_an_input_of_the_wrong_shape_reports_what_is_taken() -> None:
    adapted = subject(actor_critic(), example=torch.zeros(1, 6))
    with pytest.raises(SubjectError, match=r"Input 'x' has shape \[2, 7\]; this subject takes \[batch, 6\]"):
        adapted.run({"x": torch.zeros(2, 7)})
    with pytest.raises(SubjectError, match="Input 'x' is missing; given: y"):
        adapted.run({"y": torch.zeros(2, 6)})


def test_memory_of_the_wrong_shape_reports_what_is_taken() -> None:
    adapted = subject(actor_critic(), example=torch.zeros(1, 6))
    with pytest.raises(SubjectError, match=r"Memory 'core' has shape \[1, 8\]; expected \[2, 8\]"):
        adapted.run({"x": torch.zeros(2, 6)}, {"core": torch.zeros(1, 8)})
    with pytest.raises(UnknownName, match="Unknown memory site 'core'"):
        adapted.run({"x": torch.zeros(2, 6)}, {"cor": torch.zeros(2, 8)})
    with pytest.raises(SubjectError, match="the memory has 2 rows"):
        adapted.reset_memory({"core": torch.zeros(2, 8)}, torch.tensor([True]))


def test_an_unknown_layer_names_the_nearest() -> None:
    adapted = subject(actor_critic(), example=torch.zeros(1, 6))
    with pytest.raises(UnknownName, match=r"Unknown layer 'encod'\. Did you mean 'encode'\?"):
        adapted.run({"x": torch.zeros(2, 6)}, keep=["encod"])


@pytest.mark.parametrize(("bad", "word"), [(torch.nan, "not a number"), (torch.inf, "infinite")])
def test_a_head_that_is_no_number_is_named_with_its_rows(bad: float, word: str) -> None:
    adapted = subject(actor_critic(), example=torch.zeros(1, 6))
    with torch.no_grad():
        adapted.module.value.bias.fill_(bad)  # type: ignore[union-attr]
    with pytest.raises(SubjectError, match=f"Head 'value' is {word} in rows 0, 1 of 2"):
        adapted.run({"x": torch.ones(2, 6)})


def test_masked_actions_are_no_error() -> None:
    class Masked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.policy = nn.Linear(6, 3)

        def forward(self, x: Tensor) -> dict[str, Tensor]:
            return {"policy": self.policy(x).masked_fill(torch.tensor([False, True, False]), -torch.inf)}

    adapted = subject(Masked(), example=torch.zeros(1, 6))
    table = adapted.probabilities(adapted.run({"x": torch.ones(2, 6)}))
    assert table is not None and (table[:, 1] == 0).all()


def test_a_module_without_forward_is_asked_for_the_method_to_call() -> None:
    class Agent(nn.Module):
        def decide(self, x: Tensor) -> None: ...

    with pytest.raises(SubjectError, match=r"Agent has no forward.* It has decide: .*call='decide'"):
        subject(Agent(), example=torch.zeros(1, 6))
    with pytest.raises(UnknownName, match=r"Unknown method of Agent 'decides'\. Did you mean 'decide'"):
        subject(Agent(), example=torch.zeros(1, 6), call="decides")


def test_an_example_that_forward_cannot_take_is_suspected_beside_its_state() -> None:
    class Must(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.core, self.policy = nn.GRUCell(6, 8), nn.Linear(8, 3)

        def forward(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
            state = self.core(x, state)
            return self.policy(state), state

    with pytest.raises(SubjectError, match=r"the argument 'state'.*check the shape of the example as well"):
        subject(Must(), example=torch.zeros(1, 9))
    assert subject(Must(), example=torch.zeros(1, 6)).info.memory[0].shape == (8,)


def test_a_path_is_not_a_model() -> None:
    with pytest.raises(SubjectError, match=r"takes a model, not a path.*PPO\.load\('agent\.zip'\)"):
        from_sb3("agent.zip")


def test_no_example_asks_for_one() -> None:
    with pytest.raises(SubjectError, match=r"needs an example of what it takes: example=torch.zeros"):
        subject(actor_critic())


def test_an_example_that_does_not_fit_gives_the_modules_own_words() -> None:
    with pytest.raises(SubjectError, match=r"could not be run on a batch made from the example.*cannot be multiplied"):
        subject(actor_critic(), example=torch.zeros(1, 9))


def test_an_output_without_names_asks_for_its_kind() -> None:
    with pytest.raises(SubjectError, match=r"its output holds 'output' of 4.*heads='policy' \(or 'q'\)"):
        subject(nn.Linear(6, 4), example=torch.zeros(1, 6))


def test_an_output_without_tensors_reports_how_to_read_layers() -> None:
    class Act(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.actor = nn.Linear(6, 3)

        def forward(self, x: Tensor) -> list[int]:
            return [int(row.argmax()) for row in self.actor(x)]

    with pytest.raises(SubjectError, match=r"no tensor with a row per input: part '0' \(int\)"):
        subject(Act(), example=torch.zeros(1, 6))
    adapted = subject(Act(), example=torch.zeros(1, 6), heads={"actor": "policy"})
    x = torch.ones(2, 6)
    torch.testing.assert_close(adapted.run({"x": x}).heads["actor"], adapted.module.actor(x))  # type: ignore[operator]


def test_an_argument_that_nothing_fills_is_named() -> None:
    with pytest.raises(SubjectError, match=r"forward needs the argument 'carry'.*memory={'carry': \(size,\)}"):
        subject(HomeMade(), example=torch.zeros(1, 6))


def test_an_unknown_kind_or_part_names_the_choices() -> None:
    with pytest.raises(UnknownName, match=r"Unknown kind of head 'polcy'\. Did you mean 'policy'"):
        subject(nn.Linear(6, 4), example=torch.zeros(1, 6), heads="polcy")
    with pytest.raises(UnknownName, match="Unknown part of the output or layer 'critic'"):
        subject(actor_critic(), example=torch.zeros(1, 6), heads={"policy": "policy", "critic": "value"})


def test_too_few_action_names_are_counted() -> None:
    with pytest.raises(SubjectError, match=r"2 action names were given \(left, right\), but head 'policy' has 3"):
        subject(actor_critic(), example=torch.zeros(1, 6), actions=("left", "right"))


def test_memory_that_is_not_there_names_what_is() -> None:
    with pytest.raises(UnknownName, match=r"Unknown recurrent layer 'cor'\. Did you mean 'core'"):
        subject(actor_critic(), example=torch.zeros(1, 6), memory=["cor"])


def test_sampling_without_a_spread_says_how_to_declare_it() -> None:
    module = nn.Sequential(nn.Linear(6, 2))
    adapted = subject(module, example=torch.zeros(1, 6), heads="gaussian")
    output = adapted.run({"input": torch.zeros(1, 6)})
    assert adapted.act(output, greedy=True).shape == (1, 2)
    with pytest.raises(SubjectError, match="has no spread"):
        adapted.act(output, greedy=False, generators=[np.random.default_rng(0)])


def test_a_module_that_mixes_rows_into_time_is_refused() -> None:
    class Mixed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.core = nn.GRU(6, 8, batch_first=True)
            self.policy = nn.Linear(8, 3)

        def forward(self, x: Tensor) -> Tensor:
            out, _ = self.core(x.reshape(1, -1, 6))
            return self.policy(out[0])  # type: ignore[no-any-return]

    with pytest.raises(SubjectError, match="'core' takes the batch of rows for a sequence"):
        subject(Mixed(), example=torch.zeros(1, 6))


def test_something_else_than_a_module_is_refused() -> None:
    with pytest.raises(SubjectError, match=r"takes a torch\.nn\.Module, not OrderedDict"):
        subject(Gaussian().state_dict(), example=torch.zeros(1, 6))
    with pytest.raises(UnknownName, match=r"Unknown package of models 'model\.pt'"):
        subject("model.pt", example=torch.zeros(1, 6))


def test_a_module_on_another_device_must_be_moved_by_its_owner() -> None:
    with pytest.raises(SubjectError, match=r"module\.to\('meta'\)"):
        subject(Gaussian(), example=torch.zeros(1, 6), device="meta")


def test_sb3_missing_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.policies", None)
    with pytest.raises(SubjectError, match=r"innerview\[sb3\]"):
        from_sb3(object())


def test_an_agent_sb3_does_not_know_is_refused() -> None:
    pytest.importorskip("stable_baselines3")
    with pytest.raises(SubjectError, match="object was not understood: from_sb3\\(\\) knows PPO, A2C, DQN"):
        from_sb3(object())


class Trap:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (Path.touch, (Path("sprung"),))  # type: ignore[return-value]


@pytest.mark.parametrize("how", ["pickle", "torch"])
def test_a_pickle_in_place_of_weights_is_refused_and_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "weights.safetensors"
    if how == "pickle":
        path.write_bytes(pickle.dumps(Trap()))
    else:
        torch.save({"weight": Trap()}, path)
    adapted = subject(actor_critic(), example=torch.zeros(1, 6))
    with pytest.raises(SubjectError, match="Unpickling runs whatever code"):
        adapted.load_weights(path)
    assert not (tmp_path / "sprung").exists()
