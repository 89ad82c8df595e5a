"""Which array feeds which input: as declared, by name, by shape where that leaves no choice."""

from __future__ import annotations

import re
from dataclasses import replace

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


def depth(name: str, unit: str = "mm", size: int = 8) -> ArraySpec:
    return ArraySpec(name=name, shape=(size, size), dtype="uint16", role="image", axes=PICTURE[:2], unit=unit)


def both_domains(size: int = 8) -> list[ArraySpec]:
    colours = [replace(rgb(f"{d}.rgb", size=size), domain=d, pair="rgb") for d in ("sim", "real")]
    return colours + [replace(depth(f"{d}.depth", size=size), domain=d, pair="depth") for d in ("sim", "real")]


RGBD = InputSpec(name="rgbd", kind="image", shape=(4, 8, 8))


def image(name: str) -> InputSpec:
    return InputSpec(name=name, kind="image", shape=(3, 8, 8))


def vector(name: str, length: int) -> InputSpec:
    return InputSpec(name=name, kind="vector", shape=(length,))


def bound(inputs: list[InputSpec], arrays: list[ArraySpec], **wanted: str) -> dict[str, str]:
    return bind(inputs, arrays, wanted, where="rows").texts


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


def test_a_domain_stands_for_its_colour_and_its_depth() -> None:
    assert bound([RGBD], both_domains(), rgbd="real") == {"rgbd": "real.rgb + real.depth | depth 10"}
    assert bound([RGBD], both_domains(), rgbd="sim | depth 5") == {"rgbd": "sim.rgb + sim.depth | depth 5"}
    wide = bound([RGBD], both_domains(6), rgbd="sim | resize 8x8")
    assert wide == {"rgbd": "sim.rgb | resize 8x8 + sim.depth | resize 8x8 | depth 10"}
    assert bound([image("seen")], both_domains(), seen="sim") == {"seen": "sim.rgb"}
    items = bind([RGBD], both_domains(), {"rgbd": "real"}, where="rows").inputs
    assert [(item.array, item.domain) for item in items] == [("real.rgb", "real"), ("real.depth", "real")]


def test_what_was_joined_reads_back_as_the_same() -> None:
    made = bind([RGBD], both_domains(), {"rgbd": "sim"}, where="rows")
    assert str(made) == "rgbd ← sim.rgb + sim.depth | depth 10"
    assert bind([RGBD], both_domains(), made.texts, where="rows") == made


def test_a_subject_that_takes_both_is_told_how_domains_are_joined() -> None:
    with pytest.raises(RequestError, match=r"inputs=\{'rgbd': 'sim'\} or inputs=\{'rgbd': 'real'\}"):
        bound([RGBD], both_domains())


def test_colour_and_depth_without_a_domain_are_joined_by_name() -> None:
    with pytest.raises(RequestError, match=r"inputs=\{'rgbd': 'rgb \+ depth \| depth 10'\}"):
        bound([RGBD], [rgb("rgb"), depth("depth", "0.2 mm")])
    assert bound([RGBD], [rgb("rgb"), depth("depth", "0.2 mm")], rgbd="rgb + depth | depth 10")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sim.rgb + sim.rgb", "there are 6 channels"),
        ("sim.rgb | resize 4x4 + sim.depth | depth 10", "'sim.rgb | resize 4x4' 4 × 4"),
        ("sim.rgb + sim.depth | stack 2", "cannot be joined"),
        ("sim.rgb + real.dept", "Did you mean 'real.depth'"),
        ("sim.rgb | depth 10 + sim.depth", "the unit of 'sim.rgb' is not said"),
        ("virtual", "Unknown array 'virtual'"),
    ],
)
def test_what_cannot_be_joined_says_why(text: str, said: str) -> None:
    with pytest.raises(InnerviewError, match=re.escape(said)):
        bound([RGBD], both_domains(), rgbd=text)


def test_a_domain_with_a_choice_is_not_chosen_for() -> None:
    with pytest.raises(RequestError, match=r"Nothing of 'sim' feeds input 'rgbd' .* without a choice"):
        bound([RGBD], [*both_domains(), replace(depth("sim.far"), domain="sim")], rgbd="sim")


def test_an_array_may_be_called_as_if_it_were_joined() -> None:
    assert bound([image("x")], [rgb("a + b"), rgb("a"), rgb("b")], x="a + b | divide 255") == {
        "x": "a + b | divide 255"
    }
