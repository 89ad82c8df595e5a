"""What decides what a subject says is its identity: nobody takes what another one said for its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.schema import Edit, InputEdit, SiteEdit
from innerview.subjects.subject import Subject
from innerview.testing.worlds import CountingWorld

ZERO = SiteEdit(site="0", op="zero", elements=(0, 1))
PATCH = InputEdit(op="patch", input="input", box=(0, 0, 4, 4), value=1.0)


@pytest.fixture
def module() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 6 * 6, 3))


def adapted(module: nn.Module, normalise: object = None) -> Subject:
    example = torch.zeros(1, 3, 8, 8)
    return iv.subject(module, name="looker", example=example, heads="policy", normalise=normalise)


def test_edits_are_part_of_it(module: nn.Module) -> None:
    plain = adapted(module)
    edited = [iv.edit(plain, edits) for edits in ([ZERO], [PATCH], [ZERO, PATCH])]
    assert len({subject.identity() for subject in (plain, *edited)}) == 4
    assert all(subject.info.identity == subject.identity() for subject in (plain, *edited))
    assert edited[2].info.edits == (ZERO, PATCH) and iv.edit(plain, [ZERO]).identity() == edited[0].identity()
    renamed = edited[0].named("other")
    assert renamed.identity() == edited[0].identity() and renamed.info.edits == (ZERO,)


@pytest.mark.parametrize(
    "normalise", [False, ((0.5,) * 3, (0.5,) * 3), lambda x: x / 128, lambda x: x / 255 + 0.5], ids=str
)
def test_how_observations_are_taken_is_part_of_it(module: nn.Module, normalise: object) -> None:
    assert adapted(module, normalise).identity() != adapted(module).identity()
    assert adapted(module, normalise).identity() == adapted(module, normalise).identity()


def test_one_function_written_twice_is_the_same(module: nn.Module) -> None:
    assert adapted(module, lambda x: x / 255).identity() == adapted(module, lambda x: x.div(255.0)).identity()


@pytest.mark.parametrize("edits", [[ZERO], [PATCH]], ids=["site", "input"])
def test_what_an_edited_subject_says_is_its_own(module: nn.Module, edits: list[Edit], tmp_path: Path) -> None:
    plain = adapted(module)
    study = iv.Study.create(tmp_path / "a.study")
    played = iv.record(study, plain, CountingWorld(), episodes=2, progress=False)
    edited = iv.edit(plain, edits, name="looker")
    one, other = (iv.predict(study, subject, played.name, progress=False) for subject in (plain, edited))
    assert one.info.name != other.info.name
    assert np.abs(one.array("head.policy", 0, 5) - other.array("head.policy", 0, 5)).max() > 1e-3
    assert other.info.subject is not None and other.info.subject.edits == tuple(edits)
    heats = [
        iv.look(study, "gradient", played.name, subject=each, other=each is edited, progress=False)
        for each in (plain, edited)
    ]
    assert heats[0].id != heats[1].id
    again = iv.record(study, edited, CountingWorld(), episodes=2, name=played.name, progress=False)
    assert again.info.name != played.info.name and again.info.subject is not None
    assert again.info.subject.identity == edited.identity() != plain.identity()


class Masks(nn.Module):
    """The weights of one, and what is said with them."""

    def __init__(self, *, masked: bool = False, rewritten: bool = False) -> None:
        super().__init__()
        self.actor, self.masked, self.rewritten = nn.Linear(6, 3), masked, rewritten

    def forward(self, x: Tensor) -> Tensor:
        logits = x @ self.actor.weight.T + self.actor.bias if self.rewritten else self.actor(x)
        return logits.masked_fill(torch.tensor([False, True, False]), -9.0) if self.masked else logits


def masks(**how: bool) -> Subject:
    torch.manual_seed(0)
    return iv.subject(Masks(**how), name="masks", example=torch.zeros(1, 6), heads="policy")


def test_the_same_weights_that_say_something_else_are_another_subject() -> None:
    assert masks().identity() != masks(masked=True).identity()


def test_code_that_says_the_same_is_the_same_subject() -> None:
    assert masks().identity() == masks(rewritten=True).identity()
    assert masks().info.code != "" and masks().info.identity == masks(rewritten=True).info.identity


def test_identity_does_not_depend_on_threads_or_on_what_was_drawn_before() -> None:
    one = masks().identity()
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    torch.rand(7)
    assert masks().identity() == one
    torch.set_num_threads(threads)


def test_half_precision_is_probed_too() -> None:
    torch.manual_seed(0)
    one, other = (
        iv.subject(Masks(masked=masked).half(), example=torch.zeros(1, 6), heads="policy") for masked in (False, True)
    )
    other.module.load_state_dict(one.module.state_dict())
    assert one.identity() != other.identity()


def test_weights_that_change_in_place_change_it_and_change_it_back(module: nn.Module) -> None:
    subject = adapted(module)
    before, first = subject.identity(), module[0].weight
    assert isinstance(first, Tensor)
    value = float(first.data[0, 0, 0, 0])
    first.data[0, 0, 0, 0] = np.nextafter(np.float32(value), np.float32(1)).item()  # no counter of torch tells
    changed = subject.identity()
    first.data[0, 0, 0, 0] = value
    assert changed != before and subject.identity() == before
