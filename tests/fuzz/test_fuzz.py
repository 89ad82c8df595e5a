"""The short form of scripts/fuzz: a few hundred cases of one seed, and whether the fuzzer sees what it is to see."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fuzz.campaign import Campaign, campaign
from tests.fuzz.findings import MEMORY_BYTES, Findings
from tests.fuzz.target import Died

COUNTS = {"files": 150, "routes": 250, "expressions": 80, "messages": 6, "imports": 120}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campaign]:
    folder = tmp_path_factory.mktemp("fuzz")
    with campaign(folder, Findings(folder / "findings"), seed=1) as made:
        yield made


def test_nothing_dies_fails_hangs_or_differs_in_silence(tried: Campaign) -> None:
    tried.for_steps(COUNTS)
    assert not tried.findings.wrong, tried.findings.text()
    assert tried.peak_bytes < MEMORY_BYTES
    assert tried.findings.files >= 200
    assert tried.findings.requests >= 500


def test_the_study_holds_a_file_of_every_kind(tried: Campaign) -> None:
    folders = {name.split("/")[0] for name in tried.files.whole}
    assert {"recordings", "predictions", "subjects", "snapshots", "results", "played"} <= folders
    assert {"study.json", "selections.json", "reductions.json", "filters.json", "names.json", "metrics.json"} <= folders
    inside = {name.split("/")[2] for name in tried.files.whole if name.startswith("recordings")}
    assert {"arrays", "rows", "groups", "scenes", "tables", "derived", "pyramid", "blocks.jsonl"} <= inside


def test_a_death_is_seen(tried: Campaign) -> None:
    target = tried.targets[1]
    assert target._process is not None
    target._process.kill()
    with pytest.raises(Died):
        target.ask("GET", "/api/study")
    target.again()
    assert target.ask("GET", "/api/study").status == 200


def test_an_answer_that_differs_in_silence_is_seen(tried: Campaign) -> None:
    """As if the service believed whatever stands in a file."""
    files = tried.files
    told = "/api/selections"
    files.answers[told].body += b" "
    before = files.findings.wrong["silent"]
    files.mend()
    assert files.findings.wrong["silent"] == before + 1
