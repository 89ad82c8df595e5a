"""Network health names what was planted, and nothing on networks that are fine."""

from __future__ import annotations

from typing import Any

import innerview_zoo as zoo
import numpy as np
import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.errors import LensError
from innerview.features.health import look
from innerview.schema import Rows
from innerview.testing.feeds import fed_rows
from innerview.testing.lenses import check_lens

STEPS = 24


class Dueling(nn.Module):
    """Four frames; a value and an advantage stream. `bug` says what is wrong with it."""

    def __init__(self, bug: str = "") -> None:
        super().__init__()
        self.bug = bug
        self.see, self.relu = nn.Conv2d(4, 8, 3, 2), nn.ReLU()
        self.aside = nn.Conv2d(4, 8, 3, 2)
        self.value_dense, self.value_relu, self.value = nn.Linear(72, 16), nn.ReLU(), nn.Linear(16, 1)
        self.advantage = nn.Linear(72, 3)
        self.spare = nn.Linear(72, 3)
        if bug == "dead value stream":
            nn.init.constant_(self.value_dense.bias, -100.0)
        if bug != "not connected":
            del self.aside, self.spare

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        seen = self.relu(self.see(x)).flatten(1)
        if self.bug == "not connected":
            self.aside(x)
        value, advantage = self.value(self.value_relu(self.value_dense(seen))), self.advantage(seen)
        q = value + advantage - advantage.mean(1, keepdim=True)
        if self.bug == "merged wrongly":
            q = value + advantage - advantage.mean(0, keepdim=True) * 0 - value * advantage.mean(1, keepdim=True)
        return {"q": q, "value": value, "advantage": advantage}


def rows_of(subject: iv.Subject, order: tuple[int, ...] = (0, 1, 2, 3)) -> Rows:
    """An episode of stacked frames, each a step older than the next, laid into the channels in some order."""
    frames = torch.rand(STEPS + 3, 8, 8, generator=torch.Generator().manual_seed(0))
    stacks = torch.stack([torch.stack([frames[t + k] for k in order]) for t in range(STEPS)])
    return fed_rows(subject, {"x": stacks}, groups=((0, STEPS),))


def made(bug: str = "") -> iv.Subject:
    torch.manual_seed(2)
    return iv.subject(Dueling(bug), example=torch.zeros(1, 4, 8, 8), actions=["a", "b", "c"])


def warnings_of(subject: iv.Subject, rows: Rows) -> dict[str, str]:
    found: dict[str, str] = look(rows, subject).value["warnings"]
    return found


def test_a_sound_network_has_no_warning() -> None:
    subject = made()
    table = look(rows_of(subject), subject)
    assert table.value["warnings"] == {} and table.value["rows"] == STEPS
    named = {line[0]: line for line in table.lines}
    assert {"see", "value_dense", "advantage"} <= named.keys()
    assert all(line[1] > 0 and line[2] > 0 for line in named.values())


def test_a_dead_value_stream_is_named() -> None:
    subject = made("dead value stream")
    found = warnings_of(subject, rows_of(subject))
    assert found["value_relu"].startswith("Dead: 100%") and found["head value"].startswith("Carries nothing")
    assert "advantage" not in found and "see" not in found


def test_layers_that_are_not_connected_are_named() -> None:
    subject = made("not connected")
    found = warnings_of(subject, rows_of(subject))
    assert found["aside"].startswith("Not connected") and found["spare"].startswith("Not connected")
    assert len(found) == 2, found


def test_streams_that_are_merged_wrongly_are_named() -> None:
    subject = made("merged wrongly")
    found = warnings_of(subject, rows_of(subject))
    assert found["head q"].startswith("Merged wrongly") and len(found) == 1, found


@pytest.mark.parametrize(("order", "said"), [((1, 0, 2, 3), "2, 1, 3, 4"), ((0, 2, 1, 3), "1, 3, 2, 4")])
def test_swapped_frames_are_named(order: tuple[int, ...], said: str) -> None:
    subject = made()
    found = warnings_of(subject, rows_of(subject, order))
    assert list(found) == ["input x"] and f"channels {said}, not as 1, 2, 3, 4" in found["input x"]


def test_newest_first_is_an_order_too_and_colours_are_no_frames() -> None:
    subject = made()
    assert warnings_of(subject, rows_of(subject, (3, 2, 1, 0))) == {}
    noise = torch.rand(STEPS, 4, 8, 8)
    assert warnings_of(subject, fed_rows(subject, {"x": noise}, groups=((0, STEPS),))) == {}


class Twice(nn.Module):
    """One layer in two calls: the first has nothing to read yet; the second has, or has not."""

    def __init__(self, *, deaf: bool) -> None:
        super().__init__()
        self.deaf = deaf
        self.eyes, self.cell, self.policy = nn.Linear(4, 4), nn.Linear(4, 4, bias=False), nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        seen = self.eyes(x)
        answer: Tensor = self.policy(seen + self.cell(0 * x) + self.cell(0 * x if self.deaf else seen))
        return answer


@pytest.mark.parametrize("deaf", [False, True])
def test_a_layer_that_runs_twice_is_dead_where_both_calls_are(deaf: bool) -> None:
    subject = iv.subject(Twice(deaf=deaf), example=torch.zeros(1, 4))
    table = look(fed_rows(subject, {"x": torch.rand(8, 4)}, groups=((0, 8),)), subject)
    assert [line[0] for line in table.lines].count("cell") == 1
    assert table.value["warnings"].keys() == ({"cell"} if deaf else set())


@pytest.mark.parametrize(
    "name",
    ["breakout_dqn", "breakout_ac", "seaquest_ac", "seaquest_dqn", "seaquest_lstm", "platformer"],
)
def test_nothing_is_said_of_the_networks_of_the_zoo(name: str, tmp_path: Any) -> None:
    subject, world = zoo.load(name)
    iv.record(tmp_path / "s", subject, world, episodes=1, max_steps=40, name="r", progress=False)
    made = iv.look(tmp_path / "s", "health", subject=subject, progress=False)
    assert made.value["warnings"] == {}, made.value["warnings"]


def test_it_keeps_what_lenses_promise() -> None:
    assert len(check_lens("health")) > 10


def test_one_row_is_too_few() -> None:
    subject = made()
    with pytest.raises(LensError, match="two rows or more"):
        look(fed_rows(subject, {"x": torch.rand(1, 4, 8, 8)}), subject)
    assert np.isfinite(look(rows_of(subject), subject, max_rows=2).lines[0][1])


def test_the_young_attention_that_looks_nowhere_is_named(tmp_path: Any) -> None:
    subject, world = zoo.load("seaquest_split", snapshot="middle")
    recording = iv.record(tmp_path / "s", subject, world, episodes=1, max_steps=24, name="r", progress=False)
    made = iv.look(tmp_path / "s", "health", subject=subject, progress=False)
    assert set(made.value["warnings"]) == {"advantage.before", "advantage.region"}
    seen = torch.tensor(recording.array("observation", 0, 24)).permute(0, 3, 1, 2).float() / 255
    with torch.no_grad():
        before = subject.module(seen)["q"]
        subject.module.advantage.before.weight.zero_()
        assert float((subject.module(seen)["q"] - before).abs().max()) < 1e-3 * float(before.std())
