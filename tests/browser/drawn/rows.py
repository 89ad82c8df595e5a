"""Views of rows without time: pictures, values, plots of two columns."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
from playwright.sync_api import expect

from ..workbench import Workbench, picture_of
from .reading import check, check_column, number, surface, table
from .stored import Stored


def gallery(bench: Workbench, stored: Stored, row: int) -> None:
    """Pictures and lines of the table are those of their rows, also where they are sorted."""
    for name in (spec["name"] for spec in stored.info["arrays"]):
        bench.get("gallery-array").select_option(name)
        for place in (0, 7):
            tile = bench.page.locator(f'[data-testid="gallery-item"][data-row="{place}"] img')
            expect(tile).to_have_attribute("src", re.compile(f"/images/{name}/{place}"))
            assert np.array_equal(picture_of(tile), stored.array_rows(name, place, place + 1)[0])
    bench.get("rows-form").get_by_text("table").click()
    columns = [c for c in stored.info["columns"] if c["type"] != "objects"]
    for sorting in (None, "x"):
        if sorting:
            bench.get("table-sort").nth([c["name"] for c in columns].index(sorting)).click()
        bench.still()
        lines = bench.get("table-row")
        expect(lines.first).not_to_contain_text("…")
        drawn = [
            (int(line.get_attribute("data-row") or -1), line.locator("> *").all_inner_texts()) for line in lines.all()
        ]
        order = stored.rows.with_row_index("place").sort(sorting)["place"] if sorting else range(stored.rows.height)
        assert [place for place, _ in drawn] == list(order)[: len(drawn)], f"order by {sorting}"
        for place, texts in drawn:
            assert texts[0].replace(",", "") == str(place)
            for column, text in zip(columns, texts[1:], strict=True):
                value = stored.rows[column["name"]][place]
                if column["type"] == "text":
                    assert text == value, f"row {place}, {column['name']}: drawn {text!r}, stored {value!r}"
                else:
                    check(text, value, f"row {place}, {column['name']}")
        assert [int(line["row"]) for line in table(bench, "view-rows")] == list(order)
    bench.get("rows-form").get_by_text("pictures").click()


def pair(bench: Workbench, stored: Stored, row: int) -> None:
    """One row: its pictures to the pixel, and every value with its unit."""
    bench.page.locator(f'[data-testid="gallery-item"][data-row="{row}"]').click()
    for spec in stored.info["arrays"]:
        image = bench.page.locator(f'[data-testid="pair-picture"][data-domain="{spec["domain"]}"] img')
        expect(image).to_have_attribute("alt", f"{spec['domain']}, row {row}")
        assert np.array_equal(picture_of(image), stored.array_rows(spec["name"], row, row + 1)[0]), spec["name"]
    values = bench.get("pair-values")
    names, texts = values.locator("dt").all_inner_texts(), values.locator("dd").all_inner_texts()
    for name, text in zip(names, texts, strict=True):
        spec, value = stored.spec(name), stored.rows[name][row]
        if spec["type"] == "text":
            assert text == value, f"{name}: drawn {text!r}, stored {value!r}"
        else:
            check(text, value, name)
            assert text.endswith(spec["unit"]), f"{name}: drawn {text!r} without {spec['unit']}"


def scatter(bench: Workbench, stored: Stored, row: int) -> None:
    """A point at the place of every row, by the axes that are drawn, whose marks and units are the columns'."""
    lines = table(bench, "view-scatter")
    for name in lines[0]:
        check_column(lines, name, stored.numbers(name).tolist(), "scatter.csv")
    scales, titles = _axes(bench)
    across, up = list(lines[0])[:2]
    for name in (across, up):
        assert any(name in title and stored.spec(name)["unit"] in title for title in titles), f"{name} in {titles}"
    drawn = surface(bench.get("scatter-canvas"))[..., 3]
    missing = []
    for place, (x, y) in enumerate(zip(stored.numbers(across), stored.numbers(up), strict=True)):
        px, py = (scale[0] + scale[1] * value for scale, value in zip(scales, (x, y), strict=True))
        if drawn[round(py) - 1 : round(py) + 2, round(px) - 1 : round(px) + 2].max(initial=0) < 100:
            missing.append(place)
    assert not missing, f"no point is drawn at the places of rows {missing[:5]}"


def _axes(bench: Workbench) -> tuple[list[tuple[float, float]], list[str]]:
    """From the drawing that is saved: pixel at 0 and pixels per unit, across and up; and the titles of the axes."""
    bench.get("view-scatter-export").click()
    with bench.page.expect_download() as download:
        bench.page.get_by_role("button", name="SVG drawing").click()
    drawing = download.value.path().read_bytes().decode()
    bench.page.keyboard.press("Escape")
    texts = re.findall(r'<text x="([\d.-]+)" y="([\d.-]+)"[^>]*text-anchor="(\w+)"[^>]*>([^<]*)<', drawing)
    marks = [(float(x), float(y), anchor, text) for x, y, anchor, text in texts]
    across = [(x, number(text)[0]) for x, _, anchor, text in marks if anchor == "middle"]
    up = [(y - 4, number(text)[0]) for x, y, anchor, text in marks if anchor == "end" and x < 60]
    scales = []
    for places in (across, up):
        places.sort(key=lambda one: one[1])
        assert len(places) >= 2, "an axis has fewer than two marks"
        slopes = [(b[0] - a[0]) / (b[1] - a[1]) for a, b in pairwise(places)]
        assert max(slopes) - min(slopes) < 0.02 * abs(slopes[0]), "marks of an axis are not evenly spaced"
        each = (places[-1][0] - places[0][0]) / (places[-1][1] - places[0][1])
        scales.append((places[0][0] - each * places[0][1], each))
    return scales, [text for *_, text in marks]
