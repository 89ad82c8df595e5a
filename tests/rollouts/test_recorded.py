"""Same names, other content: a config, an edited config, levels, actions and weights are told apart wherever they meet.

Each case is recorded as it was, and then met by what has the same name: by recording again, re-runs, tables of
reductions, sweeps, what-if rollouts, lenses, and the service behind the page.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import httpx
import numpy as np
import pytest
import torch
import vizdoom
from gymnasium import spaces

import innerview as iv
from innerview.errors import NotAsRecorded
from innerview.interventions.reductions import reduce_table
from innerview.jobs.context import Context
from innerview.jobs.work import run_job
from innerview.rollouts.jobs import WhatIfJob
from innerview.schema import EditSet, Move, SiteEdit
from innerview.serve import serve
from innerview.worlds import World, world
from tests.rollouts.players import Recurrent, recurrent

HALF = EditSet(name="half", edits=(SiteEdit(elements=(0, 1, 2)),))
BUTTONS = {"left": ["MOVE_LEFT"], "right": ["MOVE_RIGHT"], "shoot": ["ATTACK"]}
Thing = tuple[iv.Subject, World]


@dataclass(frozen=True)
class Case:
    """The same names before and after."""

    name: str
    before: Callable[[Path], Thing]
    after: Callable[[Path], Thing]
    words: str
    """What is said of the difference."""


class Room(gymnasium.Env):
    """A room whose walls have a colour; the level is nowhere in its name."""

    observation_space, action_space = spaces.Box(0, 255, (8, 8, 3), np.uint8), spaces.Discrete(3)

    def __init__(self, level: int = 0, *, prize: float = 1.0) -> None:
        self.level, self.prize = level, prize

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        return self._seen(), self.prize, self.steps == 6, False, {}

    def _seen(self) -> np.ndarray:
        return np.full((8, 8, 3), 40 * self.level + self.np_random.integers(40), np.uint8)


def doom(folder: Path, scenario: str, *, living: int = -1, actions: Any = None) -> World:
    """A config called custom.cfg in a folder, with its WAD beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    source = Path(vizdoom.scenarios_path)
    shutil.copy(source / f"{scenario}.wad", folder / "custom.wad")
    lines = "doom_scenario_path = custom.wad", f"living_reward = {living}", "episode_timeout = 40"
    buttons = "available_buttons = { MOVE_LEFT MOVE_RIGHT ATTACK }"
    (folder / "custom.cfg").write_text("\n".join([*lines, buttons, "# walk"]))
    return world(str(folder / "custom.cfg"), size=(8, 8), actions=actions or BUTTONS)


def trained() -> iv.Subject:
    subject = recurrent()
    assert isinstance(subject.module, Recurrent)
    with torch.no_grad():
        subject.module.policy.bias.add_(0.5)
    return subject


def room(*given: Any, **more: Any) -> World:
    return world(lambda: Room(*given, **more))


SWAPPED = {"right": ["MOVE_RIGHT"], "left": ["MOVE_LEFT"], "shoot": ["ATTACK"]}
NAMED = ["left", "right", "forward"]
CASES = [
    Case(
        "a config of the same name in another folder",
        lambda tmp: (recurrent(), doom(tmp / "labyrinth", "basic")),
        lambda tmp: (recurrent(), doom(tmp / "find_return", "rocket_basic")),
        "its scenario has other content",
    ),
    Case(
        "an edited config",
        lambda tmp: (recurrent(), doom(tmp / "a", "basic")),
        lambda tmp: (recurrent(), doom(tmp / "a", "basic", living=-2)),
        "its config has other content",
    ),
    Case(
        "actions in another order",
        lambda tmp: (recurrent(), doom(tmp / "a", "basic")),
        lambda tmp: (recurrent(), doom(tmp / "a", "basic", actions=SWAPPED)),
        "actions were left, right, shoot and are right, left, shoot",
    ),
    Case("levels", lambda tmp: (recurrent(), room(0)), lambda tmp: (recurrent(), room(1)), "it begins otherwise"),
    Case(
        "rewards", lambda tmp: (recurrent(), room()), lambda tmp: (recurrent(), room(prize=2.0)), "it begins otherwise"
    ),
    Case(
        "weights", lambda tmp: (recurrent(), room()), lambda tmp: (trained(), room()), "The weights of 'tiny' changed"
    ),
    Case(
        "another agent",
        lambda tmp: (recurrent(), room()),
        lambda tmp: (trained().named("other"), room()),
        "It was recorded by 'tiny', and this is 'other'",
    ),
]


@dataclass(frozen=True)
class Met:
    """A recording, and what has the same names now."""

    case: Case
    study: iv.Study
    subject: iv.Subject
    world: World
    tmp: Path


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def met(request: pytest.FixtureRequest, tmp_path: Path) -> Met:
    case: Case = request.param
    subject, place = case.before(tmp_path)
    iv.record(tmp_path / "a.study", subject, place, episodes=2, name="x", lanes=1, greedy=True, progress=False)
    subject, place = case.after(tmp_path)
    return Met(case, iv.Study.open(tmp_path / "a.study"), subject, place, tmp_path)


@pytest.fixture
def refused(met: Met) -> Callable[[], Any]:
    return lambda: pytest.raises(NotAsRecorded, match=met.case.words)


def test_recording_again_makes_a_version(met: Met) -> None:
    before = met.study.recording("x").digest
    asked: dict[str, Any] = {"episodes": 2, "lanes": 1, "greedy": True, "progress": False}
    made = iv.record(met.study, met.subject, met.world, name="x", **asked)
    assert made.name == "x v2" and met.case.words in made.info.note and "The one before is 'x'" in made.info.note
    assert met.study.recording("x").digest == before
    assert iv.record(met.study, met.subject, met.world, name="x", **asked).name == "x v2", "it is found again"
    over = iv.record(met.study, met.subject, met.world, name="x", overwrite=True, **asked)
    assert over.name == "x" and over.digest == made.digest and iv.check(met.study.path) == []


def test_reruns(met: Met, refused: Any) -> None:
    with refused():
        iv.rerun(met.study, "x", HALF, met.subject, met.world, progress=False)
    made = iv.rerun(met.study, "x", HALF, met.subject, met.world, other=True, progress=False)
    assert met.case.words in " ".join(made.recording.info.other)


def test_tables_and_what_they_played(met: Met, refused: Any) -> None:
    with refused():
        reduce_table(met.study, "x", [HALF], met.subject, met.world, episodes=1, progress=False)
    made = reduce_table(met.study, "x", [HALF], met.subject, met.world, episodes=1, other=True, progress=False)
    assert met.case.words in " ".join(made.arguments["other"])
    subject, place = met.case.before(met.tmp)
    reduce_table(met.study, "x", [HALF], subject, place, episodes=1, progress=False)
    assert len(list((met.study.path / "played").iterdir())) == 2, "what one played is not taken for the other's"


def test_sweeps_and_the_smallest_memory(met: Met, refused: Any) -> None:
    with refused():
        iv.sweep(met.study, "x", met.subject, met.world, elements=[0], progress=False)
    with refused():
        iv.smallest_memory(met.study, "x", met.subject, met.world, progress=False)
    made = iv.sweep(met.study, "x", met.subject, met.world, elements=[0], other=True, progress=False)
    assert met.case.words in " ".join(made.arguments["other"])


def test_what_if_rollouts(met: Met, refused: Any) -> None:
    with refused():
        iv.what_if(met.study, "x", row=0, subject=met.subject, world=met.world)


def test_lenses(met: Met, refused: Any) -> None:
    if met.case.name not in ("weights", "another agent"):
        iv.look(met.study, "gradient", "x", subject=met.subject, rows=(0, 2), progress=False)
        return  # a lens looks at what was recorded, in whatever world
    with refused():
        iv.look(met.study, "gradient", "x", subject=met.subject, rows=(0, 2), progress=False)
    made = iv.look(met.study, "gradient", "x", subject=met.subject, rows=(0, 2), other=True, progress=False)
    assert met.case.words in " ".join(made.arguments["other"])


@pytest.fixture
def page(met: Met) -> Iterator[httpx.Client]:
    live: dict[str, Any] = {
        "subjects": {met.subject.info.name: met.subject},
        "worlds": {met.world.info.name: met.world},
    }
    with serve(met.study, **live) as handle:
        headers = {"Authorization": f"Bearer {handle.token}"}
        with httpx.Client(base_url=handle.address, headers=headers, timeout=60) as client:
            yield client


def test_the_page(met: Met, page: httpx.Client) -> None:
    job = {"recording": "x", "subject": met.subject.info.name}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("/api/jobs", {"kind": "rerun", "reduction": {"name": "half", "edits": [{"elements": [0], "kind": "site"}]}}),
        ("/api/jobs", {"kind": "sweep", "elements": [0]}),
        ("/api/what-if", {"row": 0}),
    ]
    if met.case.name in ("weights", "another agent"):
        asked.append(("/api/jobs", {"kind": "lens", "lens": "gradient", "rows": [[0, 2]]}))
    for path, more in asked:
        reply = page.post(path, json={**job, **more})
        assert (reply.status_code, reply.json()["error"]["kind"]) == (409, "NotAsRecorded"), more
        assert met.case.words in reply.json()["error"]["message"], more
    assert page.post("/api/jobs", json={**job, **asked[1][1], "other": True}).status_code == 201


def test_a_what_if_rollout_of_another_agent_says_so_and_takes_no_factors(tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "a.study")
    iv.record(study, recurrent(), room(), episodes=1, name="x", progress=False)
    found = iv.look(study, "factors", "x", subject=recurrent(), layer="eye", count=2, progress=False)
    other = trained().named("other")
    with iv.what_if(study, "x", row=2, subject=other, world=room(), other=True) as rollout:
        assert rollout.origin.other == ("It was recorded by 'tiny', and this is 'other'.",)
        (_, node) = rollout.play([Move(do="agent")])
        from innerview.rollouts.what_if.factors import amounts

        with pytest.raises(NotAsRecorded, match=r"factors .* found in 'tiny', and this is 'other'"):
            amounts(study, found.id, rollout, node)
    with pytest.raises(NotAsRecorded, match="found before the weights of 'tiny' changed"):
        iv.ablate(study, trained(), found, factors=[0])


def test_an_agent_with_other_actions_is_named_with_them(tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "a.study")
    iv.record(study, recurrent(), room(), episodes=1, name="x", progress=False)
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 5))
    many = iv.subject(module, name="many", example=torch.zeros(1, 3, 8, 8), heads="policy")
    with pytest.raises(NotAsRecorded, match=r"chose among 3 actions.*among 5 actions now"):
        iv.look(study, "gradient", "x", subject=many, rows=(0, 2), progress=False)


def test_a_world_moved_and_renamed_is_the_same_world(tmp_path: Path) -> None:
    subject, place = recurrent(), doom(tmp_path / "a", "basic")
    iv.record(tmp_path / "a.study", subject, place, episodes=1, name="x", lanes=1, progress=False)
    (tmp_path / "a").rename(tmp_path / "b")
    text = (tmp_path / "b" / "custom.cfg").read_text().replace("# walk", "# comments and blanks do not count\n\n")
    (tmp_path / "b" / "renamed.cfg").write_text(text.replace("living_reward =", "livingReward   ="))
    moved = world(tmp_path / "b" / "renamed.cfg", size=(8, 8), actions=BUTTONS)
    assert moved.info.name == "renamed" and moved.info.identity == place.info.identity
    iv.rerun(tmp_path / "a.study", "x", HALF, subject, moved, progress=False)


def test_more_episodes_are_added_to_what_is_there(tmp_path: Path) -> None:
    subject, asked = recurrent(), {"name": "x", "block_rows": 8, "progress": False}
    first = iv.record(tmp_path / "a.study", subject, room(), episodes=3, **asked)  # type: ignore[arg-type]
    files = {p: p.stat().st_ino for p in (first.folder / "rows").iterdir()}
    more = iv.record(tmp_path / "a.study", subject, room(), episodes=7, **asked)  # type: ignore[arg-type]
    whole = iv.record(tmp_path / "b.study", subject, room(), episodes=7, **asked)  # type: ignore[arg-type]
    assert more.group_count == 7 and more.digest == whole.digest and iv.check(tmp_path / "a.study") == []
    assert more.columns().equals(whole.columns()) and more.groups().equals(whole.groups())
    for spec in more.info.arrays:
        assert np.array_equal(more.array(spec.name, 0, more.rows), whole.array(spec.name, 0, whole.rows))
    kept = [path for path, number in files.items() if path.stat().st_ino == number]
    assert len(kept) == len(files) - 1, "whole blocks stay as they are"


def test_adding_that_is_interrupted_leaves_what_was_there_and_goes_on(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def impatient(done: int, total: int | None, message: str = "") -> None:
        if done >= 6:
            raise Stop

    subject, asked = recurrent(), {"name": "x", "block_rows": 8}
    iv.record(tmp_path / "a.study", subject, room(), episodes=3, progress=False, **asked)  # type: ignore[arg-type]
    for overwrite in (False, True):
        before = iv.Study.open(tmp_path / "a.study").recording("x")
        with pytest.raises(Stop):
            iv.record(
                tmp_path / "a.study", subject, room(), episodes=9, overwrite=overwrite, progress=impatient, **asked
            )  # type: ignore[arg-type]
        left = iv.Study.open(tmp_path / "a.study").recording("x")
        assert left.complete and left.digest == before.digest and iv.check(tmp_path / "a.study") == []
    made = iv.record(tmp_path / "a.study", subject, room(), episodes=9, progress=False, **asked)  # type: ignore[arg-type]
    whole = iv.record(tmp_path / "b.study", subject, room(), episodes=9, progress=False, **asked)  # type: ignore[arg-type]
    assert made.digest == whole.digest and made.group_count == 9


def test_a_saved_rollout_of_another_agent_holds_what_that_agent_says_from_the_start(tmp_path: Path) -> None:
    study = iv.Study.create(tmp_path / "a.study")
    iv.record(study, recurrent(), room(), episodes=1, name="x", progress=False)
    other = trained().named("other")
    job = WhatIfJob(recording="x", row=3, moves=(Move(do="agent"),), subject="other", other=True, name="mine")
    live = Context(study=study, subjects={"other": other}, worlds={"Room": room()})
    made = run_job(job, live, progress=False)
    assert made.info.other == ("It was recorded by 'tiny', and this is 'other'.",)
    memory = other.initial_memory(1)
    for row in range(4):
        seen = {"observation": made.array("observation", row, row + 1)}
        output = other.run(other.inputs(seen), memory)
        memory = output.memory
        assert np.allclose(made.array("memory", row, row + 1), memory["cell"].numpy(), atol=1e-6)
        said = other.probabilities(output)
        assert said is not None and np.allclose(made.array("probabilities", row, row + 1), said, atol=1e-6)
