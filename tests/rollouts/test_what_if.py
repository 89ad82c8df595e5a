"""A what-if rollout: the row is reached again, other moves lead elsewhere, and a rollout is kept as a recording."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from innerview_zoo.worlds.platformer import ACTIONS, CLASSES
from torch import nn

import innerview as iv
from innerview.errors import CaptureError, DamagedPart, InnerviewError, NotAsRecorded, RequestError, UnknownName
from innerview.jobs.context import Context
from innerview.jobs.engine import Cancelled, perform
from innerview.jobs.work import prepare, run_job
from innerview.rollouts.jobs import WhatIfJob
from innerview.rollouts.rerun import pairs_of
from innerview.rollouts.what_if.rollout import WhatIfRollout
from innerview.rollouts.what_if.sessions import WhatIfSessions, what_if
from innerview.schema import Moment, Move, SiteEdit
from innerview.testing.worlds import ContinuousWorld, CountingGame, CountingWorld
from innerview.worlds import ThreadedLanes, World, world
from tests.rollouts.players import recurrent

AGENT, WAIT = Move(do="agent"), Move(do="act", action=ACTIONS.index("A"))
SAW = CLASSES.index("saw")


class CountsSaws(nn.Module):
    """Its value is how much of the picture has the colour of what it was shown; it always goes right."""

    def __init__(self) -> None:
        super().__init__()
        self.eye = nn.Conv2d(3, 2, 1)
        self.policy, self.value = nn.Linear(2, len(ACTIONS)), nn.Linear(2, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        seen = self.eye(x).relu().mean((2, 3))
        return self.policy(seen), self.value(seen)


def looker() -> iv.Subject:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        module = CountsSaws()
        with torch.no_grad():
            module.policy.bias[ACTIONS.index("right")] += 2.0
        return iv.subject(module, name="looker", example=torch.zeros(1, 3, 64, 64), actions=list(ACTIONS))


@pytest.fixture(scope="module")
def levels(tmp_path_factory: pytest.TempPathFactory) -> tuple[iv.Study, iv.Subject, World]:
    """Two short levels of the platformer with masks."""
    study, subject = iv.Study.create(tmp_path_factory.mktemp("levels") / "levels.study"), looker()
    place = world("platformer", masks=True)
    iv.record(study, subject, place, seeds=[3, 8], name="levels", max_steps=14, lanes=2, progress=False)
    return study, subject, place


@pytest.fixture
def rollout(levels: tuple[iv.Study, iv.Subject, World]) -> Iterator[WhatIfRollout]:
    study, subject, place = levels
    found = what_if(study, "levels", row=14 + 5, subject=subject, world=place)
    yield found
    found.close()


def test_the_recorded_actions_lead_through_the_recorded_rows(
    levels: tuple[iv.Study, iv.Subject, World], rollout: WhatIfRollout
) -> None:
    recording = levels[0].recording("levels")
    actions = recording.columns(["action"], 19, 28)["action"].to_list()
    nodes = rollout.play([Move(do="act", action=action) for action in actions[:-1]])
    assert [node.step for node in nodes] == list(range(5, 14))
    seen = np.stack([node.seen.get("observation") for node in nodes])
    assert np.array_equal(seen, recording.array("observation", 19, 28))
    values = recording.columns(["value"], 19, 28)["value"].to_numpy()
    assert [node.values["value"] for node in nodes] == pytest.approx(values, abs=1e-5)


def test_another_action_leads_elsewhere_and_taking_it_back_leads_back(rollout: WhatIfRollout) -> None:
    first = rollout.play([WAIT, WAIT])
    other = rollout.play([WAIT, AGENT])
    assert other[1] is first[1], "what was played is not played again"
    assert other[2].action == int(first[1].probabilities.argmax())  # type: ignore[union-attr]
    assert other[2].moment.facts["x"] > first[2].moment.facts["x"]
    again = rollout.play([WAIT, WAIT])
    assert again[2].moment.facts == first[2].moment.facts
    assert again[2].key == first[2].key != other[2].key


def test_a_thing_that_is_taken_away_changes_what_is_seen_and_said_at_once(rollout: WhatIfRollout) -> None:
    thing = next(t for t in rollout.things(0) if t.removable and t.x_px > 4 and t.x_px < 56)
    here, gone = rollout.play([Move(do="remove", thing=thing.id)])
    assert (gone.step, gone.moment.reward) == (here.step, 0.0)
    assert gone.values["value"] != here.values["value"]
    assert thing.id not in [t.id for t in rollout.things(1)]
    assert thing.id in [t.id for t in rollout.things(0)], "it is there before"


def test_the_agent_goes_on_to_the_end_at_most(rollout: WhatIfRollout) -> None:
    nodes = rollout.go_on([WAIT], 600)
    assert nodes[-1].moment.ended
    assert all(node.move == AGENT for node in nodes[2:])
    with pytest.raises(RequestError, match=r"is over .* take one back"):
        rollout.play([*(node.move for node in nodes[1:] if node.move), AGENT])
    assert rollout.things(len(nodes) - 1) == []


@pytest.mark.parametrize(
    ("move", "words"),
    [
        (Move(do="act", action=9), "There is no action 9; there are 0 left, 1 right"),
        (Move(do="act"), "There is no action None"),
        (Move(do="remove", thing="saw 0.99"), "Unknown thing"),
        (Move(do="move", thing="agent", by=(1,)), "two numbers"),
    ],
)
def test_moves_that_cannot_be_made_are_refused_and_the_rollout_stands(
    rollout: WhatIfRollout, move: Move, words: str
) -> None:
    with pytest.raises(InnerviewError, match=words):
        rollout.play([WAIT, move])
    assert rollout.play([WAIT, WAIT])[2].step == 7


@pytest.fixture
def counted(tmp_path: Path) -> tuple[iv.Study, iv.Subject, World]:
    """A subject with memory in a world that cannot go back."""
    study, subject, place = iv.Study.create(tmp_path / "counted.study"), recurrent(), CountingWorld()
    iv.record(study, subject, place, episodes=2, name="counted", lanes=2, progress=False)
    return study, subject, place


def test_memory_is_carried_and_a_world_that_cannot_go_back_is_played_again(
    counted: tuple[iv.Study, iv.Subject, World],
) -> None:
    study, subject, place = counted
    recording = study.recording("counted")
    actions = recording.columns(["action"], 0, 12)["action"].to_list()
    found = what_if(study, "counted", row=4, subject=subject, world=place)
    own = [Move(do="act", action=action) for action in actions[4:11]]
    nodes = found.play(own)
    memory = np.stack([node.output.memory["cell"][0].numpy() for node in nodes])
    assert memory == pytest.approx(recording.array("memory", 4, 12), abs=1e-5)
    other = found.play([*own[:3], Move(do="act", action=(actions[7] + 1) % 3)])
    assert [n.moment.facts["x"] for n in other[:4]] == [n.moment.facts["x"] for n in nodes[:4]]
    assert other[4].moment.facts["angle"] != nodes[4].moment.facts["angle"]
    with pytest.raises(RequestError, match="cannot move or remove things"):
        found.play([Move(do="remove", thing="coin")])
    found.close()


class Fickle(CountingGame):
    """Shows something else each time it is begun."""

    begun = 0

    def reset(self, seed: int) -> Moment:
        Fickle.begun += 1
        return super().reset(seed)

    def _moment(self, **more: Any) -> Moment:
        told = super()._moment(**more)
        return Moment(**{**vars(told), "observation": {"observation": told.observation["observation"] + Fickle.begun}})


def test_a_world_that_does_not_repeat_itself_is_reported(tmp_path: Path) -> None:
    subject, place = recurrent(), CountingWorld()

    class Place:
        info = place.info

        def open(self, lanes: int) -> ThreadedLanes:
            return ThreadedLanes(lambda lane: Fickle(), lanes)

    study = iv.Study.create(tmp_path / "fickle.study")
    iv.record(study, subject, Place(), episodes=1, name="fickle", progress=False)
    with pytest.raises(CaptureError, match="does not repeat itself"):
        what_if(study, "fickle", row=3, subject=subject, world=Place())


@pytest.fixture
def context(levels: tuple[iv.Study, iv.Subject, World]) -> Context:
    study, subject, place = levels
    return Context(study=study, subjects={"looker": subject}, worlds={place.info.name: place})


@pytest.fixture
def what_ifs(context: Context) -> Iterator[WhatIfSessions]:
    made = WhatIfSessions(context)
    yield made
    made.close()


def asked(**more: Any) -> WhatIfJob:
    return replace(WhatIfJob(recording="levels", row=19), **more)


def test_a_saved_rollout_is_the_episode_with_another_end(
    levels: tuple[iv.Study, iv.Subject, World], context: Context, what_ifs: WhatIfSessions
) -> None:
    study = levels[0]
    thing = next(t for t in what_ifs.play(asked()).things if t.name == "agent")
    moves = (Move(do="act", action=6), Move(do="move", thing=thing.id, by=(0.0, 2.0)), AGENT, AGENT)
    played = what_ifs.play(asked(moves=moves))
    made = run_job(asked(moves=moves), context, progress=False)
    assert (made.name, made.rows) == ("levels - from 1.5", 8)
    kept, source = study.recording("levels - from 1.5"), study.recording("levels")
    assert np.array_equal(kept.array("observation", 0, 5), source.array("observation", 14, 19))
    rows = kept.columns(["episode", "step", "action", "value", "y"])
    assert rows["step"].to_list() == list(range(8))
    assert rows["episode"].unique().to_list() == [0]
    assert rows["action"].to_list()[5:] == [6, *(n.action for n in played.nodes[3:])]
    assert rows["value"].to_list()[6] == pytest.approx(played.nodes[2].values["value"])
    assert rows["y"][6] == played.nodes[1].moment.facts["y"] + 2, "things stand where they were put"
    line = kept.groups().row(0, named=True)
    assert (line["seed"], line["outcome"], line["length"]) == (8, "left off", 8)
    assert pairs_of(study, kept)[0].of == 1
    # A kept rollout can be rolled out itself, past what was moved by hand.
    again = what_ifs.play(WhatIfJob(recording=kept.name, row=7))
    assert again.nodes[0].moment.facts == played.nodes[3].moment.facts
    assert prepare(asked(moves=moves), context).product.recording == "levels - from 1.5", "the same is saved once"
    assert prepare(asked(moves=moves[:3]), context).product.recording == "levels - from 1.5 no 2"
    with pytest.raises(CaptureError, match="rolled out by hand"):
        iv.rerun(study, kept.name, iv.EditSet(name="any", edits=()), levels[1], levels[2], progress=False)


def test_pictures_and_amounts_of_what_was_played_are_reported_by_key(
    levels: tuple[iv.Study, iv.Subject, World], what_ifs: WhatIfSessions
) -> None:
    study, subject, _ = levels
    found = iv.look(
        study, "factors", "levels", subject=subject, layer="eye", count=2, max_rows=16, steps=4, progress=False
    )
    here = what_ifs.play(asked())
    key = here.nodes[0].key
    each = what_ifs.factors(key, found.id)
    kept = study.result_array(found.id, "amounts")[19] * study.result_array(found.id, "scale")[19, 0] / 127
    assert each.shape == (3, 64, 64)
    assert each[:2] == pytest.approx(kept, abs=float(study.result_array(found.id, "scale")[19, 0]) / 200)
    for arguments, value in (({"parameters": {"steps": "ten"}}, found.value), ({"parameters": 7}, [])):
        forged = study.save_result(
            "factors", recording="levels", arguments=arguments, value=value, arrays={"directions": np.eye(2)}
        )
        with pytest.raises(DamagedPart, match=rf"Result '{forged.id}' does not say how its factors were found"):
            what_ifs.factors(key, forged.id)
    last = what_ifs.play(asked(moves=(AGENT,) * 3)).nodes[-1].key
    assert what_ifs.array(last, "observation", 2).shape == (2, 64, 64, 3)
    assert what_ifs.array(last, "mask", 99).shape == (4, 64, 64)
    with pytest.raises(UnknownName, match="mask"):
        what_ifs.array(last, "masks", 1)
    with pytest.raises(UnknownName, match="ask for its moves again"):
        what_ifs.array("0" * 24, "observation", 1)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"row": 99}, "row must be a number from 0 to 27"),
        ({"subject": "nobody"}, "Unknown live subject"),
    ],
)
def test_what_is_asked_badly_is_reported(what_ifs: WhatIfSessions, more: dict[str, Any], words: str) -> None:
    with pytest.raises(InnerviewError, match=words):
        what_ifs.play(asked(**more))
    with pytest.raises(RequestError, match="go_on is a whole number from 0 to"):
        what_ifs.play(asked(), go_on=10_000)


def test_saving_can_be_cancelled_and_goes_on(levels: tuple[iv.Study, iv.Subject, World], context: Context) -> None:
    work = prepare(asked(moves=(AGENT,), name="cancelled"), context)

    def stop(done: int, total: int | None, message: str = "") -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        perform(work, stop)
    assert perform(work, lambda *_: None).rows == 6
    assert levels[0].recording("cancelled").columns(["step"])["step"].to_list() == list(range(6))


def test_nothing_done_cannot_be_saved(context: Context) -> None:
    with pytest.raises(RequestError, match="Nothing was done yet"):
        prepare(asked(), context)


def test_edits_of_the_memory_go_on(counted: tuple[iv.Study, iv.Subject, World]) -> None:
    study, subject, place = counted
    edits = SiteEdit(elements=(0, 1), op="set", value=0.5)
    iv.record(study, subject, place, episodes=1, name="held", edits=edits, progress=False)
    found = what_if(study, "held", row=3, subject=subject, world=place)
    assert found.play([AGENT, AGENT])[2].output.memory["cell"][0, :2].tolist() == [0.5, 0.5]
    found.close()


def test_another_subject_sees_what_led_to_the_step(counted: tuple[iv.Study, iv.Subject, World]) -> None:
    study, subject, place = counted
    own = dict(subject.module.named_parameters())
    other = subject.copied({"cell.bias_ih": own["cell.bias_ih"] + 1.0}, name="other")
    with pytest.raises(NotAsRecorded, match="recorded by 'tiny', and this is 'other'"):
        what_if(study, "counted", row=4, subject=other, world=place)
    found = what_if(study, "counted", row=4, subject=other, world=place, other=True)
    assert found.origin.other == ("It was recorded by 'tiny', and this is 'other'.",)
    memory = other.initial_memory(1)
    for row in range(5):
        seen = {"observation": study.recording("counted").array("observation", row, row + 1)}
        memory = other.run(other.inputs(seen), memory).memory
    assert found.nodes[0].output.memory["cell"].tolist() == memory["cell"].tolist()
    found.close()
    with pytest.raises(NotAsRecorded, match="weights of 'tiny' changed"):
        what_if(study, "counted", row=4, subject=other.copied({}, name="tiny"), world=place)


def test_continuous_actions_are_numbers_within_bounds(tmp_path: Path) -> None:
    subject = iv.subject(nn.Linear(2, 1), name="steady", example=torch.zeros(1, 2), heads="gaussian")
    study, place = iv.Study.create(tmp_path / "line.study"), ContinuousWorld()
    iv.record(study, subject, place, episodes=1, seeds=1, name="line", greedy=True, progress=False)
    found = what_if(study, "line", row=3, subject=subject, world=place)
    here, there, mine = found.play([Move(do="act", actions=(5.0,)), AGENT])
    assert there.moment.facts["x"] == pytest.approx(here.moment.facts["x"] + 1.0)
    assert abs(mine.moment.facts["x"] - there.moment.facts["x"]) <= 1.0
    with pytest.raises(RequestError, match=r"1 numbers \(speed\)"):
        found.play([Move(do="act", action=1)])
    found.close()
