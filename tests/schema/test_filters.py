"""Filters of pictures as they are written, and bindings with them."""

from __future__ import annotations

import pytest

from innerview.errors import RequestError, UnknownName
from innerview.schema import (
    PICTURE_FILTERS,
    ArraySpec,
    InputSpec,
    bind,
    counterpart,
    domains_of,
    parse_filters,
    with_filters,
)

PICTURE, PLANE = ("height", "width", "channel"), ("height", "width")


def rgb(domain: str, pair: str = "rgb") -> ArraySpec:
    return ArraySpec(
        name=f"{domain}.rgb", shape=(8, 8, 3), dtype="uint8", role="image", axes=PICTURE, domain=domain, pair=pair
    )


def depth(domain: str, unit: str = "mm") -> ArraySpec:
    return ArraySpec(
        name=f"{domain}.depth", shape=(8, 8), dtype="uint16", role="image", axes=PLANE, domain=domain, pair="depth",
        unit=unit,
    )  # fmt: skip


BOTH = [rgb("sim"), depth("sim"), rgb("real"), depth("real")]
RGBD = [InputSpec(name="rgbd", kind="image", shape=(4, 8, 8))]


def text(steps: str) -> str:
    return bind(RGBD, BOTH, {"rgbd": steps}, where="pairs").texts["rgbd"]


@pytest.mark.parametrize("name", PICTURE_FILTERS)
def test_every_filter_is_written_and_read_and_its_neutral_is_in_range(name: str) -> None:
    chosen = PICTURE_FILTERS[name]
    (step,) = parse_filters(" ".join([name, *(f"{number:g}" for number in chosen.neutral)]))
    assert (step.kind, step.values) == (name, chosen.neutral)
    assert parse_filters(str(step)) == (step,)
    for number in chosen.numbers:
        assert number.low <= number.usual[0] < number.usual[1] <= number.high
        assert number.low <= number.neutral <= number.high


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ("brightness 9", "factor goes from 0 to 4, not 9"),
        ("brightness", "'brightness' takes factor from 0 to 4"),
        ("brightness 1 2", "'brightness' takes factor from 0 to 4"),
        ("brightness nan", "'brightness' takes factor from 0 to 4"),
        ("blur -1", "sigma goes from 0 to 10 px, not -1"),
        ("depth range 5 2", "nearest is below farthest, not 5 and 2 m"),
        ("temperature 1e9", "warmth goes from -1 to 1"),
        ("", "A filter is written as its name and its numbers"),
    ],
)
def test_numbers_out_of_range_are_refused_with_the_range(steps: str, told: str) -> None:
    with pytest.raises(RequestError, match=told):
        parse_filters(steps)


def test_an_unknown_filter_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"'brightnes'.*brightness"):
        parse_filters("brightnes 1.2")


def test_filters_of_a_domain_go_where_they_belong() -> None:
    assert text("real | brightness 1.2 | depth range 0.3 7 | pitch 2") == (
        "real.rgb | brightness 1.2 | pitch 2 + real.depth | depth range 0.3 7 | pitch 2 | depth 10"
    )


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("real.rgb | resize 8x8 | blur 1 + real.depth | depth 10", "come before other steps"),
        ("real.rgb + real.depth | brightness 2 | depth 10", "changes colours, and 'real.depth' holds depth"),
        ("real.rgb | depth range 1 2 + real.depth | depth 10", "no picture of depth with a unit"),
    ],
)
def test_filters_where_they_do_not_belong_are_refused(written: str, told: str) -> None:
    with pytest.raises(RequestError, match=told):
        text(written)


def test_the_counterpart_takes_the_other_side_of_each_pair() -> None:
    bound = bind(RGBD, BOTH, {"rgbd": "sim | blur 1"}, where="pairs")
    other = counterpart(bound, BOTH, "real")
    assert other.texts == {"rgbd": "real.rgb | blur 1 + real.depth | depth 10"}
    assert counterpart(other, BOTH, "sim") == bound
    with pytest.raises(RequestError, match=r"'sim.rgb' has no counterpart in 'real'.*real.depth"):
        counterpart(bound, BOTH[:2] + BOTH[3:], "real")


def test_filters_are_added_before_other_steps_and_after_filters_that_are_there() -> None:
    bound = bind(RGBD, BOTH, {"rgbd": "real | blur 1"}, where="pairs")
    more = with_filters(bound, parse_filters("brightness 2 | height 0.1"), BOTH)
    assert more.texts == {"rgbd": "real.rgb | blur 1 | brightness 2 | height 0.1 + real.depth | height 0.1 | depth 10"}
    assert bind(RGBD, BOTH, more.texts, where="pairs") == more
    colour = [InputSpec(name="rgb", kind="image", shape=(3, 8, 8))]
    with pytest.raises(RequestError, match="no depth feeds an input"):
        with_filters(bind(colour, BOTH, {"rgb": "real.rgb"}, where="pairs"), parse_filters("depth range 1 2"), BOTH)


def test_the_simulator_comes_first_among_domains() -> None:
    assert domains_of([rgb("real"), rgb("sim"), rgb("")]) == ("sim", "real")
