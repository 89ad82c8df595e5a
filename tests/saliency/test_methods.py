"""Every method of attribution on every small subject: what all of them promise, and answers known by hand."""

from __future__ import annotations

import captum.attr
import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import innerview as iv
from innerview.errors import LensError, SubjectError, UnknownName
from innerview.saliency import (
    blurring,
    discriminative,
    gradcam,
    gradient,
    guided,
    guided_gradcam,
    integrated_input,
    occlusion,
    sarfa,
)
from innerview.saliency.occlusion import patches
from innerview.saliency.perturbation import blurred
from innerview.saliency.smoothgrad import look as smoothgrad
from innerview.testing.feeds import fed_rows
from innerview.testing.lenses import check_lens

METHODS = (
    "gradient",
    "guided",
    "discriminative",
    "smoothgrad",
    "gradcam",
    "guided-gradcam",
    "integrated",
    "integrated-input",
    "occlusion",
    "blurring",
    "sarfa",
)
SIZE = 16


class Sees(nn.Module):
    """Two convolutions, three actions and a value."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(6, 4, 3, stride=2, padding=1)
        self.relu1, self.relu2 = nn.ReLU(), nn.ReLU()
        self.policy, self.value = nn.Linear(4 * 64, 3), nn.Linear(4 * 64, 1)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        seen = self.relu2(self.two(self.relu1(self.one(x)))).flatten(1)
        return {"q": self.policy(seen), "value": self.value(seen)}


class Only(nn.Module):
    """One head of another module, as Captum wants it."""

    def __init__(self, whole: nn.Module, head: str) -> None:
        super().__init__()
        self.whole, self.head = whole, head

    def forward(self, x: Tensor) -> Tensor:
        said: Tensor = self.whole(x)[self.head]
        return said


@pytest.fixture
def sees() -> iv.Subject:
    torch.manual_seed(3)
    return iv.subject(Sees(), example=torch.zeros(1, 3, SIZE, SIZE), actions=["left", "stay", "right"])


@pytest.fixture
def pictures() -> Tensor:
    return torch.rand(4, 3, SIZE, SIZE, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("name", METHODS)
def test_each_keeps_what_lenses_promise_on_every_subject_it_fits(name: str) -> None:
    fits = set(check_lens(name))
    assert {"lstm", "dueling", "functional relu", "in-place relu", "frame stack", "dict"} <= fits, fits


@pytest.mark.parametrize("name", METHODS)
def test_hooks_are_gone_after_an_error(sees: iv.Subject, pictures: Tensor, name: str) -> None:
    from innerview.lenses.discovery import as_loaded_lens

    looking = as_loaded_lens(name)
    named = {p.name: "nonsense" for p in looking.lens.parameters if p.name in ("target", "action", "head")}
    with pytest.raises((LensError, UnknownName, KeyError)):
        looking.look(fed_rows(sees, {"x": pictures}), sees, **named)
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in sees.module.modules())


@pytest.mark.filterwarnings("ignore:Setting backward hooks")
def test_gradient_and_guided_are_captums(sees: iv.Subject, pictures: Tensor) -> None:
    rows = fed_rows(sees, {"x": pictures})
    module = Only(sees.module, "q").eval()
    for number, action in enumerate(("left", "stay", "right")):
        target = f"{action} of q"
        plain = captum.attr.Saliency(module).attribute(pictures.clone().requires_grad_(), number, abs=False)
        assert np.allclose(gradient.look(rows, sees, target=target).heat["x"], plain.detach(), atol=1e-5)
        theirs = captum.attr.GuidedBackprop(module).attribute(pictures.clone().requires_grad_(), number)
        assert np.allclose(guided.look(rows, sees, target=target).heat["x"], theirs.detach(), atol=1e-5)


def test_integrated_gradients_at_the_input_are_captums_and_complete(sees: iv.Subject, pictures: Tensor) -> None:
    rows = fed_rows(sees, {"x": pictures})
    mine = integrated_input.look(rows, sees, target="stay of q", steps=50, rule="gauss")
    theirs = captum.attr.IntegratedGradients(Only(sees.module, "q").eval())
    values = theirs.attribute(pictures, target=1, n_steps=50, method="gausslegendre")
    assert np.allclose(mine.heat["x"], values, atol=1e-5)
    fine = integrated_input.look(rows, sees, target="stay of q", steps=500, rule="gauss")
    said, blank = (sees.run({"x": x}).heads["q"][:, 1] for x in (pictures, pictures * 0))
    wanted, got = (said - blank).numpy(), fine.heat["x"].sum((1, 2, 3))
    assert np.allclose(got, wanted, atol=2e-3)
    assert np.allclose(fine.arrays["error"], np.abs(got - wanted) / np.abs(wanted), rtol=0.05, atol=1e-3)
    assert fine.arrays["error"].mean() < mine.arrays["error"].mean()


def test_gradcam_is_captums(sees: iv.Subject, pictures: Tensor) -> None:
    rows, module = fed_rows(sees, {"x": pictures}), Only(sees.module, "q").eval()
    for layer in ("one", "two"):
        cam = captum.attr.LayerGradCam(module, module.whole.get_submodule(layer))
        theirs = cam.attribute(pictures.clone().requires_grad_(), 1, relu_attributions=False).detach()
        mine = gradcam.look(rows, sees, target="stay of q", layer=layer, signed=True)
        if layer == "one":  # as large as the picture: nothing is enlarged
            assert np.allclose(mine.heat["x"], theirs, atol=1e-5)
        rectified = gradcam.look(rows, sees, target="stay of q", layer=layer).heat["x"]
        assert (rectified >= 0).all() and np.allclose(rectified, np.maximum(mine.heat["x"], 0), atol=1e-6)


def test_guided_gradcam_is_the_product_of_both(sees: iv.Subject, pictures: Tensor) -> None:
    rows = fed_rows(sees, {"x": pictures})
    for gradients in ("plain", "guided"):
        cam = gradcam.look(rows, sees, target="value", gradients=gradients).heat["x"]
        product = guided.look(rows, sees, target="value").heat["x"] * cam
        assert np.allclose(guided_gradcam.look(rows, sees, target="value", gradients=gradients).heat["x"], product)


def test_guided_weights_are_those_of_the_guided_model(sees: iv.Subject, pictures: Tensor) -> None:
    found = gradcam.look(fed_rows(sees, {"x": pictures}), sees, target="value", gradients="guided", signed=True)
    module = sees.module
    first = module.one(pictures).detach().requires_grad_()  # type: ignore[operator, union-attr]
    second = module.two(functional.relu(first))  # type: ignore[operator, union-attr]
    weights = module.value.weight.detach().view(1, 4, 8, 8)  # type: ignore[union-attr, operator]
    back = torch.where(second > 0, weights.clamp_min(0), torch.zeros_like(second))
    (by_second,) = torch.autograd.grad(second, first, back, retain_graph=True)
    by_relu = torch.nn.grad.conv2d_input(first.shape, module.two.weight, back, stride=2, padding=1)  # type: ignore[union-attr, arg-type]
    by_first = torch.where(first > 0, by_relu.clamp_min(0), torch.zeros_like(by_relu))
    cam = (by_first.mean((2, 3), keepdim=True) * first).sum(1, keepdim=True)
    assert by_second is not None and np.allclose(found.heat["x"], cam.detach(), atol=1e-5)


def test_an_inverted_map_is_flagged() -> None:
    module = Sees()
    with torch.no_grad():
        for part in (module.one, module.two):
            part.weight.abs_()
            part.bias.zero_()  # type: ignore[union-attr]
        module.value.weight.copy_(-module.value.weight.abs())
    adapted = iv.subject(module, example=torch.zeros(1, 3, SIZE, SIZE), actions=["left", "stay", "right"])
    rows = fed_rows(adapted, {"x": torch.rand(2, 3, SIZE, SIZE)})
    cam = gradcam.look(rows, adapted, target="value")
    assert cam.arrays["inverted"].all() and not cam.heat["x"].any()
    assert guided_gradcam.look(rows, adapted, target="value").arrays["inverted"].all()
    assert not gradcam.look(rows, adapted, target="value", signed=True).heat["x"].max() > 1e-6


class Corners(nn.Module):
    """The first action is read off the left half, the second off the right half, and both off the top row."""

    def __init__(self) -> None:
        super().__init__()
        self.see = nn.Conv2d(1, 1, 1)
        self.relu = nn.ReLU()
        self.policy = nn.Linear(36, 2)
        with torch.no_grad():
            self.see.weight.fill_(1.0)
            self.see.bias.zero_()  # type: ignore[union-attr]
            self.policy.bias.zero_()
            weight = torch.zeros(2, 6, 6)
            weight[0, 1:, :3], weight[1, 1:, 3:], weight[:, 0] = 1.0, 1.0, 5.0
            self.policy.weight.copy_(weight.view(2, 36))

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"q": self.policy(self.relu(self.see(x)).flatten(1))}


def test_what_speaks_for_all_actions_is_not_discriminative() -> None:
    adapted = iv.subject(Corners(), example=torch.zeros(1, 1, 6, 6), actions=["left", "right"])
    rows = fed_rows(adapted, {"x": torch.rand(2, 1, 6, 6) + 0.1})
    for action, mine in (("left", slice(0, 3)), ("right", slice(3, 6))):
        heat = discriminative.look(rows, adapted, action=action).heat["x"][:, 0]
        wanted = np.zeros((6, 6))
        wanted[1:] = -1.0
        wanted[1:, mine] = 1.0
        assert np.allclose(heat, wanted), "for the half that it alone is read off, against the other's"
        assert guided.look(rows, adapted, target=f"{action} of q").heat["x"][:, 0, 0].min() == 5.0


def test_smoothgrad_is_the_mean_of_noisy_gradients(sees: iv.Subject, pictures: Tensor) -> None:
    rows = fed_rows(sees, {"x": pictures})
    without = smoothgrad(rows, sees, spread=0.0, count=2).heat["x"]
    assert np.allclose(without, gradient.look(rows, sees).heat["x"], atol=1e-6)
    first, other = smoothgrad(rows, sees, count=3).heat["x"], smoothgrad(rows, sees, count=3, seed=1).heat["x"]
    assert not np.allclose(first, without) and not np.allclose(first, other)


class Brightness(nn.Module):
    """Two numbers: the sum of the left half and of the right half."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = nn.Linear(64, 2, bias=False)
        weight = torch.zeros(2, 8, 8)
        weight[0, :, :4], weight[1, :, 4:] = 1.0, 1.0
        with torch.no_grad():
            self.policy.weight.copy_(weight.view(2, 64))

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"q": self.policy(x.flatten(1))}


@pytest.fixture
def brightness() -> iv.Subject:
    return iv.subject(Brightness(), example=torch.zeros(1, 1, 8, 8), actions=["left", "right"])


def test_occlusion_is_what_a_patch_takes_away(brightness: iv.Subject) -> None:
    picture = torch.rand(1, 1, 8, 8)
    rows = fed_rows(brightness, {"x": picture})
    heat = occlusion.look(rows, brightness, target="left of q", patch=2, step=2, fill="black").heat["x"][0, 0]
    for top in range(0, 8, 2):
        for left in range(0, 8, 2):
            wanted = float(picture[0, 0, top : top + 2, left : left + 2].sum()) if left < 4 else 0.0
            assert np.allclose(heat[top : top + 2, left : left + 2], wanted, atol=1e-5)


@pytest.mark.parametrize(("size", "patch", "step"), [((8, 8), 3, 2), ((7, 9), 4, 4), ((5, 5), 9, 2), ((84, 84), 8, 4)])
def test_patches_cover_every_pixel(size: tuple[int, int], patch: int, step: int) -> None:
    masks = patches(size, patch, step)
    assert masks.shape[1:] == (1, *size) and (masks.sum(0) > 0).all() and masks.flatten(1).any(1).all()


def test_blurring_is_equation_1_by_hand(brightness: iv.Subject) -> None:
    picture = torch.rand(1, 1, 8, 8)
    rows = fed_rows(brightness, {"x": picture})
    heat = blurring.look(rows, brightness, every=8, spot=2.0, blur=1.0).heat["x"]
    ys, xs = torch.meshgrid(torch.arange(8.0), torch.arange(8.0), indexing="ij")
    mask = torch.exp(-((ys - 4) ** 2 + (xs - 4) ** 2) / 8)
    changed = picture * (1 - mask) + blurred(picture, 1.0) * mask
    with torch.no_grad():
        before, after = (brightness.module(x)["q"] for x in (picture, changed))
    assert np.allclose(heat, float(0.5 * (before - after).square().sum()), atol=1e-6)


def test_a_blur_keeps_what_is_even_and_the_sum() -> None:
    assert torch.allclose(blurred(torch.full((1, 2, 9, 9), 0.3), 2.0), torch.tensor(0.3))
    spot = torch.zeros(1, 1, 21, 21)
    spot[0, 0, 10, 10] = 1
    assert torch.isclose(blurred(spot, 1.5).sum(), torch.tensor(1.0), atol=1e-4)


def test_sarfa_by_hand() -> None:
    before, after = torch.tensor([[2.0, 1.0, 0.0]]), torch.tensor([[1.0, 1.5, 0.0]])
    p, q = np.exp([2, 1, 0]) / np.exp([2, 1, 0]).sum(), np.exp([1, 1.5, 0]) / np.exp([1, 1.5, 0]).sum()
    drop = p[0] - q[0]
    rest_p, rest_q = p[1:] / p[1:].sum(), q[1:] / q[1:].sum()
    relevance = 1 / (1 + (rest_q * np.log(rest_q / rest_p)).sum())
    wanted = 2 * relevance * drop / (relevance + drop)
    assert np.isclose(float(sarfa.sarfa(before, after, torch.tensor([0]))[0]), wanted, atol=1e-6)
    assert float(sarfa.sarfa(after, before, torch.tensor([0]))[0]) == 0, "the action became likelier"


def test_a_layer_can_be_the_target(sees: iv.Subject, pictures: Tensor) -> None:
    heat = gradient.look(fed_rows(sees, {"x": pictures}), sees, target="layer one").heat["x"]
    given = pictures.clone().requires_grad_()
    sees.module.one(given).sum().backward()  # type: ignore[operator, union-attr]
    assert given.grad is not None and np.allclose(heat, given.grad, atol=1e-5)
    with pytest.raises(Exception, match=r"Did you mean 'one'|one"):
        gradient.look(fed_rows(sees, {"x": pictures}), sees, target="layer onne")


def test_what_has_no_meaning_is_refused() -> None:
    class Smooth(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.see, self.policy = nn.Conv2d(1, 2, 3), nn.Linear(2 * 16, 2)

        def forward(self, x: Tensor) -> Tensor:
            said: Tensor = self.policy(functional.gelu(self.see(x)).flatten(1))
            return said

    adapted = iv.subject(Smooth(), example=torch.zeros(1, 1, 6, 6), heads="policy", actions=["a", "b"])
    rows = fed_rows(adapted, {"x": torch.rand(1, 1, 6, 6)})
    with pytest.raises(SubjectError, match="gelu"):
        guided.look(rows, adapted)
    with pytest.raises(LensError, match="without height and width"):
        gradcam.look(rows, adapted, layer="policy")


class EachFrame(nn.Module):
    """Sees each of three frames by itself, the rows one after the other or the frames; then they are weighed."""

    def __init__(self, *, frames_first: bool = False) -> None:
        super().__init__()
        self.frames_first = frames_first
        self.see, self.policy = nn.Conv2d(1, 2, 3, padding=1), nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        order = x.transpose(0, 1) if self.frames_first else x
        seen = self.see(order.reshape(-1, 1, 8, 8)).mean((1, 2, 3)).reshape(order.shape[:2])
        answer: Tensor = self.policy(seen.T if self.frames_first else seen)
        return answer


def test_a_layer_that_sees_each_frame_gives_a_map_of_each() -> None:
    torch.manual_seed(3)
    pictures = torch.rand(5, 3, 8, 8)
    subject = iv.subject(EachFrame(), example=torch.zeros(1, 3, 8, 8), actions=["a", "b"])
    rows = fed_rows(subject, {"x": pictures})
    made = gradcam.look(rows, subject, target="a over b", signed=True)
    assert made.heat["x"].shape == (5, 3, 8, 8) and made.arrays["inverted"].shape == (5,)
    net = subject.module
    seen = net.see(pictures.reshape(-1, 1, 8, 8))
    slope = (net.policy.weight[0] - net.policy.weight[1]).repeat(5)[:, None, None, None] / seen[0].numel()
    by_hand = (slope * seen).sum(1).reshape(5, 3, 8, 8)
    assert np.allclose(made.heat["x"], by_hand.detach().numpy(), atol=1e-6)
    mixed = iv.subject(EachFrame(frames_first=True), example=torch.zeros(1, 3, 8, 8), actions=["a", "b"])
    with pytest.raises(LensError, match="which picture belongs to which row"):
        gradcam.look(fed_rows(mixed, {"x": pictures}), mixed, target="a over b")
