"""Poses: which columns say where an agent is, in which unit, and what foreign names mean."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import pytest

from innerview.errors import SubjectError
from innerview.schema import Column, Head, Pose, pose_of, pose_part, units_per, with_foreign_poses

EAST = Column(name="east", type="float", unit="m", pose="x")
NORTH = Column(name="north", type="float", unit="m", pose="y")
LOOKS = Column(name="looks", type="float", unit="rad", pose="angle")


def test_a_pose_is_known_by_what_columns_say_they_are() -> None:
    found = pose_of((EAST, NORTH, LOOKS))
    assert found == Pose(x="east", y="north", angle="looks", unit="m", angle_deg=180 / pi)
    assert found.placed == ("east", "north")
    assert found.directed
    assert pose_of([Column(name=name, type="float") for name in ("x", "y", "angle")]) == Pose(), "names say nothing"


def test_what_is_unknown_stays_unknown() -> None:
    assert pose_of((EAST, replace(NORTH, unit="cm"))).unit == "", "no unit that holds for both"
    assert not pose_of((EAST, NORTH, replace(LOOKS, unit="turns"))).directed
    assert pose_of((EAST,)).placed == ()
    assert pose_of((replace(EAST, kind="decision"), NORTH)).x == "", "what a subject says is no fact"


def test_the_domain_that_was_asked_for_counts_and_nothing_is_guessed() -> None:
    sides = [replace(EAST, name=f"x of {side}", domain=side) for side in ("sim", "real")]
    assert pose_part(sides, "x") is None
    assert pose_part(sides, "x", {"real"}) == sides[1]
    assert pose_part([*sides, EAST], "x") == EAST
    assert pose_part(sides[:1], "x") == sides[0], "the only one there is"
    assert pose_part(sides[:1], "x", {"real"}) is None


@pytest.mark.parametrize(
    ("unit", "wanted", "factor"), [("cm", "m", 0.01), ("rad", "deg", 180 / pi), ("tiles", "tiles", 1), ("", "", 1)]
)
def test_units_of_one_kind_are_converted(unit: str, wanted: str, factor: float) -> None:
    assert units_per(unit, wanted) == pytest.approx(factor)


@pytest.mark.parametrize(("unit", "wanted"), [("m", "deg"), ("", "deg"), ("tiles", "m")])
def test_units_that_cannot_be_compared_are_not(unit: str, wanted: str) -> None:
    assert units_per(unit, wanted) is None


def test_foreign_columns_are_known_by_their_names_once() -> None:
    names = ("position_x", "x", "y", "heading", "note")
    kinds = ("float", "float", "int", "float", "text")
    columns = [Column(name=name, type=kind) for name, kind in zip(names, kinds, strict=True)]  # type: ignore[arg-type]
    assert [column.pose for column in with_foreign_poses(columns)] == ["", "x", "y", "angle", ""]
    said = with_foreign_poses([EAST, *columns])
    assert [column.pose for column in said] == ["x", "", "", "y", "angle", ""], "what is described stays"
    words = [Column(name="x", type="text"), Column(name="y", type="float", kind="reward")]
    assert [column.pose for column in with_foreign_poses(words)] == ["", ""]
    sides = [Column(name=f"east {side}", type="float", domain=side, pair="x") for side in ("sim", "real")]
    assert [column.pose for column in with_foreign_poses(sides)] == ["x", "x"], "one of each domain"


def test_a_pose_head_says_which_part_each_number_is() -> None:
    assert Head(name="pose", kind="pose", size=3).columns == ("pose_x", "pose_y", "pose_angle")
    assert Head(name="pose", kind="pose", size=2, names=("across", "up")).columns == ("pose_across", "pose_up")
    assert Head(name="pose", kind="pose", size=2, names=("across", "up")).pose_parts == ("x", "y")
    seven = Head(name="pose", kind="pose", size=5)
    assert (seven.pose_parts, seven.parts) == (("x", "y", "angle", "", ""), ("x", "y", "angle", "3", "4"))
    assert Head(name="q", kind="q", size=3).pose_parts == ()
    own = Head(name="pose", kind="pose", size=3, names=("up", "across", "yaw"), pose=("y", "x", "angle"))
    assert own.pose_parts == ("y", "x", "angle")


def test_a_pose_head_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(SubjectError, match="Say which part of a pose each of them is"):
        Head(name="pose", kind="pose", size=3, names=("x", "y", "z"))
    with pytest.raises(SubjectError, match="for each number of a pose head"):
        Head(name="pose", kind="pose", size=3, pose=("x", "y"))
    with pytest.raises(SubjectError, match="is a q head of 2 numbers"):
        Head(name="q", kind="q", size=2, pose=("x", "y"))
