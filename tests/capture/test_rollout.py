"""What a rollout yields: rows in order, the same for the same seeds, and everything up to a crash."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import innerview as iv
from innerview.capture import Piece, Plan, layout, rollout
from innerview.errors import CaptureError, SubjectError, UnknownName
from innerview.schema import ActionSpace, Column, Moment, WorldInfo
from innerview.testing.worlds import (
    ContinuousWorld,
    CountingGame,
    CountingWorld,
    CrashingWorld,
    DictWorld,
    episode_length,
    picture,
)


class Recurrent(nn.Module):
    """Counts in its memory how often it was called since the last reset."""

    def __init__(self, actions: int = 3) -> None:
        super().__init__()
        self.eye = nn.Conv2d(3, 4, 3)
        self.cell = nn.GRUCell(4, 6)
        self.policy = nn.Linear(6, actions)
        self.value = nn.Linear(6, 1)

    def forward(self, x: torch.Tensor, h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        h = self.cell(self.eye(x).mean((2, 3)), h)
        return self.policy(h), self.value(h), h


@pytest.fixture
def subject() -> iv.Subject:
    torch.manual_seed(0)
    return iv.subject(Recurrent(), example=torch.zeros(1, 3, 8, 8))


def play(subject: iv.Subject, world: iv.World, **plan: object) -> list[Piece]:
    settings = {"seeds": (3, 4, 5, 6, 7), "lanes": 2, **plan}
    keep = settings.pop("keep", ())
    form = layout(subject, world.info, keep=keep)  # type: ignore[arg-type]
    return list(rollout(subject, world, Plan(**settings), form))  # type: ignore[arg-type]


def column(pieces: list[Piece], name: str) -> list[object]:
    return [value for piece in pieces for value in piece.rows[name]]


def array(pieces: list[Piece], name: str) -> np.ndarray:
    return np.concatenate([piece.arrays[name] for piece in pieces])


@pytest.mark.parametrize("lanes", [1, 2, 5])
def test_episodes_come_in_order_and_whole(subject: iv.Subject, lanes: int) -> None:
    pieces = play(subject, CountingWorld(), lanes=lanes)
    lengths = [episode_length(seed) for seed in (3, 4, 5, 6, 7)]
    assert column(pieces, "episode") == [e for e, n in enumerate(lengths) for _ in range(n)]
    assert column(pieces, "step") == [step for n in lengths for step in range(n)]
    last = [piece for piece in pieces if piece.summary]
    endings = [piece.summary for piece in last if piece.summary]
    assert [(e.seed, e.length, e.outcome) for e in endings] == [
        (seed, n, "died" if seed % 2 else "time limit") for seed, n in zip((3, 4, 5, 6, 7), lengths, strict=True)
    ]
    assert last[0].scene is not None and len(last[0].scene.walls) == 4


def test_a_row_holds_what_was_seen_before_acting(subject: iv.Subject) -> None:
    pieces = play(subject, CountingWorld(), seeds=(3,))
    seen = array(pieces, "observation")
    assert all(np.array_equal(seen[step], picture(step, 3)) for step in range(len(seen)))
    forward = [action == 2 for action in column(pieces, "action")]
    assert column(pieces, "reward") == [float(f) for f in forward], "the reward is what this row's action earned"


def test_memory_is_the_state_after_the_row(subject: iv.Subject) -> None:
    pieces = play(subject, CountingWorld(), seeds=(3, 4), lanes=1)
    seen, memory = array(pieces, "observation"), array(pieces, "memory")
    state = torch.zeros(1, 6)
    for row, step in enumerate(column(pieces, "step")):
        state = torch.zeros(1, 6) if step == 0 else state
        frame = torch.from_numpy(seen[row]).permute(2, 0, 1)[None] / 255
        with torch.no_grad():
            logits, value, state = subject.module(frame, state)
        assert np.allclose(memory[row], state[0], atol=1e-6)
        assert column(pieces, "value")[row] == pytest.approx(value.item(), abs=1e-6)
        assert np.allclose(array(pieces, "probabilities")[row], logits.softmax(1)[0], atol=1e-6)


def test_events_stand_in_the_row_that_caused_them(subject: iv.Subject) -> None:
    pieces = play(subject, CountingWorld(), seeds=(3,))
    picked = [step for step, yes in zip(column(pieces, "step"), column(pieces, "picked_up"), strict=True) if yes]
    assert picked and all((step + 1) % 5 == 0 for step in picked), "the coin comes at every fifth moment"


def test_the_same_seeds_give_the_same_rows(subject: iv.Subject) -> None:
    first, second = play(subject, CountingWorld()), play(subject, CountingWorld())
    assert column(first, "action") == column(second, "action")
    assert np.array_equal(array(first, "memory"), array(second, "memory"))


def test_starting_at_a_later_episode_gives_the_rest(subject: iv.Subject) -> None:
    whole = play(subject, CountingWorld())
    rest = play(subject, CountingWorld(), first_episode=3)
    rows = [row for row, episode in enumerate(column(whole, "episode")) if episode >= 3]  # type: ignore[operator]
    assert column(rest, "action") == [column(whole, "action")[row] for row in rows]
    assert np.array_equal(array(rest, "memory"), array(whole, "memory")[rows])


def test_greedy_takes_the_most_probable_action(subject: iv.Subject) -> None:
    pieces = play(subject, CountingWorld(), greedy=True)
    assert column(pieces, "action") == array(pieces, "probabilities").argmax(1).tolist()


def test_activations_are_saved_when_asked(subject: iv.Subject) -> None:
    pieces = play(subject, CountingWorld(), seeds=(3,), keep=("eye",))
    assert array(pieces, "site.eye").shape == (episode_length(3), 4, 6, 6)


def test_long_episodes_are_cut(subject: iv.Subject) -> None:
    pieces = play(subject, CountingWorld(), max_steps=7)
    endings = [piece.summary for piece in pieces if piece.summary]
    assert [(e.length, e.outcome) for e in endings] == [(7, "step limit")] * 5


def test_a_crash_yields_everything_before_it(subject: iv.Subject) -> None:
    world, pieces = CrashingWorld(), []
    form = layout(subject, world.info)
    with pytest.raises(CaptureError, match=r"(?s)step 37.*same arguments"):
        for piece in rollout(subject, world, Plan(seeds=(0, 1), lanes=2), form):
            pieces.append(piece)  # noqa: PERF402 the list must survive the error
    assert column(pieces, "step") == [*range(36), *range(36)]
    endings = [piece.summary for piece in pieces if piece.summary]
    assert all(e.outcome.startswith("stopped: ") for e in endings) and len(endings) == 2
    assert all(piece.provisional for piece in pieces)
    assert world.opened == 0, "every game is closed"


def test_not_a_number_stops_the_recording(subject: iv.Subject) -> None:
    with torch.no_grad():
        subject.module.value.bias.fill_(float("nan"))  # type: ignore[union-attr, operator]
    with pytest.raises(SubjectError, match="value"):
        play(subject, CountingWorld())


def test_misfits_are_reported_before_anything_opens(subject: iv.Subject) -> None:
    world = CountingWorld()
    with pytest.raises(UnknownName, match=r"'eyes'.*Did you mean 'eye'"):
        play(subject, world, keep=("eyes",))
    five = iv.subject(Recurrent(actions=5), example=torch.zeros(1, 3, 8, 8))
    with pytest.raises(CaptureError, match=r"5 actions.*has 3"):
        play(five, world)
    large = iv.subject(Recurrent(), example=torch.zeros(1, 3, 16, 16))
    with pytest.raises(SubjectError, match="16, 16"):
        play(large, world)
    with pytest.raises(CaptureError, match=r"discrete.*continuous"):
        play(subject, ContinuousWorld())
    assert world.opened == 0


def test_dict_observations_have_an_array_each() -> None:
    world = DictWorld()

    class Both(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            sizes = [int(np.prod(s.shape)) for s in world.info.observations]
            self.policy = nn.Linear(sum(sizes), 3)

        def forward(self, seen: dict[str, torch.Tensor]) -> torch.Tensor:
            return self.policy(torch.cat([seen[s.name].float().flatten(1) for s in world.info.observations], 1))

    example = {s.name: torch.zeros(1, *_as_fed(s.shape)) for s in world.info.observations}
    pieces = play(iv.subject(Both(), example=example), world, seeds=(3,))
    for spec in world.info.observations:
        assert array(pieces, f"observation.{spec.name}").shape[1:] == spec.shape


def _as_fed(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (shape[2], shape[0], shape[1]) if len(shape) == 3 else shape


def test_an_episode_depends_on_its_seed_alone(subject: iv.Subject) -> None:
    early, late = play(subject, CountingWorld(), seeds=(5, 3, 4)), play(subject, CountingWorld(), seeds=(3, 4, 5))
    first = [a for a, e in zip(column(early, "action"), column(early, "episode"), strict=True) if e == 0]
    last = [a for a, e in zip(column(late, "action"), column(late, "episode"), strict=True) if e == 2]
    assert first == last


def test_lanes_that_are_far_ahead_wait_and_nothing_changes(
    subject: iv.Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    freely = play(subject, CountingWorld(length=150), lanes=3)
    monkeypatch.setattr(sys.modules[rollout.__module__], "_MAX_BYTES_AHEAD", 1)
    waiting = play(subject, CountingWorld(length=150), lanes=3)
    assert column(freely, "action") == column(waiting, "action")
    assert np.array_equal(array(freely, "memory"), array(waiting, "memory"))


def test_senseless_plans_are_refused() -> None:
    with pytest.raises(CaptureError, match="1 or more, not 0"):
        Plan(seeds=(1,), lanes=0)
    with pytest.raises(CaptureError, match="1 or more, not -3"):
        Plan(seeds=(1,), max_steps=-3)


def test_a_module_that_fails_is_reported_with_what_it_was_given(
    subject: iv.Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(subject.module, "forward", fail)
    with pytest.raises(SubjectError, match=r"\[2, 3, 8, 8\].*out of memory"):
        subject.run({"x": torch.zeros(2, 3, 8, 8)})


class Locator(nn.Module):
    """Says where it is: three times the mean of the picture's first channel, and two constants."""

    def __init__(self) -> None:
        super().__init__()
        self.eye = nn.Conv2d(3, 1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seen = x[:, 0].mean((1, 2))
        return torch.stack([3 * seen, seen + 1, seen - 1], 1) + 0 * self.eye(x).sum()


class Tour(CountingWorld):
    """Goes its own way."""

    @property
    def info(self) -> WorldInfo:
        return replace(super().info, actions=ActionSpace(kind="discrete", names=("go on",)))


def test_a_subject_that_does_not_act_is_recorded_where_there_is_nothing_to_decide() -> None:
    subject = iv.subject(Locator(), example=torch.zeros(1, 3, 8, 8), heads="pose")
    pieces = play(subject, Tour(length=4), seeds=(3, 4))
    seen = array(pieces, "observation")[..., 0].mean((1, 2)) / 255
    assert np.allclose(column(pieces, "pose_x"), 3 * seen)
    assert np.allclose(column(pieces, "pose_angle"), seen - 1)
    assert column(pieces, "action") == [0] * 8
    assert "entropy" not in {c.name for c in layout(subject, Tour().info).columns}


def test_a_subject_that_does_not_act_cannot_play() -> None:
    subject = iv.subject(Locator(), example=torch.zeros(1, 3, 8, 8), heads="pose")
    with pytest.raises(CaptureError, match=r"no head that acts; it has pose \(pose\).*'counting' has 3"):
        layout(subject, CountingWorld().info)


class Gatherer(CountingGame):
    """Says which item each action picked up, in the last step too."""

    def _moment(self, **told: Any) -> Moment:
        moment = super()._moment(**told)
        item = f"item {self.step_count}" if self.step_count else ""
        facts = {**moment.facts, "picked_up": bool(item), "picked_up_item": item}
        return replace(moment, facts=facts)


class GathererWorld(CountingWorld):
    """Episodes of five steps; those with even seeds end by a time limit."""

    def __init__(self) -> None:
        super().__init__(length=5)

    @property
    def info(self) -> WorldInfo:
        """With the name of what was picked up as an event."""
        told = super().info
        facts = (replace(c, named_by="picked_up_item") if c.name == "picked_up" else c for c in told.facts)
        return replace(told, facts=(*facts, Column(name="picked_up_item", type="text", kind="event")))

    def game(self, lane: int) -> Gatherer:
        """The game of one lane."""
        return Gatherer(5)


def test_the_last_action_of_an_episode_has_its_events_and_their_names(subject: iv.Subject) -> None:
    pieces = play(subject, GathererWorld(), seeds=(0, 1), lanes=1)
    assert column(pieces, "picked_up_item") == [f"item {n}" for n in range(1, 6)] * 2
    endings = [piece for piece in pieces if piece.summary is not None]
    assert all(piece.summary.counts["picked_up: item 5"] == 1 for piece in endings if piece.summary)
    assert [(piece.summary.outcome, piece.cut) for piece in endings if piece.summary] == [
        ("time limit", True),
        ("died", False),
    ]


def test_an_episode_that_the_recorder_cuts_is_cut(subject: iv.Subject) -> None:
    pieces = play(subject, CountingWorld(length=9), seeds=(0,), lanes=1, max_steps=4)
    assert [(p.summary.outcome, p.cut) for p in pieces if p.summary is not None] == [("step limit", True)]
