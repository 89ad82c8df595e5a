"""Frames are made smaller by exact means over areas, whatever the machine."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from innerview.errors import WorldError
from innerview.worlds.atari.frames import push_frames, shrink_grey


def noise(count: int, height: int = 210) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(height).integers(0, 256, (count, height, 160), dtype=np.uint8))


@pytest.mark.parametrize(("height", "finer"), [(210, 2), (250, 42)])
def test_every_pixel_is_the_mean_of_what_it_covers(height: int, finer: int) -> None:
    frames = noise(2, height)
    fine = frames.numpy().repeat(finer, axis=1).repeat(21, axis=2).astype(np.int64)
    block = height * finer // 84
    sums, total = fine.reshape(2, 84, block, 84, 40).sum(axis=(2, 4)), block * 40
    assert np.array_equal(shrink_grey(frames).numpy(), (2 * sums + total) // (2 * total)), "halves are rounded up"


def test_flat_frames_keep_their_grey() -> None:
    greys = torch.arange(256, dtype=torch.uint8)
    small = shrink_grey(greys.view(-1, 1, 1).expand(-1, 210, 160))
    assert torch.equal(small, greys.view(-1, 1, 1).expand(-1, 84, 84))


def test_a_frame_alone_is_the_same_as_in_a_batch() -> None:
    frames = noise(5)
    assert torch.equal(shrink_grey(frames), torch.cat([shrink_grey(frame[None]) for frame in frames]))


def test_half_precision_around_it_changes_nothing() -> None:
    frames = noise(2)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(shrink_grey(frames), shrink_grey(noise(2)))
    assert torch.equal(shrink_grey(frames), shrink_grey(noise(2)))


def test_other_frames_are_refused() -> None:
    with pytest.raises(WorldError, match=r"uint8 \[n, height, width\], not float32 \[1, 210, 160\]"):
        shrink_grey(noise(1).float())
    with pytest.raises(WorldError, match=r"not uint8 \[210, 160\]"):
        shrink_grey(noise(1)[0])


def test_the_newest_frame_comes_last_and_a_fresh_one_fills_the_stack() -> None:
    stacks = torch.arange(4, dtype=torch.uint8).view(1, 4, 1, 1).repeat(2, 1, 84, 84)
    frames = torch.full((2, 84, 84), 9, dtype=torch.uint8)
    pushed = push_frames(stacks, frames, torch.tensor([False, True]))
    assert pushed[:, :, 5, 5].tolist() == [[1, 2, 3, 9], [9, 9, 9, 9]]
    assert stacks[0, :, 5, 5].tolist() == [0, 1, 2, 3]
