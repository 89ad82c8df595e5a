"""Views of results in general, one for each type, and the lists that lead to them."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import expect

from ..workbench import Workbench
from .reading import check_column, table
from .stored import Stored, result_of


def stored_results(study: Path) -> dict[str, dict[str, object]]:
    """Every result of the study by its id, as its own file says."""
    found = {}
    for path in sorted((study / "results").glob("*/result.json")):
        found[path.parent.name] = json.loads(path.read_text("utf-8"))["result"]
    return found


def saved(bench: Workbench, stored: Stored, row: int) -> None:
    """The list has a line per result of the recording, with type, rows and time."""
    bench.get("saved-result").first.wait_for()
    lines = bench.get("saved-result").all()
    kept = {key: told for key, told in stored_results(stored.study).items() if told["recording"] == stored.name}
    assert {line.get_attribute("data-result") for line in lines} == set(kept)
    for line in lines:
        told = kept[str(line.get_attribute("data-result"))]
        text = line.inner_text()
        assert str(told["kind"]) in text and str(told["type"]) in text
        assert str(told["created_at"])[:16].replace("T", " ") in text, f"drawn {text!r}"
        if told["kind"] == "table":
            continue  # no lens: what people measure
        ranges = told["arguments"]["rows"]  # type: ignore[index]
        assert f"{sum(b - a for a, b in ranges):,} steps" in text, f"drawn {text!r}, rows {ranges}"


def lenses(bench: Workbench, stored: Stored, row: int) -> None:
    """Every lens that is offered is named once."""
    bench.get("lens").first.wait_for()
    names = [line.get_attribute("data-lens") for line in bench.get("lens").all()]
    assert len(names) == len(set(names)) and {"pca", "flags", "strategy"} <= set(names)


def result(bench: Workbench, stored: Stored, row: int) -> None:
    """A layout in the general view: every row at its place."""
    _, arrays = result_of(stored.study, "pca")
    bench.page.locator('[data-testid="saved-result"][data-kind="pca"]').click()
    view = bench.get("result-layout")
    expect(view).to_be_visible()
    bench.still()
    lines = table(bench, "result-layout")
    assert [int(line["row"]) for line in lines] == arrays["rows"].tolist()
    for axis, name in enumerate(("x", "y")):
        check_column(lines, name, arrays["places"][:, axis].astype(float).tolist(), "result.csv")
