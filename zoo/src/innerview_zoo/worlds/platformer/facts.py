"""What is true in each game: where the agent and the things are, in tiles."""

from __future__ import annotations

import torch
from torch import Tensor

from innerview_zoo.worlds.platformer import names as n
from innerview_zoo.worlds.platformer.state import State


def facts_of(state: State) -> dict[str, Tensor]:
    """By name; y is up, the agent's place is the middle of its feet."""
    coin = state.grid == n.COIN
    flat = coin.flatten(1)
    place = flat.to(torch.uint8).argmax(1)
    has_coin = flat.any(1)
    none = torch.full_like(state.x, torch.nan, dtype=torch.float32)
    coin_x = torch.where(has_coin, (place % n.COLUMNS) + 0.5, none)
    coin_y = torch.where(has_coin, (place // n.COLUMNS).to(torch.float32), none)
    x, y = _tiles(state.x), _tiles(state.y)
    start, span = 2.5, (coin_x - 2.5).clamp(min=1)
    return {
        "level": state.level,
        "step": state.steps,
        "x": x,
        "y": y,
        "vx": _tiles(state.vx),
        "vy": _tiles(state.vy),
        "grounded": state.grounded,
        "charged": state.charged,
        "progress": ((x - start) / span).clamp(0, 1),
        "coin_x": coin_x,
        "coin_y": coin_y,
        "coin_distance": torch.hypot(coin_x - x, coin_y - y),
        "enemy_x": _tiles(state.enemy_x),
        "enemy_y": _tiles(state.enemy_y),
        "enemy_way": state.enemy_way,
        "length": state.length,
        "outcome": state.outcome,
    }


def _tiles(units: Tensor) -> Tensor:
    return units.to(torch.float32) / n.UNIT
