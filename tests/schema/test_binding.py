"""Which array feeds which input: as declared, by name, by shape where that leaves no choice."""

from __future__ import annotations

import pytest

from innerview.errors import InnerviewError, RequestError, UnknownName
from innerview.schema import ArraySpec, bind
from innerview.schema.data import ArrayRole
from innerview.schema.subject import InputSpec

PICTURE = ("height", "width", "channel")


def rgb(name: str, role: ArrayRole = "image", size: int = 8) -> ArraySpec:
    return ArraySpec(name=name, shape=(size, size, 3), dtype="uint8", role=role, axes=PICTURE)


def numbers(name: str, length: int, role: ArrayRole = "other") -> ArraySpec:
    return ArraySpec(name=name, shape=(length,), dtype="float32", role=role)


def image(name: str) -> InputSpec:
    return InputSpec(name=name, kind="image", shape=(3, 8, 8))


def vector(name: str, length: int) -> InputSpec:
    return InputSpec(name=name, kind="vector", shape=(length,))


def bound(inputs: list[InputSpec], arrays: list[ArraySpec], **wanted: str) -> dict[str, str]:
    return {item.input: item.text for item in bind(inputs, arrays, wanted, where="rows").inputs}


def test_a_name_goes_before_a_shape_whichever_input_comes_first() -> None:
    inputs, arrays = [image("left"), image("right")], [rgb("right"), rgb("other")]
    assert bound(inputs, arrays) == {"left": "other", "right": "right"}
    assert bound(inputs[::-1], arrays) == {"left": "other", "right": "right"}


def test_what_one_input_leaves_over_may_settle_another() -> None:
    found = bound([vector("any", 4), vector("speed", 3)], [numbers("a", 4), numbers("b", 3)])
    assert found == {"any": "a", "speed": "b"}


def test_one_array_is_not_shared_by_two_inputs_unless_that_is_declared() -> None:
    with pytest.raises(RequestError, match=r"'left' \(image 3 × 8 × 8\) could be fed by view \(8 × 8 × 3 uint8\)"):
        bound([image("left"), image("right")], [rgb("view")])
    assert bound([image("left"), image("right")], [rgb("view")], left="view", right="view") == {
        "left": "view",
        "right": "view",
    }


@pytest.mark.parametrize("order", [1, -1])
def test_arrays_of_one_shape_are_not_chosen_by_their_order(order: int) -> None:
    inputs, arrays = [image("left"), image("right")], [rgb("one"), rgb("two")]
    with pytest.raises(RequestError, match=r"could be fed by .*one.* and shape alone does not decide"):
        bound(inputs[::order], arrays[::order])
    assert bound(inputs, arrays, left="two") == {"left": "two", "right": "one"}


def test_what_was_observed_goes_before_other_arrays_of_that_shape() -> None:
    assert bound([image("x"), vector("y", 2)], [rgb("map"), rgb("seen", "observation"), numbers("n", 2)]) == {
        "x": "seen",
        "y": "n",
    }


def test_an_input_that_nothing_fits_names_the_arrays_there_are() -> None:
    with pytest.raises(RequestError, match=r"Input 'x' \(vector 5\) fits no array of 'rows'.*a \(4 float32\)"):
        bound([vector("x", 5)], [numbers("a", 4)])


@pytest.mark.parametrize("step", ["stack 0", "resize 0x5", "resize 5x0", "divide 0", "divide 1e999"])
def test_numbers_of_steps_are_above_zero(step: str) -> None:
    with pytest.raises(RequestError, match=f"Step '{step}': its numbers are above zero"):
        bound([image("x")], [rgb("view")], x=f"view | {step}")


@pytest.mark.parametrize("step", ["divide 1.2.3", "divide -2", "stack", "resize 5", "rotate 90"])
def test_steps_that_cannot_be_read_name_those_there_are(step: str) -> None:
    with pytest.raises(UnknownName, match="resize 64x48") as raised:
        bound([image("x")], [rgb("view")], x=f"view | {step}")
    assert isinstance(raised.value, InnerviewError) and step in str(raised.value)
