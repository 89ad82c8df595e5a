"""Paints frames of many games at once: cells by looking them up, then enemies, then the agent in the middle."""

from __future__ import annotations

from functools import cached_property, lru_cache

import torch
from torch import Tensor

from innerview_zoo.worlds.platformer import names as n
from innerview_zoo.worlds.platformer.physics import FASTEST, HIGHEST_FALL
from innerview_zoo.worlds.platformer.pictures import sprites
from innerview_zoo.worlds.platformer.pictures.atlas import VIEW, Atlas, make_atlas
from innerview_zoo.worlds.platformer.settings import PlatformerSettings
from innerview_zoo.worlds.platformer.state import State

_VELOCITY = n.CLASSES.index("velocity") << 24
_GREY = 0x010101
_RED_AND_BLUE, _GREEN = 0x00FF00FF, 0x0000FF00
MAX_AT_ONCE = 4096
"""Games painted together: more than this gains nothing and takes memory."""


class Painter:
    """Paints at one size. `codes` has the class in the upper byte and red, green, blue in the lower ones."""

    def __init__(self, atlas: Atlas) -> None:
        self.atlas = atlas
        device = atlas.tiles.device
        self._along = torch.arange(atlas.view, dtype=torch.int32, device=device)

    def codes(self, state: State) -> Tensor:
        """int32 [games, view, view]."""
        atlas, view, per_tile = self.atlas, self.atlas.view, self.atlas.per_tile
        left = ((state.x * per_tile) >> 8) - view // 2
        bottom = ((state.y * per_tile) >> 8) - self._feet
        canvas = self._cells(state, left, bottom)
        torch.maximum(canvas, self._behind(state, left), out=canvas)
        canvas = self._enemies(canvas, state, left, bottom)
        agent = self._agent(state)
        top, side = view - self._feet - agent.shape[1], view // 2 - agent.shape[2] // 2
        middle = canvas[:, top : top + agent.shape[1], side : side + agent.shape[2]]
        middle.copy_(torch.maximum(middle, agent))
        if atlas.velocity:
            self._velocity(canvas, state)
        return canvas

    @property
    def _feet(self) -> int:
        """Pixels below the agent's feet."""
        return self.atlas.view // 2 - 2 * self.atlas.per_tile // 3

    def _cells(self, state: State, left: Tensor, bottom: Tensor) -> Tensor:
        """Look up columns for the few rows in view first, then spread the rows, then the pixels of each cell."""
        atlas, per_tile, games = self.atlas, self.atlas.per_tile, state.count
        across = left[:, None] + self._along
        upward = bottom[:, None] + (atlas.view - 1 - self._along)
        column = torch.div(across, per_tile, rounding_mode="floor")
        height = torch.div(upward, per_tile, rounding_mode="floor")
        in_view = -(-atlas.view // per_tile) + 1
        lowest = height[:, -1:]
        rows = (lowest + self._along[:in_view]).clamp(0, n.ROWS - 1)
        first = torch.arange(games, dtype=torch.int32, device=left.device)[:, None, None]
        place = first * (n.ROWS * n.COLUMNS) + rows[:, :, None] * n.COLUMNS
        kinds = state.grid.flatten().index_select(0, (place + column.clamp(0, n.COLUMNS - 1)[:, None, :]).flatten())
        area = per_tile * per_tile
        look = (state.ground * 2 + ((state.steps >> 1) & 1)) * (len(n.TILES) * area)
        base = kinds.view(games, in_view, -1).to(torch.int32) * area
        base = base + (look[:, None, None] + (across - column * per_tile)[:, None, :])
        which = (first[:, :, 0] * in_view + (height - lowest)).flatten()
        spread = base.flatten(0, 1).index_select(0, which).view(games, atlas.view, atlas.view)
        within = (per_tile - 1 - (upward - height * per_tile)) * per_tile
        spread += within[:, :, None]
        return atlas.tiles.index_select(0, spread.flatten()).view(games, atlas.view, atlas.view)

    @cached_property
    def _at_offsets(self) -> Tensor:
        """[background, row, offset, column]: every background at every offset, without a copy."""
        view = self.atlas.view
        wide = torch.cat((self.atlas.skies, self.atlas.skies[:, :, :view]), 2)
        return wide.unfold(2, view, 1)[:, :, : 2 * view]

    @cached_property
    def _shifted(self) -> Tensor:
        """The same as whole pictures: of small ones all are kept, as copying one is quicker than picking its rows."""
        return self._at_offsets.permute(0, 2, 1, 3).flatten(0, 1).contiguous()

    def _behind(self, state: State, left: Tensor) -> Tensor:
        """The background moves a quarter as fast as what is in front."""
        view = self.atlas.view
        offset = torch.remainder(left >> 2, 2 * view)
        if view == VIEW:
            return self._shifted.index_select(0, state.sky * (2 * view) + offset)
        return self._at_offsets[state.sky.to(torch.int64), :, offset.to(torch.int64)]

    def _enemies(self, canvas: Tensor, state: State, left: Tensor, bottom: Tensor) -> Tensor:
        atlas, view, per_tile = self.atlas, self.atlas.view, self.atlas.per_tile
        tall, wide = atlas.enemies.shape[-2:]
        x = ((state.enemy_x * per_tile) >> 8) - left[:, None] - wide // 2
        y = view - (((state.enemy_y * per_tile) >> 8) - bottom[:, None]) - tall
        step = (state.enemy_x >> 7) & 1
        which = (state.enemy_look * 2 + (state.enemy_way > 0)) * 2 + step
        pictures = atlas.enemies.view(-1, tall * wide).index_select(0, which.flatten())
        pictures = pictures.view(state.count, n.ENEMIES, tall, wide)
        rows = y[..., None] + torch.arange(tall, dtype=torch.int32, device=x.device)
        columns = x[..., None] + torch.arange(wide, dtype=torch.int32, device=x.device)
        row_seen = (rows >= 0) & (rows < view) & (state.enemy_way != 0)[..., None]
        column_seen = (columns >= 0) & (columns < view)
        shown = pictures * (row_seen[..., None] & column_seen[..., None, :])  # 0 changes nothing, wherever it is put
        place = (rows.clamp(0, view - 1) * view)[..., None] + columns.clamp(0, view - 1)[..., None, :]
        flat = canvas.flatten(1)
        flat.scatter_reduce_(1, place.flatten(1).to(torch.int64), shown.flatten(1), "amax")
        return flat.view_as(canvas)

    def _agent(self, state: State) -> Tensor:
        poses = len(sprites.POSES)
        walking = torch.where(state.vx != 0, 1 + ((state.x >> 7) & 1), 0)
        pose = torch.where(state.grounded, torch.where(state.charged, 4, walking), 3)
        which = (state.colour * 2 + (state.facing > 0)) * poses + pose
        return self.atlas.agents.flatten(0, 2).index_select(0, which)

    def _velocity(self, canvas: Tensor, state: State) -> None:
        """Two squares at the upper left: black is left or down at full speed, white is right or up."""
        edge, size = self.atlas.per_tile // 6, self.atlas.per_tile
        for number, (speed, most) in enumerate(((state.vx, FASTEST), (state.vy, HIGHEST_FALL))):
            grey = ((speed.clamp(-most, most) + most) * 255) // (2 * most)
            left = edge + number * (size + edge)
            canvas[:, edge : edge + size, left : left + size] = (grey * _GREY + _VELOCITY)[:, None, None]


@lru_cache(maxsize=8)
def painter(view: int, settings: PlatformerSettings, device: torch.device) -> Painter:
    """A painter whose pictures are drawn once, however many games there are."""
    return Painter(make_atlas(view, settings, device))


def colours(codes: Tensor) -> Tensor:
    """uint8 [games, 3, rows, columns]: the colour of each pixel, without a copy."""
    return codes.view(torch.uint8).view(*codes.shape, 4)[..., :3].permute(0, 3, 1, 2)


def halved(codes: Tensor) -> Tensor:
    """Half as many pixels each way, with the mean colour of four: edges become smooth. Classes are dropped."""
    upper, lower = codes[:, ::2], codes[:, 1::2]

    def mean(which: int, half: int) -> Tensor:
        # Sums of four fit between the colours, so that two of them are added at once.
        rows = (upper & which).add_(lower & which)
        return (rows[..., ::2] + rows[..., 1::2]).add_(half).bitwise_right_shift_(2).bitwise_and_(which)

    return mean(_RED_AND_BLUE, 0x00020002).bitwise_or_(mean(_GREEN, 0x00000200))


def classes(codes: Tensor) -> Tensor:
    """uint8 [games, rows, columns]: what each pixel shows."""
    return (codes >> 24).to(torch.uint8)
