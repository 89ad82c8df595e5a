"""What a person reads off the page: numbers in a text, pixels of a canvas, tables that are saved."""

from __future__ import annotations

import csv
import io
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Locator

from ..workbench import Workbench, canvas_of

NUMBER = re.compile(r"[−-]?\d[\d,]*(?:\.\d+)?(?:e[−+-]?\d+)?")
UNKNOWN = ("–", "")


def number(text: str) -> tuple[float, float]:
    """The first number in a text, and half a unit of its last digit."""
    found = NUMBER.search(text)
    assert found, f"there is no number in {text!r}"
    plain = found[0].replace("−", "-").replace(",", "")
    mantissa, _, exponent = plain.partition("e")
    digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return float(plain), 0.5 * 10.0**-digits


def shows(text: str, value: float | None) -> bool:
    """Whether a text shows a value, as exactly as its digits say; a dash is what nobody knows."""
    if value is None or math.isnan(value):
        return text.strip() in UNKNOWN
    if text.strip() in UNKNOWN:
        return False
    drawn, half = number(text)
    return abs(drawn - value) <= half * 1.001 + 1e-6 * abs(value) + 1e-12


def check(text: str, value: float | None, what: str) -> None:
    """Fail where a text shows another number than the one that is stored."""
    assert shows(text, value), f"{what}: drawn {text!r}, stored {value!r}"


def table(bench: Workbench, view: str) -> list[dict[str, str]]:
    """The table that a view saves."""
    bench.get(f"{view}-export").click()
    with bench.page.expect_download() as download:
        bench.page.get_by_role("button", name="CSV table").click()
    text = Path(download.value.path()).read_bytes().decode()
    bench.page.keyboard.press("Escape")
    return list(csv.DictReader(io.StringIO(text)))


def check_column(lines: list[dict[str, str]], name: str, values: Any, what: str, *, rtol: float = 2e-7) -> None:
    """A column of a saved table holds these numbers, row by row; unknown ones are empty."""
    drawn = [line[name] for line in lines]
    expected = ["" if v is None or (isinstance(v, float) and math.isnan(v)) else v for v in values]
    assert len(drawn) == len(expected), f"{what}, {name}: {len(drawn)} lines drawn, {len(expected)} stored"
    for row, (text, value) in enumerate(zip(drawn, expected, strict=True)):
        same = (
            text == value if isinstance(value, str) else text != "" and math.isclose(float(text), value, rel_tol=rtol)
        )
        same = same or (not isinstance(value, str) and text != "" and abs(float(text) - value) < 1e-9)
        assert same, f"{what}, {name}, line {row}: drawn {text!r}, stored {value!r}"


def on_screen(element: Locator) -> np.ndarray:
    """What is on the screen where an element is, [height, width, 3]."""
    with Image.open(io.BytesIO(element.screenshot())) as picture:
        return np.asarray(picture.convert("RGB")).astype(int)


def surface(canvas: Locator) -> np.ndarray:
    """The pixels of a canvas that was drawn with a pen, [height, width, 4]."""
    return canvas_of(canvas).astype(int)


def rgb(text: str) -> np.ndarray:
    """The colour that a style computes to."""
    found = re.findall(r"[\d.]+", text)
    return np.array([round(float(part)) for part in found[:3]])


def fill_of(element: Locator) -> np.ndarray:
    """The colour that an element stands for."""
    told = element.evaluate(
        """element => {
            const style = getComputedStyle(element);
            const made = document.createElement("i");
            made.style.color = style.getPropertyValue("--c") || style.backgroundColor;
            document.body.append(made);
            const colour = getComputedStyle(made).color;
            made.remove();
            return colour;
        }"""
    )
    return rgb(told)


def variable(bench: Workbench, name: str) -> np.ndarray:
    """A colour of the theme."""
    told = bench.page.evaluate(
        """name => {
            const made = document.createElement("i");
            made.style.color = `var(--${name})`;
            document.body.append(made);
            const colour = getComputedStyle(made).color;
            made.remove();
            return colour;
        }""",
        name,
    )
    return rgb(told)


def near(one: np.ndarray, other: np.ndarray, by: int = 6) -> bool:
    """Whether two colours are the same but for rounding."""
    return bool(np.abs(np.asarray(one) - np.asarray(other)).max() <= by)
