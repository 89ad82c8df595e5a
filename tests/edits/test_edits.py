"""Edits of the memory: what fits, what they make of the state of each row at its step, and what they refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from innerview.edits import all_but, keep_only, parse_elements
from innerview.errors import EditError, UnknownName
from innerview.schema import MemorySite, SiteEdit, SubjectInfo
from innerview.subjects import Editor, as_edits, checked, described, fingerprint

GRU = MemorySite(name="gru", layer="gru", kind="gru cell", shape=(6,))
STACK = MemorySite(name="stack", layer="stack", kind="gru", shape=(2, 3), editable="last layer")


def knowing(*memory: MemorySite) -> SubjectInfo:
    return SubjectInfo(name="tiny", family="torch", memory=memory)


def played(programs: list[list[SiteEdit]], *, steps: int, rows: list[int] | None = None) -> torch.Tensor:
    """[steps, rows, 6] of a memory that would count its steps: new state = carried state + 1, from 0."""
    rows = rows if rows is not None else list(range(len(programs)))
    editor, state, seen = Editor(programs, knowing(GRU)), torch.zeros(len(rows), 6), []
    for step in range(steps):
        change = editor.changes({"gru": state}, [step] * len(rows), rows)
        state = change.sites["gru/h"](state + 1) if change else state + 1
        seen.append(state)
    return torch.stack(seen)


def test_zero_and_set_hold_in_their_steps_and_the_state_goes_on_from_there() -> None:
    zero = SiteEdit(elements=(1,), start=2, stop=4)
    level = SiteEdit(elements=(4,), op="set", value=10.0, start=1, stop=2)
    seen = played([[zero], [level], []], steps=6)
    assert seen[:, 0, 1].tolist() == [1, 2, 0, 0, 1, 2]
    assert seen[:, 1, 4].tolist() == [1, 10, 11, 12, 13, 14]
    assert (seen[:, 2] == torch.arange(1, 7)[:, None]).all(), "a row without edits is left alone"
    assert (seen[:, 0, [0, 2, 3, 4, 5]] == torch.arange(1, 7)[:, None]).all()


def test_freeze_keeps_what_was_there_after_the_step_before() -> None:
    seen = played([[SiteEdit(elements=(0, 2), op="freeze", start=3, stop=6)]], steps=8)
    assert seen[:, 0, 0].tolist() == [1, 2, 3, 3, 3, 3, 4, 5]
    assert played([[SiteEdit(elements=(0,), op="freeze")]], steps=3)[:, 0, 0].tolist() == [0, 0, 0]


def test_freeze_goes_back_to_its_value_when_a_later_edit_ends() -> None:
    both = [
        SiteEdit(elements=(0,), op="freeze", start=2),
        SiteEdit(elements=(0,), op="set", value=9, start=4, stop=5),
    ]
    assert played([both], steps=7)[:, 0, 0].tolist() == [1, 2, 2, 2, 9, 2, 2]


def test_of_two_edits_of_an_element_the_later_one_has_its_way() -> None:
    one, two = SiteEdit(elements=(0, 1), op="set", value=5), SiteEdit(elements=(1, 2), op="zero")
    assert played([[one, two]], steps=1)[0, 0].tolist() == [5, 0, 0, 1, 1, 1]


def test_a_lane_that_begins_anew_freezes_anew() -> None:
    editor = Editor([[SiteEdit(elements=(0,), op="freeze", start=1)]], knowing(GRU))
    for carried in (3.0, 7.0):
        for step in range(3):
            before = {"gru": torch.full((1, 6), carried)}
            new = editor.changes(before, [step], [0]).sites["gru/h"](torch.full((1, 6), 100.0))
            assert new[0, 0].item() == (carried if step else 100.0)


def test_rows_stand_at_their_own_steps() -> None:
    editor = Editor([[SiteEdit(elements=(0,), start=5)]], knowing(GRU))
    new = editor.changes({"gru": torch.zeros(3, 6)}, [4, 5, 6], [0, 0, 0]).sites["gru/h"](torch.ones(3, 6))
    assert new[:, 0].tolist() == [1, 0, 0] and (new[:, 1:] == 1).all()


def test_stacked_layers_are_counted_through_and_other_sites_are_left_alone() -> None:
    editor = Editor([[SiteEdit(elements=(4,), site="stack/h")]], knowing(GRU, STACK))
    memory = {"gru": torch.ones(2, 6), "stack": torch.ones(2, 2, 3)}
    change = editor.changes(memory, [0, 0], [0, 0])
    assert change.sites["stack/h"](memory["stack"])[0].tolist() == [[1, 1, 1], [1, 0, 1]]
    assert set(change.sites) == {"stack/h"}


def test_what_becomes_no_number_is_reported_with_element_step_and_edit() -> None:
    edit = SiteEdit(elements=(2,), op="set", value=3e38)
    editor = Editor([[], [edit]], knowing(GRU))
    broken = torch.ones(2, 6)
    broken[1, 4] = math.nan
    with pytest.raises(
        EditError, match=r"At step 9, element 4 of 'gru/h' became not a number .* element 2 of 'gru/h' set to 3e\+38"
    ):
        editor.changes({"gru": torch.zeros(2, 6)}, [3, 9], [0, 1]).sites["gru/h"](broken)
    own = torch.full((2, 6), math.inf)
    own[1] = 1
    editor.changes({"gru": torch.zeros(2, 6)}, [3, 9], [0, 1]).sites["gru/h"](own)  # row 0 has no edit: not its fault
    large = torch.full((2, 6), 3e38)
    editor.changes({"gru": torch.zeros(2, 6)}, [3, 9], [0, 1]).sites["gru/h"](large)  # large, but numbers


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"elements": (6,)}, "Element 6 is not in 'gru/h', which has elements 0 to 5"),
        ({"elements": (-1, 7)}, "Element -1 and 1 more"),
        ({"elements": ()}, "without elements"),
        ({"elements": ("3",)}, "place of a number"),
        ({"elements": (True,)}, "place of a number"),
        ({"elements": (1,), "op": "set", "value": math.nan}, "finite number, not to nan"),
        ({"elements": (1,), "op": "set", "value": math.inf}, "finite number, not to inf"),
        ({"elements": (1,), "op": "set", "value": "high"}, "finite number"),
        ({"elements": (1,), "start": -2}, "start is a step"),
        ({"elements": (1,), "start": 5, "stop": 5}, "5 is not after 5"),
        ({"elements": (1,), "start": 1.5}, "start is a step"),
    ],
)
def test_edits_that_do_not_fit(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(EditError, match=said):
        checked([SiteEdit(**wrong)], knowing(GRU))


def test_names_that_do_not_fit() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'freeze'"):
        checked([SiteEdit(elements=(1,), op="freez")], knowing(GRU))  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="Did you mean 'stack/h'"):
        checked([SiteEdit(elements=(1,), site="stak/h")], knowing(GRU, STACK))
    with pytest.raises(EditError, match=r"say which with site=… \(gru/h, stack/h\)"):
        checked([SiteEdit(elements=(1,))], knowing(GRU, STACK))
    with pytest.raises(EditError, match="no memory"):
        checked([SiteEdit(elements=(1,))], knowing())
    with pytest.raises(EditError, match="is not an edit"):
        as_edits(["zero"])  # type: ignore[list-item]


def test_an_edit_names_a_memory_by_its_address_alone() -> None:
    assert checked([SiteEdit(elements=(2, 1, 2))], knowing(GRU))[0] == SiteEdit(elements=(1, 2), site="gru/h")
    assert checked([SiteEdit(elements=(1,), site="stack/h")], knowing(GRU, STACK))[0].site == "stack/h"
    for other in ("memory", "memory.stack", "stack"):
        with pytest.raises(UnknownName):
            checked([SiteEdit(elements=(1,), site=other)], knowing(GRU, STACK))


def test_a_memory_is_known_by_its_address_and_by_the_array_that_holds_it() -> None:
    for info in (knowing(GRU), knowing(GRU, STACK)):
        for site in info.memory:
            assert info.memory_site(site.address) is site
            assert info.memory_in(info.memory_arrays[site.name]) is site
        with pytest.raises(UnknownName, match=r"Unknown memory site 'gru'. Did you mean 'gru/h'"):
            info.memory_site("gru")
        with pytest.raises(UnknownName, match="Unknown memory array 'gru'"):
            info.memory_in("gru")


def test_choosing() -> None:
    assert all_but((0, 2), 4) == (1, 3)
    assert keep_only((5, 0), GRU, name="two").edits[0].elements == (1, 2, 3, 4)
    assert keep_only(range(6), GRU, name="all").edits == ()
    assert parse_elements("3, 17,40-42") == (3, 17, 40, 41, 42)
    for wrong in ("", "a", "5-3", "1,,2", "-1"):
        with pytest.raises(EditError, match="elements"):
            parse_elements(wrong)


def test_fingerprints_distinguish_edits() -> None:
    one, two = SiteEdit(elements=(1,), site="gru"), SiteEdit(elements=(1,), site="gru", op="freeze")
    assert fingerprint([one]) == fingerprint([SiteEdit(elements=(1,), site="gru")])
    assert len({fingerprint([one]), fingerprint([two]), fingerprint([one, two]), fingerprint([])}) == 4


def test_an_edit_in_words() -> None:
    assert described(SiteEdit(elements=(3,), site="gru")) == "element 3 of 'gru' zeroed"
    wide = SiteEdit(elements=tuple(range(9)), site="gru", op="set", value=0.5, start=2, stop=4)
    assert described(wide) == "elements 0, 1, 2, 3, 4, 5, … (9 in all) of 'gru' set to 0.5 from step 2 to 3"


@given(
    elements=st.sets(st.integers(0, 5), min_size=1),
    mode=st.sampled_from(["zero", "freeze", "set"]),
    start=st.integers(0, 4),
    length=st.integers(1, 4),
)
def test_one_edit_equals_the_loop_one_would_write(elements: set[int], mode: Any, start: int, length: int) -> None:
    edit = SiteEdit(elements=tuple(elements), op=mode, value=2.5, start=start, stop=start + length)
    random = np.random.default_rng(0)
    editor, state, plain = Editor([[edit]], knowing(GRU)), torch.zeros(1, 6), np.zeros(6)
    for step in range(8):
        new = random.normal(size=6)
        wanted = new.copy()
        for element in elements:
            if start <= step < start + length:
                wanted[element] = {"zero": 0.0, "set": 2.5, "freeze": plain[element]}[mode]
        state = editor.changes({"gru": state}, [step], [0]).sites["gru/h"](torch.tensor(new, dtype=torch.float32)[None])
        plain = wanted
        np.testing.assert_allclose(state[0], wanted, atol=1e-6)
