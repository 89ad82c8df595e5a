"""Brings what emulators show to the device, and decisions back."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from innerview.worlds.atari.frames import shrink_grey
from innerview_zoo.models.atari.sampling import SCREEN, Views


class Feed:
    """One group's news on the device, in tensors that stay where they are."""

    def __init__(self, lanes: int, device: torch.device) -> None:
        self._device = device
        pinned = device.type == "cuda"
        self._screens_here = torch.zeros(lanes, *SCREEN, dtype=torch.uint8, pin_memory=pinned)
        self._news_here = torch.zeros(3, lanes, pin_memory=pinned)
        self._actions_here = torch.zeros(lanes, dtype=torch.int64, pin_memory=pinned)
        self._screens = torch.zeros(lanes, *SCREEN, dtype=torch.uint8, device=device)
        self._news = torch.zeros(3, lanes, device=device)
        self.actions = torch.zeros(lanes, dtype=torch.int64, device=device)
        """Where decisions are left."""
        # A blocking event lets the core go on with emulation while the GPU works.
        self._event = torch.cuda.Event(blocking=True) if pinned else None  # type: ignore[no-untyped-call]

    def take(self, views: Views) -> None:
        """Begin to copy what the group shows."""
        self._screens_here.numpy()[:] = views.screens
        news = self._news_here.numpy()
        news[0], news[1], news[2] = views.rewards, views.lost, views.over
        self._screens.copy_(self._screens_here, non_blocking=True)
        self._news.copy_(self._news_here, non_blocking=True)

    def frames(self) -> Tensor:
        """[lanes, 84, 84] as the world would show them."""
        return shrink_grey(self._screens)

    @property
    def rewards(self) -> Tensor:
        """1, 0 or -1: how much a game pays for what must not matter to learning."""
        return self._news[0].sign()

    @property
    def ended(self) -> Tensor:
        """Where a life or the game ended."""
        return (self._news[1] + self._news[2]) > 0

    @property
    def over(self) -> Tensor:
        """Where the game ended."""
        return self._news[2] > 0

    def decided(self) -> np.ndarray:
        """The actions, once the device has worked them out."""
        self._actions_here.copy_(self.actions, non_blocking=True)
        if self._event is not None:
            self._event.record()
            self._event.synchronize()
        return self._actions_here.numpy()
