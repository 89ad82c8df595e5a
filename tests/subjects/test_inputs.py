"""What a world shows reaches the module in its own layout and scale."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from innerview.errors import SubjectError, UnknownName
from innerview.subjects import subject
from innerview.testing.subjects.modules import TwoArguments

FRAME = np.random.default_rng(0).integers(0, 256, (2, 10, 12, 3), dtype=np.uint8)


class Eye(nn.Module):
    """Takes images; the first weight shows what arrives."""

    def __init__(self, channels: int = 3, *, last: bool = False, divide: bool = False) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, 2, 3)
        self.policy = nn.LazyLinear(3)
        self.last, self.divide = last, divide

    def forward(self, x: Tensor) -> Tensor:
        x = x.permute(0, 3, 1, 2) if self.last else x
        x = x.float() / 255 if self.divide else x
        return self.policy(self.conv(x).flatten(1))  # type: ignore[no-any-return]


def seen(module: Eye, example: Tensor, frame: np.ndarray = FRAME, **settings: object) -> Tensor:
    module(example[:1])
    adapted = subject(module, example=example, **settings)  # type: ignore[arg-type]
    caught: list[Tensor] = []
    handle = module.conv.register_forward_pre_hook(lambda layer, args: caught.append(args[0]))
    adapted.run(adapted.inputs({"observation": frame}))
    handle.remove()
    return caught[0]


WANTED = torch.from_numpy(FRAME).permute(0, 3, 1, 2).float() / 255


def test_bytes_become_floats_channel_first() -> None:
    torch.testing.assert_close(seen(Eye(), torch.zeros(1, 3, 10, 12)), WANTED)


def test_a_module_that_takes_channels_last_gets_them_last() -> None:
    module = Eye(last=True)
    torch.testing.assert_close(seen(module, torch.zeros(1, 10, 12, 3)), WANTED)
    assert subject(module, example=torch.zeros(1, 10, 12, 3)).info.inputs[0].shape == (3, 10, 12)


def test_a_module_that_divides_on_its_own_gets_the_full_scale() -> None:
    torch.testing.assert_close(seen(Eye(divide=True), torch.zeros(1, 3, 10, 12, dtype=torch.uint8)), WANTED)
    torch.testing.assert_close(seen(Eye(divide=True), torch.full((1, 3, 10, 12), 255.0)), WANTED)


def test_nobody_divides_twice_whatever_the_example_looks_like() -> None:
    torch.testing.assert_close(seen(Eye(divide=True), torch.zeros(1, 3, 10, 12)), WANTED)
    torch.testing.assert_close(seen(Eye(divide=True, last=True), torch.zeros(1, 10, 12, 3)), WANTED)
    declared = seen(Eye(divide=True), torch.zeros(1, 3, 10, 12), normalise=(0.0, 1.0))
    torch.testing.assert_close(declared, WANTED / 255, msg="what was declared is done")


def test_an_array_will_do_where_there_is_one_input() -> None:
    module = Eye()
    module(torch.zeros(1, 3, 10, 12))
    adapted = subject(module, example=torch.zeros(1, 3, 10, 12))
    torch.testing.assert_close(adapted.inputs(FRAME)["x"], WANTED)


def test_normalise_can_be_declared() -> None:
    example = torch.zeros(1, 3, 10, 12)
    mean, std = (0.1, 0.2, 0.3), (0.5, 0.6, 0.7)
    shaped = (torch.tensor(part).view(3, 1, 1) for part in (mean, std))
    torch.testing.assert_close(seen(Eye(), example, normalise=(mean, std)), (WANTED - next(shaped)) / next(shaped))
    torch.testing.assert_close(seen(Eye(), example, normalise=False), WANTED * 255)
    torch.testing.assert_close(seen(Eye(), example, normalise=lambda x: x / 127.5 - 1), WANTED * 2 - 1)


@pytest.mark.parametrize("made", [list, np.array, torch.tensor])
def test_a_pair_may_be_a_list_or_an_array(made: Callable[..., object]) -> None:
    example = torch.zeros(1, 3, 10, 12)
    torch.testing.assert_close(seen(Eye(), example, normalise=made([0.5, 0.25])), (WANTED - 0.5) / 0.25)
    channels = [[0.1, 0.2, 0.3], [0.5, 0.6, 0.7]]
    torch.testing.assert_close(
        seen(Eye(), example, normalise=made(channels)), seen(Eye(), example, normalise=(channels[0], channels[1]))
    )


@pytest.mark.parametrize(
    ("normalise", "message"),
    [
        ("imagenet", r"normalise='imagenet' cannot be used\. Give a pair \(mean, std\), each a number or 3"),
        (0.5, "cannot be used"),
        (np.array(0.5), "cannot be used"),
        ((0.5,), "cannot be used"),
        ((0.5, 0.25, 1.0), "cannot be used"),
        (((0.5, 0.5), (0.25, 0.25)), "one per channel"),
        ((float("nan"), 1.0), "cannot be used"),
        (("a", "b"), "cannot be used"),
        ((0.5, 0.0), "above 0; it is 0.0"),
        ((0.5, [0.2, 0.2, -0.2]), "above 0"),
    ],
)
def test_what_cannot_normalise_is_refused_when_the_subject_is_made(normalise: object, message: str) -> None:
    with pytest.raises(SubjectError, match=message):
        seen(Eye(), torch.zeros(1, 3, 10, 12), normalise=normalise)


def test_normalise_by_name_knows_the_inputs() -> None:
    example = torch.zeros(1, 3, 10, 12)
    torch.testing.assert_close(seen(Eye(), example, normalise={"x": [0.5, 0.25]}), (WANTED - 0.5) / 0.25)
    with pytest.raises(UnknownName, match=r"Unknown input 'fram'\. Did you mean 'frame'"):
        subject(TwoArguments(), inputs={"frame": (3, 8, 8), "goal": 5}, normalise={"fram": (0.5, 0.25)})


def test_grey_and_stacked_frames_fit() -> None:
    grey = FRAME[..., 0]
    torch.testing.assert_close(seen(Eye(1), torch.zeros(1, 1, 10, 12), grey)[:, 0], WANTED[:, 0])
    stacked = np.stack([FRAME, FRAME // 2], axis=1)
    got = seen(Eye(6), torch.zeros(1, 6, 10, 12), stacked)
    torch.testing.assert_close(got[:, :3], WANTED)


def test_inputs_do_not_share_memory_with_the_world() -> None:
    adapted = subject(nn.Sequential(nn.Linear(4, 2)), example=torch.zeros(1, 4), heads="policy")
    vector = np.ones((2, 4), dtype=np.float32)
    inputs = adapted.inputs({"anything": vector})
    vector[:] = 5
    assert bool((inputs["input"] == 1).all())


def test_a_frame_of_the_wrong_size_gives_both_shapes() -> None:
    module = Eye()
    module(torch.zeros(1, 3, 10, 12))
    adapted = subject(module, example=torch.zeros(1, 3, 10, 12))
    with pytest.raises(SubjectError, match=r"shape \[batch, 64, 112, 3\]; this subject takes \[batch, 10, 12, 3\]"):
        adapted.inputs({"observation": np.zeros((2, 64, 112, 3), np.uint8)})


def test_several_inputs_are_matched_by_name() -> None:
    adapted = subject(TwoArguments(), example=(torch.zeros(1, 3, 8, 8), torch.zeros(1, 5)))
    assert adapted.observation_names == ("image", "goal")
    arrays = {"goal": np.ones((2, 5)), "image": np.zeros((2, 8, 8, 3), np.uint8), "unused": np.zeros((2, 1))}
    inputs = adapted.inputs(arrays)
    assert {name: tuple(value.shape) for name, value in inputs.items()} == {"image": (2, 3, 8, 8), "goal": (2, 5)}
    with pytest.raises(SubjectError, match="Missing: 'goal'"):
        adapted.inputs({"image": arrays["image"], "target": arrays["goal"]})


def test_shapes_can_be_given_instead_of_an_example() -> None:
    adapted = subject(TwoArguments(), inputs={"image": (3, 8, 8), "goal": 5})
    assert [spec.kind for spec in adapted.info.inputs] == ["image", "vector"]
    named = subject(nn.Sequential(nn.Linear(4, 2)), inputs={"observation": (4,)}, heads="policy")
    assert named.observation_names == ("observation",)


@pytest.mark.parametrize("as_dict", [False, True])
def test_a_state_in_the_example_is_not_taken_for_an_input(as_dict: bool) -> None:
    class Cell(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = nn.LSTMCell(4, 5)
            self.policy = nn.Linear(5, 2)

        def forward(self, x: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
            state = self.cell(x, state)
            return self.policy(state[0]), state

    state = (torch.zeros(1, 5), torch.zeros(1, 5))
    example = {"x": torch.zeros(1, 4), "state": state} if as_dict else (torch.zeros(1, 4), state)
    adapted = subject(Cell(), example=example, heads={"policy": "policy"})
    assert [spec.name for spec in adapted.info.inputs] == ["x"]
    assert [site.shape for site in adapted.info.memory] == [(5,), (5,)]
