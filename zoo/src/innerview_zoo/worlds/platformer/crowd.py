"""Many platformer games in one batch, played for how they end; and what the world says about trials of that kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from innerview_zoo.worlds.platformer import names as n
from innerview_zoo.worlds.platformer.game import REWARD
from innerview_zoo.worlds.platformer.levels import make_levels
from innerview_zoo.worlds.platformer.physics import advance
from innerview_zoo.worlds.platformer.pictures.atlas import VIEW
from innerview_zoo.worlds.platformer.pictures.drawing import MAX_AT_ONCE, colours, painter
from innerview_zoo.worlds.platformer.settings import PlatformerSettings
from innerview_zoo.worlds.platformer.state import State


class Trials:
    """The part of the world that compares agents over many levels."""

    settings: Any

    endings = n.OUTCOMES[1:]

    @property
    def hidable(self) -> tuple[str, ...]:
        """Everything but the background and what is invisible already."""
        return tuple(name for name in n.CLASSES[1:] if name not in self.settings.invisible)

    @property
    def fresh_seed(self) -> int | None:
        """The first seed whose level no training draws; none where seeds lead round to a limited number of levels."""
        if self.settings.levels is not None:
            return None
        return max(0, n.FIRST_TEST_LEVEL - int(self.settings.first_level))

    def hiding(self, name: str) -> Self:
        """The same world with one class invisible."""
        hidden = tuple(dict.fromkeys((*self.settings.invisible, name)))
        return type(self)(replace(self.settings, invisible=hidden))  # type: ignore[call-arg]

    def with_masks(self) -> Self:
        """The same world with masks."""
        return type(self)(replace(self.settings, masks=True))  # type: ignore[call-arg]

    def crowd(self, *, device: Any = "cpu") -> PlatformerCrowd:
        """Games in one batch, on any device."""
        return PlatformerCrowd(self.settings, device=torch.device(device))


class PlatformerCrowd:
    """Running games only: what ended costs nothing any more."""

    def __init__(self, settings: PlatformerSettings, *, device: torch.device) -> None:
        self._settings, self._device = settings, device
        looks = PlatformerSettings(themes=settings.themes, sprites=settings.sprites, invisible=settings.invisible)
        self._painter = painter(VIEW, looks, device)
        self._state: State | None = None

    def begin(self, seeds: Sequence[int]) -> None:
        """Further games, in the levels of these seeds."""
        chosen = [self._settings.level(seed) for seed in seeds]
        fresh = make_levels(torch.tensor(chosen, dtype=torch.int64, device=self._device), self._settings)
        before = self._state
        if before is not None and before.count:
            fresh = before.map(lambda name, part: torch.cat((part, getattr(fresh, name))))
        self._state = fresh

    def seen(self) -> dict[str, np.ndarray]:
        """Frames of every game, [games, height, width, colour]."""
        state = self._running()
        parts = [state.at(slice(i, i + MAX_AT_ONCE)) for i in range(0, state.count, MAX_AT_ONCE)]
        frames: Tensor = torch.cat([colours(self._painter.codes(part)) for part in parts])
        return {"observation": frames.permute(0, 2, 3, 1).contiguous().cpu().numpy()}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, list[str]]:
        """Act in every game."""
        chosen = torch.as_tensor(actions, dtype=torch.int64).to(self._device)
        told = self._settings
        self._state = advance(self._running(), chosen, told.time_limit, turning=told.turning)
        outcomes = self._state.outcome.cpu().numpy()
        return REWARD * (outcomes == n.COIN_REACHED), [n.OUTCOMES[outcome] for outcome in outcomes]

    def facts(self, place: int) -> dict[str, Any]:
        """None: how a game ended is all that is counted."""
        return {}

    def leave(self, gone: np.ndarray) -> None:
        """Take games out."""
        stay = torch.as_tensor(np.flatnonzero(~gone)).to(self._device)
        self._state = self._running().at(stay)

    def close(self) -> None:
        """Nothing runs that would have to be stopped."""

    def _running(self) -> State:
        assert self._state is not None, "games are begun before they are played"
        return self._state
