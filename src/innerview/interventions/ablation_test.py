"""The ablation test of an edited subject: many levels, the same for the original, the edited one and controls."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from innerview.edits.ablation import ablate, random_directions
from innerview.edits.ablation_test import Arm, ArmKind, compare_arms
from innerview.errors import CaptureError, EditError, UnknownName
from innerview.interventions.edited import rebuilt
from innerview.interventions.jobs import AblationTestJob
from innerview.interventions.reductions import other_seed
from innerview.jobs.context import Context
from innerview.jobs.engine import Progress
from innerview.jobs.recorded import check_recorded, noted
from innerview.jobs.work import Found, StoredWork, run_job, spans
from innerview.rollouts.episodes import Match, Player
from innerview.rollouts.played import Lines, how_played
from innerview.rollouts.record import context_of, seeds_of
from innerview.schema import Result, Watch, WeightEdit
from innerview.store import Edited, Recording, Study, load_edited
from innerview.subjects import Subject
from innerview.worlds import World
from innerview.worlds import world as as_world
from innerview.worlds.crowds import Known, hiding

LEVELS_A_PART = 16_384


@dataclass(frozen=True, kw_only=True)
class ArmPlayer(Player):
    """One line of the test."""

    kind: ArmKind


class AblationTestWork(StoredWork):
    """An edited subject beside its original and controls, checked. Its parts are levels, each played by everybody."""

    job: AblationTestJob
    grows = True

    def __init__(self, job: AblationTestJob, context: Context) -> None:
        super().__init__(job, context)
        self.edited = load_edited(context.study, job.edited)
        self.recording = source(context.study, job.recording, self.edited)
        original, world = context.original(self.edited), context.world(job.world, self.recording)
        self.other = check_recorded(self.recording, subject=original, world=world.info, other=job.other)
        first = _first_seed(self.recording, world, job.levels) if job.seed is None else job.seed
        greedy, max_steps = how_played(self.recording)
        self.players = tuple(self._players(original, world))
        self.match = Match(
            study=context.study,
            players=self.players,
            seeds=seeds_of(job.levels, first),
            greedy=greedy,
            max_steps=max_steps,
            lanes=job.lanes,
        )

    @property
    def title(self) -> str:
        """What is done, in words."""
        return f"ablation test of {self.edited.name}"

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that the outcome depends on."""
        seeds = self.match.seeds
        arms = [{"name": p.name, "kind": p.kind, **self.match.setting(p)} for p in self.players]
        return {"edited": self.edited.name, "seed": seeds[0], "levels": len(seeds), "arms": arms, **noted(self.other)}

    def parts(self, given: Sequence[Any]) -> Sequence[tuple[int, int]]:
        """(first, stop) among the levels."""
        return spans(len(self.match.seeds), LEVELS_A_PART)[len(given) :]

    def run(self, part: tuple[int, int], watch: Watch) -> Lines:
        """Play some levels; those that were played before are not played again."""
        first, stop = part
        count = len(self.match.players)
        games = count * len(self.match.seeds)

        def report(done: int, total: int | None, message: str = "") -> None:
            watch(first * count + done, games, message)

        def show(lines: Lines) -> None:
            watch((first + len(lines[0])) * count, games, so_far=lines)

        return replace(self.match, seeds=self.match.seeds[first:stop]).play(report, so_far=show)

    def merge(self, given: Sequence[Lines]) -> Found:
        """How the levels went that everybody has played."""
        lines = [[*chain(*several)] for several in zip(*given, strict=True)]
        pairs = zip(self.players, lines, strict=True)
        arms = [Arm(name=player.name, kind=player.kind, episodes=episodes) for player, episodes in pairs]
        world = self.players[0].world
        told = {"levels": len(self.match.seeds), "done": len(lines[0]), "seed": self.match.seeds[0]}
        return Found(value={**told, **compare_arms(arms, world.endings if isinstance(world, Known) else ())})

    def _players(self, original: Subject, world: World) -> list[ArmPlayer]:
        edited, invisible = self.edited, self.job.invisible
        ablated = rebuilt(self.study, edited, original)
        players = [ArmPlayer(name="original", kind="original", subject=original, world=world)]
        players += [ArmPlayer(name=edited.name, kind="ablated", subject=ablated, world=world)]
        players += [_control(edited, original, world, number) for number in range(self.job.controls)]
        if invisible:
            unseen = hiding(world, invisible)
            players.append(ArmPlayer(name=f"{invisible} invisible", kind="invisible", subject=original, world=unseen))
        if sum(player.name == edited.name for player in players) > 1:
            raise EditError(
                f"Another line of the test is called '{edited.name}', too. Give the edited subject another name."
            )
        return players


def ablation_test(
    study: Study | str | Path,
    edited: Subject | str,
    subject: Subject,
    world: Any,
    *,
    recording: str | None = None,
    levels: int = AblationTestJob.levels,
    seed: int | None = None,
    controls: int = AblationTestJob.controls,
    invisible: str = "",
    lanes: int | None = None,
    other: bool = False,
    progress: Progress | bool = True,
) -> Result:
    """Play the same levels with a subject, its edited form and `controls` random edits alike, and keep the table.

    Seeds are such as nobody trained on where the world knows them, else beyond those of the recording (the only one
    where none is named), whose way of choosing actions is kept. `invisible` adds the subject in a world where one
    class of things cannot be seen. A world or a subject other than was recorded is refused unless `other=True`, and the
    result then says so. What was played before is not played again.

        ablated = iv.ablate(study, agent, found, factors=[2])
        result = iv.ablation_test(study, ablated, agent, game, levels=1_000, invisible="saw").value
    """
    played = as_world(world)
    job = AblationTestJob(
        edited=edited if isinstance(edited, str) else edited.info.name,
        recording=recording,
        levels=levels,
        seed=seed,
        controls=controls,
        invisible=invisible,
        lanes=lanes,
        world=played.info.name,
        other=other,
    )
    result: Result = run_job(job, context_of(study, subject, played), progress=progress)
    return result


def source(study: Study, name: str | None, edited: Edited) -> Recording:
    """The recording named, or the one that the edit's factors were found in."""
    if name is not None:
        return study.recording(name)
    with suppress(UnknownName):
        return study.recording(study.result(edited.last.result).recording)
    names = study.recordings()
    if len(names) != 1:
        raise CaptureError(f"Say which recording; this study has {', '.join(map(repr, names)) or 'none'}.")
    return study.recording(names[0])


def _control(edited: Edited, original: Subject, world: World, number: int) -> ArmPlayer:
    """The same edits with directions drawn at random: as many of them, as sparse, in the same layers."""
    made = original
    for place, line in enumerate(edited.history):
        drawn = random_directions(line.directions, seed=1_000 * place + number)
        directions = tuple(tuple(float(v) for v in each) for each in drawn)
        made = ablate(made, WeightEdit(layer=line.layer, directions=directions, after=line.after))
    called = "random directions" if number == 0 else f"random directions {number + 1}"
    return ArmPlayer(name=called, kind="control", subject=made, world=world)


def _first_seed(recording: Recording, world: World, levels: int) -> int:
    """Seeds nobody trained on, and none that the factors were found in."""
    fresh = world.fresh_seed if isinstance(world, Known) else None
    beyond = other_seed(recording)
    if fresh is None:
        return beyond
    used = set(recording.info.seeds)
    return max(fresh, beyond) if used & set(range(fresh, fresh + levels)) else fresh
