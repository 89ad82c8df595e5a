"""Names that people gave to parts of results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from innerview.errors import DamagedPart, StoreError
from innerview.store import Study, load_names, save_names
from innerview.store.files import json_bytes

from .samples import record

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


def test_factors_that_are_looked_for_elsewhere_keep_their_names(study: Study) -> None:
    def kept(**parameters: str) -> str:
        return study.save_result(
            "factors", recording="run", arguments={"parameters": parameters}, value={}, title="factors"
        ).id

    record(study, 4)
    first = kept()
    second = kept(factors=first)
    third = kept(factors=second)
    assert load_names(study, third) == {}
    save_names(study, first, {"0": "saw"})
    assert load_names(study, second) == load_names(study, third) == {"0": "saw"}
    save_names(study, second, {"0": "blade"})
    assert load_names(study, third) == {"0": "blade"} and load_names(study, first) == {"0": "saw"}
    study.drop_result(second)
    study.drop_result(first)
    save_names(study, second, {"0": ""})
    assert load_names(study, third) == {}, "nothing is left to go by"


def test_an_empty_name_is_none(study: Study) -> None:
    save_names(study, ONE, {"0": "saw"})
    save_names(study, ONE, {"0": "  "})
    assert load_names(study, ONE) == {}
    assert json.loads((study.path / "names.json").read_bytes())["names"] == {}


@pytest.mark.parametrize("name", ["x" * 81, "a\nb"])
def test_a_name_can_be_read(study: Study, name: str) -> None:
    with pytest.raises(StoreError, match="cannot be a name"):
        save_names(study, ONE, {"0": name})
    with pytest.raises(StoreError, match="At most"):
        save_names(study, ONE, {str(part): "x" for part in range(1001)})


@pytest.mark.parametrize("content", [[], {"a": 3}, {"a": {"0": 3}}])
def test_a_damaged_file_says_so(study: Study, content: object) -> None:
    (study.path / "names.json").write_bytes(json_bytes({"names": content}))
    with pytest.raises(DamagedPart, match="begin anew"):
        load_names(study, ONE)
