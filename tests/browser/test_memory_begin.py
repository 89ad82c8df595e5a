"""Where to begin with a memory: the measures rank what numpy ranks in the same recording."""

from __future__ import annotations

import numpy as np
import polars as pl
from playwright.sync_api import expect

import innerview as iv
from innerview.lenses.columns.derived import derived
from innerview.serve import Handle

from .conftest import Visit
from .memory_study import EPISODES, LINK
from .workbench import Workbench


def lists(bench: Workbench, measure: str, rows: list[int]) -> None:
    """Rows are listed in this order once the measure is chosen."""
    bench.get("measure").select_option(measure)
    bench.settled(f"measure={measure}")

    def listed() -> list[int]:
        found = bench.get("begin-row").evaluate_all("rows => rows.map(row => Number(row.dataset.row))")
        return [int(row) for row in found]

    bench.until(lambda: listed() == rows)
    assert listed() == rows


def test_sudden_memory_changes(visit: Visit, shown_kitems: Handle, still_kitems: iv.Study) -> None:
    bench = visit(shown_kitems, LINK)
    table = derived(still_kitems, "k-items").columns(["episode", "memory change", "memory jumps"]).with_row_index("row")
    best = (
        table.sort("memory change", descending=True, nulls_last=True).group_by("episode", maintain_order=True).first()
    )
    rows = best["row"].to_list()
    bench.get("measure").select_option("sudden")
    first = bench.page.locator(f'[data-testid="begin-row"][data-row="{rows[0]}"]')
    expect(first).to_contain_text(f"{int(best['memory jumps'][0])} elements jump")
    lists(bench, "sudden", rows)
    assert len(rows) == EPISODES
    change = table["memory change"].drop_nulls().to_numpy()
    score = (best["memory change"][0] - change.mean()) / change.std()
    expect(first).to_contain_text(f"{score:.3g}σ")
    first.click()
    expect(bench.get("observation-canvas")).to_have_attribute("data-row", str(rows[0]))


def test_loops(visit: Visit, shown_kitems: Handle, still_kitems: iv.Study) -> None:
    bench = visit(shown_kitems, LINK)
    table = derived(still_kitems, "k-items").columns(["episode", "loop"])
    loop, episode = table["loop"].to_numpy(), table["episode"].to_numpy()
    begins = np.flatnonzero(loop & ~np.concatenate([[False], loop[:-1] & (episode[1:] == episode[:-1])]))
    ends = [
        next((i for i in range(b, len(loop)) if not loop[i] or episode[i] != episode[b]), len(loop)) for b in begins
    ]
    found = pl.DataFrame({"row": begins, "episode": episode[begins], "length": np.array(ends) - begins})
    longest = found.sort(["length", "row"], descending=[True, False]).group_by("episode", maintain_order=True).first()
    assert longest.height > 0, "some episode comes back to where it was"
    lists(bench, "loops", longest["row"].to_list())
    expect(bench.get("begin-row").first).to_contain_text(f"{longest['length'][0]} steps on its own tracks")


def test_deaths_and_other_bad_ends(visit: Visit, shown_walks: Handle, walks: iv.Study) -> None:
    bench = visit(shown_walks, "#/episodes/first")
    groups = walks.recording("first").groups().filter(pl.col("outcome") == "died").sort("return", "episode")
    lists(bench, "bad-ends", [stop - 1 for stop in groups["stop"]])
    expect(bench.get("begin-row").first).to_contain_text("died after")
