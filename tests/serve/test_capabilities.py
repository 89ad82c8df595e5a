"""What a recording offers to the workspaces of the page."""

from __future__ import annotations

from dataclasses import replace

from innerview.schema import Head, InputSpec, Lens, SubjectInfo
from innerview.serve.capabilities import capabilities_of

from .conftest import steps_info

PICTURE = InputSpec(name="x", shape=(3, 8, 8), kind="image")
SEEN = replace(
    steps_info(),
    subject=SubjectInfo(
        name="eyes",
        family="plain",
        heads=(Head(name="pi", kind="policy", size=2),),
        layers=("conv",),
        inputs=(InputSpec(name="x", shape=(3, 8, 8), kind="image"),),
    ),
)
LENSES = (
    Lens(name="anything", question=""),
    Lens(name="memory", question="", needs=("memory",)),
    Lens(name="eyes", question="", needs=("image input", "gradients")),
    Lens(name="words", question="", needs=("attention",)),
)


def test_a_recording_says_what_it_offers() -> None:
    found = capabilities_of(SEEN, lenses=LENSES, live=True)
    assert (found.ordered, found.subject, found.live) == (True, True, True)
    assert found.heads == ["policy"]
    assert found.targets == ["action", "log 0", "log 1", "0 over 1", "1 over 0"]
    assert found.sites == ["activation", "memory"]
    assert found.arrays["memory"] == [array.name for array in SEEN.arrays if array.role == "memory"]
    assert found.images == [array.name for array in SEEN.arrays if array.is_image]
    assert found.lenses == ["anything", "eyes", "memory"]
    assert found.lacks == {"words": "'words' needs attention; subject 'eyes' has none."}


def test_lenses_fit_what_is_there() -> None:
    assert "no model is loaded" in capabilities_of(SEEN, lenses=LENSES, live=False).lacks["eyes"]
    forgetful = replace(SEEN, arrays=tuple(array for array in SEEN.arrays if array.role != "memory"))
    found = capabilities_of(forgetful, lenses=LENSES, live=True)
    assert "memory" not in found.sites
    assert found.lenses == ["anything", "eyes"]


def test_rows_without_time_and_subject_offer_neither() -> None:
    found = capabilities_of(replace(SEEN, ordering=None, subject=None), lenses=LENSES, live=False)
    assert (found.ordered, found.subject, found.heads, found.targets) == (False, False, [], [])
