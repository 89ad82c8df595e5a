import numpy as np
import pytest
import torch
from torch.nn import functional

from innerview.errors import UnknownName
from innerview.worlds import resize_frame

CASES = [((180, 320, 3), (112, 64)), ((240, 320, 3), (160, 120)), ((33, 47, 3), (90, 71)), ((9, 5), (4, 7))]


@pytest.mark.parametrize(("shape", "size"), CASES)
def test_bilinear_gives_the_pixels_of_torch(shape, size):
    frame = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    batch = torch.from_numpy(frame.reshape(*shape[:2], -1)).permute(2, 0, 1)[None].double()
    exact = functional.interpolate(batch, size=size[::-1], mode="bilinear", align_corners=False)
    exact_hwc = exact[0].permute(1, 2, 0).numpy().reshape(size[1], size[0], *shape[2:])

    small = resize_frame(frame, size, "bilinear")

    assert small.dtype == np.uint8
    assert small.shape == exact_hwc.shape
    halves = np.abs(exact_hwc % 1 - 0.5) < 1e-9  # where a float cannot say whether it is up or down
    assert np.array_equal(small[~halves], np.rint(exact_hwc)[~halves])
    assert np.array_equal(small[halves], np.floor(exact_hwc[halves] + 0.5 + 1e-9))


def test_training_on_a_gpu_sees_the_same_smooth_frames_but_for_rounding():
    frame = np.random.default_rng(1).integers(0, 256, (180, 320, 3), dtype=np.uint8)
    batch = torch.from_numpy(frame).permute(2, 0, 1)[None].float()
    seen = functional.interpolate(batch, size=(64, 112), mode="bilinear", antialias=True, align_corners=False)
    difference = np.abs(resize_frame(frame, (112, 64)) - seen[0].permute(1, 2, 0).numpy())
    assert difference.max() < 1.5


def test_area_averages_what_a_pixel_covers():
    frame = np.array([[0, 100, 7, 7], [100, 200, 7, 7]], np.uint8)
    assert resize_frame(frame, (2, 1), "area").tolist() == [[100, 7]]


def test_same_size_keeps_every_pixel():
    frame = np.random.default_rng(2).integers(0, 256, (8, 6, 3), dtype=np.uint8)
    assert np.array_equal(resize_frame(frame, (6, 8)), frame)


def test_unknown_method_names_the_known_ones():
    with pytest.raises(UnknownName, match="Did you mean 'bilinear'"):
        resize_frame(np.zeros((4, 4), np.uint8), (2, 2), "bilinar")
