"""Names that people gave to parts of results."""

from __future__ import annotations

from pathlib import Path

import pytest

from innerview.errors import DamagedPart, StoreError
from innerview.store import Study, load_names, save_names

ONE, OTHER = "0123456789abcdef", "fedcba9876543210"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study.create(tmp_path / "a.study")


def test_names_belong_to_one_result(study: Study) -> None:
    assert load_names(study, ONE) == {}
    save_names(study, ONE, {"0": "saw", "3": " the coin "})
    save_names(study, OTHER, {"0": "wall"})
    assert load_names(Study.open(study.path), ONE) == {"0": "saw", "3": "the coin"}
    assert load_names(study, OTHER) == {"0": "wall"}


def test_an_empty_name_is_none(study: Study) -> None:
    save_names(study, ONE, {"0": "saw"})
    save_names(study, ONE, {"0": "  "})
    assert load_names(study, ONE) == {}
    assert (study.path / "names.json").read_text("utf-8") == "{}"


@pytest.mark.parametrize("name", ["x" * 81, "a\nb"])
def test_a_name_can_be_read(study: Study, name: str) -> None:
    with pytest.raises(StoreError, match="cannot be a name"):
        save_names(study, ONE, {"0": name})
    with pytest.raises(StoreError, match="At most"):
        save_names(study, ONE, {str(part): "x" for part in range(1001)})


@pytest.mark.parametrize("content", ["[]", '{"a": 3}', '{"a": {"0": 3}}'])
def test_a_damaged_file_says_so(study: Study, content: str) -> None:
    (study.path / "names.json").write_text(content)
    with pytest.raises(DamagedPart, match="begin anew"):
        load_names(study, ONE)
