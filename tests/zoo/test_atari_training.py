"""Atari agents learn where best play is known, remember across dark turns, and go on after a break."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from cue_game import CueGame, StumblingGame
from innerview_zoo.models.atari.actor_critic import PPO, PPOSettings
from innerview_zoo.models.atari.checkpoints import Folder, Point, Progress, picture_of, trail
from innerview_zoo.models.atari.dqn import DQN, DQNSettings
from innerview_zoo.models.atari.games import AtariEmulator
from innerview_zoo.models.atari.networks import ActorCritic, Dueling, RecurrentActorCritic
from innerview_zoo.models.atari.plans import plan_of
from innerview_zoo.models.atari.sampling import SCREEN, Sampler, Shape, Views
from innerview_zoo.models.atari.train import Schedule, train

from innerview.errors import InnerviewError
from innerview.subjects.weights import load_weights

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(threads)


class Table:
    """Games of one training in this very process."""

    def __init__(self, lanes: int, *, blank: int = 0) -> None:
        self.games = [[CueGame(blank, 100 * group + lane) for lane in range(lanes // 2)] for group in (0, 1)]
        half = lanes // 2
        self.views = [
            Views(np.zeros((half, *SCREEN), np.uint8), np.zeros(half, np.int32), *(np.zeros(half) for _ in range(3)))
            for _ in (0, 1)
        ]
        for group in (0, 1):
            for game, screen in zip(self.games[group], self.views[group].screens, strict=True):
                game.begin(screen)

    def step(self, group: int, actions: np.ndarray) -> float:
        view = self.views[group]
        for lane, game in enumerate(self.games[group]):
            view.rewards[lane], view.lost[lane], view.over[lane] = game.act(int(actions[lane]), view.screens[lane])
            if view.over[lane]:
                game.begin(view.screens[lane])
        return float(view.rewards.mean())


def late_score(learner: DQN | PPO, table: Table, turns: int) -> float:
    """Mean reward of a turn in the last fifth."""
    learner.prepare()
    rewards = []
    for turn in range(turns):
        for group in (0, 1):
            actions = learner.observe(group, table.views[group]).copy()
            rewards.append(table.step(group, actions))
            learner.learn(group, turn / turns)
    return float(np.mean(rewards[-len(rewards) // 5 :]))


def test_q_learning_finds_best_play() -> None:
    settings = DQNSettings(
        batch=32, capacity=4000, reuse=8, prefill=64, target_every=20, rate=3e-4, last_rate=3e-4, explore_until=0.3
    )
    learner = DQN(Dueling(2), Shape(1, 8), settings, CPU, actions=2, frames=4)
    assert late_score(learner, Table(8), 60) > 0.8


def test_split_attention_looks_at_each_frame_by_what_came_before() -> None:
    network = plan_of("seaquest_split").network()
    frames = torch.rand(2, 10, 84, 84)
    said = network(frames)
    assert torch.allclose(said["q"].mean(1, keepdim=True), said["value"], atol=1e-6)
    said["q"].sum().backward()
    assert not [name for name, weight in network.named_parameters() if weight.grad is None]
    assert torch.allclose(network(frames[1:])["q"], said["q"][1:], atol=1e-5), "lanes do not mix"
    turned = frames[:, [1, 0, *range(2, 10)]]
    assert not torch.allclose(network(turned)["value"], said["value"], atol=1e-6), "the order of frames counts"


def test_split_attention_learns_from_stacks_of_ten() -> None:
    settings = DQNSettings(batch=4, capacity=400, reuse=1, prefill=4, target_every=1)
    plan = plan_of("seaquest_split")
    learner = DQN(plan.network(), Shape(1, 2), settings, CPU, actions=plan.actions, frames=plan.frames)
    before = [weight.detach().clone() for weight in learner.network.parameters()]
    late_score(learner, Table(2), 4)
    assert learner.updates >= 1 and learner.replay.stacks(torch.tensor([0]), torch.tensor([3])).shape == (1, 10, 84, 84)
    assert any(not torch.equal(a, b) for a, b in zip(before, learner.network.parameters(), strict=True))


def test_the_actor_critic_finds_best_play() -> None:
    settings = PPOSettings(steps=8, minibatches=2, rate=1e-3, last_rate=1e-3)
    learner = PPO(ActorCritic(2), Shape(1, 16), settings, CPU, frames=4)
    assert late_score(learner, Table(16), 72) > 0.8


def test_the_lstm_learns_to_remember() -> None:
    settings = PPOSettings(steps=16, minibatches=2, rate=1e-3, last_rate=1e-3)
    learner = PPO(RecurrentActorCritic(2), Shape(1, 16), settings, CPU, frames=1)
    # Only every other turn counts, and then the screen is dark: 0.25 is chance, 0.5 is best play.
    assert late_score(learner, Table(16, blank=1), 120) > 0.4


@pytest.mark.parametrize("recurrent", [False, True])
def test_a_lesson_begins_with_what_was_thought_while_playing(recurrent: bool) -> None:
    network = RecurrentActorCritic(2) if recurrent else ActorCritic(2)
    frames = 1 if recurrent else 4
    learner = PPO(network, Shape(1, 4), PPOSettings(steps=20, minibatches=1), CPU, frames=frames)
    table, steps = Table(4, blank=1), 20
    learner.prepare()
    for _ in range(steps + 1):
        for group in (0, 1):
            table.step(group, learner.observe(group, table.views[group]).copy())
    assert learner.rollout.over[1:].any()
    chosen = torch.arange(4 if recurrent else 4 * steps)
    with torch.no_grad():
        logits, values = learner._again(chosen)
    past = learner.rollout.past(chosen, by_lane=recurrent)
    logs = logits.log_softmax(1).gather(1, past.actions[:, None])[:, 0]
    assert torch.allclose(logs, past.logs, atol=1e-5)
    assert torch.allclose(values, learner.rollout.values[:steps].flatten(), atol=1e-5)


def test_emulators_in_other_processes_play_what_they_are_reported() -> None:
    with Sampler(functools.partial(CueGame, 0), Shape(2, 8), seed=3) as sampler:
        scores: list[tuple[int, float]] = []
        for _ in range(9):
            for group in (0, 1):
                screens = sampler.wait(group).screens
                scores += sampler.finished(group)
                sampler.send(group, (screens[:, 0, 0] == 0).astype(np.int64))
        workers = sampler._workers
    assert sorted(scores) == [(lane, 8.0) for lane in range(8)]
    assert not any(worker.is_alive() for worker in workers)


def test_an_emulator_that_ends_is_reported() -> None:
    with Sampler(functools.partial(StumblingGame, 0), Shape(1, 2)) as sampler, pytest.raises(InnerviewError, match="7"):
        for _ in range(6):
            for group in (0, 1):
                sampler.wait(group)
                sampler.send(group, np.zeros(1))


def test_breakout_as_training_plays_it() -> None:
    pytest.importorskip("ale_py")
    game, screen = AtariEmulator("breakout", 5), np.zeros(SCREEN, np.uint8)
    game.begin(screen)
    assert screen.any()
    lost = total = 0.0
    for turn in range(1500):
        reward, life, over = game.act(turn % 2 + 2, screen)
        lost, total = lost + life, total + reward
        if over:
            break
    assert over and lost == 5 and total < 20


def test_lanes_that_cannot_be_shared_are_refused() -> None:
    with pytest.raises(InnerviewError, match="multiple of 6"):
        Shape(3, 10)
    with pytest.raises(InnerviewError, match="more than 0"):
        Schedule(whole=0)
    with pytest.raises(InnerviewError, match="breakout_dqn"):
        plan_of("breakout_dpn")


def test_a_training_leaves_all_behind_and_goes_on(tmp_path: Path) -> None:
    plan, make = plan_of("breakout_ac"), functools.partial(CueGame, 0)
    given = {"shape": Shape(1, 4), "device": CPU, "make": make}
    train(plan, out=tmp_path, schedule=Schedule(whole=0.5, report_s=0.1, save_s=0.2), **given)
    assert {path.name for path in tmp_path.iterdir()} == {
        *(
            "weights.safetensors",
            "early.safetensors",
            "middle.safetensors",
            "resume.safetensors",
            "curve.csv",
            "curve.svg",
        )
    }
    before = Folder(tmp_path).read_curve()
    train(plan, out=tmp_path, schedule=Schedule(whole=0.6), resume=tmp_path, **given)
    after = Folder(tmp_path).read_curve()
    assert after[: len(before)] == before
    assert after[-1].steps > before[-1].steps > 0
    assert after[-1].minutes > before[-1].minutes


def test_a_trail_reaches_from_the_untrained_network_to_the_last(tmp_path: Path) -> None:
    assert [trail(count) for count in (0, 1, 2)] == [[], [0.0], [0.0, 1.0]]
    shares = trail(5)
    assert shares[0] == 0 and shares[-1] == pytest.approx(1) and shares == sorted(shares)
    plan, make = plan_of("breakout_ac"), functools.partial(CueGame, 0)
    schedule = Schedule(whole=0.5, trail=3)
    train(plan, out=tmp_path, schedule=schedule, shape=Shape(1, 4), device=CPU, make=make)
    left = sorted(tmp_path.glob("step-*.safetensors"))
    assert 2 <= len(left) <= 3
    last, whole = plan.network(), plan.network()
    load_weights(last, left[-1])
    load_weights(whole, tmp_path / "weights.safetensors")
    frames = torch.rand(2, 4, 84, 84)
    assert torch.allclose(last(frames)[1], whole(frames)[1], atol=0.02)
    with pytest.raises(InnerviewError, match="trail"):
        Schedule(whole=1, trail=-1)


def test_a_curve_is_drawn_to_scale() -> None:
    points = [Point(minutes, 1_000_000 * minutes, 0, 0, 50.0 * minutes) for minutes in range(11)]
    lines = ElementTree.fromstring(picture_of(points))
    shown = [text.text for text in lines.iter("{http://www.w3.org/2000/svg}text")]
    assert {"0", "500", "10 M", "early", "middle"} <= set(shown)
    (curve,) = lines.iter("{http://www.w3.org/2000/svg}polyline")
    assert curve.attrib["points"].split()[0] == "52.0,190.0"
    assert curve.attrib["points"].split()[-1] == "546.0,14.0"


def test_going_on_takes_up_weights_and_momentum(tmp_path: Path) -> None:
    learner = PPO(ActorCritic(2), Shape(1, 4), PPOSettings(steps=2, minibatches=1), CPU, frames=4)
    late_score(learner, Table(4), 6)
    folder = Folder(tmp_path)
    folder.save_all(learner.network, learner.optimizer, Progress(12.5, 100, 7))
    folder.save_curve([Point(0.2, 100, 7, 3, 1.5)])
    again = PPO(ActorCritic(2), Shape(1, 4), PPOSettings(steps=2, minibatches=1), CPU, frames=4)
    assert folder.go_on(again.network, again.optimizer) == Progress(12.5, 100, 7)
    for old, new in zip(learner.network.parameters(), again.network.parameters(), strict=True):
        assert torch.equal(old, new)
        assert torch.equal(learner.optimizer.state[old]["exp_avg"], again.optimizer.state[new]["exp_avg"])


def test_a_broken_checkpoint_is_reported(tmp_path: Path) -> None:
    folder, network = Folder(tmp_path), ActorCritic(2)
    optimizer = torch.optim.Adam(network.parameters())
    with pytest.raises(InnerviewError, match=r"resume\.safetensors is missing"):
        folder.go_on(network, optimizer)
    folder.save_all(network, optimizer, Progress())
    path = tmp_path / "resume.safetensors"
    path.write_bytes(path.read_bytes()[:10_000])
    with pytest.raises(InnerviewError, match="cut short"):
        folder.go_on(network, optimizer)
