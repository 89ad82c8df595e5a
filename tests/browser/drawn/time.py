"""Views of rows that follow each other: one episode at a time, and all of them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
from playwright.sync_api import Locator, expect

from ..workbench import Workbench, box_of
from .reading import check, check_column, fill_of, near, number, shows, surface, table
from .stored import Stored

UNKNOWN_WORD = "–"


def at(bench: Workbench, stored: Stored, episode: int, step: int) -> int:
    """The row of a step, once the page shows it."""
    row = stored.span(episode)[0] + step
    expect(bench.get("step")).to_have_text(re.compile(rf"^{step:,} / "))
    bench.page.locator(f'[data-testid="episode"][data-episode="{episode}"][aria-selected="true"]').first.wait_for(
        state="attached"
    )
    return row


def reading(column: dict[str, Any], value: Any) -> str | None:
    """What a text of the page must be, where it is no number."""
    if column["categories"]:
        return column["categories"][value] if value is not None else UNKNOWN_WORD
    if column["type"] == "bool":
        return UNKNOWN_WORD if value is None else "yes" if value else "no"
    return None if column["type"] in ("float", "int") else value if value is not None else UNKNOWN_WORD


def check_reading(text: str, column: dict[str, Any], value: Any, what: str) -> None:
    """A text shows a stored value: its word, or its number with the unit."""
    word = reading(column, value)
    if word is not None:
        assert text == word, f"{what}: drawn {text!r}, stored {value!r}"
        return
    check(text.removesuffix(column["unit"]), value, what)
    if column["unit"] and value is not None:
        assert text.endswith(f" {column['unit']}"), f"{what}: drawn {text!r} without its unit {column['unit']!r}"


def episodes(bench: Workbench, stored: Stored, row: int) -> None:
    """The list says of each episode what the table of groups says, in every order."""
    groups = stored.groups.with_row_index("place")
    returns = "return" in groups.columns
    orders = [("index", "place"), ("length", "length")] + ([("total", "return")] if returns else [])
    for key, column in [*orders, ("index", "place")]:
        bench.get(f"sort-{key}").click()
        down = "↓" in bench.get(f"sort-{key}").inner_text()
        lines = bench.page.locator('[data-testid="episode"]')
        drawn = [line.locator("span").all_inner_texts() for line in lines.all()]
        order = groups.sort([column, "place"], descending=down)["place"].to_list()
        assert [line[0] for line in drawn] == [str(groups["episode"][place]) for place in order], f"order by {key}"
        for texts, place in zip(drawn, order, strict=True):
            line = groups.row(place, named=True)
            what = f"episode {place}"
            assert texts[1] == (line.get("outcome") or UNKNOWN_WORD), f"{what}: drawn outcome {texts[1]!r}"
            check(texts[2], line["stop"] - line["start"], f"{what}, steps")
            check(texts[3], line.get("return"), f"{what}, return")
    note = bench.get("view-episodes").locator("header small").first
    if returns:
        check(note.inner_text(), groups["return"].mean(), "mean return")  # type: ignore[arg-type]
    lines = table(bench, "view-episodes")
    by_label = {line["episode"]: line for line in lines}
    check_column([by_label[str(e)] for e in groups["episode"]], "steps", groups["length"].to_list(), "episodes.csv")


_RANKED = """lines => lines.map(line => [line.dataset.row, line.querySelector("b").textContent,
    line.querySelector(".score").textContent])"""


def begin(bench: Workbench, stored: Stored, row: int) -> None:
    """Ranked rows have the score that is stored, and the largest come first."""
    value, reward = stored.numbers("value"), stored.numbers("reward")
    last = np.zeros(len(value), bool)
    last[stored.groups["stop"].to_numpy() - 1] = True
    cut = set((stored.groups.filter(pl.col("cut"))["stop"] - 1).to_list())
    after = np.where(last, 0.0, np.append(value[1:], 0.0)).astype(float)
    after[list(cut)] = np.nan
    expected = {
        "high.entropy": stored.numbers("entropy"),
        "td-error": reward + 0.999 * after - value,
        "best": None,
        "event.hit": None,
    }
    for measure, scores in expected.items():
        bench.get("measure").select_option(measure)
        bench.page.wait_for_timeout(400)
        bench.still()
        drawn = bench.get("begin-row").evaluate_all(_RANKED)
        rows, titles, texts = [int(line[0]) for line in drawn], [line[1] for line in drawn], [line[2] for line in drawn]
        assert rows, f"nothing is ranked by {measure}"
        for place, title in zip(rows, titles, strict=True):
            episode, step = stored.place(place)
            assert title == f"Ep {episode}, step {step}", f"{measure}: drawn {title!r} of row {place}"
        if measure == "event.hit":
            assert stored.rows["hit"].gather(rows).to_list() == [True] * len(rows)
        elif measure == "best":
            best = stored.groups.sort("return", descending=True)
            for text, total in zip(texts, best["return"].to_list(), strict=False):
                check(text, total, "highest return")
        else:
            assert scores is not None
            for place, text in zip(rows, texts, strict=True):
                check(text.replace("+", ""), float(scores[place]), f"{measure} of row {place}")
            assert abs(scores[rows[0]]) == np.nanmax(np.abs(scores)), f"{measure}: the largest comes first"


def observation(bench: Workbench, stored: Stored, row: int) -> None:
    """Every pixel is the one that was recorded."""
    drawn = bench.at_row(row)
    kept = stored.array_rows(stored.by_role("observation")["name"], row, row + 1)[0]
    assert np.array_equal(drawn, kept), "the picture is another"


def policy(bench: Workbench, stored: Stored, row: int) -> None:
    """A bar per action with its probability, as wide as it says; the mark is on what was done."""
    view = bench.get("view-policy")
    chances = stored.array_rows("probabilities", row, row + 1)[0]
    names = stored.by_role("probabilities")["elements"]
    drawn = view.locator(".bars .name").all_inner_texts()
    assert drawn == list(names), f"actions: drawn {drawn}"
    shares = view.locator(".bars > .share").all()
    bars = view.locator(".bars > .bar").all()
    for name, chance, share, bar in zip(names, chances, shares, bars, strict=False):
        assert abs(number(share.inner_text())[0] / 100 - chance) <= 0.00501, f"{name}: drawn {share.inner_text()}"
        wide = box_of(bar.locator("i").first)["width"] / box_of(bar)["width"]
        assert abs(wide - max(0.005, chance)) < 0.01, f"{name}: the bar is {wide:.3f} wide, stored {chance:.3f}"
    taken = stored.rows["action"][row]
    marks = [mark.strip() for mark in view.locator(".bars .mark").all_inner_texts()]
    assert marks == ["◂" if place == taken else "" for place in range(len(names))], f"the mark stands on {marks}"
    check(bench.get("entropy").inner_text(), stored.rows["entropy"][row], "policy entropy")


def _action_colours(bench: Workbench, names: list[str]) -> dict[str, np.ndarray]:
    legend = bench.get("view-actions").locator(".legend [data-colour-kind='action']")
    return {str(one.get_attribute("data-colour-name")): fill_of(one) for one in legend.all()}


def actions(bench: Workbench, stored: Stored, row: int) -> None:
    """Of one episode, and of all: under each step the colours stand as high as the probabilities."""
    episode, _ = stored.place(row)
    names = list(stored.by_role("probabilities")["elements"])
    colours = _action_colours(bench, names)
    assert list(colours) == names, f"the legend names {list(colours)}"
    assert len({tuple(c) for c in colours.values()}) == len(names), "two actions look the same"
    chances = stored.array("probabilities")
    start, stop = stored.span(episode)
    _check_stacked(bench, chances[start:stop], [colours[name] for name in names])
    lines = table(bench, "view-actions")
    assert [line["step"] for line in lines] == [str(step) for step in range(stop - start)]
    for place, name in enumerate(names):
        check_column(lines, name, chances[start:stop, place].astype(float).tolist(), "actions.csv")


def all_actions(bench: Workbench, stored: Stored) -> None:
    """Where all episodes are shown, all are drawn."""
    names = list(stored.by_role("probabilities")["elements"])
    colours = _action_colours(bench, names)
    chances = stored.array("probabilities")
    _check_stacked(bench, chances, [colours[name] for name in names])
    lines = table(bench, "view-actions")
    head = next(iter(lines[0]))
    each = int(match[1]) if (match := re.match(r"mean of (\d+) rows from", head)) else 1
    assert head == ("row" if each == 1 else f"mean of {each} rows from"), f"the table counts {head!r}"
    means = np.array([chances[first : first + each].mean(axis=0) for first in range(0, len(chances), each)])
    assert [int(line[head]) for line in lines] == list(range(0, len(chances), each))
    for place, name in enumerate(names):
        check_column(lines, name, means[:, place].astype(float).tolist(), "actions.csv", rtol=2e-3)


def _check_stacked(bench: Workbench, chances: np.ndarray, colours: list[np.ndarray]) -> None:
    """In the middle of every pixel column that shows one step, or of a mean of many."""
    canvas = bench.get("actions-canvas")
    wrong: list[str] = []

    def differences() -> list[str]:
        drawn = surface(canvas)
        height, width = drawn.shape[:2]
        found = []
        steps = len(chances)
        columns = np.unique(np.linspace(2, width - 3, 150).astype(int))
        for x in columns:
            first, last = int(x * steps / width), int((x + 1) * steps / width)
            if steps < width and int((x - 0.05) * steps / width) != int((x + 1.05) * steps / width):
                continue  # on the border of two steps
            share = chances[first : max(first + 1, last)].mean(axis=0)
            tops = np.concatenate([[0], np.cumsum(share)]) * height
            for kind, colour in enumerate(colours):
                middle = (tops[kind] + tops[kind + 1]) / 2
                if tops[kind + 1] - tops[kind] < (6 if steps < width else 10):
                    continue
                pixel = drawn[int(middle), x]
                if pixel[3] < 200 or not near(pixel[:3], colour, 14):
                    found.append(f"at pixel {x}, step {first}: drawn {pixel.tolist()}, action {kind} is {colour}")
        return found

    bench.until(lambda: not (wrong.__setitem__(slice(None), differences()) or wrong))
    assert not wrong, f"{len(wrong)} places of the action probabilities differ:\n" + "\n".join(wrong[:5])


def timelines(bench: Workbench, stored: Stored, row: int) -> None:
    """What stands beside each line, its range, every mark of the axis, the table, and where lines and strips run."""
    episode, step = stored.place(row)
    start, stop = stored.span(episode)
    part = stored.rows.slice(start, stop - start)
    _check_lines(bench, stored, part, step)
    _check_axis(bench, stop - start)
    lines = table(bench, "view-timelines")
    assert [line["step"] for line in lines] == [str(place) for place in range(stop - start)]
    _check_table(lines, stored, part)


def all_timelines(bench: Workbench, stored: Stored, row: int) -> None:
    """The same where all episodes are shown: axes count rows, and say so."""
    all_lines(bench, stored, row)
    lines = table(bench, "view-timelines")
    assert [line["row"] for line in lines] == [str(place) for place in range(stored.rows.height)]
    _check_table(lines, stored, stored.rows)


def all_lines(bench: Workbench, stored: Stored, row: int) -> None:
    """What is drawn and written of all episodes, without the table, which has a line per row."""
    expect(bench.get("view-timelines").locator(".axis em")).to_have_text("rows")
    _check_lines(bench, stored, stored.rows, row)
    _check_axis(bench, stored.rows.height)


def _tracks(bench: Workbench) -> list[tuple[str, Locator]]:
    return [(str(one.get_attribute("data-column")), one) for one in bench.get("track").all()]


def _check_lines(bench: Workbench, stored: Stored, part: pl.DataFrame, step: int) -> None:
    values = bench.get("timelines-values").locator("span")
    tracks = [(name, track) for name, track in _tracks(bench) if name in stored.rows.columns]
    recorded = [c["name"] for c in stored.info["columns"] if c["kind"] not in ("index", "objects")]
    assert {name for name, _ in tracks} == set(recorded), f"lines of {sorted(name for name, _ in tracks)}"
    labels = bench.get("view-timelines").get_by_test_id("track-label")
    for place, (name, track) in enumerate(tracks):
        spec = stored.spec(name)
        assert labels.nth(place).inner_text() == (spec["label"] or name.replace("_", " "))
        check_reading(values.nth(place).inner_text(), spec, part[name][step], f"{name} at step {step}")
        title = labels.nth(place).get_attribute("title") or ""
        series = part[name]
        if spec["type"] in ("float", "int") and not spec["categories"]:
            _check_range(title, series, name)
            _check_line(track, series.cast(pl.Float64).fill_null(float("nan")).to_numpy(), name)
        elif spec["type"] == "bool":
            _check_strip(track, series.fill_null(False).to_numpy(), name)
        else:
            _check_words(bench, track, spec, series, name)


def _check_range(title: str, series: pl.Series, name: str) -> None:
    known = series.cast(pl.Float64).drop_nulls().drop_nans()
    low, high = float(known.min()), float(known.max())  # type: ignore[arg-type]
    if low == high:
        low, high = low - 0.5, high + 0.5
    drawn = re.search(r" · (\S+) to (\S+)", title)
    assert drawn, f"{name} says no range: {title}"
    assert shows(drawn[1], low) and shows(drawn[2], high), f"{name}: drawn {drawn[0]}, stored {low} to {high}"


def _check_line(track: Locator, values: np.ndarray, name: str) -> None:
    """Where the line runs at every step that has pixels of its own; a gap has none."""
    drawn = surface(track.locator("canvas"))[..., 3]
    height, width = drawn.shape
    if len(values) > width / 3:
        return _check_dense(drawn, values, name)
    known = values[~np.isnan(values)]
    low, high = known.min(), known.max()
    if low == high:
        low, high = low - 0.5, high + 0.5
    for step, value in enumerate(values):
        x = (step + 0.5) / len(values) * width
        column = np.flatnonzero(drawn[:, min(width - 1, int(x))] > 90)
        if np.isnan(value):
            assert not len(column), f"{name}: something is drawn at step {step}, where nothing is known"
        elif step and step + 1 < len(values) and not np.isnan(values[[step - 1, step + 1]]).any():
            y = height - 2 - (value - low) / (high - low) * (height - 4)
            off = np.abs(column - y).min() if len(column) else np.inf
            assert off < 2.6, f"{name}: at step {step} the line is {off:.1f} pixels off"
    return None


def _check_dense(drawn: np.ndarray, values: np.ndarray, name: str) -> None:
    """Where steps are denser than pixels each column reaches from the lowest to the highest value."""
    height, width = drawn.shape
    known = values[~np.isnan(values)]
    low, high = known.min(), known.max()
    for x in range(3, width - 3, 7):
        part = values[int((x - 2) * len(values) / width) : int((x + 3) * len(values) / width) + 1]
        part = part[~np.isnan(part)]
        column = np.flatnonzero(drawn[:, x] > 90)
        if not len(part) or not len(column):
            continue
        top, bottom = (height - 2 - (v - low) / max(1e-12, high - low) * (height - 4) for v in (part.max(), part.min()))
        assert column.min() >= top - 3 and column.max() <= bottom + 3, f"{name}: pixel column {x} reaches too far"


def _check_strip(track: Locator, holds: np.ndarray, name: str) -> None:
    drawn = surface(track.locator("canvas"))[..., 3]
    height, width = drawn.shape
    if len(holds) > width / 4:
        return
    for step, held in enumerate(holds):
        seen = drawn[height // 2, int((step + 0.5) / len(holds) * width)] > 128
        assert seen == bool(held), f"{name}: step {step} is drawn as {seen}, stored {held}"


def _check_words(bench: Workbench, track: Locator, spec: dict[str, Any], series: pl.Series, name: str) -> None:
    """Steps of one word have one colour, and those of two words two."""
    drawn = surface(track.locator("canvas"))
    height, width = drawn.shape[:2]
    if len(series) > width / 4:
        return
    colours: dict[Any, tuple[int, ...]] = {}
    for step, word in enumerate(series.to_list()):
        pixel = drawn[height // 2, int((step + 0.5) / len(series) * width)]
        if word is None:
            assert pixel[3] == 0, f"{name}: step {step} is unknown and drawn"
            continue
        assert pixel[3] > 200, f"{name}: step {step} is {word!r} and not drawn"
        seen = colours.setdefault(word, tuple(pixel[:3]))
        assert near(np.array(seen), pixel[:3]), f"{name}: step {step} is {word!r} in another colour"
    if name == "action":
        _check_action_words(bench, spec, colours)
    elif len(colours) > 1:
        assert len(set(colours.values())) == len(colours), f"{name}: two words have one colour"


def _check_action_words(bench: Workbench, spec: dict[str, Any], colours: dict[Any, tuple[int, ...]]) -> None:
    legend = _action_colours(bench, list(spec["categories"]))
    for code, seen in colours.items():
        name = spec["categories"][code]
        assert near(np.array(seen), legend[name]), f"action {name} has one colour here and another in its legend"


def _check_axis(bench: Workbench, length: int) -> None:
    """A mark stands below the middle of its step."""
    axis = bench.get("view-timelines").locator(".axis div")
    width = box_of(axis)["width"]
    for mark in axis.locator("span").all():
        step, left = number(mark.inner_text())[0], float((mark.get_attribute("style") or "").split("left: ")[1][:-3])
        assert abs((step + 0.5) / length * width - left) < 1.5, (
            f"the mark {step:.0f} stands at {left:.0f} of {width:.0f}"
        )


def _check_table(lines: list[dict[str, str]], stored: Stored, part: pl.DataFrame) -> None:
    for name in (n for n in part.columns if stored.spec(n)["kind"] not in ("index", "objects")):
        spec = stored.spec(name)
        head = name + (f" ({spec['unit']})" if spec["unit"] else "")
        if spec["categories"] or spec["type"] == "text":
            check_column(lines, head, [reading(spec, value) for value in part[name]], "timelines.csv")
        else:
            numbers = part[name].cast(pl.Float64).to_list()
            check_column(lines, head, numbers, "timelines.csv")


def world_map(bench: Workbench, stored: Stored, row: int) -> None:
    """The way of the episode runs where it was, and the table holds every place."""
    episode, _ = stored.place(row)
    start, stop = stored.span(episode)
    x, y = (stored.numbers(name)[start:stop] for name in ("x", "y"))
    lines = table(bench, "view-map")
    check_column(lines, "x", x.tolist(), "map.csv")
    check_column(lines, "y", y.tolist(), "map.csv")
    bench.get("map-scope").get_by_text("this").click()
    bench.still()
    drawn = surface(bench.get("map-canvas"))[..., 3]
    height, width = drawn.shape
    walls = np.array(stored.scene(episode)["walls"]).reshape(-1, 2)
    corners = np.concatenate([walls, np.stack([x, y], axis=1)])
    low, high = corners.min(axis=0), corners.max(axis=0)
    air = max(*(high - low), 1e-6) * 0.01
    low, high = low - air, high + air
    scale = min((width - 20) / (high[0] - low[0]), (height - 20) / (high[1] - low[1]))
    px = width / 2 + (x - (low[0] + high[0]) / 2) * scale
    py = 10 + (high[1] - y) * scale
    seen = [drawn[int(b) - 1 : int(b) + 3, int(a) - 1 : int(a) + 3].max(initial=0) for a, b in zip(px, py, strict=True)]
    if len(seen) > 1:
        assert min(seen) > 60, f"the way does not lead through step {int(np.argmin(seen))}"


def in_view(bench: Workbench, stored: Stored, row: int) -> None:
    """Things in view, nearest first, with their distance."""
    things = sorted(stored.rows["objects"][row].to_list(), key=lambda thing: float(thing["distance"]))
    lines = bench.get("view-inview").locator("li")
    assert lines.count() == len(things), f"{lines.count()} things drawn, {len(things)} stored"
    for line, thing in zip(lines.all(), things, strict=True):
        assert thing["name"] in line.inner_text(), f"drawn {line.inner_text()!r}, stored {thing['name']}"
        check(line.locator(".mono").inner_text(), thing["distance"], f"distance of {thing['name']}")


def slit(bench: Workbench, stored: Stored, row: int) -> None:
    """Each column of the slit is the mean of that part of its picture."""
    episode, _ = stored.place(row)
    start, stop = stored.span(episode)
    frames = stored.array_rows("observation", start, stop).astype(float)
    box = {name: int(bench.get(f"slit-{name}").input_value()) for name in ("x", "y", "width", "height")}
    across = slice(box["x"], box["x"] + box["width"])
    expected = np.floor(frames[:, box["y"] : box["y"] + box["height"], across].mean(axis=2) + 0.5)
    expect(bench.get("slit-unrolled")).to_have_attribute("data-left", "0")
    bench.still()
    step = int(bench.get("slit-unrolled").get_attribute("data-step") or 1)
    assert step == 1, "every row is drawn"
    drawn = surface(bench.get("slit-canvas"))[..., :3].transpose(1, 0, 2)
    assert drawn.shape == expected.shape, f"{drawn.shape} drawn, {expected.shape} stored"
    assert np.array_equal(drawn, expected), "the slit differs from the pictures"
