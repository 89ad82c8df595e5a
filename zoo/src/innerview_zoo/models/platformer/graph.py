"""Plays windows from a recorded CUDA graph: thousands of small kernels are started by a single call.

What a game and its player hold between two windows must then stay at the same place in memory. Their tensors are found
among their attributes, given places of their own, and written back at the end of each window.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import torch
from torch import Tensor

from innerview_zoo.models.platformer.ppo import Network, Player, Window


def recorded(player: Player, network: Network) -> Callable[[], Window]:
    """A call that plays the next window; the network's weights may change in place between two calls."""
    for _ in range(2):
        player.play(network)  # so that everything is compiled, chosen and cached before the recording
    torch.cuda.synchronize()
    held = anchor(player, player.games)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        player.play(network)
        write_back(held)

    def play() -> Window:
        graph.replay()
        return player.window

    return play


Held = list[tuple[Any, str, Any]]
"""Holder, attribute and value."""


def anchor(*holders: Any) -> Held:
    """Give every tensor among the attributes a place of its own, for parts may share theirs."""
    held = [(holder, name, value) for holder in holders for name, value in vars(holder).items() if _tensors(value)]
    owned = [(holder, name, _mapped(value, torch.clone)) for holder, name, value in held]
    for holder, name, value in owned:
        setattr(holder, name, value)
    return owned


def write_back(held: Held) -> None:
    """Copy what the attributes are now to where they were, and let them be there again."""
    now = [_mapped(getattr(holder, name), torch.clone) for holder, name, _ in held]
    for (holder, name, place), value in zip(held, now, strict=True):
        for to, new in zip(_tensors(place), _tensors(value), strict=True):
            to.copy_(new)
        setattr(holder, name, place)


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, field.name) for field in fields(value)]
        return parts if all(isinstance(part, Tensor) for part in parts) else []
    return []


def _mapped(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(value, Tensor):
        return change(value)
    return replace(value, **{field.name: change(getattr(value, field.name)) for field in fields(value)})
