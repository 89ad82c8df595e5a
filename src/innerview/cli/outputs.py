"""Prints any result by its type: a new lens shows in the terminal without a line of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from innerview.schema import Result
from innerview.store import Study

MAX_LINES = 30
_ROWS_AT_ONCE = 64


def print_other(console: Console, arguments: Mapping[str, Any]) -> None:
    """Say how subject or world differ from those that were recorded, where a result was made all the same."""
    for sentence in arguments.get("other", ()):
        console.print(f"Not as recorded: {sentence}", markup=False, highlight=False, soft_wrap=True)


def print_output(console: Console, study: Study, result: Result) -> None:
    """What the generic view of its type shows, as far as words can."""
    _PRINTERS.get(result.type, _print_value)(console, study, result)


def _print(console: Console, titles: Sequence[str], lines: Iterable[Sequence[Any]], left: int = 0) -> None:
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    for number, title in enumerate(titles):
        table.add_column(escape(title), justify="left" if number == 0 else "right")
    for line in lines:
        table.add_row(*(escape(_cell_text(cell)) for cell in line))
    console.print(table)
    if left > 0:
        console.print(f"… and {left:,} more.", highlight=False)


def _cell_text(cell: Any) -> str:
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return "–"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def _titled(axis: dict[str, str]) -> str:
    return f"{axis['name']} ({axis['unit']})" if axis["unit"] else axis["name"]


def _print_heat(console: Console, study: Study, result: Result) -> None:
    lines = []
    for name in result.shown["inputs"]:
        shape = result.arrays[f"heat.{name}"].shape
        most = 0.0
        for first in range(0, shape[0], _ROWS_AT_ONCE):
            part = study.result_array(result.id, f"heat.{name}", first, first + _ROWS_AT_ONCE)
            most = max(most, float(np.abs(part).max(initial=0)))
        lines.append((name, " × ".join(map(str, shape)), most, result.shown["unit"]))
    _print(console, ("input", "rows × channels × height × width", "largest", "unit"), lines)


def _print_layout(console: Console, study: Study, result: Result) -> None:
    places = study.result_array(result.id, "places")
    console.print(f"{len(places):,} rows in a plane.", highlight=False)
    titles = [axis["name"] for axis in result.shown["axes"]] or ["across", "up"]
    ends = zip(titles, places.min(0).tolist(), places.max(0).tolist(), strict=True)
    _print(console, ("direction", "from", "to"), ends)


def _print_per_row(console: Console, study: Study, result: Result) -> None:
    values, rows = study.result_array(result.id, "values"), study.result_array(result.id, "rows")
    lines: list[tuple[Any, ...]] = []
    for axis, column in zip(result.shown["columns"], values.T, strict=True):
        known = np.flatnonzero(np.isfinite(column))
        if not len(known):
            lines.append((_titled(axis), None, None, None, None, None))
            continue
        low, high = known[column[known].argmin()], known[column[known].argmax()]
        ends = (float(column[low]), int(rows[low]), float(column[high]), int(rows[high]))
        lines.append((_titled(axis), float(column[known].mean()), *ends))
    _print(console, (f"{len(rows):,} rows", "mean", "lowest", "in row", "highest", "in row"), lines)


def _print_per_element(console: Console, study: Study, result: Result) -> None:
    values = study.result_array(result.id, "values")
    names = result.shown["elements"] or [str(number) for number in range(len(values))]
    first = np.nan_to_num(values[:, 0], nan=-np.inf) if values.size else np.zeros(0)
    order = np.argsort(-first, kind="stable")[:MAX_LINES]
    titles = [_titled(axis) for axis in result.shown["columns"]]
    lines = [(names[element], *values[element].astype(float).tolist()) for element in order]
    _print(console, (f"element of {result.shown['of']}", *titles), lines, len(values) - len(lines))


def _print_table(console: Console, study: Study, result: Result) -> None:
    lines = result.shown["lines"]
    titles = [_titled(axis) for axis in result.shown["columns"]]
    _print(console, titles, lines[:MAX_LINES], len(lines) - MAX_LINES)


def _print_chart(console: Console, study: Study, result: Result) -> None:
    shown = result.shown
    places = list(dict.fromkeys(x for series in shown["series"] for x in series["x"]))
    found = [dict(zip(series["x"], series["y"], strict=True)) for series in shown["series"]]
    lines = [(place, *(each.get(place) for each in found)) for place in places]
    titles = (_titled(shown["x"]), *(series["name"] for series in shown["series"]))
    _print(console, titles, lines[:MAX_LINES], len(lines) - MAX_LINES)
    console.print(f"Values: {_titled(shown['y'])}", highlight=False)


def _print_gallery(console: Console, study: Study, result: Result) -> None:
    shown, count = result.shown, result.arrays["pictures"].shape[0]
    score = _titled(shown["score"]) if shown["score"] else "score"
    parts = [shown["captions"] or [""] * count, shown["scores"] or [None] * count, shown["rows"] or [None] * count]
    lines = [(number, *line) for number, line in enumerate(zip(*parts, strict=True))]
    _print(console, ("picture", "caption", score, "row"), lines[:MAX_LINES], len(lines) - MAX_LINES)


def _print_map(console: Console, study: Study, result: Result) -> None:
    shown, counts = result.shown, study.result_array(result.id, "counts")
    values, place = study.result_array(result.id, "values"), shown["place_unit"]
    top, left = np.unravel_index(int(np.abs(values).argmax()), values.shape)
    x = shown["origin"][0] + (left + 0.5) * shown["cell"]
    y = shown["origin"][1] + (len(values) - top - 0.5) * shown["cell"]
    size = f"{counts.shape[1]} × {counts.shape[0]} of {shown['cell']:g} {place}"
    line = (size, int((counts > 0).sum()), float(values[top, left]), f"{x:.4g}, {y:.4g} {place}", shown["unit"])
    _print(console, ("cells", "seen", "strongest", "at", "unit"), [line])


def _print_value(console: Console, study: Study, result: Result) -> None:
    console.print_json(data=result.value)


_PRINTERS: dict[str, Callable[[Console, Study, Result], None]] = {
    "heat": _print_heat,
    "layout": _print_layout,
    "per row": _print_per_row,
    "per element": _print_per_element,
    "table": _print_table,
    "chart": _print_chart,
    "gallery": _print_gallery,
    "map": _print_map,
}
