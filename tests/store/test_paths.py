"""Names that are made where nobody gave one."""

from __future__ import annotations

import pytest

from innerview.store.paths import LONGEST_NAME, checked_name, free_name, plain_name


@pytest.mark.parametrize("wanted", ["_private agent", "+1", "…", "", "a/b\\c:d", "é" * 200, "x " * 100, ".hidden"])
def test_a_name_that_is_made_can_be_a_file_name(wanted: str) -> None:
    for end in ("", " - from 3.14", " no 12"):
        assert checked_name("recording", plain_name(wanted, end=end)).endswith(end)


def test_a_name_that_is_taken_is_numbered_and_stays_short_enough() -> None:
    taken: set[str] = set()
    for _ in range(12):
        taken.add(free_name("walker " * 20, lambda name: name not in taken, end=" - from 1.5"))
    assert len(taken) == 12 and all(len(name) <= LONGEST_NAME for name in taken)
    assert sum(name.endswith(" - from 1.5") for name in taken) == 1
    assert any(name.endswith(" - from 1.5 no 12") for name in taken)
