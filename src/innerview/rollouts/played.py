"""Episodes that are played once: what is known of them in a study, and how far several players have come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from innerview.schema import EpisodeSummary, from_json, to_json
from innerview.store import KeyedLog, Recording, Study
from innerview.subjects import Subject
from innerview.worlds import World

Lines = list[list[EpisodeSummary]]
"""For each player, how the seeds went, in their order."""
UNEDITED = "full"


def setting_of(subject: Subject, world: World, *, greedy: bool, max_steps: int | None) -> dict[str, Any]:
    """All that an episode depends on beside its seed and its edits."""
    return {
        "identity": subject.identity(),
        "world": world.info.identity,
        "greedy": greedy,
        "max_steps": max_steps,
    }


def how_played(recording: Recording) -> tuple[bool, int | None]:
    """Whether the likeliest action was taken, and the step at which episodes were cut; no to both where unknown."""
    played = recording.info.played
    return (played.greedy, played.max_steps) if played else (False, None)


def played_episodes(
    study: Study | None, setting: Mapping[str, Any], *, edits: Sequence[str] = ("",)
) -> list[PlayedEpisodes]:
    """What a study knows of episodes under one setting, by the fingerprint of the edits they were played with."""
    stored = KeyedLog(study, setting) if study is not None else None
    known: dict[str, dict[int, EpisodeSummary]] = {(each or UNEDITED): {} for each in edits}
    for key, line in (stored.known() if stored else {}).items():
        edited, _, seed = key.rpartition(" ")
        if edited in known and seed.isdecimal():
            told = {name: value for name, value in line.items() if name != "key"}
            known[edited][int(seed)] = from_json(EpisodeSummary, told)
    return [PlayedEpisodes(stored, each or UNEDITED, known[each or UNEDITED]) for each in edits]


class PlayedEpisodes:
    """Episodes of one player by seed, kept in the study where there is one."""

    def __init__(self, stored: KeyedLog | None, edits: str, known: dict[int, EpisodeSummary]) -> None:
        self._stored, self._edits, self._known = stored, edits, known

    def __contains__(self, seed: int) -> bool:
        return seed in self._known

    def __getitem__(self, seed: int) -> EpisodeSummary:
        return self._known[seed]

    def add(self, ended: Sequence[EpisodeSummary]) -> None:
        """Keep these; once this returns they survive a crash."""
        if self._stored is not None:
            ended = [replace(each, facts={}) for each in ended]
            self._stored.add([{"key": f"{self._edits} {each.seed}", **to_json(each)} for each in ended])
        self._known.update({each.seed: each for each in ended})


class Standing:
    """How far all players have come together."""

    def __init__(self, players: Sequence[PlayedEpisodes], seeds: Sequence[int]) -> None:
        self._players, self._seeds, self._whole = players, seeds, 0

    def whole(self) -> int:
        """How many seeds come before the first that somebody still plays: what ends early is not what ends well."""
        while self._whole < len(self._seeds) and all(self._seeds[self._whole] in each for each in self._players):
            self._whole += 1
        return self._whole

    def lines(self) -> Lines:
        """How those seeds went."""
        seeds = self._seeds[: self.whole()]
        return [[each[seed] for seed in seeds] for each in self._players]
