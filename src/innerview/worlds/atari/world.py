"""Atari games as worlds: the agent's stack of grey frames, the coloured screen beside it, and facts from the memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from innerview.errors import UnknownName, WorldError
from innerview.schema import ActionSpace, ArraySpec, Moment, WorldInfo
from innerview.worlds.atari.facts import Seen, columns_of, facts_of
from innerview.worlds.atari.frames import INPUT_HW, STACK, shrink_grey
from innerview.worlds.atari.game import AtariGame, GameSettings, Snapshot, find_rom
from innerview.worlds.contents import digest_of_file
from innerview.worlds.lanes import ThreadedLanes
from innerview.worlds.protocols import Lanes

FRAMES_PER_SECOND = 60
PICTURE = "picture"
GAME_OVER, LIFE_LOST, TIME_LIMIT = "game over", "life lost", "time limit"


@dataclass(frozen=True, kw_only=True)
class AtariSettings(GameSettings):
    """Everything a person can set about an Atari world."""

    episodic_life: bool = False
    """An episode ends with the first life that is lost."""
    stack: int = STACK
    """Frames that the agent sees at once, the oldest first; an episode begins with copies of its first."""
    picture: bool = True
    """Keep the coloured screen beside the observation."""

    @classmethod
    def of(cls, **settings: Any) -> AtariSettings:
        """Settings by name; an unknown name gets an error with the nearest one."""
        known = [f.name for f in fields(cls)]
        for name in settings:
            if name not in known:
                raise UnknownName("setting of an Atari world", name, known)
        return cls(**settings)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.stack, bool) or not isinstance(self.stack, int) or self.stack < 1:
            raise WorldError(f"stack is how many frames the agent sees: 1 or more, not {self.stack!r}.")


@dataclass(frozen=True)
class Bookmark:
    """A moment of a game to come back to: `AtariLane.restore`."""

    game: Snapshot
    moment: Moment


class AtariWorld:
    """A game of ale-py: `world("atari:breakout")`."""

    def __init__(self, game: str, settings: AtariSettings | None = None) -> None:
        self.name, self.settings = game, settings or AtariSettings()
        self.info = _describe(self.game())

    def game(self) -> AtariLane:
        """One game to play by hand; it can be bookmarked and restored."""
        return AtariLane(AtariGame(self.name, self.settings), self.settings)

    def open(self, lanes: int) -> Lanes:
        """Start that many games."""
        return ThreadedLanes(lambda lane: self.game(), lanes)


class AtariLane:
    """One game that tells what is true."""

    def __init__(self, game: AtariGame, settings: AtariSettings) -> None:
        self.atari, self.settings = game, settings
        self._stack_hwc = np.zeros((*INPUT_HW, settings.stack), np.uint8)
        self._now: Moment | None = None

    def reset(self, seed: int) -> Moment:
        """Begin an episode; the same seed and actions give the same moments."""
        frame_hw = _small(self.atari.reset(seed))
        self._stack_hwc = np.repeat(frame_hw[..., None], self.settings.stack, axis=2)
        self._now = Moment(observation=self._observed(), facts=self._facts({}, 0.0, life_lost=False))
        return self._now

    def step(self, action: Any) -> Moment:
        """Hold an action for `frame_skip` frames."""
        if self._now is None:
            raise WorldError("No episode is running. Call reset(seed) before stepping.")
        chosen, count = int(action), len(self.atari.actions)
        if not 0 <= chosen < count:
            raise WorldError(f"There is no action {chosen}; {self.atari.name} has 0 to {count - 1}.")
        turn = self.atari.step(chosen)
        frame_hw = _small(turn.screen_hw)
        self._stack_hwc = np.concatenate((self._stack_hwc[..., 1:], frame_hw[..., None]), axis=2)
        ended = (TIME_LIMIT if self.atari.cut else GAME_OVER) if turn.over else ""
        if turn.life_lost and self.settings.episodic_life:
            ended = ended or LIFE_LOST
        facts = self._facts(self._now.facts, turn.reward, life_lost=turn.life_lost)
        cut = ended == TIME_LIMIT
        self._now = Moment(observation=self._observed(), facts=facts, reward=turn.reward, ended=ended, cut=cut)
        return self._now

    def clone(self) -> Bookmark:
        """The whole state, to come back to."""
        if self._now is None:
            raise WorldError("No episode is running. Call reset(seed) before a state is saved.")
        return Bookmark(self.atari.clone(), self._now)

    def restore(self, bookmark: Bookmark) -> Moment:
        """Go back; what follows is as if nothing had been played since."""
        self.atari.restore(bookmark.game)
        self._now = bookmark.moment
        self._stack_hwc = bookmark.moment.observation["observation"]
        return bookmark.moment

    def close(self) -> None:
        """Nothing to free: the emulator goes with the object."""
        self._now = None

    def _observed(self) -> dict[str, NDArray[np.uint8]]:
        seen = {"observation": self._stack_hwc}
        return {**seen, PICTURE: self.atari.colour()} if self.settings.picture else seen

    def _facts(self, before: Mapping[str, Any], reward: float, *, life_lost: bool) -> dict[str, Any]:
        height, width = self.atari.screen_hw
        now = Seen(ram=self.atari.ram.tolist(), lives=self.atari.lives, reward=reward, life_lost=life_lost)
        return facts_of(self.atari.name, before, now, screen_wh=(width, height), seen_wh=INPUT_HW[::-1])


def _small(screen_hw: NDArray[np.uint8]) -> NDArray[np.uint8]:
    small: NDArray[np.uint8] = shrink_grey(torch.from_numpy(screen_hw)[None])[0].numpy()
    return small


def _describe(lane: AtariLane) -> WorldInfo:
    game, settings = lane.atari, lane.settings
    told = {f.name: getattr(settings, f.name) for f in fields(settings) if f.name != "rom"}
    told |= {
        "fire_on_reset": game.fires,
        "size": list(INPUT_HW[::-1]),
        "screen": list(game.screen_hw[::-1]),
        "seconds_per_step": settings.frame_skip / FRAMES_PER_SECOND,
    }
    return WorldInfo(
        name=game.name,
        family="atari",
        observations=_arrays(game, settings),
        actions=ActionSpace(kind="discrete", names=game.actions),
        facts=columns_of(game.name),
        settings=told,
        files={"ROM": digest_of_file(find_rom(game.name, settings.rom))},
    )


def _arrays(game: AtariGame, settings: AtariSettings) -> tuple[ArraySpec, ...]:
    axes, last = ("height", "width", "channel"), settings.stack - 1
    stack = ArraySpec(
        name="observation",
        shape=(*INPUT_HW, settings.stack),
        dtype="uint8",
        role="observation",
        axes=axes,
        elements=tuple("now" if frame == last else f"{frame - last} steps" for frame in range(settings.stack)),
    )
    picture = ArraySpec(name=PICTURE, shape=(*game.screen_hw, 3), dtype="uint8", role="image", axes=axes)
    return (stack, picture) if settings.picture else (stack,)
