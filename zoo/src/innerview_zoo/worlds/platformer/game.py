"""Many platformer games, stepped together on one device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from innerview.errors import WorldError
from innerview_zoo.worlds.platformer import names as n
from innerview_zoo.worlds.platformer.facts import facts_of
from innerview_zoo.worlds.platformer.hashing import draw, root
from innerview_zoo.worlds.platformer.levels import make_levels
from innerview_zoo.worlds.platformer.physics import advance
from innerview_zoo.worlds.platformer.pictures.atlas import STEP, VIEW
from innerview_zoo.worlds.platformer.pictures.drawing import MAX_AT_ONCE, Painter, classes, colours, halved, painter
from innerview_zoo.worlds.platformer.settings import LARGEST_SEED, PlatformerSettings
from innerview_zoo.worlds.platformer.state import State
from innerview_zoo.worlds.platformer.things import Thing, edited, things

REWARD = 1.0
"""At the coin, so that a value is the discounted chance to reach it."""
FRESH_EVERY = 16
"""Steps between two makings of the levels that come next; who fails faster than that sees a level again."""
MAX_GAMES = 1_000_000
FINE, LARGEST = 512, 2048
"""Small pictures for people are painted up to so fine and halved, and they can be so large."""


@dataclass(frozen=True)
class Turn:
    """What a step brought, a row for each game."""

    frames: Tensor
    """uint8 [games, 3, 64, 64]"""
    reward: Tensor
    ended: Tensor
    outcome: Tensor
    """uint8, an index into OUTCOMES."""


class Platformer:
    """Games side by side, each in a level of its own; nothing in a step waits for the device."""

    def __init__(
        self,
        count: int,
        *,
        settings: PlatformerSettings | None = None,
        device: torch.device | str = "cpu",
        seed: int = 0,
    ) -> None:
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_GAMES:
            raise WorldError(f"count is how many games to play at once, from 1 to {MAX_GAMES:,}, not {count!r}.")
        self.count, self.settings = count, settings or PlatformerSettings()
        self.device = torch.device(device)
        self._roots = root(torch.arange(count, device=self.device) + (_seed(seed) << 20))
        self._episode = torch.zeros(count, dtype=torch.int64, device=self.device)
        self._painters: dict[int, Painter] = {}
        self._turns = 0
        self._state = self._fresh = make_levels(self._drawn(), self.settings)
        self._prepare()

    @property
    def level_seeds(self) -> Tensor:
        """int64: the level that each game is in."""
        return self._state.level

    def reset(self, level_seeds: Tensor | Sequence[int] | None = None, *, where: Tensor | None = None) -> Tensor:
        """Begin every game, or those where a mask is true, in these levels or in levels drawn anew."""
        if level_seeds is None:
            self._episode += 1
            seeds = self._drawn()
        else:
            seeds = self._checked(level_seeds)
        begun = make_levels(seeds, self.settings)
        if where is not None:
            begun = begun.where(self._mask(where), self._state)
        self._state = begun
        self._prepare()
        return self.frames()

    def step(self, actions: Tensor, *, where: Tensor | None = None) -> Turn:
        """Act once in every game, by number of the action; games where a mask is false stand still."""
        chosen = self._chosen(actions)
        was = self._state.outcome
        state = advance(self._state, chosen, self.settings.time_limit, turning=self.settings.turning)
        if where is not None:
            state = state.where(self._mask(where), self._state)
        ended, outcome = (state.outcome > 0) & (was == 0), state.outcome
        reward = REWARD * ((outcome == n.COIN_REACHED) & ended)
        if self.settings.auto_reset:
            self._episode += ended
            state = self._fresh.where(ended, state)
        self._state = state
        self._turns += 1
        if self.settings.auto_reset and self._turns % FRESH_EVERY == 0:
            self._prepare()
        return Turn(self.frames(), reward, ended, outcome)

    def frames(self) -> Tensor:
        """uint8 [games, 3, 64, 64]: what the agents see now."""
        return _joined([colours(part).contiguous() for part in self._codes(VIEW)])

    def masks(self, size: int = VIEW) -> Tensor:
        """uint8 [games, size, size]: which of CLASSES each pixel of the frames shows."""
        return _joined([classes(part) for part in self._codes(size)])

    def render(self, size: int = 512, *, games: Sequence[int] | None = None) -> Tensor:
        """uint8 [games, 3, size, size]: the same picture for people, of all games or of some."""
        _check_size(size)
        state = self._state if games is None else self._state.at(torch.tensor(list(games), device=self.device))
        halvings = max(0, (FINE // size).bit_length() - 1)
        return _joined([_smooth(part, halvings) for part in self._codes(size << halvings, state)])

    def facts(self) -> dict[str, Tensor]:
        """What is true: places in tiles, speeds in tiles a step, the way to the coin, and where everything is."""
        return facts_of(self._state)

    def state(self) -> State:
        """Everything about the games, to be restored later."""
        return self._state.copy()

    def restore(self, state: State) -> Tensor:
        """Go back to a state; frames are those of then."""
        if not isinstance(state, State) or state.count != self.count:
            held = f"one of {state.count} games" if isinstance(state, State) else repr(state)
            raise WorldError(f"restore takes a state of {self.count} games, as state() gave it, not {held}.")
        self._state = state.to(self.device).copy()
        return self.frames()

    def with_object(
        self, name: str, *, game: int = 0, number: int | None = 0, to: tuple[float, float] | None = None
    ) -> State:
        """The state with one thing moved to (x, y) in tiles, or removed without a place; `restore` plays on from it."""
        return edited(self._state, name, game=game, number=number, to=to)

    def objects(self, game: int = 0) -> list[Thing]:
        """What there is in a game besides walls and floors, from left to right."""
        return things(self._state, game)

    def _codes(self, size: int, state: State | None = None) -> list[Tensor]:
        painter, shown = self._painter(size), state or self._state
        step = max(1, MAX_AT_ONCE * VIEW * VIEW // (size * size))
        if shown.count <= step:
            return [painter.codes(shown)]
        return [painter.codes(shown.at(slice(i, i + step))) for i in range(0, shown.count, step)]

    def _painter(self, size: int) -> Painter:
        if size not in self._painters:
            _check_size(size)
            looks = self.settings
            plain = PlatformerSettings(themes=looks.themes, sprites=looks.sprites, invisible=looks.invisible)
            self._painters[size] = painter(size, plain, self.device)
        return self._painters[size]

    def _drawn(self) -> Tensor:
        """The level of each game's episode: drawn from the training levels by game and episode alone."""
        return draw(self._roots, self._episode, self.settings.drawn_from) + self.settings.first_level

    def _prepare(self) -> None:
        """Make the levels that come next, so that a game which ends can begin anew at once."""
        if self.settings.auto_reset:
            self._episode += 1
            self._fresh = make_levels(self._drawn(), self.settings)
            self._episode -= 1

    def _chosen(self, actions: Any) -> Tensor:
        if not isinstance(actions, Tensor) or actions.shape != (self.count,) or actions.is_floating_point():
            shown = f"{tuple(actions.shape)} {actions.dtype}" if isinstance(actions, Tensor) else repr(actions)
            raise WorldError(f"actions is a tensor of {self.count} whole numbers, one for each game, not {shown}.")
        if actions.device.type == "cpu" and not ((actions >= 0) & (actions < len(n.ACTIONS))).all():
            given = sorted(set(actions.tolist()))
            raise WorldError(f"actions are numbers from 0 to {len(n.ACTIONS) - 1}, not {given}.")
        return actions.to(self.device, torch.int64)

    def _checked(self, seeds: Any) -> Tensor:
        try:
            given = torch.as_tensor(seeds, device=self.device)
        except (TypeError, ValueError, RuntimeError) as error:
            raise WorldError(
                f"level_seeds are {self.count} whole numbers, one for each game, not {seeds!r}."
            ) from error
        if given.is_floating_point() or given.is_complex() or given.dtype == torch.bool:
            raise WorldError(f"level_seeds are whole numbers (int64), not {given.dtype}.")
        if given.shape != (self.count,):
            raise WorldError(f"level_seeds are {self.count} numbers, one for each game, not {tuple(given.shape)}.")
        if given.device.type == "cpu" and (given < 0).any():
            raise WorldError(f"level_seeds are whole numbers from 0 on, not {int(given.min())}.")
        return given.to(torch.int64)

    def _mask(self, where: Any) -> Tensor:
        if not isinstance(where, Tensor) or where.dtype != torch.bool or where.shape != (self.count,):
            raise WorldError(f"where is a tensor of {self.count} booleans, one for each game, not {where!r}.")
        return where.to(self.device)


def _check_size(size: Any) -> None:
    if isinstance(size, bool) or not isinstance(size, int) or size % STEP or not VIEW <= size <= LARGEST:
        raise WorldError(f"size is a multiple of {STEP} from {VIEW} to {LARGEST} pixels, such as 512, not {size!r}.")


def _seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < LARGEST_SEED >> 20:
        raise WorldError(f"seed is a whole number from 0 to {(LARGEST_SEED >> 20) - 1:,}, not {seed!r}.")
    return seed


def _joined(parts: list[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _smooth(codes: Tensor, halvings: int) -> Tensor:
    for _ in range(halvings):
        codes = halved(codes)
    return colours(codes)
