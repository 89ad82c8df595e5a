"""Subjects made of others by edits of weights, sites and inputs, beside modules changed by hand."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.errors import EditError, SubjectError, UnknownName
from innerview.schema import Edit, EditSet, InputEdit, SiteEdit, WeightEdit
from innerview.subjects import Subject


class Seeing(nn.Module):
    """A convolution that runs twice, a normalisation with buffers, and a policy."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.again = nn.Conv2d(6, 4, 3, padding=1), nn.BatchNorm2d(4), nn.Conv2d(4, 4, 1)
        self.policy = nn.Linear(4 * 64, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.policy(self.hidden(x).flatten(1))

    def hidden(self, x: Tensor, *, first: Callable[[Tensor], Tensor] | None = None, second: Any = None) -> Tensor:
        """With what comes out of the first convolution, and of the second run of the other, changed by hand."""
        seen = self.first(x) if first is None else first(self.first(x))
        once = torch.relu(self.again(torch.relu(self.norm(seen))))
        twice = self.again(once)
        return torch.relu(twice if second is None else second(twice))


@pytest.fixture
def subject() -> Subject:
    torch.manual_seed(0)
    module = Seeing().eval()
    with torch.no_grad():
        module.norm.running_mean.uniform_(-1, 1)
        module.norm.running_var.uniform_(0.5, 2)
    return iv.subject(module, name="seeing", inputs={"x": (6, 8, 8)}, heads={"policy": "policy"}, normalise=None)


X = torch.rand(3, 6, 8, 8, generator=torch.Generator().manual_seed(1))


def logits(subject: Subject, **settings: Any) -> Tensor:
    return subject.run({"x": X}, **settings).heads["policy"].detach()


def channels(places: list[int], change: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    def changed(value: Tensor) -> Tensor:
        new = value.clone()
        new[:, places] = change(new[:, places])
        return new

    return changed


@torch.no_grad()
@pytest.mark.parametrize(
    ("edit", "hand"),
    [
        (SiteEdit(site="first", elements=(1, 3)), {"first": channels([1, 3], lambda v: v * 0)}),
        (SiteEdit(site="first[2]", op="set", value=0.7), {"first": channels([2], lambda v: v * 0 + 0.7)}),
        (SiteEdit(site="first", elements=(0,), op="scale", value=-2), {"first": channels([0], lambda v: v * -2)}),
        (SiteEdit(site="again@1", elements=(2,)), {"second": channels([2], lambda v: v * 0)}),
    ],
)
def test_a_site_is_changed_as_by_hand_at_the_call_that_is_named(subject: Subject, edit: SiteEdit, hand: Any) -> None:
    module: Any = subject.module
    wanted = module.policy(module.hidden(X, **hand).flatten(1))
    torch.testing.assert_close(logits(subject, edits=edit), wanted, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(logits(iv.edit(subject, edit)), wanted, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(logits(subject), module(X))


@torch.no_grad()
def test_directions_are_projected_out_of_an_activation(subject: Subject) -> None:
    directions = ((1.0, 2.0, 0.0, 0.0), (0.0, 0.0, 3.0, 0.0))
    edit = SiteEdit(site="first", op="project out", directions=directions)
    left = subject.run({"x": X}, edits=edit, keep=["first"]).sites["first"]
    along = torch.einsum("bchw,dc->bdhw", left, torch.tensor(directions))
    assert along.abs().max() < 1e-5 and left[:, 3].abs().max() > 0.1


@torch.no_grad()
def test_directions_that_others_make_up_take_nothing_more_out_of_a_site(subject: Subject) -> None:
    one, two = (1.0, 2.0, 0.0, 0.0), (0.0, 0.0, 3.0, 0.0)

    def left(*directions: tuple[float, ...]) -> torch.Tensor:
        edit = SiteEdit(site="first", op="project out", directions=directions)
        return subject.run({"x": X}, edits=edit, keep=["first"]).sites["first"]

    torch.testing.assert_close(left(one, one), left(one))
    torch.testing.assert_close(left(one, two, (1.0, 2.0, 3.0, 0.0)), left(one, two))
    torch.testing.assert_close(left(one, one, two), left(one, two))


@torch.no_grad()
@pytest.mark.parametrize(
    ("edit", "hand"),
    [
        (InputEdit(op="patch", box=(1, 2, 5, 7), value=0.5), lambda x: patched(x, 0.5)),
        (InputEdit(op="filter", filter="invert"), lambda x: 1 - x),
        (
            InputEdit(op="filter", filter="contrast", parameters=(("factor", 0.0),)),
            lambda x: x.mean((1, 2, 3), keepdim=True).expand_as(x),
        ),
        (InputEdit(op="frame", frame=0, frames=3, source=2), lambda x: torch.cat([x[:, 4:], x[:, 2:]], dim=1)),
        (InputEdit(op="frame", frame=2, frames=3), lambda x: torch.cat([x[:, :4], torch.zeros(3, 2, 8, 8)], dim=1)),
    ],
)
def test_an_input_is_changed_before_the_model_reads_it(subject: Subject, edit: InputEdit, hand: Any) -> None:
    wanted = subject.module(hand(X))
    torch.testing.assert_close(logits(subject, edits=edit), wanted, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(logits(iv.edit(subject, edit)), wanted, atol=1e-5, rtol=1e-5)


def patched(x: Tensor, value: float) -> Tensor:
    new = x.clone()
    new[..., 1:5, 2:7] = value
    return new


@torch.no_grad()
def test_blur_is_a_gaussian_that_keeps_what_is_even(subject: Subject) -> None:
    edit = InputEdit(op="filter", filter="blur", parameters=(("sigma_px", 0.8),))
    even = torch.full((1, 6, 8, 8), 0.3)
    torch.testing.assert_close(
        subject.run({"x": even}, edits=edit).heads["policy"], subject.module(even), atol=1e-5, rtol=1e-5
    )
    assert not torch.allclose(logits(subject, edits=edit), logits(subject), atol=1e-3)


@torch.no_grad()
@pytest.mark.parametrize(
    ("edit", "hand"),
    [
        (WeightEdit(op="zero", weight="first.weight", elements=(3,)), lambda m: m.first.weight[3].zero_()),
        (WeightEdit(op="scale", weight="policy.bias", value=3), lambda m: m.policy.bias.mul_(3)),
        (WeightEdit(op="set", weight="norm.running_mean", value=0.25), lambda m: m.norm.running_mean.fill_(0.25)),
    ],
)
def test_a_weight_or_buffer_is_changed_in_a_copy(subject: Subject, edit: WeightEdit, hand: Any) -> None:
    other = copy.deepcopy(subject.module)
    hand(other)
    before = logits(subject)
    made = iv.edit(subject, edit, name="other")
    torch.testing.assert_close(logits(made), other(X))
    assert made.info.name == "other" and made.identity() != subject.identity()
    assert torch.equal(logits(subject), before)


@torch.no_grad()
def test_edits_compose_in_their_order_with_a_name_and_what_they_were(subject: Subject) -> None:
    edits: tuple[Edit, ...] = (
        WeightEdit(op="scale", weight="policy.weight", value=2),
        SiteEdit(site="first", elements=(0,), op="set", value=1.0),
        InputEdit(op="filter", filter="invert"),
        SiteEdit(site="first", elements=(0,), op="scale", value=0.5),
    )
    made = iv.edit(subject, EditSet(name="all of it", edits=edits))
    module: Any = copy.deepcopy(subject.module)
    module.policy.weight.mul_(2)
    wanted = module.policy(module.hidden(1 - X, first=channels([0], lambda v: v * 0 + 0.5)).flatten(1))
    torch.testing.assert_close(logits(made), wanted, atol=1e-5, rtol=1e-5)
    assert made.info.name == "seeing - edited"
    assert [type(edit) for edit in made.info.edits] == [SiteEdit, InputEdit, SiteEdit]
    assert subject.info.edits == () and subject.info.identity != made.info.identity


def test_what_does_not_fit_is_refused_with_what_would(subject: Subject) -> None:
    with pytest.raises(UnknownName, match=r"'first\.weigth'.*Did you mean 'first\.weight'"):
        iv.edit(subject, WeightEdit(op="zero", weight="first.weigth"))
    with pytest.raises(EditError, match=r"'first\.weight' has places 0 to 3 along its first axis, not 4"):
        iv.edit(subject, WeightEdit(op="zero", weight="first.weight", elements=(1, 4)))
    with pytest.raises(EditError, match="a single number and no places"):
        iv.edit(subject, WeightEdit(op="zero", weight="norm.num_batches_tracked", elements=(0,)))
    with pytest.raises(SubjectError, match=r"runs 2 times in one run\. Choose a call: again@0, again@1"):
        iv.edit(subject, SiteEdit(site="again", elements=(0,)))
    with pytest.raises(SubjectError, match="elements 0 to 3, not 4"):
        iv.edit(subject, SiteEdit(site="first[4]"))
    with pytest.raises(EditError, match="changes an attention map; 'first' is activation"):
        iv.edit(subject, SiteEdit(site="first", op="uniform"))
    with pytest.raises(EditError, match=r"iv\.edit"):
        logits(subject, edits=WeightEdit(op="zero", weight="first.weight"))


def test_a_filter_that_is_not_there_names_those_that_are() -> None:
    small = iv.subject(nn.Linear(4, 2), name="small", inputs={"x": (4,)}, heads="policy")
    with pytest.raises(EditError, match="changes an image"):
        iv.edit(small, InputEdit(op="filter", filter="blur"))
