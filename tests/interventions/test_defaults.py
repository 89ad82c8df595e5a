"""The same question has the same answer from Python, the terminal and the page."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest

import innerview as iv
from innerview.cli.ablation.arguments import ablate
from innerview.cli.reductions.arguments import reduce, smallest_memory, sweep
from innerview.interventions.jobs import AblationTestJob, SmallestMemoryJob, SweepJob, TableJob

ROOT = Path(__file__).resolve().parents[2]
ASKED: dict[str, tuple[type, tuple[Callable[..., Any], ...]]] = {
    "table": (TableJob, (iv.reduce_table, reduce)),
    "sweep": (SweepJob, (iv.sweep, sweep)),
    "smallest_memory": (SmallestMemoryJob, (iv.smallest_memory, smallest_memory)),
    "ablation_test": (AblationTestJob, (iv.ablation_test, ablate)),
}


@pytest.mark.parametrize("kind", ASKED)
def test_what_nobody_says_is_the_same_from_everywhere(kind: str) -> None:
    job, ways = ASKED[kind]
    wanted = {each.name: each.default for each in fields(job) if each.default not in (MISSING, None, "", ())}
    assert "episodes" in wanted or "levels" in wanted
    for way in ways:
        given = {name: each.default for name, each in inspect.signature(way).parameters.items()}
        # Another meaning of the word: elements to keep in the table, episodes to look at before an ablation.
        common = (wanted.keys() & given.keys()) - ({"episodes"} if kind == "ablation_test" else set())
        assert common and {name: given[name] for name in common} == {name: wanted[name] for name in common}
    page = json.loads((ROOT / "web" / "src" / "api" / "jobs.json").read_text(encoding="utf-8"))[kind]
    assert {name: field["default"] for name, field in page.items()} == wanted
