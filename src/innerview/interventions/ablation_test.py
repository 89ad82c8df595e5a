"""Puts an edited subject to the proof: many levels, the same for the original, the edited one and controls."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from innerview.edits.ablation import blind, random_directions
from innerview.errors import CaptureError, EditError, RequestError, UnknownName
from innerview.interventions.edited import rebuilt
from innerview.interventions.reductions import other_seed
from innerview.jobs.engine import Progress
from innerview.jobs.terminal import bar
from innerview.rollouts.evaluation import Match, Player, value_of
from innerview.rollouts.played import Lines
from innerview.rollouts.record import check_subject, seeds_of
from innerview.schema import Result, WeightEdit
from innerview.store import Edited, Recording, Study, load_edited
from innerview.subjects import Subject
from innerview.worlds import World
from innerview.worlds import world as as_world
from innerview.worlds.crowds import Known, hiding

MOST_LEVELS, MOST_CONTROLS = 1_000_000, 20
USUAL_LEVELS = 1_000
KIND = "proof"


@dataclass(frozen=True, kw_only=True)
class ProofQuestion:
    """A proof that was asked for, checked."""

    match: Match
    recording: Recording
    edited: Edited

    @property
    def title(self) -> str:
        """What is done, in words."""
        return f"{self.edited.name} put to the proof"

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """All that it depends on."""
        seeds = self.match.seeds
        arms = [{"name": p.name, "kind": p.kind, **self.match.setting(p)} for p in self.match.players]
        return {"edited": self.edited.name, "seed": seeds[0], "levels": len(seeds), "arms": arms}

    @cached_property
    def id(self) -> str:
        """The id its result has."""
        return self.match.study.result_id(KIND, self.recording.name, self.arguments)

    def answer(self, progress: Progress) -> Result:
        """Play what was not played yet, and keep the table; what there is so far is kept now and then."""
        with suppress(UnknownName):
            kept = self.match.study.result(self.id)
            if not kept.provisional and _tells_levels(kept.value):
                return kept
        lines = self.match.play(progress, so_far=lambda lines: self._keep(lines, provisional=True))
        return self._keep(lines, provisional=False)

    def _keep(self, lines: Lines, *, provisional: bool) -> Result:
        return self.match.study.keep_result(
            KIND,
            recording=self.recording.name,
            arguments=self.arguments,
            value=value_of(self.match, lines),
            title=self.title,
            provisional=provisional,
            result=self.id,
        )


def _tells_levels(value: Mapping[str, Any]) -> bool:
    """Proofs of before did not; what was played is kept, so that costs nothing but to write it anew."""
    return all("seeds" in each for arm in value["arms"] for each in arm["causes"])


def ask_proof(
    study: Study,
    recording: Recording,
    edited: Edited,
    original: Subject,
    world: World,
    *,
    levels: int = USUAL_LEVELS,
    seed: int | None = None,
    controls: int = 1,
    invisible: str = "",
    lanes: int | None = None,
) -> ProofQuestion:
    """Check everything about a proof before anything is played."""
    if not 1 <= levels <= MOST_LEVELS:
        raise RequestError(f"levels is how many each plays, from 1 to {MOST_LEVELS:,}, not {levels}.")
    if not 0 <= controls <= MOST_CONTROLS:
        raise RequestError(f"controls is how many random edits play too, from 0 to {MOST_CONTROLS}, not {controls}.")
    if original.info.name != edited.root:
        raise EditError(f"'{edited.name}' was made of '{edited.root}', not of '{original.info.name}'.")
    players = [Player("original", "original", original, world)]
    players += [Player(edited.name, "blind", rebuilt(study, edited, original), world)]
    players += [_control(edited, original, world, number) for number in range(controls)]
    if invisible:
        players.append(Player(f"{invisible} invisible", "invisible", original, hiding(world, invisible)))
    if sum(player.name == edited.name for player in players) > 1:
        raise EditError(
            f"Another line of the proof is called '{edited.name}', too. Give the edited subject another name."
        )
    arguments = recording.info.arguments
    match = Match(
        study=study,
        players=tuple(players),
        seeds=seeds_of(levels, _first_seed(recording, world, levels) if seed is None else seed),
        greedy=bool(arguments.get("greedy", False)),
        max_steps=arguments.get("max_steps"),
        lanes=lanes,
    )
    return ProofQuestion(match=match, recording=recording, edited=edited)


def prove(
    study: Study | str | Path,
    edited: Subject | str,
    subject: Subject,
    world: Any,
    *,
    recording: str | None = None,
    levels: int = USUAL_LEVELS,
    seed: int | None = None,
    controls: int = 1,
    invisible: str = "",
    lanes: int | None = None,
    progress: Progress | bool = True,
) -> Result:
    """Play the same levels with a subject, its edited form and `controls` random edits alike, and keep the table.

    Seeds are such as nobody trained on where the world knows them, else beyond those of the recording (the only one
    where none is named), whose way of choosing actions is kept. `invisible` adds the subject in a world where one
    class of things cannot be seen. What was played before is not played again.

        blinded = iv.blind(study, agent, found, factors=[2])
        told = iv.prove(study, blinded, agent, game, levels=1_000, invisible="saw").value
    """
    opened = study if isinstance(study, Study) else Study.open(study)
    check_subject(subject)
    name = edited if isinstance(edited, str) else edited.info.name
    question = ask_proof(
        opened,
        source(opened, recording, load_edited(opened, name)),
        load_edited(opened, name),
        subject,
        as_world(world),
        levels=levels,
        seed=seed,
        controls=controls,
        invisible=invisible,
        lanes=lanes,
    )
    with bar(progress, question.title, "episodes") as report:
        return question.answer(report)


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


def _control(edited: Edited, original: Subject, world: World, number: int) -> Player:
    """The same edits with directions drawn at random: as many of them, as sparse, in the same layers."""
    made = original
    for place, line in enumerate(edited.history):
        drawn = random_directions(line.directions, seed=1_000 * place + number)
        directions = tuple(tuple(float(v) for v in each) for each in drawn)
        made = blind(made, WeightEdit(layer=line.layer, directions=directions, after=line.after))
    called = "random directions" if number == 0 else f"random directions {number + 1}"
    return Player(called, "control", made, world)


def _first_seed(recording: Recording, world: World, levels: int) -> int:
    """Seeds nobody trained on, and none that the factors were found in."""
    fresh = world.fresh_seed if isinstance(world, Known) else None
    beyond = other_seed(recording)
    if fresh is None:
        return beyond
    used = {int(seed) for seed in recording.info.arguments.get("seeds", ())}
    return max(fresh, beyond) if used & set(range(fresh, fresh + levels)) else fresh
