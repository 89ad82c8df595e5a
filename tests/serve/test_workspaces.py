"""Which workspaces a study can feed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from innerview.schema import RecordingInfo, SubjectInfo
from innerview.serve.workspaces import WORKSPACES

from .conftest import steps_info

SEEN = replace(steps_info(), subject=SubjectInfo(name="eyes", family="plain"))


@pytest.mark.parametrize(
    ("info", "lit"),
    [
        (SEEN, True),
        (replace(SEEN, subject=None), False),
        (replace(SEEN, ordering=None), False),
        (replace(SEEN, arrays=tuple(array for array in SEEN.arrays if array.role == "memory")), False),
    ],
)
def test_vision_needs_a_subject_that_is_given_pictures(info: RecordingInfo, lit: bool) -> None:
    vision = next(workspace for workspace in WORKSPACES if workspace.name == "vision")
    assert (vision.missing([info]) == "") is lit
    assert lit or "given pictures" in vision.missing([info])
