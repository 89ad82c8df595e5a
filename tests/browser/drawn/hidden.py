"""Views of hidden states, and of what lenses say of them."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
from playwright.sync_api import expect

from ..workbench import Workbench, box_of
from .reading import check, check_column, near, number, on_screen, surface, table, variable
from .stored import Stored, result_of


def _range(bench: Workbench) -> float:
    """The scale that is shown beside the memory, the same at both ends."""
    texts = bench.get("view-memory").locator(".legend .labels span").all_inner_texts()
    high, zero, low = (number(text)[0] for text in texts)
    assert (zero, low) == (0, -high), f"the scale reads {texts}"
    return high


def _colour(bench: Workbench, value: float, range_: float) -> np.ndarray:
    if np.isnan(value):
        return variable(bench, "edge")
    share = float(np.clip(value / range_, -1, 1))
    zero, end = variable(bench, "zero"), variable(bench, "pos" if share >= 0 else "neg")
    return np.round(zero + (end - zero) * abs(share))


def memory(bench: Workbench, stored: Stored, row: int, *, whole: bool = False) -> None:
    """Every cell that has pixels of its own has the colour that the shown scale gives for its value; the scale fits."""
    start, stop = (0, stored.info["rows"]) if whole else stored.span(stored.place(row)[0])
    states = stored.array_rows("memory", start, stop)
    canvas = bench.get("memory-canvas")
    expect(canvas).to_have_attribute("data-complete", "true")
    bench.still()
    largest = float(np.nanmax(np.abs(states)))
    scale = _range(bench)
    assert largest * 0.999 <= scale <= 2.6 * largest + 1e-9, f"the scale ±{scale} does not fit values up to {largest}"
    ends = {float(v): _colour(bench, v, scale) for v in (0.0, scale, -scale, np.nan)}
    palette = (ends[0.0], ends[scale], ends[-scale])
    unknown = variable(bench, "edge")
    borders = stored.groups["start"].to_numpy() - start

    def expected(value: float) -> np.ndarray:
        if np.isnan(value):
            return unknown
        share = float(np.clip(value / scale, -1, 1))
        return palette[0] + (palette[1 if share >= 0 else 2] - palette[0]) * abs(share)

    wrong: list[str] = []

    def differences() -> list[str]:
        drawn = on_screen(canvas)
        height, width = drawn.shape[:2]
        each = width / len(states)
        found = []
        cursor = (row - start + 0.5) * each
        for step in {*range(0, len(states), max(1, len(states) // 50)), len(states) - 1}:
            x = (step + 0.5) * each
            if abs(x - cursor) < 6 or np.abs(borders * each - x).min() < 2:
                continue  # the cursor, or the line between two episodes
            for element in range(states.shape[1]):
                y = (element + 0.5) / states.shape[1] * height
                if y > height - 46 and x < 160:
                    continue
                if each >= 3:
                    value = float(states[step, element])
                else:
                    first, last = int(x / each - 0.5 / each), int(x / each + 0.5 / each) + 1
                    value = float(np.nanmean(states[max(0, first) : last, element]))
                colour = expected(value)
                if not near(drawn[int(y), int(x)], colour, 5 if each >= 3 else 14):
                    found.append(f"element {element}, step {step}: drawn {drawn[int(y), int(x)]}, expected {colour}")
        return found

    bench.until(lambda: not (wrong.__setitem__(slice(None), differences()) or wrong))
    assert not wrong, f"{len(wrong)} cells of the memory differ:\n" + "\n".join(wrong[:5])
    _strip(bench, states, expected)
    if len(states) < 1500:
        _memory_table(bench, states, "row" if whole else "step")


def _strip(bench: Workbench, states: np.ndarray, expected: object) -> None:
    """The strip beside it colours the mean of each element on the same scale."""
    drawn = surface(bench.get("memory-strip").locator("canvas"))
    height, width = drawn.shape[:2]
    means = np.nanmean(states.astype(float), axis=0)
    for element, mean in enumerate(means):
        pixel = drawn[int((element + 0.5) / len(means) * height), width - 3]
        colour = expected(float(mean))  # type: ignore[operator]
        assert near(pixel[:3], colour, 5), f"mean of element {element}: drawn {pixel[:3]}, expected {colour}"


def _memory_table(bench: Workbench, states: np.ndarray, one: str) -> None:
    lines = table(bench, "view-memory")
    head = next(iter(lines[0]))
    if head != one:
        each = int(re.fullmatch(rf"mean of (\d+) {one}s from", head)[1])  # type: ignore[index]
        states = np.array([states[first : first + each].mean(axis=0) for first in range(0, len(states), each)])
    assert len(lines) == states.shape[1]
    for element, line in enumerate(lines):
        assert line[head] == f"h {element}", f"line {element} is called {line[head]!r}"
        cells = list(line.values())[1:]
        assert len(cells) == len(states), f"{len(cells)} cells drawn, {len(states)} stored"
        kept = states[:, element].astype(float)
        drawn = np.array([float(cell) if cell else np.nan for cell in cells])
        rough = 2e-7 if head == one else 2e-3
        assert np.allclose(drawn, kept, rtol=rough, atol=1e-9 if head == one else 2e-5, equal_nan=True)


def memory_tip(bench: Workbench, stored: Stored, row: int, *, whole: bool = False) -> None:
    """What the pointer says: element, episode, step and the exact value."""
    start, stop = (0, stored.info["rows"]) if whole else stored.span(stored.place(row)[0])
    plane = bench.get("memory-plane")
    box = box_of(plane)
    elements = stored.by_role("memory")["shape"][0]
    for share, element in ((0.21, 0), (0.63, elements - 1)):
        x = int(box["width"] * share)
        pointed = start + int((x + 0.5) / box["width"] * (stop - start))
        plane.hover(position={"x": x + 0.5, "y": (element + 0.5) / elements * box["height"]})
        value = float(stored.array_rows("memory", pointed, pointed + 1)[0, element])
        tip = bench.get("memory-tip")
        expect(tip).not_to_contain_text("…")
        episode, step = stored.place(pointed)
        words, where, text = tip.inner_text().split(" · ")
        assert words == f"h {element}", f"drawn {words}"
        told = f"ep {episode}, step {step:,}" if whole else f"step {step:,}"
        assert where == told, f"drawn {where!r}, stored {told!r}"
        check(text, value, f"element {element} at row {pointed}")
    bench.page.mouse.move(2, 2)


def projection(bench: Workbench, stored: Stored, row: int) -> None:
    """A point per row at its place, and the table says which is which and what it is coloured by."""
    value, arrays = result_of(stored.study, "pca")
    del value
    bench.get("projection-canvas").wait_for()
    bench.get("projection-hue").select_option("health")
    bench.still()
    lines = table(bench, "view-projection")
    assert [int(line["row"]) for line in lines] == arrays["rows"].tolist()
    for axis, name in enumerate(("x", "y")):
        check_column(lines, name, arrays["places"][:, axis].astype(float).tolist(), "projection.csv")
    last = list(lines[0])[-1]
    assert last.startswith("its health"), f"coloured by {last!r}"
    check_column(lines, last, stored.rows["health"].to_list(), "projection.csv")
    drawn = surface(bench.get("projection-canvas"))[..., 3]
    height, width = drawn.shape
    places = arrays["places"].astype(float)
    low, high = places.min(axis=0), places.max(axis=0)
    scale = min((width - 24) / (high[0] - low[0]), (height - 24) / (high[1] - low[1]))
    middle = (low + high) / 2
    x = np.round(width / 2 + (places[:, 0] - middle[0]) * scale).astype(int)
    y = np.round(height / 2 - (places[:, 1] - middle[1]) * scale).astype(int)
    missing = [
        i for i, (a, b) in enumerate(zip(x, y, strict=True)) if drawn[min(b, height - 1), min(a, width - 1)] == 0
    ]
    assert not missing, f"no point is drawn at the places of rows {missing[:5]}"
    covered = (drawn > 0).mean()
    assert covered < 0.6, "points cover nearly everything: their places say nothing"


def flags(bench: Workbench, stored: Stored, row: int) -> None:
    """Each line says element, fact, how well and for how long, as the result does."""
    value, _ = result_of(stored.study, "flags")
    kept = {(flag["element"], flag["fact"]): flag for flag in value["flags"]}
    bench.get("flags-q").select_option("0.2")
    bench.get("flags-which").get_by_text("all").click()
    bench.get("flag").first.wait_for()
    lines = bench.get("flag").all()
    for line in lines:
        key = int(line.get_attribute("data-element") or -1), str(line.get_attribute("data-fact"))
        flag = kept[key]
        assert line.get_by_test_id("flag-element").inner_text() == f"h {key[0]}"
        assert line.locator(".fact").inner_text() == key[1].replace("_", " ")
        well = line.locator(".well .mono").inner_text()
        auc = flag["held_out_auc"]
        assert well == ("–" if auc is None else f"{np.floor(100 * auc) / 100:.2f}"), (
            f"{key}: drawn {well}, stored {auc}"
        )
        steps = flag["retention_steps"]
        drawn = line.locator(".retention").inner_text()
        check(drawn, None if steps is None else round(steps), f"retention of {key}")
    told = table(bench, "view-flags")
    assert len(told) >= len(lines)
    for line in told:
        flag = kept[int(line["element"]), line["fact"]]
        for name in ("auc", "p", "q"):
            check_column([line], name, [flag[name]], "flags.csv")
    everything = [f for f in value["flags"] if f["q"] <= 0.2 and (f["held_out_auc"] or 0) >= 0.65]
    assert len(told) == len(everything), f"{len(told)} flags are listed, {len(everything)} are stored"


def strategy(bench: Workbench, stored: Stored, row: int) -> None:
    """States with their share and name, and how often one led to another."""
    value, arrays = result_of(stored.study, "strategy")
    states = arrays["state"]
    order = sorted(range(len(value["states"])), key=lambda i: -value["states"][i]["share"])
    bench.get("strategy-line").first.wait_for()
    lines = bench.get("strategy-line").all()
    assert len(lines) == len(order)
    for line, place in zip(lines, order, strict=True):
        state = value["states"][place]
        share = float((states == state["state"]).mean())
        check(line.locator(".mono").inner_text().replace(" %", ""), 100 * share, f"share of state {place}")
        assert line.locator("i").inner_text() == str(place + 1)
    now = bench.get("strategy-chart").get_attribute("data-state")
    assert value["states"][int(now or -1)]["state"] == states[row], f"it is said to be in state {now}"
    counted: dict[tuple[int, int], int] = {}
    for start, stop in stored.groups.select("start", "stop").iter_rows():
        part = states[start:stop]
        for a, b in pairwise(part.tolist()):
            if a != b and a >= 0 and b >= 0:
                counted[int(a), int(b)] = counted.get((int(a), int(b)), 0) + 1
    told = table(bench, "view-strategy")
    assert sorted(int(line["count"]) for line in told) == sorted(counted.values()), "ways between states are miscounted"


def align(bench: Workbench, stored: Stored, row: int) -> None:
    """Mean memory and metrics around an event: how often, where, and the values before and after."""
    rows = np.flatnonzero(stored.rows["hit"].fill_null(False).to_numpy())
    bench.page.wait_for_timeout(300)
    bench.still()
    board = bench.get("align-board")
    expect(board).to_have_attribute("data-total", str(len(rows)))
    drawn = [int(line.get_attribute("data-row") or -1) for line in bench.get("align-time").all()]
    assert drawn == rows.tolist(), f"times of the event: drawn {drawn[:5]}…, stored {rows[:5].tolist()}…"
    for line, at in zip(bench.get("align-time").all(), drawn, strict=True):
        episode, step = stored.place(at)
        assert line.inner_text() == f"Ep {episode} · {step}"
    spans = [int(bench.get(f"align-{side}").input_value()) for side in ("before", "after")]
    before, after = _around(stored, rows, *spans)
    lines = {line["element"]: line for line in table(bench, "view-align")}
    for element in range(before.size):
        line = lines[f"h {element}"]
        assert np.isclose(float(line["before"]), before[element], rtol=1e-3, atol=1e-6), f"before, element {element}"
        assert np.isclose(float(line["after"]), after[element], rtol=1e-3, atol=1e-6), f"after, element {element}"


def _around(stored: Stored, rows: np.ndarray, before: int, after: int) -> tuple[np.ndarray, np.ndarray]:
    """Means over the rows up to an event and over those after it, averaged over the times that have both."""
    states = stored.array("memory").astype(float)
    pairs = []
    for row in rows:
        start, stop = stored.span(stored.place(int(row))[0])
        first, last = max(start, row - before), min(stop, row + after + 1)
        if row + 1 < last:
            pairs.append((states[first : row + 1].mean(axis=0), states[row + 1 : last].mean(axis=0)))
    both = np.array(pairs).mean(axis=0)
    return both[0], both[1]


def influence(bench: Workbench, stored: Stored, row: int) -> None:
    """Elements by how much the decisions of the episode depended on them, and each number of the table."""
    _, arrays = result_of(stored.study, "influence")
    values = np.nan_to_num(arrays["influence"].astype(float))
    start, _ = stored.span(stored.place(row)[0])
    step = values[row - start]
    totals = np.abs(step).sum(axis=0)
    whole = np.abs(values).sum(axis=1).mean(axis=0)
    order = sorted(range(len(whole)), key=lambda element: (-whole[element], element))
    bench.get("influence-element").first.wait_for()
    lines = bench.get("influence-element").all()
    assert [int(line.get_attribute("data-element") or -1) for line in lines] == order, "elements stand in another order"
    bench.get("influence-scope").get_by_text("this step").click()
    for line, element in zip(lines, order, strict=True):
        told = line.get_attribute("aria-label") or ""
        assert told.startswith(f"h {element}, total "), f"drawn {told!r}"
        check(told.split("total ")[1], float(totals[element]), f"total of element {element}")
    for line in table(bench, "view-influence"):
        element = int(line["element"])
        for lag in range(values.shape[1]):
            assert np.isclose(float(line[f"lag {lag}"]), step[lag, element], rtol=1e-5, atol=1e-9)


def reductions(bench: Workbench, stored: Stored, row: int) -> None:
    """Each line of the table: how many elements are left, each measure with its interval, and endings."""
    value, _ = result_of(stored.study, "table")
    bench.get("reduction-line").first.wait_for()
    heads = bench.get("reduction-table").locator("thead th").all_inner_texts()
    lines = bench.get("reduction-line").all()
    assert len(lines) == len(value["rows"])
    for line, told in zip(lines, value["rows"], strict=True):
        cells = [line.locator("th").inner_text(), *line.locator("td").all_inner_texts()]
        drawn = dict(zip(heads, cells, strict=True))
        assert drawn["memory"] == told["name"] and drawn["left"] == f"{told['kept']}/{value['elements']}"
        for name, measured in told["measures"].items():
            mean, _, half = drawn[name].partition(" ± ")
            check(mean, measured["mean"], f"{told['name']}, {name}")
            check(half, (measured["high"] - measured["low"]) / 2, f"{told['name']}, interval of {name}")
        for word, share in told["outcomes"].items():
            check(drawn[f"ends: {word}"], 100 * share["mean"], f"{told['name']}, ends {word}")


def edits(bench: Workbench, stored: Stored, row: int) -> None:
    """The elements that are chosen, and an interval as the steps of the episode that it lies in."""
    assert bench.get("edit-element").all_inner_texts() == ["h 0", "h 3"]
    bench.get("edit-interval").click()
    first, last = stored.place(200)[1], stored.place(209)[1] + 1
    assert int(bench.get("edit-start").input_value()) == first, "the edit begins at another step"
    assert int(bench.get("edit-stop").input_value()) == last, "the edit ends at another step"


def stretches(bench: Workbench, stored: Stored, row: int) -> None:
    """The episode and the next one: how long they are, and the mean of each column over each."""
    episode, _ = stored.place(row)
    spans = [stored.span(episode), stored.span(episode + 1)]
    bench.get("stretches-means").locator("tbody tr[data-column]").first.wait_for()
    lines = bench.get("stretches-means").locator("tbody tr").all()
    for line in lines:
        texts = line.locator("td").all_inner_texts()
        name = line.get_attribute("data-column")
        for text, (start, stop) in zip(texts[1:], spans, strict=True):
            if name is None:
                check(text, stop - start, "steps")
            elif name in stored.rows.columns:
                part = stored.numbers(name)[start:stop]
                check(text, float(np.nanmean(part)), f"mean {name}")
    told = bench.get("stretches-summary").inner_text()
    seeds = [stored.groups["seed"][episode + side] for side in (0, 1)]
    assert f"Different seeds, {seeds[0]} and {seeds[1]}" in told, f"drawn {told!r}"
    for side, (start, stop) in zip(("first", "second"), spans, strict=True):
        _compared(bench, f"stretches-{side}", stored.array_rows("memory", start, stop), max(b - a for a, b in spans))


def _compared(bench: Workbench, testid: str, states: np.ndarray, length: int) -> None:
    canvas = bench.get(testid)
    expect(canvas).to_have_attribute("data-complete", "true")
    text = re.search(r"colours ±(\S+)", bench.get("view-stretches").inner_text())
    assert text, "no scale is shown"
    scale = number(text[1])[0]
    drawn = on_screen(canvas)
    height, width = drawn.shape[:2]
    wrong = 0
    for step in range(1, len(states) - 1, 4):
        for element in range(states.shape[1]):
            pixel = drawn[int((element + 0.5) / states.shape[1] * height), int((step + 0.5) / length * width)]
            wrong += not near(pixel, _colour(bench, float(states[step, element]), scale), 8)
    assert wrong <= len(states) * states.shape[1] / 4 * 0.06, f"{wrong} cells of {testid} differ"
